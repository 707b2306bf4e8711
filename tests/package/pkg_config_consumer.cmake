# Builds the consumer in WORK_DIR with the compiler alone and what pkg-config says of PREFIX.
include(${CMAKE_CURRENT_LIST_DIR}/common.cmake)

file(REMOVE_RECURSE ${WORK_DIR})
file(COPY ${CMAKE_CURRENT_LIST_DIR}/consumer/ DESTINATION ${WORK_DIR})
set(ENV{PKG_CONFIG_PATH} ${PREFIX}/${LIBDIR}/pkgconfig)
run(pkg-config --cflags rondo-train)
refuse_flags("${output}")
separate_arguments(cflags UNIX_COMMAND "${output}")
run(pkg-config --libs rondo-train)
separate_arguments(libs UNIX_COMMAND "${output}")

run(${CXX} -std=c++20 ${WORK_DIR}/main.cpp -o ${WORK_DIR}/consumer ${cflags} ${libs})

# The README's program, word for word.
file(READ ${SOURCE_DIR}/README.md readme)
string(REGEX MATCH "```cpp\n([^`]*)```" program "${readme}")
file(WRITE ${WORK_DIR}/readme.cpp "${CMAKE_MATCH_1}")
run(${CXX} -std=c++20 ${WORK_DIR}/readme.cpp -o ${WORK_DIR}/readme ${cflags} ${libs})

set(ENV{LD_LIBRARY_PATH} ${PREFIX}/${LIBDIR}:$ENV{LD_LIBRARY_PATH})
run_consumer(${WORK_DIR}/consumer)
run(${MPIEXEC} -n 2 ${WORK_DIR}/readme)
