# What every target of the project shares. Nothing here is global: a target that wants it asks for it.

# cladtorch_target(<target>)
#
# Gives a target C++20, the warnings, the sanitizers and the include folders: <cladtorch/...> and <clad/...> for all who
# link it, the root of the repository and src/ for itself. A library outside tests, bench and examples is exported
# too: `cladtorch_x` becomes `cladtorch::x` for a project that calls find_package(cladtorch).
function(cladtorch_target target)
  get_target_property(type ${target} TYPE)
  set(scope PUBLIC)
  if(type STREQUAL "INTERFACE_LIBRARY")
    set(scope INTERFACE)
  endif()

  target_compile_features(${target} ${scope} cxx_std_20)
  target_include_directories(${target} ${scope} $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/clad/include>)
  if(type MATCHES "STATIC_LIBRARY|INTERFACE_LIBRARY")
    _cladtorch_register_layer(${target})
  endif()
  if(type STREQUAL "INTERFACE_LIBRARY")
    return()
  endif()

  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:-Wall;-Wextra>
                                           $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
  # g++ 12 sees overlapping copies in std::string's own operator+ (GCC bug 105651).
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  if(CLADTORCH_WERROR)
    target_compile_options(${target} PRIVATE $<IF:$<COMPILE_LANGUAGE:CUDA>,-Werror=all-warnings,-Werror>)
  endif()
  # A module is loaded into a compiler that is not instrumented, so it cannot be instrumented either.
  if(CLADTORCH_SANITIZE AND NOT type STREQUAL "MODULE_LIBRARY")
    target_compile_options(${target} PRIVATE -fsanitize=${CLADTORCH_SANITIZE} -fno-omit-frame-pointer
                                             -fno-sanitize-recover=all)
    target_link_options(${target} PUBLIC -fsanitize=${CLADTORCH_SANITIZE})
  endif()
endfunction()

# cladtorch_precompile(<target> <header>... | REUSE_FROM <target>)
#
# Precompiles headers that take longer to read than the sources to compile. Not for g++, which warns about what it inlines from
# system headers once they are precompiled.
function(cladtorch_precompile target)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    return()
  endif()
  if(ARGV1 STREQUAL "REUSE_FROM")
    target_precompile_headers(${target} ${ARGN})
  else()
    target_precompile_headers(${target} PRIVATE ${ARGN})
  endif()
endfunction()

# cladtorch_add_test(<name> SOURCES <file>... [LIBS <target>...])
#
# A GoogleTest executable. ctest learns its cases when it runs, so that building starts no test, and each carries the
# folder it lies in as label: `ctest -L src/ops`.
function(cladtorch_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS")
  if(NOT arg_SOURCES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "cladtorch_add_test(${name}): expected SOURCES <file>... [LIBS <target>...], got '${ARGN}'")
  endif()
  if(NOT CLADTORCH_BUILD_TESTS)
    return()
  endif()
  add_executable(${name} ${arg_SOURCES})
  cladtorch_target(${name})
  file(RELATIVE_PATH label ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  set(headers cladtorch_test_headers)
  if(label MATCHES "^(src/(kernels|ops|simd)(/|$)|tests/cuda)")
    set(headers cladtorch_optimized_test_headers)
  else()
    _cladtorch_compile_quickly(${name})
  endif()
  target_link_libraries(${name} PRIVATE ${arg_LIBS} GTest::gmock GTest::gtest GTest::gtest_main)
  # Tests of the plugin alone have headers of their own.
  if(arg_LIBS MATCHES "cladtorch::")
    _cladtorch_precompile_test_headers(${name} ${headers})
  endif()
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES LABELS "${label}")
  # A list as property does not survive gtest_discover_tests, so ctest sets it when it knows the cases. Tests run side by
  # side: threads that spin while they wait would take the other test's core.
  set(script ${CMAKE_CURRENT_BINARY_DIR}/${name}_environment.cmake)
  file(WRITE ${script} "if(${name}_TESTS)
  set_tests_properties(\${${name}_TESTS} PROPERTIES ENVIRONMENT \"OMP_WAIT_POLICY=passive;${CLADTORCH_SANITIZE_ENVIRONMENT}\")
endif()
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${script})
endfunction()

# A test is compiled once and runs for a moment: optimizing it takes as long as all else. What it tests is optimized, and so are
# tests that compare kernels with loops of their own.
function(_cladtorch_compile_quickly target)
  if(NOT CLADTORCH_SANITIZE)
    target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O0>)
  endif()
endfunction()

# Lets a test of the library use the precompiled headers of GoogleTest, which take longer to read than many a test to compile.
function(_cladtorch_precompile_test_headers name headers)
  if(NOT TARGET ${headers})
    file(WRITE ${PROJECT_BINARY_DIR}/test_headers.cpp "int main() {}\n")
    add_executable(${headers} EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/test_headers.cpp)
    cladtorch_target(${headers})
    if(headers STREQUAL "cladtorch_test_headers")
      _cladtorch_compile_quickly(${headers})
    endif()
    target_link_libraries(${headers} PRIVATE OpenMP::OpenMP_CXX GTest::gmock GTest::gtest)
    cladtorch_precompile(${headers} <gmock/gmock.h> <gtest/gtest.h> <nlohmann/json.hpp> <cmath> <filesystem> <functional> <map> <string> <vector>)
  endif()
  # A precompiled header fits one setting of OpenMP, which most layers have.
  target_link_libraries(${name} PRIVATE OpenMP::OpenMP_CXX)
  cladtorch_precompile(${name} REUSE_FROM ${headers})
endfunction()

# Notes a library for CladtorchInstall.cmake, unless it only serves this project's own checks.
function(_cladtorch_register_layer target)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  if(NOT folder MATCHES "^(tests|bench|examples)(/|$)")
    set_property(GLOBAL APPEND PROPERTY CLADTORCH_LAYERS ${target})
  endif()
endfunction()
