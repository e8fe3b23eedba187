#include "surrogates/sequence/network/torch/library/torch_library.hpp"

#include <algorithm>
#include <tuple>
#include <vector>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <torch/csrc/autograd/autograd.h>

#include "io/log/error.hpp"
#include "surrogates/bridge/device_torch.hpp"
#include "surrogates/bridge/errors.hpp"
#include "surrogates/bridge/tensor.hpp"
#include "surrogates/bridge/torch_subsystem.hpp"

namespace quintet::sequence {

namespace {

template <class Real>
class TorchNetwork : public Passes<Real> {
 public:
  TorchNetwork(const Architecture& architecture, int steps, const DeviceSession& session, Real* values,
               Real* gradient)
      : graph_(graph_of(architecture)),
        steps_(steps),
        steps_out_(architecture.steps_out),
        n_outputs_(architecture.n_outputs),
        device_(session),
        options_(at::TensorOptions().dtype(bridge::scalar_type<Real>()).device(device_.place())),
        flat_((values ? array(values, options_) : at::zeros({n_all()}, options_)).requires_grad_()) {
    if (gradient) gradient_ = array(gradient, options_);
    QUINTET_CHECK(graph_.operations.back().last_step || steps_out_ == steps,
                  "a network whose head goes step for step gives {} steps, not {}; for another number: head: "
                  "last_state",
                  steps, steps_out_);
  }

  [[nodiscard]] std::size_t n_parameters() const override { return graph_.n_parameters; }
  void refresh(const Real* parameters) override {
    if (!gradient_.defined()) flat_.detach().copy_(array(parameters, options_.device(at::kCPU)));
  }
  void forward(const Real* windows, int n, Real* outputs) override {
    translate_torch_errors("a recurrent network in LibTorch", [&] {
      const at::NoGradGuard guard;
      const at::Tensor result = run(windows, n).contiguous().to(at::kCPU);
      std::copy_n(result.template data_ptr<Real>(), result.numel(), outputs);
    });
  }
  using Passes<Real>::loss_and_gradient;
  double loss_and_gradient(const Real* windows, const Real* targets, int n, Real* gradient,
                           int batch) override {
    return translate_torch_errors("a recurrent network's gradient in LibTorch", [&] {
      const at::Tensor wanted = there(targets, {n, steps_out_, n_outputs_});
      const at::Tensor mean = at::mse_loss(run(windows, n), wanted);
      const at::Tensor loss = n == batch ? mean : mean * (static_cast<double>(n) / batch);
      const auto bars = torch::autograd::grad({loss}, {flat_});
      if (gradient_.defined())
        gradient_.add_(bars.front());
      else
        array(gradient, options_.device(at::kCPU)).add_(bars.front().to(at::kCPU));
      return loss.template item<double>();
    });
  }

 private:
  [[nodiscard]] std::int64_t n_all() const { return static_cast<std::int64_t>(graph_.n_parameters); }
  /// All parameters under a tensor's name.
  [[nodiscard]] at::Tensor array(const Real* place, const at::TensorOptions& options) const {
    return at::from_blob(const_cast<Real*>(place), {n_all()}, options);
  }
  /// Numbers of the host where the network is: there, or where that is the host the same memory.
  [[nodiscard]] at::Tensor there(const Real* numbers, at::IntArrayRef shape) const {
    return at::from_blob(const_cast<Real*>(numbers), shape, options_.device(at::kCPU)).to(device_.place());
  }
  /// An array of the flat parameters, as a matrix or (one row) as a vector.
  [[nodiscard]] at::Tensor part(std::size_t first, std::int64_t rows, std::int64_t columns) const {
    return flat_.narrow(0, static_cast<std::int64_t>(first), rows * columns).view({rows, columns});
  }
  [[nodiscard]] at::Tensor lstm(const Operation& operation, const at::Tensor& x) const {
    const std::int64_t in = operation.n_in, n = operation.n_out;
    const std::size_t u = operation.first + static_cast<std::size_t>(in * 4 * n);
    const at::Tensor bias = part(u + static_cast<std::size_t>(n * 4 * n), 1, 4 * n).view({4 * n});
    // PyTorch adds a second bias to the first: of zeros, that take no part in training. In one piece of
    // memory in this order, as cuDNN wants them, which else makes that copy again in every call, with a
    // warning.
    const at::Tensor piece = at::cat({part(operation.first, in, 4 * n).t().reshape({-1}),
                                      part(u, n, 4 * n).t().reshape({-1}), bias, at::zeros_like(bias)});
    const std::int64_t own = 4 * n * in, seen = 4 * n * n;
    const std::vector<at::Tensor> weights = {
        piece.narrow(0, 0, own).view({4 * n, in}), piece.narrow(0, own, seen).view({4 * n, n}),
        piece.narrow(0, own + seen, 4 * n), piece.narrow(0, own + seen + 4 * n, 4 * n)};
    const at::Tensor zero = at::zeros({1, x.size(1), n}, options_);
    return std::get<0>(at::lstm(x, {zero, zero}, weights, true, 1, 0.0, true, false, false));
  }
  [[nodiscard]] at::Tensor dense(const Operation& operation, const at::Tensor& x) const {
    const std::int64_t in = operation.n_in, n = operation.n_out;
    const at::Tensor sum =
        at::matmul(operation.last_step ? x.narrow(0, steps_ - 1, 1) : x, part(operation.first, in, n)) +
        part(operation.first + static_cast<std::size_t>(in * n), 1, n).view({n});
    return operation.relu ? at::relu(sum) : sum;
  }
  /// Outputs [n, steps_out, n_outputs].
  [[nodiscard]] at::Tensor run(const Real* windows, int n) const {
    const at::Tensor input = there(windows, {n, steps_, graph_.n_inputs});
    std::vector<at::Tensor> tensors = {input.transpose(0, 1).contiguous()};  // [steps, n, numbers]
    for (const Operation& operation : graph_.operations) {
      at::Tensor result = tensors[operation.inputs.front()];
      switch (operation.kind) {
        case Operation::Kind::lstm:
          result = lstm(operation, result);
          break;
        case Operation::Kind::dense:
          result = dense(operation, result);
          break;
        case Operation::Kind::merge:
          for (std::size_t i = 1; i < operation.inputs.size(); ++i)
            result = result + tensors[operation.inputs[i]];
          result = at::relu(result);
          break;
      }
      tensors.push_back(result);
    }
    return tensors.back().transpose(0, 1).reshape({n, steps_out_, n_outputs_});
  }

  Graph graph_;
  int steps_, steps_out_, n_outputs_;
  TorchDevice device_;
  at::TensorOptions options_;
  at::Tensor flat_, gradient_;  ///< the gradient of a training that has it there; undefined: the host's
};

template <class Real>
Passes<Real>* make(const Architecture& architecture, int steps, const DeviceSession& device, Real* values,
                   Real* gradient, int threads) {
  at::set_num_threads(threads);
  return new TorchNetwork<Real>(architecture, steps, device, values, gradient);
}

}  // namespace

Passes<float>* quintet_torch_network_float(const Architecture& architecture, int steps,
                                           const DeviceSession& device, float* values, float* gradient,
                                           int threads) {
  return make<float>(architecture, steps, device, values, gradient, threads);
}
Passes<double>* quintet_torch_network_double(const Architecture& architecture, int steps,
                                             const DeviceSession& device, double* values, double* gradient,
                                             int threads) {
  return make<double>(architecture, steps, device, values, gradient, threads);
}
bool quintet_torch_has_gpus() { return torch_has_gpus(); }

}  // namespace quintet::sequence
