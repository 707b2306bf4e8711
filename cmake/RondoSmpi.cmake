# MPI as SimGrid's SMPI has it. Its compiler wrapper would redefine malloc, sleep and the clock for
# the whole of Rondo, so it is not used: header and library are enough.
find_path(smpi_include smpi/mpi.h REQUIRED)
find_library(simgrid_library simgrid REQUIRED)
add_library(MPI::MPI_CXX INTERFACE IMPORTED)
target_include_directories(MPI::MPI_CXX INTERFACE ${smpi_include} ${smpi_include}/smpi)
target_link_libraries(MPI::MPI_CXX INTERFACE ${simgrid_library})

# rondo_simulated_program(NAME source…): a program for smpirun, which loads it as a library.
function(rondo_simulated_program name)
  add_library(${name} MODULE ${ARGN})
  target_link_libraries(${name} PRIVATE rondo_build_flags rondo
    fmt::fmt CLI11::CLI11 nlohmann_json::nlohmann_json)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  set_target_properties(${name} PROPERTIES PREFIX "" SUFFIX ""
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
endfunction()
