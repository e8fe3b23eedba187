#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/comm_implementation.hpp"

namespace quintet {

using detail::all_gather_into_tag;
using detail::all_to_all_into_tag;
using detail::reduce_scatter_tag;

Comm::Pending::Pending(std::unique_ptr<Requests> requests) : requests_(std::move(requests)) {}
Comm::Pending::Pending(Pending&&) noexcept = default;

Comm::Pending::~Pending() {
  if (!requests_) return;
  if (std::uncaught_exceptions() > 0) {
    requests_->give_up();
    return;
  }
  try {
    wait();
  } catch (const Error&) {
    std::terminate();  // a failed message that nobody waited for: the data cannot be trusted
  }
}

void Comm::Pending::wait() {
  if (auto requests = std::exchange(requests_, nullptr)) requests->wait();
}

bool Comm::Pending::progress() { return !requests_ || requests_->progress(); }

// A message to itself is copied at once: MPI would need a buffer for it, and counts of messages are of those
// between ranks.
Comm::Pending Comm::start_exchange_bytes(std::span<const std::byte> send, int destination,
                                         std::span<std::byte> receive, int source, int tag) const {
  const int self = rank();
  for (const int partner : {destination, source}) {
    if (partner < -1 || partner >= size()) {
      throw InternalError(
          fmt::format("Rank {} does not exist: expected -1 (none) or 0 to {}.", partner, size() - 1));
    }
  }
  if (tag < 0 || tag > max_tag) throw InternalError(fmt::format("Tag {} is not in 0 to {}.", tag, max_tag));
  if ((destination == self) != (source == self)) {
    throw InternalError(
        fmt::format("Rank {} sends to {} and receives from {}: a message to itself goes both ways.", self,
                    destination, source));
  }
  auto requests = std::make_unique<Pending::Requests>();
  if (destination == self) {
    if (send.size() != receive.size()) {
      throw InternalError(fmt::format("A message of {} bytes from rank {} was expected, {} bytes came.",
                                      receive.size(), self, send.size()));
    }
    if (!send.empty()) std::memmove(receive.data(), send.data(), send.size());
    return Pending(std::move(requests));
  }
  if (source >= 0) {
    requests->receive(implementation_->comm, receive, source, tag);
    implementation_->count_received(Call::point_to_point, receive.size());
  }
  if (destination >= 0) {
    requests->send(implementation_->comm, send, destination, tag);
    implementation_->count(Call::point_to_point, send.size());
  }
  return Pending(std::move(requests));
}

// ---- slices and parts, rank to rank ----

void Comm::check_slices(std::size_t n) const {
  if (n % size() != 0)
    throw InternalError(fmt::format("{} numbers cannot be cut into {} equal slices.", n, size()));
}

/// A message to and from each other rank for which there is something; the next ranks first, so that not all
/// send to one.
template <class SendPart, class ReceivePart>
Comm::Pending Comm::start_parts(Call call, int tag, const SendPart& send_part,
                                const ReceivePart& receive_part) const {
  auto requests = std::make_unique<Pending::Requests>();
  requests->reserve(2 * static_cast<std::size_t>(size()));
  for (int distance = 1; distance < size(); ++distance) {
    const int source = (rank() + size() - distance) % size();
    const std::span<std::byte> part = receive_part(source);
    requests->receive(implementation_->comm, part, source, tag);
    implementation_->count_received(call, part.size());
  }
  for (int distance = 1; distance < size(); ++distance) {
    const int destination = (rank() + distance) % size();
    const std::span<const std::byte> part = send_part(destination);
    if (part.empty()) continue;
    requests->send(implementation_->comm, part, destination, tag);
    implementation_->count(call, part.size());
  }
  return Pending(std::move(requests));
}

Comm::Pending Comm::start_all_gather_bytes(std::span<std::byte> values) const {
  const std::size_t slice = values.size() / size();
  const auto part = [&](int rank) { return values.subspan(rank * slice, slice); };
  return start_parts(
      Call::all_gather_into, all_gather_into_tag,
      [&](int) { return std::span<const std::byte>(part(rank())); }, part);
}

Comm::Pending Comm::start_all_to_all_bytes(std::span<const std::byte> send,
                                           std::span<const std::size_t> send_counts,
                                           std::span<std::byte> receive,
                                           std::span<const std::size_t> receive_counts,
                                           std::size_t bytes) const {
  // Where parts begin, and where the last one ends: summed once, not again for each rank.
  const auto begins_of = [](std::span<const std::size_t> counts) {
    std::vector<std::size_t> begins(counts.size() + 1, 0);
    std::partial_sum(counts.begin(), counts.end(), begins.begin() + 1);
    return begins;
  };
  const auto send_begins = begins_of(send_counts), receive_begins = begins_of(receive_counts);
  const std::size_t n_ranks = size(), self = rank();
  if (send_counts.size() != n_ranks || receive_counts.size() != n_ranks ||
      send_begins.back() * bytes != send.size() || receive_begins.back() * bytes != receive.size() ||
      send_counts[self] != receive_counts[self])
    throw InternalError(fmt::format("all_to_all_into: parts of {} and {} bytes do not fit their counts.",
                                    send.size(), receive.size()));
  const auto send_part = [&](int rank) {
    return send.subspan(send_begins[rank] * bytes, send_counts[rank] * bytes);
  };
  const auto receive_part = [&](int rank) {
    return receive.subspan(receive_begins[rank] * bytes, receive_counts[rank] * bytes);
  };
  const auto own = send_part(rank());
  if (!own.empty()) std::memcpy(receive_part(rank()).data(), own.data(), own.size());
  return start_parts(Call::all_to_all_into, all_to_all_into_tag, send_part, receive_part);
}

template <class T>
Comm::PendingSum<T> Comm::start_reduce_scatter(std::span<const T> parts, std::span<T> workspace) const {
  check_slices(parts.size());
  const std::size_t slice = parts.size() / static_cast<std::size_t>(size()), needed = parts.size() - slice;
  if (workspace.size() < needed)
    throw InternalError(
        fmt::format("reduce_scatter: {} numbers of workspace, needed are {}.", workspace.size(), needed));
  const auto others = workspace.first(needed);
  const auto send_part = [&](int rank) { return std::as_bytes(parts.subspan(rank * slice, slice)); };
  const auto receive_part = [&](int rank) {
    const std::size_t place = rank < this->rank() ? rank : rank - 1;
    return std::as_writable_bytes(others.subspan(place * slice, slice));
  };
  return {start_parts(Call::reduce_scatter, reduce_scatter_tag, send_part, receive_part),
          parts.data() + rank() * slice, others, rank(), size()};
}

template <class T>
void Comm::PendingSum<T>::wait(std::span<T> own) {
  pending_.wait();
  constexpr std::size_t block = 1024;  // stays in the first-level cache through all ranks
  std::array<T, block> sum;
  for (std::size_t from = 0; from < own.size(); from += block) {
    const std::size_t n = std::min(block, own.size() - from);
    const auto part = [&](int rank) {
      if (rank == rank_) return own_part_ + from;
      return others_.data() + static_cast<std::size_t>(rank < rank_ ? rank : rank - 1) * own.size() + from;
    };
    std::copy_n(part(0), n, sum.data());
    for (int rank = 1; rank < n_ranks_; ++rank) {
      const T* const next = part(rank);
      for (std::size_t i = 0; i < n; ++i) sum[i] += next[i];
    }
    std::copy_n(sum.data(), n, own.data() + from);
  }
}
template class Comm::PendingSum<float>;
template class Comm::PendingSum<double>;
template Comm::PendingSum<float> Comm::start_reduce_scatter(std::span<const float>, std::span<float>) const;
template Comm::PendingSum<double> Comm::start_reduce_scatter(std::span<const double>,
                                                             std::span<double>) const;

}  // namespace quintet
