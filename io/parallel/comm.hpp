#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace quintet {

enum class ExitCode : int;

/// A communicator that counts what it sends. Passed in, never the world; raw MPI lives in comm.cpp alone.
///
/// All element types are trivially copyable and travel as bytes (reductions: int, long, double...). Copies
/// share the communicator and its counters. Calls marked collective must be made by all ranks in the same
/// order.
class Comm {
 public:
  /// Kinds of call that are counted.
  enum class Call {
    point_to_point,
    broadcast,
    reduce,
    gather,
    barrier,
    reduce_scatter,   ///< of slices, summed in rank order
    all_gather_into,  ///< of slices
    all_to_all_into   ///< of parts
  };
  static constexpr int n_calls = 8;
  /// Count of what this rank has sent. With n ranks and b bytes of payload a rank a call counts: exchange 1
  /// message and b bytes (nothing when the partner is this rank or -1: nothing travels), broadcast 1 and b on
  /// root, 1 and 0 elsewhere, reduce, gather and all_gather 1 and b, all_to_all 1 (kind gather) and the bytes
  /// for other ranks, barrier 1 and 0.
  ///
  /// point_to_point, reduce_scatter, all_gather_into and all_to_all_into count each message that goes to
  /// another rank, and what comes from others: over all ranks the sum of `bytes` is the sum of `received`.
  /// The other kinds go ways that MPI chooses: `received` stays 0.
  struct Counter {
    std::int64_t messages = 0;  ///< calls made by this rank; messages where each one is counted
    std::int64_t bytes = 0;     ///< bytes this rank handed in to be sent
    std::int64_t received = 0;  ///< bytes from other ranks
  };
  /// Tags of users are 0 ... max_tag; those above are kept for the calls of this class.
  static constexpr int max_tag = 29999;

  /// All ranks of the job (duplicated from MPI_COMM_WORLD; Runtime must be up).
  static Comm world();
  /// This rank alone; works without MPI being up.
  static Comm self();

  [[nodiscard]] int rank() const;
  [[nodiscard]] int size() const;
  [[nodiscard]] bool is_root() const { return rank() == 0; }
  /// The ranks on this rank's node. Collective on first call.
  [[nodiscard]] Comm node() const;
  /// Number of ranks on this node and this rank's number among them. Collective on first call.
  [[nodiscard]] int node_size() const;
  [[nodiscard]] int node_rank() const;
  /// The ranks of equal color, ordered by key. Collective.
  [[nodiscard]] Comm split(int color, int key) const;

  /// An exchange under way: the spans handed in must live, and stay untouched, until wait() returns.
  class [[nodiscard]] Pending {
   public:
    Pending(Pending&&) noexcept;
    Pending& operator=(Pending&&) = delete;
    ~Pending();  ///< waits, unless an error is on its way up (then receives are given up, so that no rank
                 ///< hangs)
    void wait();
    /// Lets MPI go on with what is under way; true once all has arrived. MPI moves long messages only while
    /// it is called: call it between pieces of work.
    bool progress();

   private:
    friend class Comm;
    struct Requests;
    explicit Pending(std::unique_ptr<Requests> requests);
    std::unique_ptr<Requests> requests_;
  };
  /// Start an exchange() and return at once: start, compute the interior, wait(), compute the boundary.
  template <class T>
  Pending start_exchange(std::span<const T> send, int destination, std::span<T> receive, int source,
                         int tag) const {
    static_assert(std::is_trivially_copyable_v<T>);
    return start_exchange_bytes(std::as_bytes(send), destination, std::as_writable_bytes(receive), source,
                                tag);
  }

  /// Send to `destination` and receive from `source` at once; both sizes are known. A rank of -1 means no
  /// partner.
  template <class T>
  void exchange(std::span<const T> send, int destination, std::span<T> receive, int source, int tag) const {
    start_exchange(send, destination, receive, source, tag).wait();
  }
  /// Exchange without knowing the received size: sends the size first; see exchange().
  template <class T>
  [[nodiscard]] std::vector<T> exchange_any(std::span<const T> send, int destination, int source,
                                            int tag) const {
    static_assert(std::is_trivially_copyable_v<T>);
    std::uint64_t n_send = send.size(), n_receive = 0;
    exchange(std::span<const std::uint64_t>(&n_send, 1), destination, std::span(&n_receive, 1), source, tag);
    std::vector<T> receive(source < 0 ? 0 : n_receive);
    exchange(send, destination, std::span<T>(receive), source, tag);
    return receive;
  }

