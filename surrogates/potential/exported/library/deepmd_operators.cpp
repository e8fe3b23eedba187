#include <vector>

#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include "io/log/error.hpp"

namespace {

/// Stands in for the operator of DeePMD-kit by which features travel between ranks: models that pass messages
/// name it, and load only where it is known. On one rank nobody calls it.
std::vector<at::Tensor> border_op(const at::Tensor& /*send_list*/, const at::Tensor& /*send_rank*/,
                                  const at::Tensor& /*receive_rank*/, const at::Tensor& /*n_sent*/,
                                  const at::Tensor& /*n_received*/, const at::Tensor& /*features*/,
                                  const at::Tensor& /*communicator*/, const at::Tensor& /*n_local*/,
                                  const at::Tensor& /*n_ghost*/) {
  throw quintet::InternalError("deepmd::border_op was called, though ghosts are told their owners");
}

}  // namespace

TORCH_LIBRARY_FRAGMENT(deepmd, library) { library.def("border_op", &border_op); }
