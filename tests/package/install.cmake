# Installs BUILD_DIR and moves the tree to PREFIX. With SHARED_SOURCE it first builds shared libraries
# from there into BUILD_DIR.
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)

if(SHARED_SOURCE)
  run(${CMAKE_COMMAND} -S ${SHARED_SOURCE} -B ${BUILD_DIR} -G Ninja -DCMAKE_BUILD_TYPE=${BUILD_TYPE}
    -DRONDO_WERROR=${WERROR} -DBUILD_SHARED_LIBS=ON -DRONDO_BUILD_TESTS=OFF -DRONDO_BUILD_BENCHMARKS=OFF
    -DRONDO_BUILD_EXAMPLES=OFF -DRONDO_CUDA_ARCHITECTURES=90 -DMPI_CXX_COMPILER=${MPI_CXX_COMPILER})
  run(${CMAKE_COMMAND} --build ${BUILD_DIR})
endif()

set(before ${PREFIX}.before)
file(REMOVE_RECURSE ${before} ${PREFIX})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${before})
file(RENAME ${before} ${PREFIX})

# Text that holds where it was built or first installed breaks on another machine.
file(GLOB_RECURSE texts ${PREFIX}/*.cmake ${PREFIX}/*.pc ${PREFIX}/*.hpp)
foreach(text ${texts})
  file(READ ${text} content)
  foreach(place ${before} ${BUILD_DIR} ${SOURCE_DIR})
    string(FIND "${content}" "${place}" found)
    if(NOT found EQUAL -1)
      message(FATAL_ERROR "${text} holds ${place}")
    endif()
  endforeach()
endforeach()

file(GLOB_RECURSE written RELATIVE ${SOURCE_DIR}/include ${SOURCE_DIR}/include/*)
file(GLOB_RECURSE installed RELATIVE ${PREFIX}/include ${PREFIX}/include/*)
if(NOT written STREQUAL installed)
  message(FATAL_ERROR "public headers:\n${written}\nbut installed are:\n${installed}")
endif()

# The tools that came along find the moved libraries.
if(EXISTS ${PREFIX}/bin/rondo-info)
  run(${PREFIX}/bin/rondo-info)
endif()
# train_linear looks for its data from where it is.
if(EXISTS ${PREFIX}/bin/train_linear AND NOT EXISTS ${PREFIX}/bin/../share/rondo/data/diamonds.csv.gz)
  message(FATAL_ERROR "train_linear was installed without its data")
endif()
