#include "surrogates/resident/device_parameters.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <memory>
#include <utility>

#include <ATen/core/grad_mode.h>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "surrogates/bridge/operators.hpp"
#include "surrogates/resident/device_numbers.hpp"
#include "surrogates/resident/divided_parameters.hpp"
#include "surrogates/training/stores/parameter_store.hpp"

namespace quintet {

template <class Real>
DeviceParameters<Real>::DeviceParameters(const TorchDevice& device, const StoreRequest& request)
    : comm_(request.comm),
      device_(device),
      layout_(request.layout),
      divides_states_(request.stage() == 1),
      slice_((static_cast<std::int64_t>(layout_.n_parameters()) + comm_.size() - 1) / comm_.size()),
      values_(zeros_at<Real>(device.place(), comm_.size() * slice_)),
      gradient_(zeros_at<Real>(device.place(), comm_.size() * slice_)),
      optimiser_(device, request, divides_states_ ? slice_ : comm_.size() * slice_),
      messages_(comm_, device, slice_, true) {}

template <class Real>
void DeviceParameters<Real>::refuse_bad_gradient(std::int64_t t) {
  const at::Tensor own = slice(gradient_);
  int first = INT_MAX;                                                         // block
  if (!std::isfinite(at::linalg_vector_norm(own, INFINITY).item<double>())) {  // largest |g|, in one sweep
    const std::size_t place =
        comm_.rank() * slice_ + at::isfinite(own).logical_not().nonzero()[0].item<std::int64_t>();
    const auto& blocks = layout_.blocks();
    const auto found = std::find_if(blocks.begin(), blocks.end(),
                                    [&](const auto& block) { return place < block.first + block.size; });
    first = std::min(found - blocks.begin(), std::ssize(blocks) - 1);
  }
  if (comm_.size() > 1) first = comm_.minimum(first);
  if (first == INT_MAX) return;
  clear_gradient();
  throw NumericalError(bad_gradient_text(t, layout_.blocks()[first].name));
}

template <class Real>
void DeviceParameters<Real>::step(std::int64_t t, double learning_rate) {
  in_device_arrays([&] {
    const at::NoGradGuard no_graph;
    const bool is_shared = comm_.size() > 1;
    if (is_shared) {
      messages_.start_sum(gradient_);
      messages_.finish_sum(slice(gradient_));
    }
    refuse_bad_gradient(t);
    if (divides_states_) {
      optimiser_.update(t, learning_rate, comm_.rank() * slice_, 0, slice(values_), slice(gradient_));
      messages_.gather(values_);
    } else {
      if (is_shared) messages_.gather(gradient_);
      optimiser_.update(t, learning_rate, 0, 0, values_, gradient_);
    }
    optimiser_.finish(t);
    gradient_.zero_();
  });
}

template <class Real>
std::vector<Real> DeviceParameters<Real>::copied(const at::Tensor& numbers) const {
  return in_device_arrays([&] {
    bytes_copied_ += numbers.nbytes();
    return brought<Real>(numbers);
  });
}

template <class Real>
std::vector<double> DeviceParameters<Real>::total_gradient() {
  const auto own = copied(gradient_.narrow(0, 0, layout_.n_parameters()));
  std::vector<double> total(own.begin(), own.end());
  comm_.reduce(std::span<double>(total), Comm::Reduction::sum);
  return total;
}

template <class Real>
void DeviceParameters<Real>::clear_gradient() {
  in_device_arrays([&] { gradient_.zero_(); });
}

template <class Real>
std::vector<Real> DeviceParameters<Real>::copied_values(int block) const {
  const auto& it = layout_.blocks()[block];
  return copied(values_.narrow(0, it.first, it.size));
}

template <class Real>
std::vector<Real> DeviceParameters<Real>::all_values() const {
  if (!comm_.is_root()) return {};
  return copied(values_.narrow(0, 0, layout_.n_parameters()));
}

template <class Real>
std::vector<Real> DeviceParameters<Real>::all_states(int state) const {
  std::vector<Real> own(!divides_states_ && !comm_.is_root()
                            ? 0
                            : static_cast<std::size_t>(divides_states_ ? slice_ : values_.numel()));
  if (!own.empty()) in_device_arrays([&] { optimiser_.read(state, 0, own); });
  std::vector<Real> all = divides_states_ ? comm_.gather(std::span<const Real>(own)) : std::move(own);
  all.resize(comm_.is_root() ? layout_.n_parameters() : 0);
  return all;
}

template <class Real>
void DeviceParameters<Real>::assign_values(std::span<const Real> values) {
  in_device_arrays([&] {
    const at::NoGradGuard no_graph;
    const at::Tensor here = on_host(values);
    values_.narrow(0, 0, here.numel()).copy_(here);
    bytes_copied_ += here.nbytes();
  });
}

template <class Real>
void DeviceParameters<Real>::assign_state(int state, std::span<const Real> values) {
  if (divides_states_) {
    const std::size_t n = slice_;
    values = values.subspan(std::min(values.size(), comm_.rank() * n));
    values = values.first(std::min(values.size(), n));
  }
  in_device_arrays([&] { optimiser_.write(state, 0, values); });
}

template <class Real>
HeldBytes DeviceParameters<Real>::bytes() const {
  HeldBytes held;
  held.values = bytes_of(values_);
  held.gradients = bytes_of(gradient_);
  held.optimiser = optimiser_.device_bytes();
  held.workspace = messages_.device_bytes();
  return held;
}

template <class Real>
HeldBytes DeviceParameters<Real>::host_bytes() const {
  HeldBytes held = optimiser_.host_bytes();
  held.workspace += messages_.host_bytes();
  if (device_.place().is_cpu()) held += bytes();
  return held;
}

template <class Real>
ResidentMaker<Real> device_parameters(const TorchDevice& device) {
  return [device](const StoreRequest& request) {
    return in_device_arrays([&]() -> std::unique_ptr<ParameterStore<Real>> {
      if (request.stage() < 2) return std::make_unique<DeviceParameters<Real>>(device, request);
      return std::make_unique<DividedParameters<Real>>(device, request);
    });
  };
}

template class DeviceParameters<float>;
template class DeviceParameters<double>;
template ResidentMaker<float> device_parameters(const TorchDevice&);
template ResidentMaker<double> device_parameters(const TorchDevice&);

}  // namespace quintet
