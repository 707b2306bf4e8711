# Builds the consumer with CMake in WORK_DIR: by find_package from PREFIX, or with SOURCE_DIR as a
# subdirectory, whose objects a compiler cache has already: it gets the options of this build.
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)

file(REMOVE_RECURSE ${WORK_DIR})
file(COPY ${CMAKE_CURRENT_LIST_DIR}/consumer/ DESTINATION ${WORK_DIR}/source)
run(${CMAKE_COMMAND} -S ${WORK_DIR}/source -B ${WORK_DIR}/build -G Ninja
  -DCMAKE_PREFIX_PATH=${PREFIX} -DRONDO_SOURCE_DIR=${SOURCE_DIR} -DMPI_CXX_COMPILER=${MPI_CXX_COMPILER}
  -DCMAKE_BUILD_TYPE=${BUILD_TYPE} -DRONDO_WERROR=${WERROR} -DRONDO_CUDA_ARCHITECTURES=90)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build --target consumer)

# Rondo's own sources, in a subdirectory, keep their flags; the consumer's must have none.
file(READ ${WORK_DIR}/build/compile_commands.json commands)
string(JSON last LENGTH "${commands}")
math(EXPR last "${last} - 1")
foreach(index RANGE ${last})
  string(JSON file GET "${commands}" ${index} file)
  if(file STREQUAL ${WORK_DIR}/source/main.cpp)
    string(JSON command GET "${commands}" ${index} command)
    refuse_flags("${command}")
    set(checked YES)
  endif()
endforeach()
if(NOT checked)
  message(FATAL_ERROR "main.cpp is not among the compile commands")
endif()

run_consumer(${WORK_DIR}/build/consumer)
