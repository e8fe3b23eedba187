#include "io/parallel/comm.hpp"

#include <algorithm>
#include <chrono>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <numeric>
#include <thread>
#include <utility>

#include <mpi.h>

#include "io/log/error.hpp"
#include "io/log/line_counts.hpp"
#include "io/parallel/foreign_comm.hpp"
#include "io/parallel/mpi_error.hpp"
#include "io/parallel/mpi_session.hpp"

namespace quintet {
namespace {

/// MPI counts with int: what is longer travels in pieces of this size.
constexpr std::size_t max_piece = std::size_t{1} << 30;
constexpr int all_to_all_tag = Comm::max_tag + 1;
constexpr int gather_tag = Comm::max_tag + 2;
constexpr int reduce_scatter_tag = Comm::max_tag + 3;
constexpr int all_gather_into_tag = Comm::max_tag + 4;
constexpr int all_to_all_into_tag = Comm::max_tag + 5;
static_assert(all_to_all_into_tag <= 32767, "MPI promises tags up to 32767 only");

/// Calls `piece(offset, length)` for the pieces of [0, size), none of them longer than `longest`.
template <class Piece>
void in_pieces(std::size_t size, std::size_t longest, const Piece& piece) {
  for (std::size_t offset = 0; offset < size; offset += longest) {
    piece(offset, static_cast<int>(std::min(longest, size - offset)));
  }
}

std::size_t total(const std::vector<std::uint64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
}

}  // namespace

struct Comm::Implementation {
  Implementation(MPI_Comm comm, bool is_owner) : comm(comm), is_owner(is_owner) {
    if (!is_owner) return;
    check_mpi(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check_mpi(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;
  ~Implementation() {
    if (is_owner && mpi_is_up()) MPI_Comm_free(&comm);
  }

  Counter& counter(Call call) { return counters[static_cast<std::size_t>(call)]; }
  void count(Call call, std::size_t bytes) {
    ++counter(call).messages;
    counter(call).bytes += bytes;
  }
  void count_received(Call call, std::size_t bytes) { counter(call).received += bytes; }

  /// The ranks on this rank's node, found once. Collective on first call.
  std::shared_ptr<Implementation> node() {
    if (!node_) {
      MPI_Comm found = MPI_COMM_NULL;
      check_mpi(MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &found),
                "MPI_Comm_split_type");
      node_ = std::make_shared<Implementation>(found, true);
    }
    return node_;
  }

  MPI_Comm comm;
  bool is_owner;
  int rank = 0;
  int size = 1;
  std::array<Counter, n_calls> counters{};

 private:
  std::shared_ptr<Implementation> node_;
};

// ---- messages between two ranks ----

/// Sends and receives under way; long ones in several pieces.
struct Comm::Pending::Requests {
  /// Room for so many messages of up to one piece.
  void reserve(std::size_t n) {
    requests.reserve(n);
    expected.reserve(n);
  }
  void send(MPI_Comm comm, std::span<const std::byte> bytes, int destination, int tag) {
    in_pieces(bytes.size(), max_piece, [&](std::size_t offset, int length) {
      check_mpi(
          MPI_Isend(bytes.data() + offset, length, MPI_BYTE, destination, tag, comm, &add(-1, destination)),
          "MPI_Isend");
    });
  }
  void receive(MPI_Comm comm, std::span<std::byte> bytes, int source, int tag) {
    in_pieces(bytes.size(), max_piece, [&](std::size_t offset, int length) {
      check_mpi(MPI_Irecv(bytes.data() + offset, length, MPI_BYTE, source, tag, comm, &add(length, source)),
                "MPI_Irecv");
    });
  }
  void wait() {
    const auto posted = std::exchange(expected, {});
    auto waiting = std::exchange(requests, {});
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      MPI_Status status;
      check_mpi(MPI_Wait(&waiting[i], &status), "MPI_Wait");
      int received = 0;
      if (posted[i].length < 0) continue;
      check_mpi(MPI_Get_count(&status, MPI_BYTE, &received), "MPI_Get_count");
      if (received != posted[i].length) {
        throw InternalError(fmt::format("A message of {} bytes from rank {} was expected, {} bytes came.",
                                        posted[i].length, posted[i].partner, received));
      }
    }
  }
  /// True once all has arrived; each message is left for wait() to check.
  bool progress() {
    for (const auto& request : requests) {
      int done = 0;
      check_mpi(MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE), "MPI_Request_get_status");
      if (!done) return false;
    }
    return true;
  }
  /// Leave without waiting: the run is ending with an error.
  void give_up() {
    if (!mpi_is_up()) return;
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (requests[i] == MPI_REQUEST_NULL) continue;
      if (expected[i].length >= 0) MPI_Cancel(&requests[i]);
      MPI_Request_free(&requests[i]);
    }
  }

