# clad_compiler_problem(<variable>): why the compiler of this project cannot load the plugin, and the way out; empty if it can.
function(clad_compiler_problem result)
  set(plugin_target clad::plugin)
  if(TARGET clad_plugin)
    set(plugin_target clad_plugin)
  endif()
  get_target_property(major ${plugin_target} CLAD_LLVM_MAJOR)
  string(REGEX MATCH "^[0-9]+" own_major "${CMAKE_CXX_COMPILER_VERSION}")
  set(problem "")
  if(CMAKE_CXX_COMPILER_ID AND NOT (CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND own_major EQUAL major))
    set(problem "the plugin is for Clang ${major}, the compiler is ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
    string(APPEND problem "; configure in a new build folder with -DCMAKE_CXX_COMPILER=clang++-${major}")
  endif()
  set(${result} "${problem}" PARENT_SCOPE)
endfunction()

# clad_differentiate(<target>)
#
# Compiles the target's C++ sources with the clad plugin, so that clad::gradient and its relatives work in them. Inside
# this project the plugin is the target `clad`; a project that uses an installed clad gets it from find_package(clad).
function(clad_differentiate target)
  clad_compiler_problem(problem)
  if(problem)
    message(FATAL_ERROR "clad_differentiate(${target}): ${problem}, or use clad_export(), which serves any compiler")
  endif()
  if(TARGET clad_plugin)
    set(plugin $<TARGET_FILE:clad_plugin>)
    add_dependencies(${target} clad_plugin)
    # A changed plugin changes the object files. OBJECT_DEPENDS takes a path, not a generator expression.
    get_target_property(folder clad_plugin LIBRARY_OUTPUT_DIRECTORY)
    get_target_property(sources ${target} SOURCES)
    # A precompiled header is compiled with the plugin too, from a source that CMake adds when it generates.
    get_target_property(binary_dir ${target} BINARY_DIR)
    list(APPEND sources ${binary_dir}/CMakeFiles/${target}.dir/cmake_pch.hxx.cxx)
    set_property(SOURCE ${sources} TARGET_DIRECTORY ${target} APPEND PROPERTY OBJECT_DEPENDS ${folder}/clad.so)
  else()
    set(plugin $<TARGET_FILE:clad::plugin>)
  endif()
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fplugin=${plugin}>)
  target_link_libraries(${target} PRIVATE clad::clad)
endfunction()

# clad_export(<target> SOURCES <file>... [PRIVATE_MEMBERS] [COMPILER <clang++>] [OPTIONS <option>...])
#
# For a target that a compiler without plugins builds, as g++: Clang reads each of these sources with the plugin and
# writes it out with its derivatives, and the target's compiler compiles what was written in place of the source. The
# target's include folders and definitions hold for Clang too; OPTIONS are for Clang alone (-fopenmp).
# PRIVATE_MEMBERS: derivatives may name private members, which makes the target's compiler check no access.
# COMPILER, or CLAD_EXPORT_COMPILER: the Clang that the plugin was built for, if it is not found by its name.
function(clad_export target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "PRIVATE_MEMBERS" "COMPILER" "SOURCES;OPTIONS")
  if(NOT arg_SOURCES OR arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "clad_export(${target}): expected SOURCES <file>... [PRIVATE_MEMBERS] [COMPILER <clang++>]"
                        " [OPTIONS <option>...], got '${ARGN}'")
  endif()
  set(plugin_target clad::plugin)
  if(TARGET clad_plugin)
    set(plugin_target clad_plugin)
  endif()
  get_target_property(major ${plugin_target} CLAD_LLVM_MAJOR)
  if(NOT arg_COMPILER)
    find_program(CLAD_EXPORT_COMPILER clang++-${major} DOC "The Clang that writes derivatives to files")
    set(arg_COMPILER ${CLAD_EXPORT_COMPILER})
  endif()
  if(NOT arg_COMPILER)
    message(FATAL_ERROR "clad_export(${target}): found no clang++-${major}, for which the plugin was built; install it,"
                        " or set CLAD_EXPORT_COMPILER")
  endif()

  get_target_property(standard ${target} CXX_STANDARD)
  if(NOT standard)
    set(standard 20)
  endif()
  set(includes "$<TARGET_PROPERTY:${target},INCLUDE_DIRECTORIES>")
  set(definitions "$<TARGET_PROPERTY:${target},COMPILE_DEFINITIONS>")
  set(options -std=c++${standard} -w -fsyntax-only "$<$<NOT:$<CONFIG:Debug>>:-DNDEBUG>" ${arg_OPTIONS})
  if(arg_PRIVATE_MEMBERS)
    list(APPEND options -fplugin-arg-clad-export-private)
  endif()
  foreach(source IN LISTS arg_SOURCES)
    cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE path)
    cmake_path(GET path FILENAME name)
    string(MD5 folder ${path})
    string(SUBSTRING ${folder} 0 8 folder)
    set(written ${CMAKE_CURRENT_BINARY_DIR}/${target}.exported/${folder}/${name})
    cmake_path(GET written PARENT_PATH folder)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${written}
      COMMAND ${arg_COMPILER} ${options} -fplugin=$<TARGET_FILE:${plugin_target}> -fplugin-arg-clad-export=${written}
              "$<$<BOOL:${includes}>:-I$<JOIN:${includes},;-I>>" "$<$<BOOL:${definitions}>:-D$<JOIN:${definitions},;-D>>"
              -MD -MF ${written}.d -MT ${written} ${path}
      DEPENDS ${path} $<TARGET_FILE:${plugin_target}> DEPFILE ${written}.d
      COMMENT "Writing the derivatives of ${name}" COMMAND_EXPAND_LISTS VERBATIM)
    set_source_files_properties(${path} PROPERTIES HEADER_FILE_ONLY ON)
    target_sources(${target} PRIVATE ${written})
    if(arg_PRIVATE_MEMBERS)
      set_source_files_properties(${written} PROPERTIES COMPILE_OPTIONS -fno-access-control)
    endif()
  endforeach()
  target_link_libraries(${target} PRIVATE clad::clad)
endfunction()
