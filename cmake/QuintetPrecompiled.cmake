# Headers that most files share, parsed once: of the 3 s that g++ takes for a file of this project, more than one is
# parsing these. A file still includes what it uses: presets cpu-dev and asan-ubsan build without them.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR Kokkos_ENABLE_OPENMP OR Kokkos_ENABLE_CUDA)
  # Other compilers want the same level of optimisation in every user, or gain nothing that was measured. A Kokkos of
  # threads brings flags (-fopenmp) that only its users have: what was parsed with them fits no other file.
  set(QUINTET_PRECOMPILED_HEADERS OFF)
endif()
# One kind of code in libraries and executables, so that both can use the same precompiled headers.
set(CMAKE_CXX_COMPILE_OPTIONS_PIE "${CMAKE_CXX_COMPILE_OPTIONS_PIC}")

set(quintet_standard_headers <algorithm> <array> <charconv> <chrono> <cmath> <complex> <cstdint> <cstdio> <cstdlib>
    <cstring> <filesystem> <fstream> <functional> <limits> <map> <memory> <mutex> <numbers> <numeric> <optional> <random>
    <set> <span> <sstream> <stdexcept> <string> <string_view> <thread> <tuple> <type_traits> <unordered_map> <utility>
    <variant> <vector>)

# quintet_precompiled_kind(KIND DEPENDS libs... HEADERS headers... [OPTIONS flags...])
function(quintet_precompiled_kind kind)
  cmake_parse_arguments(ARG "" "" "DEPENDS;HEADERS;OPTIONS" ${ARGN})
  set(source "${CMAKE_BINARY_DIR}/generated/precompiled_${kind}.cpp")
  # a library of headers alone precompiles nothing
  file(CONFIGURE OUTPUT "${source}" CONTENT "// the target that owns precompiled headers must have a file\n")
  add_library(quintet_precompiled_${kind} OBJECT "${source}")
  target_link_libraries(quintet_precompiled_${kind} PRIVATE quintet_flags ${ARG_DEPENDS})
  target_compile_options(quintet_precompiled_${kind} PRIVATE ${ARG_OPTIONS} -fpch-preprocess)
  target_precompile_headers(quintet_precompiled_${kind} PRIVATE ${quintet_standard_headers} ${ARG_HEADERS})
endfunction()

# quintet_precompiled(TARGET KIND libs...): compile TARGET, which uses these libraries, with the precompiled headers of KIND
#   code   the standard library, fmt and Kokkos; where torch, which hides the system's fmt, is used: the standard library and
#          what of ATen the models call
#   tests  those of code with GoogleTest, at the tests' level of optimisation; none where torch is used
# None where PETSc is used, whose flags change the headers of libc.
function(quintet_precompiled target kind)
  if(ARGN MATCHES "quintet_torch|quintet_bridge")
    string(APPEND kind _with_torch)
  endif()
  if(TARGET quintet_precompiled_${kind} AND NOT ARGN MATCHES "PETSC")
    target_precompile_headers(${target} REUSE_FROM quintet_precompiled_${kind})
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # what ccache needs
  endif()
endfunction()

if(QUINTET_PRECOMPILED_HEADERS)
  set(shared_headers <fmt/format.h> <fmt/ranges.h> <Kokkos_Core.hpp>)
  quintet_precompiled_kind(code DEPENDS fmt::fmt Kokkos::kokkos HEADERS ${shared_headers})
  if(QUINTET_BUILD_TESTS)
    quintet_precompiled_kind(tests DEPENDS fmt::fmt Kokkos::kokkos GTest::gtest HEADERS ${shared_headers} <gtest/gtest.h>
                             OPTIONS $<$<CONFIG:Release>:-O1>)
  endif()
  if(TARGET quintet_torch)
    quintet_precompiled_kind(code_with_torch DEPENDS quintet_torch
                             HEADERS "${PROJECT_SOURCE_DIR}/surrogates/bridge/operators.hpp" <torch/csrc/autograd/custom_function.h>)
    set_target_properties(quintet_precompiled_code_with_torch PROPERTIES JOB_POOL_COMPILE torch)
  endif()
endif()