 private:
  struct Expected {
    int length;  ///< bytes to come, -1 for a send
    int partner;
  };
  MPI_Request& add(int length, int partner) {
    expected.push_back({length, partner});
    return requests.emplace_back(MPI_REQUEST_NULL);
  }
  std::vector<MPI_Request> requests;
  std::vector<Expected> expected;
};

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

// ---- making communicators ----

namespace {
/// What Comm::world() stands for while a communicator of a host program is taken over.
thread_local MPI_Comm taken_over = MPI_COMM_NULL;
}  // namespace

Comm Comm::world() {
  if (taken_over != MPI_COMM_NULL) {
    MPI_Comm comm = MPI_COMM_NULL;
    check_mpi(MPI_Comm_dup(taken_over, &comm), "MPI_Comm_dup");
    return Comm(std::make_shared<Implementation>(comm, true));
  }
  // One duplicate for the life of MPI, so that all who ask share its counters; it is freed by MPI_Finalize.
  static const auto implementation = [] {
    if (!mpi_is_up()) throw InternalError("Comm::world() needs MPI: make a Runtime first.");
    MPI_Comm comm = MPI_COMM_NULL;
    check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &comm), "MPI_Comm_dup");
    return std::make_shared<Implementation>(comm, true);
  }();
  return Comm(implementation);
}

Comm comm_of_fortran(int handle) {
  if (!mpi_is_up()) throw InputError("a communicator was given, but MPI is not up: call MPI_Init first");
  const MPI_Comm comm = MPI_Comm_f2c(handle);
  if (comm == MPI_COMM_NULL || comm == MPI_Comm{})
    throw InputError(
        fmt::format("{} is no Fortran handle of a communicator (MPI_Comm_c2f gives one)", handle));
  struct Scope {
    explicit Scope(MPI_Comm of) { taken_over = of; }
    ~Scope() { taken_over = MPI_COMM_NULL; }
  } const scope(comm);
  return Comm::world();
}

Comm Comm::self() { return Comm(std::make_shared<Implementation>(MPI_COMM_SELF, false)); }

Comm Comm::split(int color, int key) const {
  if (!implementation_->is_owner) return self();
  MPI_Comm comm = MPI_COMM_NULL;
  check_mpi(MPI_Comm_split(implementation_->comm, color, key, &comm), "MPI_Comm_split");
  return Comm(std::make_shared<Implementation>(comm, true));
}

int Comm::rank() const { return implementation_->rank; }
int Comm::size() const { return implementation_->size; }
Comm Comm::node() const { return size() == 1 ? *this : Comm(implementation_->node()); }
int Comm::node_size() const { return node().size(); }
int Comm::node_rank() const { return node().rank(); }
const void* Comm::native() const { return &implementation_->comm; }
const Comm::Counter& Comm::counter(Call call) const {
  return implementation_->counters[static_cast<std::size_t>(call)];
}
void Comm::reset_counters() const { implementation_->counters = {}; }
void Comm::count(Call call, std::int64_t messages, std::int64_t bytes, std::int64_t received) const {
  auto& counter = implementation_->counter(call);
  counter.messages += messages;
  counter.bytes += bytes;
  counter.received += received;
}

