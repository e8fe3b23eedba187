#include "surrogates/resident/device_parameters.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "io/log/error.hpp"
#include "surrogates/bridge/errors.hpp"
#include "surrogates/bridge/tensor.hpp"
#include "surrogates/training/flat_parameters.hpp"

namespace quintet {

namespace {

constexpr int slice_tag = 1;

template <class Real>
std::span<Real> numbers(const at::Tensor& tensor) {
  return {tensor.data_ptr<Real>(), static_cast<std::size_t>(tensor.numel())};
}

template <class Real>
at::Tensor on_host(std::span<Real> values) {
  return at::from_blob(const_cast<std::remove_const_t<Real>*>(values.data()),
                       {static_cast<std::int64_t>(values.size())},
                       at::TensorOptions(bridge::scalar_type<Real>()));
}

/// LibTorch's errors are ours.
template <class Action>
decltype(auto) translated(Action&& action) {
  return translate_torch_errors("The arrays of a training on the device", std::forward<Action>(action));
}

}  // namespace

template <class Real>
DeviceParameters<Real>::DeviceParameters(const Comm& comm, const TorchDevice& device,
                                         const FlatLayout& layout, const OptimiserOptions& optimiser,
                                         const ParallelOptions& parallel)
    : comm_(comm),
      device_(device),
      layout_(layout),
      optimiser_(optimiser),
      divides_states_(comm.size() > 1 && parallel.zero_stage() == 1),
      needs_(resident_needs(layout.n_parameters(), sizeof(Real), n_states(optimiser), comm.size(),
                            divides_states_, device.sends_directly())),
      slice_(needs_.slice) {
  translated([&] {
    const std::int64_t n_ranks = comm.size(), all = n_ranks * slice_;
    const at::TensorOptions of_host(bridge::scalar_type<Real>()), there = of_host.device(device.place());
    values_ = at::zeros({all}, there);
    gradient_ = at::zeros({all}, there);
    for (int s = 0; s < n_states(optimiser_); ++s)
      states_[static_cast<std::size_t>(s)] = at::zeros({divides_states_ ? slice_ : all}, there);
    if (n_ranks == 1) return;
    const bool is_staged = !device.sends_directly();
    if (is_staged) staged_ = at::zeros({all}, of_host.pinned_memory(device.place().is_cuda()));
    arrived_ = at::zeros({(n_ranks - 1) * slice_}, is_staged ? of_host : there);
  });
}

template <class Real>
at::Tensor DeviceParameters<Real>::slice(const at::Tensor& all, int rank) const {
  return all.narrow(0, rank * slice_, slice_);
}

template <class Real>
at::Tensor DeviceParameters<Real>::for_messages(const at::Tensor& all) const {
  if (staged_.defined()) {
    count(all);
    return staged_.copy_(all);
  }
  device_.fence();
  return all;
}

/// This rank's slice of the sum, into its place in gradient_.
template <class Real>
void DeviceParameters<Real>::reduce() {
  const int n_ranks = comm_.size(), self = comm_.rank();
  const at::Tensor sent = for_messages(gradient_);
  const auto arrived = [&](int rank) { return slice(arrived_, rank < self ? rank : rank - 1); };
  std::vector<Comm::Pending> pending;
  for (int rank = 0; rank < n_ranks; ++rank)
    if (rank != self)
      pending.push_back(comm_.start_exchange(std::span<const Real>(numbers<Real>(slice(sent, rank))), rank,
                                             numbers<Real>(arrived(rank)), rank, slice_tag));
  for (auto& one : pending) one.wait();
  const at::Tensor own = slice(sent, self);
  at::Tensor sum = (self == 0 ? own : arrived(0)).clone();
  for (int rank = 1; rank < n_ranks; ++rank) sum.add_(rank == self ? own : arrived(rank));
  slice(gradient_, self).copy_(sum);
  if (staged_.defined()) count(sum);
  bytes_sent_ += (n_ranks - 1) * slice_ * static_cast<std::int64_t>(sizeof(Real));
}

template <class Real>
void DeviceParameters<Real>::gather(const at::Tensor& all) {
  const int self = comm_.rank();
  if (staged_.defined()) {
    slice(staged_, self).copy_(slice(all, self));
    count(slice(all, self));
  } else {
    device_.fence();
  }
  const at::Tensor gathered = staged_.defined() ? staged_ : all;
  comm_.all_gather_into(numbers<Real>(gathered));
  if (staged_.defined()) {
    all.copy_(staged_);
    count(all);
  }
  bytes_sent_ += (comm_.size() - 1) * slice_ * static_cast<std::int64_t>(sizeof(Real));
}

template <class Real>
void DeviceParameters<Real>::refuse_bad_gradient(std::int64_t t) const {
  const at::Tensor own = slice(gradient_, comm_.rank());
  int first = INT_MAX;                                                         // block
  if (!std::isfinite(at::linalg_vector_norm(own, INFINITY).item<double>())) {  // largest |g|, in one sweep
    const auto place = static_cast<std::size_t>(
        comm_.rank() * slice_ + at::isfinite(own).logical_not().nonzero()[0].item<std::int64_t>());
    const auto& blocks = layout_.blocks();
    const auto found = std::find_if(blocks.begin(), blocks.end(),
                                    [&](const auto& block) { return place < block.first + block.size; });
    first = static_cast<int>(std::min(found - blocks.begin(), std::ssize(blocks) - 1));
  }
  if (comm_.size() > 1) first = comm_.minimum(first);
  if (first == INT_MAX) return;
  clear_gradient();
  throw NumericalError(bad_gradient_text(t, layout_.blocks()[static_cast<std::size_t>(first)].name));
}

template <class Real>
void DeviceParameters<Real>::step(std::int64_t t, double learning_rate) {
  translated([&] {
    const at::NoGradGuard no_graph;
    const int self = comm_.rank();
    if (comm_.size() > 1) reduce();
    refuse_bad_gradient(t);
    if (divides_states_) {
      update(t, learning_rate, self * slice_, slice(values_, self), slice(gradient_, self));
      gather(values_);
    } else {
      if (comm_.size() > 1) gather(gradient_);
      update(t, learning_rate, 0, values_, gradient_);
    }
    gradient_.zero_();
  });
}

template <class Real>
void DeviceParameters<Real>::update(std::int64_t t, double learning_rate, std::int64_t first,
                                    at::Tensor theta, at::Tensor g) {
  std::vector<std::pair<at::Tensor, at::Tensor>> twins;  // and what a step begins with
  for (const auto& [from, n] : twins_) {
    const std::int64_t begin = std::max(static_cast<std::int64_t>(from), first),
                       end = std::min(static_cast<std::int64_t>(from + n), first + theta.numel());
    if (begin >= end) continue;
    const at::Tensor part = theta.narrow(0, begin - first, end - begin);
    twins.emplace_back(part, part * (1 - learning_rate * optimiser_.weight_decay));
  }
  apply(t, learning_rate, theta, g);
  for (auto& [part, before] : twins) part.add_(part - before);
}

template <class Real>
void DeviceParameters<Real>::apply(std::int64_t t, double learning_rate, at::Tensor& theta, at::Tensor& g) {
  const auto& o = optimiser_;
  if (o.clip > 0) g.clamp_(-o.clip, o.clip);
  switch (o.kind) {
    case OptimiserKind::adamw:
      theta.mul_(1 - learning_rate * o.weight_decay);
      [[fallthrough]];
    case OptimiserKind::adam: {
      const double rate = learning_rate / (1 - std::pow(o.beta1, static_cast<double>(t))),
                   root = 1 / std::sqrt(1 - std::pow(o.beta2, static_cast<double>(t)));
      auto& [m, v] = states_;
      m.mul_(o.beta1).add_(g, 1 - o.beta1);
      v.mul_(o.beta2).addcmul_(g, g, 1 - o.beta2);
      theta.addcdiv_(m, v.sqrt().mul_(root).add_(o.epsilon), -rate);
      return;
    }
    case OptimiserKind::sgd:
      if (states_[0].defined()) g = states_[0].mul_(o.momentum).add_(g);
      theta.sub_(g, learning_rate);
      return;
  }
  throw InternalError("an optimiser without a kind");
}

template <class Real>
std::vector<double> DeviceParameters<Real>::total_gradient() const {
  const auto own = brought(gradient_, static_cast<std::int64_t>(layout_.n_parameters()));
  std::vector<double> total(own.begin(), own.end());
  comm_.reduce(std::span<double>(total), Comm::Reduction::sum);
  return total;
}

template <class Real>
void DeviceParameters<Real>::clear_gradient() const {
  translated([&] { gradient_.zero_(); });
}

template <class Real>
std::vector<Real> DeviceParameters<Real>::brought(const at::Tensor& array, std::int64_t n) const {
  return translated([&] {
    std::vector<Real> here(static_cast<std::size_t>(n));
    const at::Tensor part = array.narrow(0, 0, n);
    on_host(std::span<Real>(here)).copy_(part);
    count(part);
    return here;
  });
}

template <class Real>
void DeviceParameters<Real>::put(const at::Tensor& to, std::span<const Real> from) {
  translated([&] {
    const at::NoGradGuard no_graph;
    const at::Tensor here = on_host(from);
    to.narrow(0, 0, here.numel()).copy_(here);
    count(here);
  });
}

template <class Real>
std::vector<Real> DeviceParameters<Real>::all_values() const {
  return brought(values_, static_cast<std::int64_t>(layout_.n_parameters()));
}

template <class Real>
std::vector<Real> DeviceParameters<Real>::all_states(int state) const {
  const at::Tensor& array = states_[static_cast<std::size_t>(state)];
  std::vector<Real> all;
  if (divides_states_)
    all = comm_.gather(std::span<const Real>(brought(array, slice_)));
  else if (comm_.is_root())
    all = brought(array, array.numel());
  all.resize(comm_.is_root() ? layout_.n_parameters() : 0);
  return all;
}

template <class Real>
void DeviceParameters<Real>::assign_values(std::span<const Real> values) {
  put(values_, values);
}

template <class Real>
void DeviceParameters<Real>::assign_state(int state, std::span<const Real> values) {
  if (divides_states_) {
    const auto n = static_cast<std::size_t>(slice_);
    values = values.subspan(std::min(values.size(), static_cast<std::size_t>(comm_.rank()) * n));
    values = values.first(std::min(values.size(), n));
  }
  put(states_[static_cast<std::size_t>(state)], values);
}

template <class Real>
HeldBytes DeviceParameters<Real>::bytes() const {
  const auto bytes_of = [](const at::Tensor& tensor) { return tensor.defined() ? tensor.nbytes() : 0; };
  HeldBytes held;
  held.values = bytes_of(values_);
  held.gradients = bytes_of(gradient_);
  held.optimiser = bytes_of(states_[0]) + bytes_of(states_[1]);
  held.workspace = staged_.defined() ? 0 : bytes_of(arrived_);
  return held;
}

template <class Real>
HeldBytes DeviceParameters<Real>::host_bytes() const {
  HeldBytes held;
  if (device_.place().is_cpu()) held = bytes();
  if (staged_.defined()) held.workspace += staged_.nbytes() + arrived_.nbytes();
  return held;
}

template <class Real>
ResidentMaker<Real> device_parameters(const TorchDevice& device) {
  return [device](const Comm& comm, const FlatLayout& layout, const OptimiserOptions& optimiser,
                  const ParallelOptions& parallel) {
    return std::make_unique<DeviceParameters<Real>>(comm, device, layout, optimiser, parallel);
  };
}

template class DeviceParameters<float>;
template class DeviceParameters<double>;
template ResidentMaker<float> device_parameters(const TorchDevice&);
template ResidentMaker<double> device_parameters(const TorchDevice&);

}  // namespace quintet
