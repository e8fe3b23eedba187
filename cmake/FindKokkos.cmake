# Kokkos, from a working KokkosConfig.cmake where there is one, else from Debian's packages.
#
# Debian 12's KokkosConfig.cmake (libtrilinos-kokkos-dev) names an include folder that does not exist, Debian sid's
# (libkokkos-dev) static libraries that its package lacks; both are passed over in favour of headers and libraries
# found directly. Defines Kokkos::kokkos, Kokkos_VERSION and Kokkos_VIA (config or the folder of the headers).
find_package(Kokkos QUIET CONFIG HINTS ENV Kokkos_ROOT PATHS ENV CMAKE_PREFIX_PATH NO_SYSTEM_ENVIRONMENT_PATH
             NO_CMAKE_SYSTEM_PATH)
if(Kokkos_FOUND AND TARGET Kokkos::kokkos)
  set(Kokkos_VIA config)
else()
  find_path(Kokkos_INCLUDE_DIR Kokkos_Core.hpp PATH_SUFFIXES kokkos trilinos)
  find_library(Kokkos_CORE_LIBRARY NAMES kokkoscore trilinos_kokkoscore)
  find_library(Kokkos_CONTAINERS_LIBRARY NAMES kokkoscontainers trilinos_kokkoscontainers)
  if(Kokkos_INCLUDE_DIR AND EXISTS "${Kokkos_INCLUDE_DIR}/KokkosCore_config.h")
    file(STRINGS "${Kokkos_INCLUDE_DIR}/KokkosCore_config.h" lines REGEX "define KOKKOS_")
    string(REGEX MATCH "KOKKOS_VERSION ([0-9]+)" found "${lines}")
    if(found)
      math(EXPR major "${CMAKE_MATCH_1} / 10000")
      math(EXPR minor "${CMAKE_MATCH_1} / 100 % 100")
      math(EXPR patch "${CMAKE_MATCH_1} % 100")
      set(Kokkos_VERSION "${major}.${minor}.${patch}")
    endif()
    if(lines MATCHES "define KOKKOS_ENABLE_OPENMP")
      set(Kokkos_ENABLE_OPENMP ON)
    endif()
  endif()
  include(FindPackageHandleStandardArgs)
  find_package_handle_standard_args(Kokkos REQUIRED_VARS Kokkos_CORE_LIBRARY Kokkos_INCLUDE_DIR
                                    VERSION_VAR Kokkos_VERSION)
  if(Kokkos_FOUND AND NOT TARGET Kokkos::kokkos)
    add_library(Kokkos::kokkos INTERFACE IMPORTED)
    target_include_directories(Kokkos::kokkos SYSTEM INTERFACE "${Kokkos_INCLUDE_DIR}")
    target_link_libraries(Kokkos::kokkos INTERFACE "${Kokkos_CORE_LIBRARY}" "${Kokkos_CONTAINERS_LIBRARY}"
                          ${CMAKE_DL_LIBS})
    if(Kokkos_ENABLE_OPENMP)
      find_package(OpenMP REQUIRED COMPONENTS CXX)
      target_link_libraries(Kokkos::kokkos INTERFACE OpenMP::OpenMP_CXX)
    endif()
    set(Kokkos_VIA "${Kokkos_INCLUDE_DIR}")
  endif()
endif()