// ---- collective calls (one rank alone needs no MPI) ----

void Comm::broadcast_bytes(std::span<std::byte> values, int root) const {
  implementation_->count(Call::broadcast, rank() == root ? values.size() : 0);
  if (size() == 1) return;
  in_pieces(values.size(), max_piece, [&](std::size_t offset, int length) {
    check_mpi(MPI_Bcast(values.data() + offset, length, MPI_BYTE, root, implementation_->comm), "MPI_Bcast");
  });
}

std::string Comm::broadcast(std::string text, int root) const {
  text.resize(broadcast(static_cast<std::uint64_t>(text.size()), root));
  broadcast(std::span<char>(text), root);
  return text;
}

namespace {

MPI_Datatype type_of(int) { return MPI_INT; }
MPI_Datatype type_of(unsigned) { return MPI_UNSIGNED; }
MPI_Datatype type_of(long) { return MPI_LONG; }
MPI_Datatype type_of(long long) { return MPI_LONG_LONG; }
MPI_Datatype type_of(unsigned long) { return MPI_UNSIGNED_LONG; }
MPI_Datatype type_of(unsigned long long) { return MPI_UNSIGNED_LONG_LONG; }
MPI_Datatype type_of(float) { return MPI_FLOAT; }
MPI_Datatype type_of(double) { return MPI_DOUBLE; }

MPI_Op operation_of(Comm::Reduction reduction) {
  switch (reduction) {
    case Comm::Reduction::sum:
      return MPI_SUM;
    case Comm::Reduction::minimum:
      return MPI_MIN;
    case Comm::Reduction::maximum:
      return MPI_MAX;
  }
  throw InternalError("a reduction without an MPI operation");
}

}  // namespace

template <class T>
void Comm::reduce(std::span<T> values, Reduction reduction) const {
  implementation_->count(Call::reduce, values.size_bytes());
  if (size() == 1) return;
  const auto type = type_of(T{});
  const auto operation = operation_of(reduction);
  in_pieces(values.size(), max_piece / sizeof(T), [&](std::size_t offset, int length) {
    check_mpi(
        MPI_Allreduce(MPI_IN_PLACE, values.data() + offset, length, type, operation, implementation_->comm),
        "MPI_Allreduce");
  });
}
template void Comm::reduce(std::span<int>, Reduction) const;
template void Comm::reduce(std::span<unsigned>, Reduction) const;
template void Comm::reduce(std::span<long>, Reduction) const;
template void Comm::reduce(std::span<long long>, Reduction) const;
template void Comm::reduce(std::span<unsigned long>, Reduction) const;
template void Comm::reduce(std::span<unsigned long long>, Reduction) const;
template void Comm::reduce(std::span<float>, Reduction) const;
template void Comm::reduce(std::span<double>, Reduction) const;

namespace {

/// Every rank's number on every rank. Collective.
std::vector<std::uint64_t> all_sizes(MPI_Comm comm, int n_ranks, std::uint64_t size) {
  std::vector<std::uint64_t> sizes(n_ranks);
  check_mpi(MPI_Allgather(&size, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, comm), "MPI_Allgather");
  return sizes;
}

/// all_gather of more bytes than MPI counts: each rank's part is broadcast. `result` has room for all.
void all_gather_by_broadcast(MPI_Comm comm, int rank, std::span<const std::byte> values,
                             const std::vector<std::uint64_t>& sizes, std::byte* result) {
  for (int root = 0; root < std::ssize(sizes); ++root) {
    const auto length = sizes[root];
    if (root == rank) std::copy(values.begin(), values.end(), result);
    in_pieces(length, max_piece, [&](std::size_t offset, int piece) {
      check_mpi(MPI_Bcast(result + offset, piece, MPI_BYTE, root, comm), "MPI_Bcast");
    });
    result += length;
  }
}

}  // namespace

