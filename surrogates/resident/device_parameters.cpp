#include "surrogates/resident/device_parameters.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <span>
#include <utility>

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include "io/log/error.hpp"
#include "surrogates/bridge/tensor.hpp"

namespace quintet {

namespace {

constexpr int slice_tag = 1;

template <class Real>
std::span<Real> numbers(const at::Tensor& tensor) {
  return {tensor.data_ptr<Real>(), static_cast<std::size_t>(tensor.numel())};
}

template <class Real>
at::Tensor on_host(std::vector<Real>& values) {
  return at::from_blob(values.data(), {static_cast<std::int64_t>(values.size())},
                       at::TensorOptions(bridge::scalar_type<Real>()));
}

}  // namespace

template <class Real>
std::string DeviceParameters<Real>::lacks(const Comm& comm, const FlatLayout& layout,
                                          const ParallelOptions& parallel, const OffloadOptions& offload,
                                          const PrecisionOptions& precision) {
  if (comm.size() > 1 && parallel.zero_stage() > 1)
    return fmt::format("parallel.stage {}", parallel.zero_stage());
  if (offload.optimiser != OffloadKind::none) return "offload.optimiser";
  if (offload.delayed_update) return "offload.delayed_update";
  if (precision.splits()) return "precision.parameters split_bf16";
  if (layout.has_parts()) return "tile";
  return "";
}

template <class Real>
DeviceParameters<Real>::DeviceParameters(const Comm& comm, const TorchDevice& device,
                                         const FlatParameters<Real>& host, const ParallelOptions& parallel)
    : comm_(comm),
      device_(device),
      layout_(host.layout()),
      optimiser_(host.optimiser()),
      divides_states_(comm.size() > 1 && parallel.zero_stage() == 1),
      slice_((static_cast<std::int64_t>(host.size()) + comm.size() - 1) / comm.size()) {
  const std::int64_t n_ranks = comm.size(), all = n_ranks * slice_;
  const at::TensorOptions of_host(bridge::scalar_type<Real>()), there = of_host.device(device.place());
  values_ = at::zeros({all}, there);
  gradient_ = at::zeros({all}, there);
  for (int s = 0; s < n_states(optimiser_); ++s)
    states_[static_cast<std::size_t>(s)] = at::zeros({divides_states_ ? slice_ : all}, there);
  if (n_ranks > 1) {
    const bool is_staged = !device.sends_directly();
    if (is_staged) staged_ = at::zeros({all}, of_host.pinned_memory(device.place().is_cuda()));
    arrived_ = at::zeros({(n_ranks - 1) * slice_}, is_staged ? of_host : there);
  }
  for (const auto& block : layout_.blocks())
    blocks_.push_back(
        values_.narrow(0, static_cast<std::int64_t>(block.first), static_cast<std::int64_t>(block.size))
            .detach()
            .set_requires_grad(true));
  take(host);
}

template <class Real>
at::Tensor DeviceParameters<Real>::gradient(int block) const {
  const auto& it = layout_.blocks()[static_cast<std::size_t>(block)];
  return gradient_.narrow(0, static_cast<std::int64_t>(it.first), static_cast<std::int64_t>(it.size));
}

template <class Real>
at::Tensor DeviceParameters<Real>::slice(const at::Tensor& all, int rank) const {
  return all.narrow(0, rank * slice_, slice_);
}

template <class Real>
at::Tensor DeviceParameters<Real>::for_messages(const at::Tensor& all) const {
  if (staged_.defined()) return staged_.copy_(all);
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
  bytes_sent_ += (n_ranks - 1) * slice_ * static_cast<std::int64_t>(sizeof(Real));
}

template <class Real>
void DeviceParameters<Real>::gather(const at::Tensor& all) {
  const int self = comm_.rank();
  if (staged_.defined())
    slice(staged_, self).copy_(slice(all, self));
  else
    device_.fence();
  const at::Tensor gathered = staged_.defined() ? staged_ : all;
  comm_.all_gather_into(numbers<Real>(gathered));
  if (staged_.defined()) all.copy_(staged_);
  bytes_sent_ += (comm_.size() - 1) * slice_ * static_cast<std::int64_t>(sizeof(Real));
}

template <class Real>
void DeviceParameters<Real>::refuse_bad_gradient(std::int64_t t) const {
  const at::Tensor own = slice(gradient_, comm_.rank());
  int first = INT_MAX;  // block
  if (!at::isfinite(own).all().item<bool>()) {
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
  const at::NoGradGuard no_graph;
  const int self = comm_.rank();
  if (comm_.size() > 1) reduce();
  refuse_bad_gradient(t);
  if (divides_states_) {
    update(t, learning_rate, slice(values_, self), slice(gradient_, self));
    gather(values_);
  } else {
    if (comm_.size() > 1) gather(gradient_);
    update(t, learning_rate, values_, gradient_);
  }
  gradient_.zero_();
}

template <class Real>
void DeviceParameters<Real>::update(std::int64_t t, double learning_rate, at::Tensor theta, at::Tensor g) {
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
  std::vector<double> total(layout_.n_parameters());
  on_host(total).copy_(gradient_.narrow(0, 0, static_cast<std::int64_t>(total.size())));
  comm_.reduce(std::span<double>(total), Comm::Reduction::sum);
  return total;
}

template <class Real>
void DeviceParameters<Real>::clear_gradient() const {
  gradient_.zero_();
}

template <class Real>
void DeviceParameters<Real>::take(const FlatParameters<Real>& host) {
  const at::NoGradGuard no_graph;
  const auto bring = [&](const at::Tensor& to, std::vector<Real> of_root) {
    of_root.resize(static_cast<std::size_t>(values_.numel()));
    comm_.broadcast(std::span<Real>(of_root));
    const at::Tensor all = on_host(of_root);
    to.copy_(to.numel() == all.numel() ? all : slice(all, comm_.rank()));
  };
  bring(values_, host.all_values());
  for (int s = 0; s < n_states(optimiser_); ++s)
    bring(states_[static_cast<std::size_t>(s)], host.all_states(s));
}

template <class Real>
std::vector<Real> DeviceParameters<Real>::whole(const at::Tensor& numbers) const {
  std::vector<Real> part(static_cast<std::size_t>(numbers.numel()));
  on_host(part).copy_(numbers);
  auto all =
      numbers.numel() == values_.numel() ? std::move(part) : comm_.all_gather(std::span<const Real>(part));
  all.resize(layout_.n_parameters());
  return all;
}

template <class Real>
void DeviceParameters<Real>::give(FlatParameters<Real>& host) const {
  for (int s = 0; s < n_states(optimiser_); ++s)
    host.assign_state(s, whole(states_[static_cast<std::size_t>(s)]));
  give_values(host);
}

template <class Real>
void DeviceParameters<Real>::give_values(FlatParameters<Real>& host) const {
  host.assign_values(whole(values_));
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

template class DeviceParameters<float>;
template class DeviceParameters<double>;

}  // namespace quintet