  /// Copy root's values to all ranks. Collective.
  template <class T>
  void broadcast(std::span<T> values, int root = 0) const {
    static_assert(std::is_trivially_copyable_v<T>);
    broadcast_bytes(std::as_writable_bytes(values), root);
  }
  template <class T>
  [[nodiscard]] T broadcast(T value, int root = 0) const {
    broadcast(std::span<T>(&value, 1), root);
    return value;
  }
  [[nodiscard]] std::string broadcast(std::string text, int root = 0) const;

  enum class Reduction { sum, minimum, maximum };
  /// Reduce in place on all ranks, element by element. Collective. T: int, long, long long, unsigned long,
  /// double, float.
  template <class T>
  void reduce(std::span<T> values, Reduction reduction) const;
  template <class T>
  [[nodiscard]] T sum(T value) const {
    reduce(std::span<T>(&value, 1), Reduction::sum);
    return value;
  }
  template <class T>
  [[nodiscard]] T minimum(T value) const {
    reduce(std::span<T>(&value, 1), Reduction::minimum);
    return value;
  }
  template <class T>
  [[nodiscard]] T maximum(T value) const {
    reduce(std::span<T>(&value, 1), Reduction::maximum);
    return value;
  }
  /// True on all ranks if it is true on any. Collective: a decision is reduced once and shared.
  [[nodiscard]] bool any(bool value) const { return maximum(value ? 1 : 0) != 0; }

  /// Every rank's value(s) on every rank, in rank order. Collective.
  template <class T>
  [[nodiscard]] std::vector<T> all_gather(const T& value) const {
    return all_gather(std::span<const T>(&value, 1));
  }
  template <class T>
  [[nodiscard]] std::vector<T> all_gather(std::span<const T> values) const {
    static_assert(std::is_trivially_copyable_v<T>);
    return from_bytes<T>(all_gather_bytes(std::as_bytes(values)));
  }
  /// Every rank's values on root, in rank order (empty elsewhere). Collective.
  template <class T>
  [[nodiscard]] std::vector<T> gather(std::span<const T> values, int root = 0) const {
    static_assert(std::is_trivially_copyable_v<T>);
    return from_bytes<T>(gather_bytes(std::as_bytes(values), root));
  }
  /// send[r] goes to rank r; returns what each rank sent to this one. Collective.
  template <class T>
  [[nodiscard]] std::vector<std::vector<T>> all_to_all(const std::vector<std::vector<T>>& send) const {
    static_assert(std::is_trivially_copyable_v<T>);
    std::vector<std::span<const std::byte>> bytes;
    for (const auto& part : send) bytes.push_back(std::as_bytes(std::span<const T>(part)));
    std::vector<std::vector<T>> result;
    for (const auto& part : all_to_all_bytes(bytes)) result.push_back(from_bytes<T>(part));
    return result;
  }

  // Slices and parts: each rank sends to each other one directly, in memory of the caller. The lengths are
  // known on both sides, so no message tells them; calls of one kind meet in the order in which they began.

  /// A sum under way (see start_reduce_scatter).
  template <class T>
  class PendingSum {
   public:
    /// Waits, and writes the sum to `own`, which may be this rank's slice of the parts handed in.
    void wait(std::span<T> own);
    bool progress() { return pending_.progress(); }

