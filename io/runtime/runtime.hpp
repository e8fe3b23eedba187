#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/parallel/comm_fwd.hpp"

/// The ordered start and stop of MPI, Kokkos, then what a program adds (PETSc, torch), and the reasons to
/// stop early.
namespace quintet {

/// A library with a life of its own, started after MPI and Kokkos and stopped before them.
struct Subsystem {
  std::string name;                                     ///< name and version, "PETSc 3.18.5"
  std::function<void(const Comm&, int threads)> start;  ///< collective; an error on one rank stops all
  std::function<void()> stop;                           ///< may be empty
};

/// Cores a run may use: ranks on this node x threads <= the cores it was given.
struct Threads {
  int per_rank = 1;       ///< drives Kokkos's OpenMP and torch's intra-op threads alike
  int cores_on_node = 1;  ///< as the affinity masks of the ranks on this node say, taken together
  bool is_given = false;  ///< by the user: nothing else is tried
};

/// Starts MPI, Kokkos and the subsystems in this order; stops them in reverse when it dies.
///
/// What was up before (a program that started MPI or Kokkos itself) is left up. Views, tensors and what else
/// belongs to these libraries must be gone before the Runtime dies.
class Runtime {
 public:
  /// `threads`: 0 for cores / ranks on the node. argc, argv are shown to MPI. If a start fails on any rank,
  /// what was started is stopped and all ranks throw.
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

/// Threads a rank gets: those requested, or (0) cores / ranks on the node, at least one.
/// Errors: InputError if more than one was requested and ranks x threads > cores, or a negative number.
[[nodiscard]] Threads choose_threads(int requested, int cores, int ranks_on_node);

/// Why a run must stop before its end: SIGTERM, SIGUSR1, SIGHUP, SIGINT (a second one kills as
/// usual), --walltime.
/// Decided once for all ranks. One at a time.
class StopRequest {
 public:
  /// Installs the handlers; `walltime_s` counts from the process's start (no value: no limit).
  explicit StopRequest(std::optional<double> walltime_s);
  ~StopRequest();  ///< puts the former handlers back
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;
  /// The reason ("SIGTERM", "walltime of 00:30:00 is nearly used") or "" - on all ranks the same. Collective;
  /// cheap (one small reduction). `reserve_s`: time needed to write a checkpoint and end.
  [[nodiscard]] std::string reason(const Comm& comm, double reserve_s) const;
  /// Whether this rank sees a reason; no communication, for work within a step that takes long.
  [[nodiscard]] bool noticed(double reserve_s) const;

 private:
  [[nodiscard]] bool time_is_up(double reserve_s) const;

  struct FormerHandlers;
  std::optional<double> walltime_s_;
  std::unique_ptr<FormerHandlers> former_;
};

/// Seconds since the process started, loading of its libraries included (steady clock).
[[nodiscard]] double seconds_since_start();
/// For a process that was forked and is to be a run of its own: its time begins at the fork.
void count_time_from_here();
/// When a process of this machine started, in the kernel's ticks since boot: together with its number this
/// names the process uniquely. "" for a process that has ended but is still listed; nothing if it does not
/// exist.
[[nodiscard]] std::optional<std::string> process_start(int process);
/// Peak resident memory of this process (MB = 1e6 bytes).
[[nodiscard]] double peak_memory_mb();
/// Resident memory of this process now (MB); 0 where the system does not tell.
[[nodiscard]] double resident_memory_mb();
/// Parse "HH:MM:SS", "MM:SS", "90 s", "2 h", "30 min" into seconds. Throws UsageError.
[[nodiscard]] double parse_walltime(const std::string& text);
/// The BLAS library that dgemm_ resolves to in this process: "OpenBLAS 0.3.21 (libopenblas.so.0)", "torch's
/// MKL (libtorch_cpu.so)", or "none". torch exports its own BLAS, so the order of linking decides.
[[nodiscard]] std::string blas_in_use();

}  // namespace quintet
