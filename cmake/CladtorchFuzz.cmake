# libFuzzer, where the compiler is Clang and has it.
include(CheckCXXSourceCompiles)

set(CLADTORCH_FUZZING OFF)
if(CLADTORCH_BUILD_TESTS AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # A build that is sanitized already keeps its own sanitizers.
  set(CLADTORCH_FUZZ_SANITIZERS fuzzer,address,undefined)
  if(CLADTORCH_SANITIZE)
    set(CLADTORCH_FUZZ_SANITIZERS fuzzer,${CLADTORCH_SANITIZE})
  endif()
  set(CMAKE_REQUIRED_FLAGS -fsanitize=${CLADTORCH_FUZZ_SANITIZERS})
  check_cxx_source_compiles("#include <cstddef>\n#include <cstdint>
extern \"C\" int LLVMFuzzerTestOneInput(const uint8_t*, size_t) { return 0; }" CLADTORCH_FUZZING_WORKS)
  unset(CMAKE_REQUIRED_FLAGS)
  set(CLADTORCH_FUZZING ${CLADTORCH_FUZZING_WORKS})
  if(NOT CLADTORCH_FUZZING)
    message(STATUS "cladtorch: this Clang has no libFuzzer: no fuzz tests")
  endif()
endif()

function(_cladtorch_instrument target)
  target_compile_options(${target} PRIVATE -fsanitize=${CLADTORCH_FUZZ_SANITIZERS} -fno-omit-frame-pointer
                                           -fno-sanitize-recover=all)
endfunction()

# cladtorch_add_fuzzed_sources(<file>... LIBS <target>...)
#
# The files under test: they are compiled once more, into cladtorch_fuzzed, so that a fuzz test sees which of their
# branches it reached; all else comes from the libraries. An archive, so that each program takes what it calls.
function(cladtorch_add_fuzzed_sources)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "" "LIBS")
  if(NOT CLADTORCH_FUZZING)
    return()
  endif()
  add_library(cladtorch_fuzzed STATIC ${arg_UNPARSED_ARGUMENTS})
  cladtorch_target(cladtorch_fuzzed)
  _cladtorch_instrument(cladtorch_fuzzed)
  set_target_properties(cladtorch_fuzzed PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
  cladtorch_precompile(cladtorch_fuzzed <fmt/format.h> <nlohmann/json.hpp> <filesystem> <map> <string> <vector>)
  target_link_libraries(cladtorch_fuzzed PUBLIC ${arg_LIBS})
endfunction()

# cladtorch_add_fuzz_test(<name> [DICTIONARY <file>] [RUNS <n>])
#
# An executable <name>_fuzz from <name>_fuzz.cpp, which has LLVMFuzzerTestOneInput, and a test that runs it a fixed
# number of times, starting from corpus/<name>.
function(cladtorch_add_fuzz_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "DICTIONARY;RUNS" "")
  if(NOT CLADTORCH_FUZZING)
    return()
  endif()
  set(target ${name}_fuzz)
  add_executable(${target} ${target}.cpp)
  cladtorch_target(${target})
  _cladtorch_instrument(${target})
  target_link_options(${target} PRIVATE -fsanitize=${CLADTORCH_FUZZ_SANITIZERS})
  # Before the libraries that it depends on, so that the instrumented copy is the one that is taken.
  target_link_libraries(${target} PRIVATE cladtorch_fuzzed)
  set(options -runs=20000)
  if(arg_RUNS)
    set(options -runs=${arg_RUNS})
  endif()
  if(arg_DICTIONARY)
    list(APPEND options -dict=${CMAKE_CURRENT_SOURCE_DIR}/${arg_DICTIONARY})
  endif()
  file(RELATIVE_PATH label ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  add_test(NAME fuzz.${name}
           COMMAND ${PROJECT_SOURCE_DIR}/tests/fuzz/run $<TARGET_FILE:${target}>
                   ${CMAKE_CURRENT_SOURCE_DIR}/corpus/${name} ${options})
  set_tests_properties(fuzz.${name} PROPERTIES LABELS "${label}" ENVIRONMENT
    "OMP_NUM_THREADS=1;LSAN_OPTIONS=suppressions=${PROJECT_SOURCE_DIR}/cmake/lsan.supp:print_suppressions=0")
endfunction()
