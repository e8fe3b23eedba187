#include "surrogates/potential/training/torch/library/torch_library.hpp"

#include <memory>
#include <string>

#include <ATen/Parallel.h>

#include "surrogates/bridge/device_torch.hpp"
#include "surrogates/bridge/errors.hpp"
#include "surrogates/bridge/torch_subsystem.hpp"
#include "surrogates/potential/training/torch/library/torch_steps.hpp"

namespace quintet::potential {

namespace {

/// TorchSteps on a run's device, whose errors are ours.
template <class Real>
class StepsOfRun final : public TorchSteps<Real> {
 public:
  StepsOfRun(const NetworkShapes& shapes, const DeviceSession& session, Real* values, Real* gradient)
      : device_(session) {
    steps_ = translated([&] { return make_torch_steps<Real>(shapes, device_.place(), values, gradient); });
  }
  void refresh(const Real* parameters) override {
    translated([&] { steps_->refresh(parameters); });
  }
  [[nodiscard]] std::shared_ptr<const KeptRows> keep(const FrameRows<Real>& rows) override {
    return translated([&] { return steps_->keep(rows); });
  }
  void predict(std::span<const std::shared_ptr<const KeptRows>> frames, std::span<Prediction> predictions,
               bool is_differentiated) override {
    translated([&] { steps_->predict(frames, predictions, is_differentiated); });
  }
  void differentiate(std::span<const Adjoint> adjoints) override {
    translated([&] { steps_->differentiate(adjoints); });
  }
  void collect(Real* gradient) override {
    translated([&] { steps_->collect(gradient); });
  }
  [[nodiscard]] std::string take_notice() override { return steps_->take_notice(); }

 private:
  template <class Action>
  static decltype(auto) translated(Action&& action) {
    return translate_torch_errors("a Deep Potential's training in LibTorch", std::forward<Action>(action));
  }

  TorchDevice device_;
  std::unique_ptr<TorchSteps<Real>> steps_;
};

template <class Real>
TorchSteps<Real>* make(const NetworkShapes& shapes, const DeviceSession& device, Real* values, Real* gradient,
                       int threads) {
  at::set_num_threads(threads);
  return new StepsOfRun<Real>(shapes, device, values, gradient);
}

}  // namespace

TorchSteps<float>* quintet_torch_steps_float(const NetworkShapes& shapes, const DeviceSession& device,
                                             float* values, float* gradient, int threads) {
  return make<float>(shapes, device, values, gradient, threads);
}
TorchSteps<double>* quintet_torch_steps_double(const NetworkShapes& shapes, const DeviceSession& device,
                                               double* values, double* gradient, int threads) {
  return make<double>(shapes, device, values, gradient, threads);
}
bool quintet_potential_torch_has_gpus() { return torch_has_gpus(); }

}  // namespace quintet::potential
