#include "io/parallel/repeated_messages.hpp"

#include <utility>
#include <vector>

#include <mpi.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/mpi_error.hpp"
#include "io/parallel/mpi_session.hpp"

namespace quintet {

struct RepeatedMessages::Implementation {
  struct Send {
    std::span<const std::byte> bytes;
    int partner, tag;
  };
  struct Receive {
    std::span<std::byte> bytes;
    int partner, tag;
  };

  explicit Implementation(Comm c) : comm(std::move(c)), mpi(*static_cast<const MPI_Comm*>(comm.native())) {}

  void require(std::size_t bytes, int partner, int tag) const {
    if (partner < 0 || partner >= comm.size() || partner == comm.rank() || tag < 0 || tag > Comm::max_tag ||
        bytes > max_bytes)
      throw InternalError(fmt::format(
          "No message of {} bytes between ranks {} and {} of {} with tag {} can be sent again and again.",
          bytes, comm.rank(), partner, comm.size(), tag));
  }

  Comm comm;
  MPI_Comm mpi;
  std::vector<Send> sends;
  std::vector<Receive> receives;
  std::vector<MPI_Request> requests;  ///< receives, then sends
  std::vector<MPI_Status> statuses;
  std::int64_t bytes_sent = 0;
  std::int64_t bytes_received = 0;  ///< of one start
  bool is_started = false;
};

RepeatedMessages::RepeatedMessages(const Comm& comm)
    : implementation_(std::make_unique<Implementation>(comm)) {}
RepeatedMessages::RepeatedMessages(RepeatedMessages&&) noexcept = default;

RepeatedMessages::~RepeatedMessages() {
  if (!implementation_ || !implementation_->is_started || !mpi_is_up()) return;
  auto& all = *implementation_;
  for (std::size_t i = 0; i < all.requests.size(); ++i) {
    if (all.requests[i] == MPI_REQUEST_NULL) continue;
    if (i < all.receives.size()) MPI_Cancel(&all.requests[i]);
    MPI_Request_free(&all.requests[i]);
  }
}

void RepeatedMessages::send(std::span<const std::byte> bytes, int destination, int tag) {
  auto& all = *implementation_;
  all.require(bytes.size(), destination, tag);
  all.sends.push_back({bytes, destination, tag});
  all.requests.push_back(MPI_REQUEST_NULL);
  all.statuses.emplace_back();
  all.bytes_sent += std::ssize(bytes);
}

void RepeatedMessages::receive(std::span<std::byte> bytes, int source, int tag) {
  auto& all = *implementation_;
  all.require(bytes.size(), source, tag);
  all.receives.push_back({bytes, source, tag});
  all.bytes_received += std::ssize(bytes);
  all.requests.push_back(MPI_REQUEST_NULL);
  all.statuses.emplace_back();
}

void RepeatedMessages::start() {
  auto& all = *implementation_;
  if (all.is_started) throw InternalError("Repeated messages were started again before they had arrived.");
  if (all.requests.empty()) return;
  all.is_started = true;
  auto* request = all.requests.data();
  for (const auto& [bytes, partner, tag] : all.receives)
    check_mpi(MPI_Irecv(bytes.data(), bytes.size(), MPI_BYTE, partner, tag, all.mpi, request++), "MPI_Irecv");
  for (const auto& [bytes, partner, tag] : all.sends)
    check_mpi(MPI_Isend(bytes.data(), bytes.size(), MPI_BYTE, partner, tag, all.mpi, request++), "MPI_Isend");
  all.comm.count(Comm::Call::point_to_point, std::ssize(all.sends), all.bytes_sent, all.bytes_received);
}

void RepeatedMessages::wait() {
  auto& all = *implementation_;
  if (!all.is_started) return;
  check_mpi(MPI_Waitall(all.requests.size(), all.requests.data(), all.statuses.data()), "MPI_Waitall");
  all.is_started = false;
  for (std::size_t i = 0; i < all.receives.size(); ++i) {
    int received = 0;
    check_mpi(MPI_Get_count(&all.statuses[i], MPI_BYTE, &received), "MPI_Get_count");
    if (received != std::ssize(all.receives[i].bytes))
      throw InternalError(fmt::format("A message of {} bytes from rank {} was expected, {} bytes came.",
                                      all.receives[i].bytes.size(), all.receives[i].partner, received));
  }
}

}  // namespace quintet
