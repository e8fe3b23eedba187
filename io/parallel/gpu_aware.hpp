#pragma once

#include <string>

namespace quintet {

/// Whether MPI sends from, and receives into, the memory of a GPU.
struct GpuAware {
  bool yes = false;
  std::string why;  ///< "Open MPI was built with CUDA", "QUINTET_GPU_AWARE_MPI=0", ...
};

/// Whether MPI reads a GPU's memory, by the variable QUINTET_GPU_AWARE_MPI (0 or 1), else by MPI itself:
/// MPIX_Query_cuda_support() of Open MPI and its kin, MPIX_GPU_query_support() of MPICH. Throws InputError
/// for another value of the variable.
///
/// An MPI that does not say is assumed not to: a wrong yes ends in a crash.
[[nodiscard]] GpuAware gpu_aware_mpi();

}  // namespace quintet
