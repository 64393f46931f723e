# What `cmake --install` puts where, and the files through which other projects find it:
#   find_package(clad)       the plugin and its headers: clad::clad, clad_differentiate(<target>)
#   find_package(cladtorch)  that and the layers: cladtorch::cladtorch or cladtorch::<layer>
#   pkg-config clad, pkg-config cladtorch: the same for a plain compiler call
# With `--component portable`: the program and the libraries that it needs, as a folder to copy to other machines.
# The pkg-config files exist in the build tree too (<build>/pkgconfig), where they name the build's own paths.
include(CMakePackageConfigHelpers)

set(headers ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/clad/include)
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake)
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
string(REGEX REPLACE "[^/]+" ".." prefix_from_pkgconfig ${pkgconfig_dir})

# The layers registered themselves in cladtorch_target().
get_property(layers GLOBAL PROPERTY CLADTORCH_LAYERS)
list(TRANSFORM layers REPLACE "^cladtorch_" "cladtorch::" OUTPUT_VARIABLE layer_aliases)
list(JOIN layer_aliases ", " CLADTORCH_LAYER_NAMES)
add_library(cladtorch INTERFACE)
add_library(cladtorch::cladtorch ALIAS cladtorch)
# The code for GPUs registers itself: as a whole, or it is left out.
list(TRANSFORM layers REPLACE "^cladtorch_cuda$" "$<LINK_LIBRARY:WHOLE_ARCHIVE,cladtorch::cuda>" OUTPUT_VARIABLE linked)
target_link_libraries(cladtorch INTERFACE ${linked})
install(TARGETS cladtorch EXPORT cladtorchTargets)
foreach(layer IN LISTS layers)
  string(REGEX REPLACE "^cladtorch_" "" export_name ${layer})
  set_target_properties(${layer} PROPERTIES EXPORT_NAME ${export_name})
  install(TARGETS ${layer} EXPORT cladtorchTargets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
          FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endforeach()

foreach(folder IN LISTS headers)
  install(DIRECTORY ${folder}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
endforeach()
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# All that is installed, without the tests.
add_custom_target(cladtorch_installed)
add_dependencies(cladtorch_installed ${layers})
foreach(target clad_plugin cladtorch_cli)
  if(TARGET ${target})
    add_dependencies(cladtorch_installed ${target})
  endif()
endforeach()

# install_package(<name>): its config, version and target files, from cmake/<name>Config.cmake.in.
function(install_package name)
  configure_package_config_file(cmake/${name}Config.cmake.in ${PROJECT_BINARY_DIR}/package/${name}Config.cmake
                                INSTALL_DESTINATION ${config_dir}/${name})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/${name}ConfigVersion.cmake
                                   COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/package/${name}Config.cmake
                ${PROJECT_BINARY_DIR}/package/${name}ConfigVersion.cmake DESTINATION ${config_dir}/${name})
  install(EXPORT ${name}Targets NAMESPACE ${name}:: DESTINATION ${config_dir}/${name})
endfunction()

# write_pkgconfig(<name> <file>): fills cmake/<name>.pc.in with the caller's values.
function(write_pkgconfig name file)
  configure_file(cmake/${name}.pc.in ${PROJECT_BINARY_DIR}/package/pkgconfig.in @ONLY)
  file(READ ${PROJECT_BINARY_DIR}/package/pkgconfig.in content)
  file(GENERATE OUTPUT ${file} CONTENT "${content}")
endfunction()

# The plugin (see clad/CMakeLists.txt); it serves the major version of Clang that it was built for.
set(required_packages fmt nlohmann_json tomlplusplus libutf8proc libpcre2-8 sentencepiece zlib libzstd libpng libjpeg)
if(TARGET clad_plugin)
  list(PREPEND required_packages clad)
  string(REGEX MATCH "^[0-9]+" LLVM_VERSION_MAJOR ${CMAKE_CXX_COMPILER_VERSION})
  set_target_properties(clad_plugin PROPERTIES EXPORT_NAME plugin)
  install(TARGETS clad clad_plugin EXPORT cladTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(FILES clad/cmake/CladDifferentiate.cmake DESTINATION ${config_dir}/clad)
  install_package(clad)
endif()
list(JOIN required_packages ", " required_packages)
install_package(cladtorch)

# pkg-config in the build tree: absolute paths.
set(prefix_line "")
set(clad_includes "-I${PROJECT_SOURCE_DIR}/clad/include")
set(cladtorch_includes "-I${PROJECT_SOURCE_DIR}/include ${clad_includes}")
set(plugin_path "$<TARGET_FILE:clad_plugin>")
set(library_flags "")
set(installed_library_flags "")
foreach(layer IN LISTS layers)
  get_target_property(type ${layer} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    string(APPEND library_flags "$<TARGET_FILE:${layer}> ")
    string(APPEND installed_library_flags "-l$<TARGET_FILE_BASE_NAME:${layer}> ")
  endif()
endforeach()
# Who links instrumented libraries needs the sanitizer's runtime.
set(sanitizer_flags "")
if(CLADTORCH_SANITIZE)
  set(sanitizer_flags "-fsanitize=${CLADTORCH_SANITIZE}")
endif()
set(blas_flags "")
if(CLADTORCH_CBLAS)
  list(JOIN BLAS_LIBRARIES " " blas_flags)
endif()
if(CLADTORCH_WITH_LAPACK)
  list(JOIN LAPACK_LIBRARIES " " lapack_flags)
  string(APPEND blas_flags " ${lapack_flags}")
endif()
write_pkgconfig(cladtorch ${PROJECT_BINARY_DIR}/pkgconfig/cladtorch.pc)
if(TARGET clad_plugin)
  write_pkgconfig(clad ${PROJECT_BINARY_DIR}/pkgconfig/clad.pc)
endif()

# pkg-config installed: relative to the file itself, so that the tree can be moved.
set(prefix_line "prefix=\${pcfiledir}/${prefix_from_pkgconfig}\n")
set(clad_includes "-I\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
set(cladtorch_includes "${clad_includes}")
set(plugin_path "\${prefix}/${CMAKE_INSTALL_LIBDIR}/$<TARGET_FILE_NAME:clad_plugin>")
set(library_flags "-L\${prefix}/${CMAKE_INSTALL_LIBDIR} ${installed_library_flags}")
write_pkgconfig(cladtorch ${PROJECT_BINARY_DIR}/package/cladtorch.pc)
install(FILES ${PROJECT_BINARY_DIR}/package/cladtorch.pc DESTINATION ${pkgconfig_dir})
if(TARGET clad_plugin)
  write_pkgconfig(clad ${PROJECT_BINARY_DIR}/package/clad.pc)
  install(FILES ${PROJECT_BINARY_DIR}/package/clad.pc DESTINATION ${pkgconfig_dir})
endif()

# The libraries of the system and of CUDA's driver are the other machine's own; so are cuBLAS and cuDNN, for their size.
# An RPATH, unlike a RUNPATH, is what libraries of libraries are looked for in too.
if(TARGET cladtorch_cli)
  set(install_rpath "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  set_target_properties(cladtorch_cli PROPERTIES INSTALL_RPATH "${install_rpath}")
  target_link_options(cladtorch_cli PRIVATE LINKER:--disable-new-dtags)
  install(TARGETS cladtorch_cli RUNTIME_DEPENDENCY_SET program_libraries
          RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT portable EXCLUDE_FROM_ALL)
  install(RUNTIME_DEPENDENCY_SET program_libraries
          PRE_EXCLUDE_REGEXES "^lib(c|m|dl|rt|pthread)\\.so" "^ld-linux" "^lib(cuda|cublas|cudnn|nv)"
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT portable EXCLUDE_FROM_ALL)
endif()
