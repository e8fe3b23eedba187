# Install rules and the exported package Quintet: find_package(Quintet), then link Quintet::particles and the like.
# Applications install themselves (quintet_application).
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Quintet)

get_property(libraries GLOBAL PROPERTY QUINTET_LIBRARIES)
install(TARGETS quintet_flags ${libraries} EXPORT QuintetTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT QuintetTargets NAMESPACE Quintet:: DESTINATION ${package_folder})
foreach(folder io physics surrogates apps/application)
  get_filename_component(parent ${folder} DIRECTORY)
  install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/quintet/${parent} FILES_MATCHING PATTERN *.hpp)
endforeach()

configure_package_config_file(cmake/QuintetConfig.cmake.in generated/QuintetConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(generated/QuintetConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/QuintetConfig.cmake
              ${PROJECT_BINARY_DIR}/generated/QuintetConfigVersion.cmake
              cmake/QuintetDependencies.cmake cmake/QuintetTorch.cmake cmake/FindKokkos.cmake
        DESTINATION ${package_folder})
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY configs/machines DESTINATION ${CMAKE_INSTALL_DATADIR}/quintet)
