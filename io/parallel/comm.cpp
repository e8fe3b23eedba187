#include "io/parallel/comm.hpp"

#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <mpi.h>

#include "io/log/error.hpp"
#include "io/log/line_counts.hpp"
#include "io/parallel/comm_implementation.hpp"
#include "io/parallel/foreign_comm.hpp"
#include "io/parallel/mpi_error.hpp"
#include "io/parallel/mpi_session.hpp"

namespace quintet {

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
