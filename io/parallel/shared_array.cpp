#include "io/parallel/shared_array.hpp"

#include <mpi.h>

#include <cstring>
#include <new>
#include <vector>

#include "io/parallel/comm.hpp"
#include "io/parallel/mpi_error.hpp"
#include "io/parallel/mpi_session.hpp"
#include "io/tiers/huge_pages.hpp"

namespace quintet {

namespace {
constexpr std::size_t line = 64;  ///< parts begin at cache lines
}

struct SharedMemory::Implementation {
  explicit Implementation(const Comm& node) : comm(node) {}
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;
  ~Implementation() {
    if (window != MPI_WIN_NULL && mpi_is_up()) {
      MPI_Win_unlock_all(window);
      MPI_Win_free(&window);
    }
    if (own) ::operator delete(own, std::align_val_t(line));
  }
  Comm comm;
  MPI_Win window = MPI_WIN_NULL;
  std::byte* own = nullptr;  ///< of one rank alone
  std::vector<std::byte*> parts;
};

SharedMemory::SharedMemory(const Comm& node, std::size_t bytes)
    : implementation_(std::make_unique<Implementation>(node)) {
  auto& it = *implementation_;
  const std::size_t room = (bytes + line - 1) / line * line + line;
  if (node.size() == 1) {
    it.own = static_cast<std::byte*>(::operator new(room, std::align_val_t(line)));
    prefer_huge_pages(it.own, room);
    it.parts = {it.own};
    std::memset(it.own, 0, room);
    return;
  }
  void* base = nullptr;
  const auto comm = *static_cast<const MPI_Comm*>(node.native());
  check_mpi(MPI_Win_allocate_shared(room, 1, MPI_INFO_NULL, comm, &base, &it.window),
            "MPI_Win_allocate_shared");
  check_mpi(MPI_Win_lock_all(MPI_MODE_NOCHECK, it.window), "MPI_Win_lock_all");
  for (int rank = 0; rank < node.size(); ++rank) {
    MPI_Aint size = 0;
    int unit = 0;
    check_mpi(MPI_Win_shared_query(it.window, rank, &size, &unit, &base), "MPI_Win_shared_query");
    const auto address = (reinterpret_cast<std::uintptr_t>(base) + line - 1) / line * line;
    it.parts.push_back(reinterpret_cast<std::byte*>(address));
  }
  std::memset(it.parts[node.rank()], 0, bytes);
  synchronise();
}

SharedMemory::~SharedMemory() = default;
SharedMemory::SharedMemory(SharedMemory&&) noexcept = default;

std::byte* SharedMemory::part(int rank) const { return implementation_->parts.at(rank); }

void SharedMemory::synchronise() const {
  const auto& it = *implementation_;
  if (it.window == MPI_WIN_NULL) return;
  check_mpi(MPI_Win_sync(it.window), "MPI_Win_sync");
  it.comm.barrier();
  check_mpi(MPI_Win_sync(it.window), "MPI_Win_sync");
}

}  // namespace quintet
