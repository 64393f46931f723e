# Kernels that run on the host in tests: tests/cuda_host imitates the CUDA runtime, with fibers of Boost.Context as threads.
set(CLADTORCH_CUDA_HOST OFF)
if(CLADTORCH_BUILD_TESTS)
  find_package(Boost 1.74 CONFIG QUIET COMPONENTS context)
  if(Boost_FOUND)
    set(CLADTORCH_CUDA_HOST ON)
  else()
    message(STATUS "cladtorch: no Boost.Context: no tests of CUDA kernels on the host")
  endif()
endif()

# cladtorch_cuda_host_sources(<target> <file.cu>...)
#
# Compiles .cu files as plain C++ into a target, where cuda_runtime.h is the imitation's.
function(cladtorch_cuda_host_sources target)
  target_sources(${target} PRIVATE ${ARGN})
  set_source_files_properties(${ARGN} TARGET_DIRECTORY ${target} PROPERTIES LANGUAGE CXX)
  target_link_libraries(${target} PUBLIC cladtorch::cuda_host)
endfunction()
