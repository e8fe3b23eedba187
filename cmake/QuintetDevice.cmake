# libquintet_device.so: the engines of a GPU, by the GPU's compiler against a Kokkos of its own (io/device/README.md). A
# project of its own, cmake/device, since the rest of the suite stays with the host's compiler and Kokkos.
include(ExternalProject)
if(NOT QUINTET_DEVICE_KOKKOS_ROOT)
  message(FATAL_ERROR " QUINTET_WITH_CUDA needs a Kokkos built with CUDA (Kokkos_ENABLE_CUDA=ON): name the folder it is installed in by "
                      "-DQUINTET_DEVICE_KOKKOS_ROOT=FOLDER\n")
endif()
find_program(QUINTET_NVCC_WRAPPER nvcc_wrapper PATHS "${QUINTET_DEVICE_KOKKOS_ROOT}/bin" NO_DEFAULT_PATH)
if(NOT QUINTET_NVCC_WRAPPER)
  message(FATAL_ERROR " ${QUINTET_DEVICE_KOKKOS_ROOT} has no bin/nvcc_wrapper: it is not the folder of an installed Kokkos with CUDA\n")
endif()
ExternalProject_Add(quintet_device_library
  SOURCE_DIR "${PROJECT_SOURCE_DIR}/cmake/device"
  BINARY_DIR "${PROJECT_BINARY_DIR}/device"
  CMAKE_ARGS -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE} -DCMAKE_CXX_COMPILER=${QUINTET_NVCC_WRAPPER}
             -DKokkos_ROOT=${QUINTET_DEVICE_KOKKOS_ROOT}
             -DCMAKE_LIBRARY_OUTPUT_DIRECTORY=${PROJECT_BINARY_DIR}/lib
  BUILD_ALWAYS ON INSTALL_COMMAND "" USES_TERMINAL_BUILD ON)
install(FILES "${PROJECT_BINARY_DIR}/lib/libquintet_device.so" DESTINATION ${CMAKE_INSTALL_LIBDIR})
