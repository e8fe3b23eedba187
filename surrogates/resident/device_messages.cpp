#include "surrogates/resident/device_messages.hpp"

#include <span>
#include <utility>

#include "io/config/tree.hpp"
#include "surrogates/bridge/operators.hpp"
#include "surrogates/bridge/tensor.hpp"
#include "surrogates/resident/device_numbers.hpp"

namespace quintet {

namespace {

constexpr int slice_tag = 1;

}  // namespace

template <class Real>
DeviceMessages<Real>::DeviceMessages(const Comm& comm, const TorchDevice& device, std::int64_t slice,
                                     bool sums)
    : comm_(comm), device_(device) {
  const std::int64_t n_ranks = comm.size();
  if (n_ranks == 1) return;
  const at::TensorOptions of_host(bridge::scalar_type<Real>());
  const bool is_staged = !device.sends_directly();
  if (is_staged) staged_ = at::zeros({n_ranks * slice}, of_host.pinned_memory(device.place().is_cuda()));
  if (sums)
    arrived_ = at::zeros({(n_ranks - 1) * slice}, is_staged ? of_host : of_host.device(device.place()));
}

template <class Real>
at::Tensor DeviceMessages<Real>::part(const at::Tensor& all, int rank) const {
  const std::int64_t slice = all.numel() / comm_.size();
  return all.narrow(0, rank * slice, slice);
}

template <class Real>
at::Tensor DeviceMessages<Real>::room_for(const at::Tensor& all) const {
  return staged_.defined() ? staged_.narrow(0, 0, all.numel()) : all;
}

template <class Real>
at::Tensor DeviceMessages<Real>::arrived(int rank, std::int64_t slice) const {
  return arrived_.narrow(0, (rank < comm_.rank() ? rank : rank - 1) * slice, slice);
}

template <class Real>
void DeviceMessages<Real>::start_sum(const at::Tensor& parts) {
  sent_ = room_for(parts);
  if (staged_.defined()) {
    sent_.copy_(parts);
    count(parts);
  } else {
    device_.fence();
  }
  const std::int64_t slice = parts.numel() / comm_.size();
  for (int rank = 0; rank < comm_.size(); ++rank)
    if (rank != comm_.rank())
      pending_.push_back(comm_.start_exchange(std::span<const Real>(numbers_of<Real>(part(sent_, rank))),
                                              rank, numbers_of<Real>(arrived(rank, slice)), rank, slice_tag));
  bytes_sent_ += (comm_.size() - 1) * slice * static_cast<std::int64_t>(sizeof(Real));
}

template <class Real>
void DeviceMessages<Real>::finish_sum(const at::Tensor& own) {
  for (auto& one : pending_) one.wait();
  pending_.clear();
  const int self = comm_.rank();
  const at::Tensor mine = part(std::exchange(sent_, {}), self);
  const at::Tensor sum = self == 0 ? mine : arrived(0, own.numel());
  for (int rank = 1; rank < comm_.size(); ++rank) sum.add_(rank == self ? mine : arrived(rank, own.numel()));
  own.copy_(sum);
  if (staged_.defined()) count(sum);
}

template <class Real>
void DeviceMessages<Real>::start_gather(const at::Tensor& all) {
  array_ = all;
  sent_ = room_for(all);
  const at::Tensor own = part(all, comm_.rank());
  if (staged_.defined()) {
    part(sent_, comm_.rank()).copy_(own);
    count(own);
  } else {
    device_.fence();
  }
  pending_.push_back(comm_.start_all_gather_into(numbers_of<Real>(sent_)));
  bytes_sent_ += (comm_.size() - 1) * own.nbytes();
}

template <class Real>
void DeviceMessages<Real>::finish_gather() {
  for (auto& one : pending_) one.wait();
  pending_.clear();
  const at::Tensor all = std::exchange(array_, {}), came = std::exchange(sent_, {});
  if (!staged_.defined()) return;
  all.copy_(came);
  count(all);
}

template <class Real>
void DeviceMessages<Real>::progress() {
  for (auto& one : pending_) one.progress();
}

template <class Real>
std::size_t DeviceMessages<Real>::device_bytes() const {
  return arrived_.defined() && !staged_.defined() ? arrived_.nbytes() : 0;
}

template <class Real>
std::size_t DeviceMessages<Real>::host_bytes() const {
  return staged_.defined() ? staged_.nbytes() + (arrived_.defined() ? arrived_.nbytes() : 0) : 0;
}

template class DeviceMessages<float>;
template class DeviceMessages<double>;

}  // namespace quintet
