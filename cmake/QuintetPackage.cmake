# Packages: `cpack --config build/CPackConfig.cmake -G DEB` of programs and bridges, `-G TGZ` of the same as a tree to unpack;
# `cmake --build build --target dist` makes the tarball of the sources, the same bytes of the same commit.
set(CPACK_PACKAGE_NAME quintet)
set(CPACK_PACKAGE_VENDOR "Quintet developers")
set(CPACK_PACKAGE_CONTACT "Quintet developers <quintet-developers@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Scientific machine-learning simulation codes")
set(CPACK_PACKAGE_DESCRIPTION "Molecular dynamics with Deep Potentials, plasma kinetics, density matrices by the submatrix method, \
convection with super-resolution, forecasts of sea-surface temperature. Compiled with -march=${QUINTET_ARCH}.")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_RESOURCE_FILE_README "${PROJECT_SOURCE_DIR}/README.md")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
# One package of what users need; headers and libraries for programs of their own are installed by cmake --install.
set(CPACK_COMPONENTS_ALL programs bridges)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS openmpi-bin)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "bash-completion, man-db")
# What the binaries are linked to, as dpkg-shlibdeps finds it; of LibTorch no package of Debian is asked for: see
# docs/packages.md.
find_program(QUINTET_SHLIBDEPS dpkg-shlibdeps)
mark_as_advanced(QUINTET_SHLIBDEPS)
if(QUINTET_SHLIBDEPS)
  set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
endif()
include(CPack)

find_package(Git QUIET)
if(Git_FOUND AND EXISTS "${PROJECT_SOURCE_DIR}/.git")
  add_custom_target(dist
    COMMAND ${CMAKE_COMMAND} "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DVERSION=${PROJECT_VERSION}"
            "-DTARBALL=${CPACK_PACKAGE_DIRECTORY}/quintet-${PROJECT_VERSION}.tar.gz"
            -P "${PROJECT_SOURCE_DIR}/cmake/source_tarball.cmake" VERBATIM)
endif()
