#include "surrogates/sequence/network/torch/library/torch_library.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>

#include "io/log/error.hpp"
#include "surrogates/bridge/device_torch.hpp"
#include "surrogates/bridge/errors.hpp"
#include "surrogates/bridge/fixed_inputs.hpp"
#include "surrogates/bridge/operator_recorder.hpp"
#include "surrogates/bridge/operators.hpp"
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
        flat_((values ? array(values, options_) : at::zeros({n_all()}, options_)).requires_grad_()),
        is_resident_(gradient != nullptr),
        gradient_(is_resident_ ? array(gradient, options_) : at::zeros({n_all()}, options_)),
        recorder_(device_.place(), device_.is_used()) {
    QUINTET_CHECK(graph_.operations.back().last_step || steps_out_ == steps,
                  "a network whose head goes step for step gives {} steps, not {}; for another number: head: "
                  "last_state",
                  steps, steps_out_);
  }

  [[nodiscard]] std::size_t n_parameters() const override { return graph_.n_parameters; }
  void refresh(const Real* parameters) override {
    if (!is_resident_) flat_.detach().copy_(array(parameters, options_.device(at::kCPU)));
  }
  void forward(const Real* windows, int n, Real* outputs) override {
    translate_torch_errors("a recurrent network in LibTorch", [&] {
      const at::NoGradGuard guard;
      const at::Tensor input = here(windows, {n, steps_, graph_.n_inputs}).to(device_.place());
      const at::Tensor result = run(input).contiguous().to(at::kCPU);
      std::copy_n(result.template data_ptr<Real>(), result.numel(), outputs);
    });
  }
  using Passes<Real>::loss_and_gradient;
  double loss_and_gradient(const Real* windows, const Real* targets, int n, Real* gradient,
                           int batch) override {
    return translate_torch_errors("a recurrent network's gradient in LibTorch", [&] {
      StepOfShape& step = step_of(n);
      const Real share = static_cast<double>(n) / batch;
      step.places.fill({here(windows, {n, steps_, graph_.n_inputs}),
                        here(targets, {n, steps_out_, n_outputs_}), here(&share, {})});
      recorder_.compute(step.operators, [this, &step] { add_gradient(step); });
      if (!is_resident_) {
        array(gradient, options_.device(at::kCPU)).add_(gradient_.to(at::kCPU));
        gradient_.zero_();
      }
      return step.loss.template item<double>();
    });
  }
  [[nodiscard]] std::string take_notice() override { return recorder_.take_notice(); }

 private:
  [[nodiscard]] std::int64_t n_all() const { return graph_.n_parameters; }
  /// All parameters under a tensor's name.
  [[nodiscard]] at::Tensor array(const Real* place, const at::TensorOptions& options) const {
    return at::from_blob(const_cast<Real*>(place), {n_all()}, options);
  }
  /// Numbers of the host under a tensor's name.
  [[nodiscard]] at::Tensor here(const Real* numbers, at::IntArrayRef shape) const {
    return at::from_blob(const_cast<Real*>(numbers), shape, options_.device(at::kCPU));
  }

  /// A step of n windows, on tensors that stay where they are: recorded where such steps come again.
  struct StepOfShape {
    int n;
    FixedInputs places;  ///< windows, targets, the share of the batch that they are
    at::Tensor loss;
    RepeatedOperators operators;
  };
  [[nodiscard]] StepOfShape& step_of(int n) {
    const auto found =
        std::find_if(steps_of_.begin(), steps_of_.end(), [n](const auto& step) { return step->n == n; });
    if (found != steps_of_.end()) {
      std::rotate(steps_of_.begin(), found, found + 1);  // the latest first
      return *steps_of_.front();
    }
    constexpr std::size_t most_shapes = 4;  // whole batches and the last one of an epoch
    if (steps_of_.size() == most_shapes) steps_of_.pop_back();
    const auto real = options_.device(at::kCPU);
    FixedInputs places(device_.place(), {at::empty({n, steps_, graph_.n_inputs}, real),
                                         at::empty({n, steps_out_, n_outputs_}, real), at::empty({}, real)});
    steps_of_.insert(steps_of_.begin(), std::make_unique<StepOfShape>(
                                            StepOfShape{n, std::move(places), at::zeros({}, options_), {}}));
    return *steps_of_.front();
  }
  void add_gradient(const StepOfShape& step) const {
    const auto& there = step.places.there();
    const at::Tensor loss = at::mse_loss(run(there[0]), there[1]) * there[2];
    gradient_.add_(torch::autograd::grad({loss}, {flat_}).front());
    step.loss.copy_(loss.detach());
  }

  /// An array of the flat parameters, as a matrix or (one row) as a vector.
  [[nodiscard]] at::Tensor part(std::size_t first, std::int64_t rows, std::int64_t columns) const {
    return flat_.narrow(0, first, rows * columns).view({rows, columns});
  }
  [[nodiscard]] at::Tensor lstm(const Operation& operation, const at::Tensor& x) const {
    const std::int64_t in = operation.n_in, n = operation.n_out;
    const std::size_t u = operation.first + (in * 4 * n);
    const at::Tensor bias = part(u + (n * 4 * n), 1, 4 * n).view({4 * n});
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
        part(operation.first + (in * n), 1, n).view({n});
    return operation.relu ? at::relu(sum) : sum;
  }
  /// Outputs [n, steps_out, n_outputs] of windows [n, steps, n_inputs].
  [[nodiscard]] at::Tensor run(const at::Tensor& input) const {
    const std::int64_t n = input.size(0);
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
  at::Tensor flat_;
  bool is_resident_;     ///< both arrays are a training's, there
  at::Tensor gradient_;  ///< else of a step, 0 between two
  OperatorRecorder recorder_;
  std::vector<std::unique_ptr<StepOfShape>> steps_of_;
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
void quintet_torch_threads(int threads) { at::set_num_threads(threads); }

}  // namespace quintet::sequence
