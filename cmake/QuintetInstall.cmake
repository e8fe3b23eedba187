# What is installed, by component: `programs` (with machines, inputs, pages), `bridges` (bridges/*), and `development`: headers,
# libraries and the exported package Quintet: find_package(Quintet), then link Quintet::particles and the like.
# Programs install themselves (quintet_program).
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Quintet)

get_property(libraries GLOBAL PROPERTY QUINTET_LIBRARIES)
list(FILTER libraries EXCLUDE REGEX "^quintet_test_")
install(TARGETS quintet_flags ${libraries} EXPORT QuintetTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(EXPORT QuintetTargets NAMESPACE Quintet:: DESTINATION ${package_folder} COMPONENT development)
foreach(folder io physics surrogates apps/application)
  get_filename_component(parent ${folder} DIRECTORY)
  install(DIRECTORY ${folder} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/quintet/${parent} COMPONENT development
          FILES_MATCHING PATTERN *.hpp)
endforeach()

configure_package_config_file(cmake/QuintetConfig.cmake.in generated/QuintetConfig.cmake
                              INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(generated/QuintetConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/QuintetConfig.cmake
              ${PROJECT_BINARY_DIR}/generated/QuintetConfigVersion.cmake
              cmake/QuintetDependencies.cmake cmake/QuintetTorch.cmake cmake/FindKokkos.cmake
        DESTINATION ${package_folder} COMPONENT development)

# What the programs read, and what their users do. Pages name inputs/ and docs/ from where README.md lies.
set(data_folder ${CMAKE_INSTALL_DATADIR}/quintet)
install(DIRECTORY configs/machines DESTINATION ${data_folder} COMPONENT programs)
install(DIRECTORY inputs DESTINATION ${data_folder} COMPONENT programs USE_SOURCE_PERMISSIONS
        PATTERN runs EXCLUDE PATTERN __pycache__ EXCLUDE)
install(FILES LICENSE README.md CHANGELOG.md CITATION.cff DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT programs)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT programs PATTERN *.py EXCLUDE)
