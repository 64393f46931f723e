# What a test needs in its environment when CLADTORCH_SANITIZE is set.
set(CLADTORCH_SANITIZE_ENVIRONMENT "")

# libomp keeps its threads' records until the process ends, and LeakSanitizer does not always find them.
if(CLADTORCH_SANITIZE MATCHES "address|leak")
  list(APPEND CLADTORCH_SANITIZE_ENVIRONMENT "LSAN_OPTIONS=suppressions=${CMAKE_CURRENT_LIST_DIR}/lsan.supp:print_suppressions=0")
endif()

# ThreadSanitizer knows nothing of OpenMP's barriers inside libomp, which is not instrumented. LLVM's Archer tells it of them;
# without it every parallel loop is reported.
find_package(OpenMP QUIET COMPONENTS CXX)
if(OpenMP_omp_LIBRARY)
  get_filename_component(omp_folder "${OpenMP_omp_LIBRARY}" REALPATH)
  get_filename_component(omp_folder "${omp_folder}" DIRECTORY)
  find_library(CLADTORCH_ARCHER archer HINTS ${omp_folder})
  mark_as_advanced(CLADTORCH_ARCHER)
endif()
set(CLADTORCH_THREAD_SANITIZER_ENVIRONMENT "OMP_TOOL_LIBRARIES=${CLADTORCH_ARCHER}" "TSAN_OPTIONS=ignore_noninstrumented_modules=1")
if(CLADTORCH_SANITIZE MATCHES "thread")
  if(NOT CLADTORCH_ARCHER)
    message(FATAL_ERROR "cladtorch: CLADTORCH_SANITIZE=thread needs libarcher.so, which comes with LLVM's libomp")
  endif()
  list(APPEND CLADTORCH_SANITIZE_ENVIRONMENT ${CLADTORCH_THREAD_SANITIZER_ENVIRONMENT})
endif()