std::vector<std::byte> Comm::all_gather_bytes(std::span<const std::byte> values) const {
  implementation_->count(Call::gather, values.size());
  if (size() == 1) return {values.begin(), values.end()};
  const MPI_Comm comm = implementation_->comm;
  const auto sizes = all_sizes(comm, size(), values.size());
  std::vector<std::byte> result(total(sizes));
  if (result.size() > INT_MAX) {
    all_gather_by_broadcast(comm, rank(), values, sizes, result.data());
    return result;
  }
  const std::vector<int> counts(sizes.begin(), sizes.end());
  std::vector<int> offsets(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), 0);
  check_mpi(MPI_Allgatherv(values.data(), values.size(), MPI_BYTE, result.data(), counts.data(),
                           offsets.data(), MPI_BYTE, comm),
            "MPI_Allgatherv");
  return result;
}

std::vector<std::byte> Comm::gather_bytes(std::span<const std::byte> values, int root) const {
  implementation_->count(Call::gather, values.size());
  if (size() == 1) return {values.begin(), values.end()};
  const MPI_Comm comm = implementation_->comm;
  const auto sizes = all_sizes(comm, size(), values.size());
  Pending::Requests requests;
  std::vector<std::byte> result(rank() == root ? total(sizes) : 0);
  std::size_t offset = 0;
  for (int source = 0; source < size() && rank() == root; ++source) {
    const auto part = std::span(result).subspan(offset, sizes[source]);
    if (source == root)
      std::copy(values.begin(), values.end(), part.begin());
    else
      requests.receive(comm, part, source, gather_tag);
    offset += part.size();
  }
  if (rank() != root) requests.send(comm, values, root, gather_tag);
  requests.wait();
  return result;
}

std::vector<std::vector<std::byte>> Comm::all_to_all_bytes(
    const std::vector<std::span<const std::byte>>& send) const {
  const std::size_t self = rank(), n_ranks = size();
  if (send.size() != n_ranks) {
    throw InternalError(fmt::format("all_to_all was given {} parts for {} ranks.", send.size(), n_ranks));
  }
  std::vector<std::uint64_t> n_send(n_ranks), n_receive(n_ranks);
  for (std::size_t r = 0; r < n_ranks; ++r) n_send[r] = send[r].size();
  implementation_->count(Call::gather, total(n_send) - n_send[self]);

  std::vector<std::vector<std::byte>> result(n_ranks);
  result[self].assign(send[self].begin(), send[self].end());
  if (n_ranks == 1) return result;
  const MPI_Comm comm = implementation_->comm;
  check_mpi(MPI_Alltoall(n_send.data(), 1, MPI_UINT64_T, n_receive.data(), 1, MPI_UINT64_T, comm),
            "MPI_Alltoall");
  Pending::Requests requests;
  for (std::size_t r = 0; r < n_ranks; ++r) {
    if (r == self) continue;
    result[r].resize(n_receive[r]);
    requests.receive(comm, result[r], r, all_to_all_tag);
    requests.send(comm, send[r], r, all_to_all_tag);
  }
  requests.wait();
  return result;
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

void Comm::barrier() const {
  implementation_->count(Call::barrier, 0);
  if (size() > 1) check_mpi(MPI_Barrier(implementation_->comm), "MPI_Barrier");
}

bool Comm::all_arrive(double seconds) const {
  if (size() == 1) return true;
  implementation_->count(Call::barrier, 0);
  MPI_Request request = MPI_REQUEST_NULL;
  check_mpi(MPI_Ibarrier(implementation_->comm, &request), "MPI_Ibarrier");
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (int all = 0; std::chrono::steady_clock::now() < end;) {
    check_mpi(MPI_Test(&request, &all, MPI_STATUS_IGNORE), "MPI_Test");
    if (all != 0) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

void Comm::abort(ExitCode code) const {
  const int exit_code = static_cast<int>(code);
  write_line_counts();
  if (mpi_is_up()) MPI_Abort(implementation_->comm, exit_code);
  std::_Exit(exit_code);
}

}  // namespace quintet
