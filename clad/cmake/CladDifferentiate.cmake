# clad_differentiate(<target>)
#
# Compiles the target's C++ sources with the clad plugin, so that clad::gradient and its relatives work in them. Inside
# this project the plugin is the target `clad`; a project that uses an installed clad gets it from find_package(clad).
function(clad_differentiate target)
  if(TARGET clad_plugin)
    set(plugin $<TARGET_FILE:clad_plugin>)
    add_dependencies(${target} clad_plugin)
    # A changed plugin changes the object files. OBJECT_DEPENDS takes a path, not a generator expression.
    get_target_property(folder clad_plugin LIBRARY_OUTPUT_DIRECTORY)
    get_target_property(sources ${target} SOURCES)
    set_property(SOURCE ${sources} TARGET_DIRECTORY ${target} APPEND PROPERTY OBJECT_DEPENDS ${folder}/clad.so)
  else()
    set(plugin $<TARGET_FILE:clad::plugin>)
  endif()
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fplugin=${plugin}>)
  target_link_libraries(${target} PRIVATE clad::clad)
endfunction()
