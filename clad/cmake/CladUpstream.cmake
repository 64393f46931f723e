# With -DCLADTORCH_AD=clad: an installed upstream Clad in place of this project's plugin, for what both can differentiate.
# Defines clad_differentiate(<target>) as CladDifferentiate.cmake does.
#   CLAD_PLUGIN       its clad.so, built for the Clang that compiles this project
#   CLAD_INCLUDE_DIR  the folder of its clad/Differentiator/Differentiator.h
find_file(CLAD_PLUGIN NAMES clad.so PATH_SUFFIXES lib lib64 DOC "clad.so of an installed upstream Clad")
find_path(CLAD_INCLUDE_DIR clad/Differentiator/Differentiator.h DOC "The headers of an installed upstream Clad")
foreach(what CLAD_PLUGIN CLAD_INCLUDE_DIR)
  if(NOT ${what} OR NOT EXISTS ${${what}})
    message(FATAL_ERROR "CLADTORCH_AD=clad: no installed upstream Clad was found (${what} is '${${what}}'); set CLAD_PLUGIN to"
                        " its clad.so and CLAD_INCLUDE_DIR to the folder of its clad/Differentiator/Differentiator.h, or build"
                        " with -DCLADTORCH_AD=plugin")
  endif()
endforeach()
message(STATUS "cladtorch: derivatives by upstream Clad, ${CLAD_PLUGIN}; what needs this project's plugin is not built:"
               " the gradients of models, training, the tests of clad/")

function(clad_differentiate target)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fplugin=${CLAD_PLUGIN}>)
  # Before this project's headers of the same names.
  target_include_directories(${target} BEFORE PRIVATE ${CLAD_INCLUDE_DIR})
  target_link_libraries(${target} PRIVATE clad::clad)
endfunction()
