# LibTorch as the target quintet_torch, and whether it and Kokkos can live in one program.
set(torch_how "pip install torch==2.13.0 into .venv (./quickstart does), set CMAKE_PREFIX_PATH, or do without: -DQUINTET_WITH_TORCH=OFF")

# The wheel of PyPI in .venv serves unless the user names another LibTorch. A wheel for CUDA cannot be used where there
# is no CUDA toolkit: its own message does not say what to do.
file(GLOB venv_torch "${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch")
set(torch_usable ON)
if(venv_torch AND EXISTS "${venv_torch}/version.py" AND NOT CMAKE_PREFIX_PATH)
  file(STRINGS "${venv_torch}/version.py" torch_cuda REGEX "^cuda.*'[0-9.]+'")
  if(torch_cuda)
    find_package(CUDAToolkit QUIET)
    if(NOT CUDAToolkit_FOUND)
      set(torch_usable OFF)
      quintet_missing("LibTorch" "the wheel in .venv is built for CUDA, and there is no CUDA toolkit"
        "Install torch==2.13.0+cpu from PyTorch's own index of CPU wheels (pip --index-url)")
    endif()
  endif()
endif()

if(torch_usable)
  quintet_find(Torch 2.1 "neural networks" "${torch_how}" HINTS ${venv_torch} ENV TORCH_ROOT)
endif()

if(Torch_FOUND)
  if(TORCH_CXX_FLAGS MATCHES "_GLIBCXX_USE_CXX11_ABI=0")
    quintet_missing("LibTorch" "built with the C++ ABI of before GCC 5, unlike Kokkos and the other libraries"
      "Take one built with _GLIBCXX_USE_CXX11_ABI=1")
  endif()
  if(TARGET c10_cuda AND Torch_VERSION VERSION_LESS 2.2)
    quintet_missing("LibTorch" "version ${Torch_VERSION} is too old to record steps on a GPU" "Take 2.2 or newer")
  endif()
  if(NOT TARGET quintet_torch)
    add_library(quintet_torch INTERFACE IMPORTED)
    target_link_libraries(quintet_torch INTERFACE ${TORCH_LIBRARIES})
    separate_arguments(torch_flags UNIX_COMMAND "${TORCH_CXX_FLAGS}")
    target_compile_options(quintet_torch INTERFACE ${torch_flags})
    # torch's include folder carries headers of its own fmt, which hide the system's: without that version's library
    # they work header-only.
    target_compile_definitions(quintet_torch INTERFACE FMT_HEADER_ONLY)
    # Headers of ATen include the operators that they need, not all (surrogates/bridge/operators.hpp).
    target_compile_definitions(quintet_torch INTERFACE AT_PER_OPERATOR_HEADERS)
    if(TARGET c10_cuda)  # of a LibTorch for CUDA: surrogates/bridge/device_torch.cpp
      target_compile_definitions(quintet_torch INTERFACE QUINTET_TORCH_CUDA)
      target_link_libraries(quintet_torch INTERFACE c10_cuda)
    endif()
  endif()
endif()
