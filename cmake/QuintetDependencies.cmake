# Every third party, found not vendored. Used by the build and, installed, by the package Quintet, so that both find the
# same. Leaves a table in QUINTET_FOUND_LINES and one line for each thing missing, too old or unfit, with the way to get
# it, in QUINTET_MISSING_LINES.
set(QUINTET_FOUND_LINES "")
set(QUINTET_MISSING_LINES "")

macro(quintet_missing what reason how)
  string(APPEND QUINTET_MISSING_LINES "\n  ${what}: ${reason}. ${how}")
endmacro()

# quintet_found(NAME VERSION PURPOSE): a line of the table.
macro(quintet_found name version purpose)
  string(SUBSTRING "${name}                " 0 16 column_1)
  string(SUBSTRING "${version}                        " 0 24 column_2)
  string(APPEND QUINTET_FOUND_LINES "\n  ${column_1} ${column_2} ${purpose}")
endmacro()

# quintet_find(PACKAGE VERSION PURPOSE HOW [find_package's arguments]): VERSION "" for any.
macro(quintet_find package version purpose how)
  find_package(${package} ${version} QUIET ${ARGN})
  if(${package}_FOUND)
    quintet_found("${package}" "${${package}_VERSION}${${package}_CXX_VERSION} ${${package}_DEVICES}" "${purpose}")
  elseif(${package}_CONSIDERED_VERSIONS AND NOT "${version}" STREQUAL "")
    quintet_missing("${package}" "version ${${package}_CONSIDERED_VERSIONS} found, ${version} or newer needed" "${how}")
  else()
    string(STRIP "not found ${version}" reason)
    string(REGEX REPLACE "found ([0-9.]+)" "found (\\1 or newer)" reason "${reason}")
    quintet_missing("${package}" "${reason}" "${how}")
  endif()
endmacro()

find_package(Threads REQUIRED)
find_package(PkgConfig QUIET)

quintet_find(MPI 3.0 "message passing" "Debian: apt-get install libopenmpi-dev openmpi-bin" COMPONENTS CXX)

quintet_find(Kokkos 3.4 "parallel loops and arrays"
  "Debian: apt-get install libtrilinos-kokkos-dev; elsewhere set Kokkos_ROOT" MODULE)
if(Kokkos_FOUND AND Kokkos_ENABLE_CUDA)
  quintet_missing("Kokkos of the host" "the one found was built with CUDA, which no compiler but nvcc can use"
    "Set Kokkos_ROOT to one for the host; that with CUDA is QUINTET_DEVICE_KOKKOS_ROOT, for libquintet_device.so")
endif()

# Debian's pkg-config file names the parallel build exactly (CMake's module stumbles over it in newer releases);
# elsewhere, or where HDF5_ROOT says so, CMake's module finds it.
if(PKG_CONFIG_FOUND AND NOT HDF5_ROOT AND NOT DEFINED ENV{HDF5_ROOT})
  pkg_check_modules(HDF5_MPI QUIET IMPORTED_TARGET "hdf5-openmpi>=1.10")
  if(NOT HDF5_MPI_FOUND)
    pkg_check_modules(HDF5_MPI QUIET IMPORTED_TARGET "hdf5-mpich>=1.10")
  endif()
endif()
if(NOT HDF5_MPI_FOUND)
  set(HDF5_PREFER_PARALLEL ON)
  find_package(HDF5 1.10 QUIET COMPONENTS C)
