#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "io/parallel/comm.hpp"

/// The ordered start and stop of MPI, Kokkos, then what a program adds (PETSc, torch), and the reasons to stop early.
namespace quintet {

/// A library with a life of its own, started after MPI and Kokkos and stopped before them.
struct Subsystem {
  std::string name;                              ///< "PETSc"
  std::function<void(const Comm&, int threads)> start;
  std::function<void()> stop;
};

/// Cores a run may use: ranks on this node x threads <= the cores it was given.
struct Threads {
  int per_rank = 1;        ///< drives Kokkos's OpenMP and torch's intra-op threads alike
  int cores_on_node = 1;   ///< as the affinity mask says
};

/// Starts MPI, Kokkos and the subsystems in this order; stops them in reverse when it dies.
class Runtime {
 public:
  /// `threads`: 0 for cores / ranks on the node. argc, argv are shown to MPI.
  Runtime(int& argc, char**& argv, int threads, std::vector<Subsystem> subsystems);
  ~Runtime();
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  [[nodiscard]] const Comm& comm() const;
  [[nodiscard]] const Threads& threads() const;
  /// One line for the log: "Open MPI 4.1.4, 2 ranks x 1 thread (2 cores), Kokkos 3.4.1 Serial, ..."
  [[nodiscard]] std::string description() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Threads a rank gets: requested, or cores / ranks on the node; throws InputError if ranks x threads > cores and it was asked for.
[[nodiscard]] Threads choose_threads(int requested, int cores, int ranks_on_node);

/// Why a run must stop before its end: SIGTERM, SIGUSR1, --walltime. Decided once for all ranks.
class StopRequest {
 public:
  /// Installs the handlers; `walltime_s` counts from the process's start (no value: no limit).
  explicit StopRequest(std::optional<double> walltime_s);
  ~StopRequest();  ///< puts the former handlers back
  /// The reason ("SIGTERM", "walltime of 00:30:00 is nearly used") or "" - on all ranks the same. Collective; cheap
  /// (one small reduction). `reserve_s`: time needed to write a checkpoint and end.
  [[nodiscard]] std::string reason(const Comm& comm, double reserve_s) const;

 private:
  std::optional<double> walltime_s_;
};

/// Seconds since the process started (steady clock).
[[nodiscard]] double seconds_since_start();
/// Peak resident memory of this process (MB = 1e6 bytes).
[[nodiscard]] double peak_memory_mb();
/// Parse "HH:MM:SS", "MM:SS", "90 s", "2 h", "30 min" into seconds. Throws UsageError.
[[nodiscard]] double parse_walltime(const std::string& text);

}  // namespace quintet
