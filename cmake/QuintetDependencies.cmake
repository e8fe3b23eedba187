# Every third party, found not vendored. What is missing or too old ends the configuration with one line that says how
# to get it.
macro(quintet_require found what how)
  if(NOT ${found})
    message(FATAL_ERROR "${what} not found. ${how}")
  endif()
endmacro()

find_package(PkgConfig QUIET)
find_package(Threads REQUIRED)

find_package(MPI QUIET COMPONENTS CXX)
quintet_require(MPI_CXX_FOUND "MPI" "Debian: apt-get install libopenmpi-dev openmpi-bin")

find_package(Kokkos 3.4 MODULE QUIET)
quintet_require(Kokkos_FOUND "Kokkos 3.4.1 or newer" "Debian: apt-get install libtrilinos-kokkos-dev; elsewhere set Kokkos_ROOT")

set(HDF5_PREFER_PARALLEL ON)
find_package(HDF5 QUIET COMPONENTS C)
if(NOT HDF5_IS_PARALLEL)
  message(FATAL_ERROR "Parallel HDF5 not found. Debian: apt-get install libhdf5-openmpi-dev; elsewhere set HDF5_ROOT to a build with MPI")
endif()
add_library(quintet_hdf5_c INTERFACE)
target_include_directories(quintet_hdf5_c SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
target_link_libraries(quintet_hdf5_c INTERFACE ${HDF5_C_LIBRARIES} MPI::MPI_CXX)

find_package(yaml-cpp QUIET)
quintet_require(yaml-cpp_FOUND "yaml-cpp" "Debian: apt-get install libyaml-cpp-dev")
if(NOT TARGET yaml-cpp::yaml-cpp)
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()

find_package(fmt QUIET)
quintet_require(fmt_FOUND "fmt" "Debian: apt-get install libfmt-dev")
find_package(spdlog QUIET)
quintet_require(spdlog_FOUND "spdlog" "Debian: apt-get install libspdlog-dev")
find_package(CLI11 QUIET)
quintet_require(CLI11_FOUND "CLI11" "Debian: apt-get install libcli11-dev")

set(BLA_VENDOR OpenBLAS)
find_package(LAPACK QUIET)
quintet_require(LAPACK_FOUND "OpenBLAS with LAPACK" "Debian: apt-get install libopenblas-dev")

if(QUINTET_WITH_PETSC)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(PETSC QUIET IMPORTED_TARGET PETSc>=3.18)
  endif()
  quintet_require(PETSC_FOUND "PETSc 3.18 or newer" "Debian: apt-get install petsc-dev; or configure with -DQUINTET_WITH_PETSC=OFF")
endif()

if(QUINTET_WITH_TORCH)
  # The wheel of PyPI in .venv serves unless the user names another LibTorch.
  file(GLOB venv_torch "${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch")
  find_package(Torch QUIET HINTS ${venv_torch} ENV TORCH_ROOT)
  quintet_require(Torch_FOUND "LibTorch" "pip install torch==2.13.0 into .venv (./quickstart does), set CMAKE_PREFIX_PATH, or configure with -DQUINTET_WITH_TORCH=OFF")
  add_library(quintet_torch INTERFACE)
  target_link_libraries(quintet_torch INTERFACE ${TORCH_LIBRARIES})
  separate_arguments(torch_flags UNIX_COMMAND "${TORCH_CXX_FLAGS}")
  target_compile_options(quintet_torch INTERFACE ${torch_flags})
  # torch's include folder carries headers of its own fmt, which hide the system's: without that version's library
  # they work header-only.
  target_compile_definitions(quintet_torch INTERFACE FMT_HEADER_ONLY)
endif()

if(QUINTET_BUILD_TESTS)
  find_package(GTest QUIET)
  quintet_require(GTest_FOUND "GoogleTest" "Debian: apt-get install libgtest-dev; or configure with -DQUINTET_BUILD_TESTS=OFF")
endif()
if(QUINTET_BUILD_BENCHMARKS)
  find_package(benchmark QUIET)
  quintet_require(benchmark_FOUND "Google Benchmark" "Debian: apt-get install libbenchmark-dev; or configure with -DQUINTET_BUILD_BENCHMARKS=OFF")
endif()