endif()
if(HDF5_MPI_FOUND OR (HDF5_FOUND AND HDF5_IS_PARALLEL))
  if(NOT TARGET quintet_hdf5_c)
    add_library(quintet_hdf5_c INTERFACE IMPORTED)
    if(HDF5_MPI_FOUND)
      set(HDF5_VERSION "${HDF5_MPI_VERSION}")
      target_link_libraries(quintet_hdf5_c INTERFACE PkgConfig::HDF5_MPI MPI::MPI_CXX)
    else()
      target_include_directories(quintet_hdf5_c SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
      target_link_libraries(quintet_hdf5_c INTERFACE ${HDF5_C_LIBRARIES} MPI::MPI_CXX)
    endif()
  endif()
  quintet_found("HDF5" "${HDF5_VERSION} parallel" "result files")
else()
  set(reason "not found (1.10 or newer)")
  if(HDF5_FOUND)
    set(reason "the one found, ${HDF5_VERSION}, was built without MPI")
  endif()
  quintet_missing("parallel HDF5" "${reason}" "Debian: apt-get install libhdf5-openmpi-dev; elsewhere set HDF5_ROOT")
endif()

# Debian keeps the header of the parallel build in a folder of its own, which its pkg-config file does not name. A netCDF with
# another HDF5 than ours would bring a second one into the process.
if(PKG_CONFIG_FOUND AND NOT NETCDF_ROOT AND NOT DEFINED ENV{NETCDF_ROOT})
  pkg_check_modules(NETCDF_MPI QUIET netcdf-mpi>=4.7)
endif()
find_path(NETCDF_INCLUDE_DIR netcdf.h HINTS ${NETCDF_ROOT} $ENV{NETCDF_ROOT} ${NETCDF_MPI_PREFIX} PATH_SUFFIXES include)
find_library(NETCDF_LIBRARY NAMES netcdf_mpi netcdf HINTS ${NETCDF_ROOT} $ENV{NETCDF_ROOT} ${NETCDF_MPI_PREFIX} PATH_SUFFIXES lib lib64)
if(NETCDF_INCLUDE_DIR AND NETCDF_LIBRARY)
  if(NOT TARGET quintet_netcdf_c)
    add_library(quintet_netcdf_c INTERFACE IMPORTED)
    target_include_directories(quintet_netcdf_c SYSTEM INTERFACE ${NETCDF_INCLUDE_DIR})
    target_link_libraries(quintet_netcdf_c INTERFACE ${NETCDF_LIBRARY})
  endif()
  quintet_found("netCDF" "${NETCDF_MPI_VERSION}" "fields of the ocean")
else()
  quintet_missing("netCDF with parallel HDF5" "not found (4.7 or newer)"
    "Debian: apt-get install libnetcdf-mpi-dev; elsewhere set NETCDF_ROOT")
endif()

quintet_find(yaml-cpp 0.6 "input files" "Debian: apt-get install libyaml-cpp-dev")
if(yaml-cpp_FOUND AND NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp INTERFACE IMPORTED)
  target_link_libraries(yaml-cpp::yaml-cpp INTERFACE yaml-cpp)
endif()

if(PKG_CONFIG_FOUND AND NOT MUPARSER_ROOT AND NOT DEFINED ENV{MUPARSER_ROOT})
  pkg_check_modules(MUPARSER QUIET IMPORTED_TARGET "muparser>=2.3")
endif()
if(NOT MUPARSER_FOUND)
  find_path(MUPARSER_INCLUDE_DIR muParser.h HINTS ${MUPARSER_ROOT} $ENV{MUPARSER_ROOT} PATH_SUFFIXES include)
  find_library(MUPARSER_LIBRARY muparser HINTS ${MUPARSER_ROOT} $ENV{MUPARSER_ROOT} PATH_SUFFIXES lib lib64)
endif()
if(MUPARSER_FOUND OR (MUPARSER_INCLUDE_DIR AND MUPARSER_LIBRARY))
  if(NOT TARGET quintet_muparser)
    add_library(quintet_muparser INTERFACE IMPORTED)
    if(MUPARSER_FOUND)
      target_link_libraries(quintet_muparser INTERFACE PkgConfig::MUPARSER)
    else()
      target_include_directories(quintet_muparser SYSTEM INTERFACE ${MUPARSER_INCLUDE_DIR})
      target_link_libraries(quintet_muparser INTERFACE ${MUPARSER_LIBRARY})
    endif()
  endif()
  quintet_found("muParser" "${MUPARSER_VERSION}" "formulas")
else()
  quintet_missing("muParser" "not found (2.3 or newer)"
    "Debian: apt-get install libmuparser-dev; elsewhere set MUPARSER_ROOT")
endif()

quintet_find(ZLIB 1.2 "archives of NumPy arrays" "Debian: apt-get install zlib1g-dev")
quintet_find(fmt 9 "messages" "Debian: apt-get install libfmt-dev")
quintet_find(spdlog 1.10 "log files" "Debian: apt-get install libspdlog-dev")
quintet_find(CLI11 2.1 "command lines" "Debian: apt-get install libcli11-dev")

if(NOT BLA_VENDOR)
  set(BLA_VENDOR OpenBLAS)
endif()
quintet_find(LAPACK "" "dense linear algebra (${BLA_VENDOR})"
  "Debian: apt-get install libopenblas-dev; another library: set BLA_VENDOR")

if(QUINTET_WITH_PETSC)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(PETSC QUIET IMPORTED_TARGET PETSc>=3.18)
  endif()
  if(PETSC_FOUND)
    quintet_found("PETSc" "${PETSC_VERSION}" "solvers")
    # Of the same PETSc; without it podlstm has one method less.
    pkg_check_modules(SLEPC QUIET IMPORTED_TARGET SLEPc>=3.18)
    if(SLEPC_FOUND)
      quintet_found("SLEPc" "${SLEPC_VERSION}" "singular values")
    endif()
  else()
    quintet_missing("PETSc" "not found by pkg-config (3.18 or newer)"
      "Debian: apt-get install pkg-config petsc-dev; or do without: -DQUINTET_WITH_PETSC=OFF")
  endif()
endif()

if(QUINTET_WITH_TORCH)
  include(${CMAKE_CURRENT_LIST_DIR}/QuintetTorch.cmake)
endif()

if(QUINTET_BUILD_TESTS)
  quintet_find(GTest "" "tests" "Debian: apt-get install libgtest-dev; or do without: -DQUINTET_BUILD_TESTS=OFF")
  find_package(Python3 QUIET COMPONENTS Interpreter)
  if(Python3_FOUND)  # itself, not a script that looks for one at every start
    execute_process(COMMAND ${Python3_EXECUTABLE} -c "import sys; print(sys.executable, end='')" OUTPUT_VARIABLE quintet_python)
    set(Python3_EXECUTABLE "${quintet_python}" CACHE FILEPATH "python3 of the tests")
    unset(Python3_EXECUTABLE)  # the one found, which would hide the cache's
  endif()
endif()
if(QUINTET_BUILD_BENCHMARKS)
  quintet_find(benchmark "" "benchmarks"
    "Debian: apt-get install libbenchmark-dev; or do without: -DQUINTET_BUILD_BENCHMARKS=OFF")
endif()
