#include "io/parallel/mailbox.hpp"

#include <climits>
#include <exception>
#include <list>
#include <utility>

#include <mpi.h>

#include "io/log/error.hpp"
#include "io/parallel/mpi_error.hpp"
#include "io/parallel/mpi_session.hpp"

namespace quintet {

namespace {
constexpr int letter_tag = 1;

MPI_Comm native(const Comm& comm) { return *static_cast<const MPI_Comm*>(comm.native()); }
}  // namespace

struct Mailbox::Implementation {
  explicit Implementation(const Comm& comm) : comm(comm.split(0, comm.rank())) {}

  /// A letter under way; MPI reads its bytes until the request is done.
  struct Sending {
    std::vector<std::byte> bytes;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  void forget_delivered() {
    for (auto letter = sending.begin(); letter != sending.end();) {
      int done = 0;
      check_mpi(MPI_Test(&letter->request, &done, MPI_STATUS_IGNORE), "MPI_Test");
      letter = done ? sending.erase(letter) : std::next(letter);
    }
  }

  Comm comm;
  std::list<Sending> sending;
  Comm::Counter sent;
};

Mailbox::Mailbox(const Comm& comm) : implementation_(std::make_unique<Implementation>(comm)) {}
Mailbox::Mailbox(Mailbox&&) noexcept = default;

Mailbox::~Mailbox() {
  if (!implementation_ || implementation_->sending.empty()) return;
  try {
    if (mpi_is_up()) implementation_->forget_delivered();
  } catch (const Error&) {
  }
  if (implementation_->sending.empty()) return;
  // Nobody is left who must read these letters, but MPI may still look at their bytes: they are never freed.
  for (auto& letter : implementation_->sending)
    if (mpi_is_up()) MPI_Request_free(&letter.request);
  new std::list<Implementation::Sending>(std::move(implementation_->sending));
}

void Mailbox::send(std::span<const std::byte> bytes, int destination) {
  auto& it = *implementation_;
  if (destination < 0 || destination >= it.comm.size() || destination == it.comm.rank())
    throw InternalError(
        fmt::format("A letter from rank {} to rank {} of {}", it.comm.rank(), destination, it.comm.size()));
  if (bytes.size() > INT_MAX)
    throw InternalError(fmt::format("A letter of {} bytes; at most {} fit", bytes.size(), INT_MAX));
  it.forget_delivered();
  auto& letter = it.sending.emplace_back();
  letter.bytes.assign(bytes.begin(), bytes.end());
  check_mpi(MPI_Isend(letter.bytes.data(), bytes.size(), MPI_BYTE, destination, letter_tag, native(it.comm),
                      &letter.request),
            "MPI_Isend");
  ++it.sent.messages;
  it.sent.bytes += bytes.size();
}

std::optional<Mailbox::Letter> Mailbox::receive() {
  auto& it = *implementation_;
  if (it.comm.size() == 1) return std::nullopt;
  it.forget_delivered();
  int here = 0;
  MPI_Status status;
  check_mpi(MPI_Iprobe(MPI_ANY_SOURCE, letter_tag, native(it.comm), &here, &status), "MPI_Iprobe");
  if (!here) return std::nullopt;
  int n = 0;
  check_mpi(MPI_Get_count(&status, MPI_BYTE, &n), "MPI_Get_count");
  Letter letter{status.MPI_SOURCE, std::vector<std::byte>(n)};
  check_mpi(MPI_Recv(letter.bytes.data(), n, MPI_BYTE, letter.source, letter_tag, native(it.comm),
                     MPI_STATUS_IGNORE),
            "MPI_Recv");
  return letter;
}

const Comm::Counter& Mailbox::sent() const { return implementation_->sent; }

}  // namespace quintet
