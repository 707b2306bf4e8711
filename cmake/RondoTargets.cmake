# How every target of Rondo's own is built: C++20, warnings, no fused multiply-add behind our back.
add_library(rondo_build_flags INTERFACE)
target_compile_features(rondo_build_flags INTERFACE cxx_std_20)
target_compile_options(rondo_build_flags INTERFACE
  -ffp-contract=off  # the same bits on every instruction set
  -Wall -Wextra -Wpedantic -Wshadow=local -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor
  $<$<BOOL:${RONDO_WERROR}>:-Werror>)
if(RONDO_SANITIZE)
  target_compile_options(rondo_build_flags INTERFACE
    -fsanitize=${RONDO_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_link_options(rondo_build_flags INTERFACE -fsanitize=${RONDO_SANITIZE})
endif()

# rondo_layer(NAME source…): the object library of one layer, src/NAME.
function(rondo_layer name)
  add_library(rondo_${name} OBJECT ${ARGN})
  target_link_libraries(rondo_${name} PRIVATE rondo_build_flags)
  target_include_directories(rondo_${name} PRIVATE
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  set_target_properties(rondo_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()

# rondo_command_lines(file…): sources of this folder that read a command line. They are most of what
# a program takes to compile, and run once: not optimised, they take less than half of that.
function(rondo_command_lines)
  set_property(SOURCE ${ARGN} APPEND PROPERTY COMPILE_OPTIONS -O0)
endfunction()

# rondo_program(NAME source…): a program that may look inside the library (src/).
function(rondo_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE rondo_build_flags rondo rondo_train
    fmt::fmt CLI11::CLI11 nlohmann_json::nlohmann_json)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
endfunction()