   private:
    friend class Comm;
    PendingSum(Pending pending, const T* own_part, std::span<const T> others, int rank, int n_ranks)
        : pending_(std::move(pending)),
          own_part_(own_part),
          others_(others),
          rank_(rank),
          n_ranks_(n_ranks) {}
    Pending pending_;
    const T* own_part_;
    std::span<const T> others_;
    int rank_, n_ranks_;
  };
  /// Slice r of the sum of all ranks' arrays to rank r: ((a_0 + a_1) + a_2) + ..., in that order whatever
  /// arrives first, so that the bits depend on the number of ranks alone. T: float, double. n - 1 messages of
  /// one slice a rank. Collective.
  /// @param parts [n, s] this rank's array @param workspace [n - 1, s] for what arrives
  template <class T>
  PendingSum<T> start_reduce_scatter(std::span<const T> parts, std::span<T> workspace) const;
  /// Sum as start_reduce_scatter() does, and wait for the result. @param own [s]
  template <class T>
  void reduce_scatter(std::span<const T> parts, std::span<T> own, std::span<T> workspace) const {
    start_reduce_scatter(parts, workspace).wait(own);
  }
  /// Slice r of `values` [n, s] is rank r's: afterwards all ranks have all of them. n - 1 messages of one
  /// slice a rank. Collective.
  template <class T>
  Pending start_all_gather_into(std::span<T> values) const {
    static_assert(std::is_trivially_copyable_v<T>);
    check_slices(values.size());
    return start_all_gather_bytes(std::as_writable_bytes(values));
  }
  template <class T>
  void all_gather_into(std::span<T> values) const {
    start_all_gather_into(values).wait();
  }
  /// Parts of send_counts[r] numbers, one after the other, go to ranks r; receive_counts[r] come from rank r.
  /// One message to each rank for which there is something. Collective.
  template <class T>
  Pending start_all_to_all_into(std::span<const T> send, std::span<const std::size_t> send_counts,
                                std::span<T> receive, std::span<const std::size_t> receive_counts) const {
    static_assert(std::is_trivially_copyable_v<T>);
    return start_all_to_all_bytes(std::as_bytes(send), send_counts, std::as_writable_bytes(receive),
                                  receive_counts, sizeof(T));
  }
  template <class T>
  void all_to_all_into(std::span<const T> send, std::span<const std::size_t> send_counts,
                       std::span<T> receive, std::span<const std::size_t> receive_counts) const {
    start_all_to_all_into(send, send_counts, receive, receive_counts).wait();
  }

  void barrier() const;
  /// A barrier that gives up: false where not all ranks come within `seconds`, after which the communicator
  /// is good for abort() alone.
  [[nodiscard]] bool all_arrive(double seconds) const;

  /// Count of what this rank has sent so far, by kind of call (shared by copies of this communicator).
  [[nodiscard]] const Counter& counter(Call call) const;
  void reset_counters() const;

  /// End the whole job at once with this exit code (an error on one rank ends all).
  [[noreturn]] void abort(ExitCode code) const;

  struct Implementation;
  /// For io/hdf5, PETSc and other homes of MPI-aware libraries: a pointer to the MPI_Comm.
  [[nodiscard]] const void* native() const;

 private:
  friend class RepeatedMessages;
  void count(Call call, std::int64_t messages, std::int64_t bytes, std::int64_t received) const;
  void check_slices(std::size_t n) const;
  template <class SendPart, class ReceivePart>
  Pending start_parts(Call call, int tag, const SendPart& send_part, const ReceivePart& receive_part) const;
  Pending start_all_gather_bytes(std::span<std::byte> values) const;
  Pending start_all_to_all_bytes(std::span<const std::byte> send, std::span<const std::size_t> send_counts,
                                 std::span<std::byte> receive, std::span<const std::size_t> receive_counts,
                                 std::size_t bytes) const;
  explicit Comm(std::shared_ptr<Implementation> implementation)
      : implementation_(std::move(implementation)) {}
  Pending start_exchange_bytes(std::span<const std::byte> send, int destination, std::span<std::byte> receive,
                               int source, int tag) const;
  void broadcast_bytes(std::span<std::byte> values, int root) const;
  [[nodiscard]] std::vector<std::byte> all_gather_bytes(std::span<const std::byte> values) const;
  [[nodiscard]] std::vector<std::byte> gather_bytes(std::span<const std::byte> values, int root) const;
  [[nodiscard]] std::vector<std::vector<std::byte>> all_to_all_bytes(
      const std::vector<std::span<const std::byte>>& send) const;
  template <class T>
  static std::vector<T> from_bytes(const std::vector<std::byte>& bytes);

  std::shared_ptr<Implementation> implementation_;
};

template <class T>
std::vector<T> Comm::from_bytes(const std::vector<std::byte>& bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) __builtin_memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

}  // namespace quintet
