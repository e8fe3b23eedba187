#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <mpi.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/mpi_error.hpp"
#include "io/parallel/mpi_session.hpp"

/// What a Comm holds of MPI, shared by its sources. Private to io/parallel.
namespace quintet {

namespace detail {

/// MPI counts with int: what is longer travels in pieces of this size.
inline constexpr std::size_t max_piece = std::size_t{1} << 30;

/// Tags of messages of collective calls, behind those of callers.
enum CollectiveTag : int {
  all_to_all_tag = Comm::max_tag + 1,
  gather_tag,
  reduce_scatter_tag,
  all_gather_into_tag,
  all_to_all_into_tag
};
static_assert(all_to_all_into_tag <= 32767, "MPI promises tags up to 32767 only");

/// Calls `piece(offset, length)` for the pieces of [0, size), none of them longer than `longest`.
template <class Piece>
void in_pieces(std::size_t size, std::size_t longest, const Piece& piece) {
  for (std::size_t offset = 0; offset < size; offset += longest) {
    piece(offset, static_cast<int>(std::min(longest, size - offset)));
  }
}

}  // namespace detail

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

/// Sends and receives under way; long ones in several pieces.
struct Comm::Pending::Requests {
  /// Room for so many messages of up to one piece.
  void reserve(std::size_t n) {
    requests.reserve(n);
    expected.reserve(n);
  }
  void send(MPI_Comm comm, std::span<const std::byte> bytes, int destination, int tag) {
    detail::in_pieces(bytes.size(), detail::max_piece, [&](std::size_t offset, int length) {
      check_mpi(
          MPI_Isend(bytes.data() + offset, length, MPI_BYTE, destination, tag, comm, &add(-1, destination)),
          "MPI_Isend");
    });
  }
  void receive(MPI_Comm comm, std::span<std::byte> bytes, int source, int tag) {
    detail::in_pieces(bytes.size(), detail::max_piece, [&](std::size_t offset, int length) {
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

}  // namespace quintet
