#include "io/parallel/gpu_aware.hpp"

#include <cstdlib>
#include <string_view>

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include "io/log/error.hpp"
#include "io/parallel/mpi_session.hpp"

namespace quintet {
namespace {

GpuAware ask_mpi() {
  if (!mpi_is_up()) return {false, "MPI is not up"};
#if defined(MPIX_CUDA_AWARE_SUPPORT) || defined(OMPI_HAVE_MPI_EXT_CUDA)
  const bool yes = MPIX_Query_cuda_support() == 1;
  return {yes, yes ? "MPI was built with CUDA" : "MPI was built without CUDA"};
#elif defined(MPIX_GPU_SUPPORT_CUDA)
  int supported = 0;
  const bool yes = MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &supported) == MPI_SUCCESS && supported != 0;
  return {yes, yes ? "MPI was built with CUDA" : "MPI was built without CUDA"};
#else
  return {false, "this MPI does not say; QUINTET_GPU_AWARE_MPI=1 if it is"};
#endif
}

}  // namespace

GpuAware gpu_aware_mpi() {
  const char* const wish = std::getenv("QUINTET_GPU_AWARE_MPI");
  if (wish == nullptr || *wish == '\0') return ask_mpi();
  const std::string_view value(wish);
  QUINTET_CHECK(value == "0" || value == "1",
                "QUINTET_GPU_AWARE_MPI is '{}'; expected 1 (MPI reads the memory of GPUs) or 0", value);
  return {value == "1", fmt::format("QUINTET_GPU_AWARE_MPI={}", value)};
}

}  // namespace quintet
