# What `cmake --install` puts where: headers and libraries. The layers' targets register themselves in
# CladtorchTargets.cmake.
foreach(headers include clad/include)
  if(EXISTS ${PROJECT_SOURCE_DIR}/${headers})
    install(DIRECTORY ${headers}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
  endif()
endforeach()
