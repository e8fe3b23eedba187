#include "surrogates/resident/device_optimiser.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "surrogates/bridge/operators.hpp"
#include "surrogates/resident/device_numbers.hpp"

namespace quintet {

template <class Real>
DeviceOptimiser<Real>::DeviceOptimiser(const TorchDevice& device, const StoreRequest& request, std::int64_t n)
    : options_(request.optimiser) {
  const std::size_t size = n;
  if (!offloads_states(options_, request.offload)) {
    for (int s = 0; s < n_states(options_); ++s) states_[s] = zeros_at<Real>(device.place(), n);
    return;
  }
  offloaded_ = std::make_unique<OptimiserStates<Real>>(options_, size, request.offload, request.ledger,
                                                       request.offload.rank.value_or(request.comm.rank()));
  const std::int64_t on_their_way = numbers_on_their_way(size, sizeof(Real));
  for (at::Tensor* const here : {&values_here_, &gradient_here_})
    *here = at::zeros({on_their_way},
                      at::TensorOptions(bridge::scalar_type<Real>()).pinned_memory(device.place().is_cuda()));
}

template <class Real>
void DeviceOptimiser<Real>::update(std::int64_t t, double learning_rate, std::int64_t first,
                                   std::int64_t place, at::Tensor theta, at::Tensor g) {
  std::vector<std::pair<at::Tensor, at::Tensor>> twins;  // and what a step begins with
  for (const auto& [from, n] : twins_) {
    const std::int64_t begin = std::max<std::int64_t>(from, first),
                       end = std::min<std::int64_t>(from + n, first + theta.numel());
    if (begin >= end) continue;
    const at::Tensor part = theta.narrow(0, begin - first, end - begin);
    twins.emplace_back(part, part * (1 - learning_rate * options_.weight_decay));
  }
  if (offloaded_)
    apply_on_host(t, learning_rate, place, theta, g);
  else
    apply(t, learning_rate, place, theta, g);
  for (auto& [part, before] : twins) part.add_(part - before);
}

template <class Real>
void DeviceOptimiser<Real>::apply_on_host(std::int64_t t, double learning_rate, std::int64_t place,
                                          const at::Tensor& theta, const at::Tensor& g) {
  for (std::int64_t from = 0; from < theta.numel(); from += values_here_.numel()) {
    const std::int64_t n = std::min(values_here_.numel(), theta.numel() - from);
    const at::Tensor there = theta.narrow(0, from, n), values = values_here_.narrow(0, 0, n),
                     gradient = gradient_here_.narrow(0, 0, n);
    values.copy_(there);
    gradient.copy_(g.narrow(0, from, n));
    offloaded_->update(t, learning_rate, static_cast<std::size_t>(place + from),
                       std::as_writable_bytes(numbers_of<Real>(values)), numbers_of<Real>(gradient));
    there.copy_(values);
    for (int copy = 0; copy < 3; ++copy) count(there);
  }
}

template <class Real>
void DeviceOptimiser<Real>::apply(std::int64_t t, double learning_rate, std::int64_t place, at::Tensor& theta,
                                  at::Tensor& g) {
  const auto& o = options_;
  const auto state = [&](std::size_t s) { return states_[s].narrow(0, place, theta.numel()); };
  if (o.clip > 0) g.clamp_(-o.clip, o.clip);
  switch (o.kind) {
    case OptimiserKind::adamw:
      theta.mul_(1 - learning_rate * o.weight_decay);
      [[fallthrough]];
    case OptimiserKind::adam: {
      const double rate = learning_rate / (1 - std::pow(o.beta1, t)),
                   root = 1 / std::sqrt(1 - std::pow(o.beta2, t));
      const at::Tensor m = state(0), v = state(1);
      m.mul_(o.beta1).add_(g, 1 - o.beta1);
      v.mul_(o.beta2).addcmul_(g, g, 1 - o.beta2);
      theta.addcdiv_(m, v.sqrt().mul_(root).add_(o.epsilon), -rate);
      return;
    }
    case OptimiserKind::sgd:
      if (states_[0].defined()) g = state(0).mul_(o.momentum).add_(g);
      theta.sub_(g, learning_rate);
      return;
  }
  throw InternalError("an optimiser without a kind");
}

template <class Real>
void DeviceOptimiser<Real>::finish(std::int64_t t) {
  if (offloaded_) offloaded_->finish(t);
}

template <class Real>
void DeviceOptimiser<Real>::read(int state, std::int64_t place, std::span<Real> to) const {
  if (offloaded_) return offloaded_->read(state, static_cast<std::size_t>(place), to);
  const at::Tensor part = states_.at(state).narrow(0, place, std::ssize(to));
  on_host(to).copy_(part);
  count(part);
}

template <class Real>
void DeviceOptimiser<Real>::write(int state, std::int64_t place, std::span<const Real> from) {
  if (offloaded_) return offloaded_->write(state, static_cast<std::size_t>(place), from);
  const at::Tensor part = states_.at(state).narrow(0, place, std::ssize(from));
  part.copy_(on_host(from));
  count(part);
}

template <class Real>
std::size_t DeviceOptimiser<Real>::device_bytes() const {
  return bytes_of(states_[0]) + bytes_of(states_[1]);
}

template <class Real>
HeldBytes DeviceOptimiser<Real>::host_bytes() const {
  HeldBytes held;
  if (offloaded_) held.optimiser = offloaded_->host_bytes();
  held.workspace = bytes_of(values_here_) + bytes_of(gradient_here_);
  return held;
}

template class DeviceOptimiser<float>;
template class DeviceOptimiser<double>;

}  // namespace quintet
