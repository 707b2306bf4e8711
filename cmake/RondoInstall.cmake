# Install rules and the exported package: find_package(rondo) and pkg-config. Nothing installed holds
# the prefix, so the tree may be moved afterwards.
include(CMakePackageConfigHelpers)

set(rondo_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/rondo)

install(TARGETS rondo rondo_train EXPORT rondoTargets FILE_SET HEADERS)
install(EXPORT rondoTargets NAMESPACE rondo:: DESTINATION ${rondo_package_dir})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/rondoConfig.cmake.in
  ${PROJECT_BINARY_DIR}/rondoConfig.cmake
  INSTALL_DESTINATION ${rondo_package_dir} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/rondoConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/rondoConfig.cmake ${PROJECT_BINARY_DIR}/rondoConfigVersion.cmake
  DESTINATION ${rondo_package_dir})

# pkg-config: what a static library needs must be named to every user of it, what a shared one needs
# only to those who link statically.
if(BUILD_SHARED_LIBS)
  set(needs private)
else()
  set(needs public)
endif()
set(rondo_pc_${needs} "fmt libhwy")
set(rondo_pc_train_${needs} "zlib openblas")
list(TRANSFORM MPI_CXX_INCLUDE_DIRS PREPEND -I OUTPUT_VARIABLE rondo_pc_mpi_cflags)
list(JOIN rondo_pc_mpi_cflags " " rondo_pc_mpi_cflags)
list(JOIN MPI_CXX_LIBRARIES " " rondo_pc_mpi_libs)
file(RELATIVE_PATH rondo_pc_prefix
  /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" rondo_pc_prefix "${rondo_pc_prefix}")
foreach(module rondo rondo-train)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/${module}.pc.in ${PROJECT_BINARY_DIR}/${module}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${module}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

foreach(program rondo-plan rondo-info rondo-tune train_linear)
  if(TARGET ${program})
    install(TARGETS ${program})
  endif()
endforeach()
if(RONDO_BUILD_EXAMPLES)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/data/ DESTINATION ${CMAKE_INSTALL_DATADIR}/rondo/data
    FILES_MATCHING PATTERN "*.csv.gz" PATTERN "*.md")
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/NOTICE
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
