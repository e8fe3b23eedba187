#include "io/runtime/runtime.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cfenv>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <string>

#include <sched.h>
#include <sys/resource.h>

#include <Kokkos_Core.hpp>

#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/mpi_session.hpp"
#include "io/parallel/together.hpp"
#include "io/runtime/library_threads.hpp"

namespace quintet {
namespace {

/// One bit a core; room for more cores than a node has, since the kernel refuses a mask that is too short.
using CoreMask = std::array<std::uint64_t, 128>;

/// Cores that the ranks of this node may use. Collective.
int cores_on_node(const Comm& comm) {
  CoreMask mine{}, all{};
  if (sched_getaffinity(0, sizeof(mine), reinterpret_cast<cpu_set_t*>(mine.data())) < 0) mine[0] = 1;
  // mpirun gives each rank its own core or all ranks the same cores: only the union knows what the node has.
  for (const auto& mask : comm.node().all_gather(mine)) {
    std::transform(all.begin(), all.end(), mask.begin(), all.begin(), std::bit_or<>());
  }
  int n_cores = 0;
  for (const auto word : all) n_cores += std::popcount(word);
  return n_cores;
}

/// MPI ends the program with a code and words of its own where its shared memory, files of some megabytes,
/// may not be made.
void require_room_for_mpi() {
  constexpr rlim_t least = 8'000'000;
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < least)
    throw ResourceError(
        fmt::format("Files may have {} bytes at most here (ulimit -f); MPI alone needs {}. Raise the limit",
                    limit.rlim_cur, least));
}

/// Kokkos ends the program where these do not agree with the number it is given, and a number of threads is
/// one setting for all libraries here.
void forget_kokkos_threads() {
  for (const char* name : {"KOKKOS_NUM_THREADS", "KOKKOS_NUMA"}) {
    const char* value = std::getenv(name);
    if (value == nullptr) continue;
    log::info("{}={} has no effect here: --threads says how many threads a rank gets", name, value);
    unsetenv(name);
  }
}

void initialize_kokkos(int threads) {
#if KOKKOS_VERSION >= 30700
  Kokkos::initialize(Kokkos::InitializationSettings().set_num_threads(threads).set_disable_warnings(true));
#else
  Kokkos::InitArguments arguments;
  arguments.num_threads = threads;
  arguments.disable_warnings = true;
  Kokkos::initialize(arguments);
#endif
}

void start_kokkos(int threads) {
  forget_kokkos_threads();
  try {
    initialize_kokkos(threads);
  } catch (const std::exception& error) {
    throw InputError(
        fmt::format("Kokkos does not start: {}\nAre variables KOKKOS_... set in the environment? Unset them",
                    error.what()));
  }
}

/// Let results and operands below the smallest normal number (1e-38 in float) count as 0, in this thread and
/// in those that it starts. A processor takes a hundred times as long with them: softplus and its
/// derivatives, far on the flat side, stopped a training of a network so.
void flush_denormals() {
#if defined(__x86_64__) && defined(__GLIBC__)
  constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x0040;
  std::fenv_t environment;
  std::fegetenv(&environment);
  environment.__mxcsr |= flush_to_zero | denormals_are_zero;
  std::fesetenv(&environment);
#endif
}

std::string kokkos_version() {
  return fmt::format("Kokkos {}.{}.{} {}", KOKKOS_VERSION / 10000, KOKKOS_VERSION / 100 % 100,
                     KOKKOS_VERSION % 100, Kokkos::DefaultExecutionSpace::name());
}

}  // namespace

/// Functions to call at the end, last in first out.
class StopStack {
 public:
  StopStack() = default;
  StopStack(const StopStack&) = delete;
  StopStack& operator=(const StopStack&) = delete;
  ~StopStack() {
    for (; !stops_.empty(); stops_.pop_back()) {
      try {
        stops_.back()();
      } catch (const std::exception& error) {
        log::warning("A library did not stop cleanly: {}", error.what());
      }
    }
  }
  void push(std::function<void()> stop) {
    if (stop) stops_.push_back(std::move(stop));
  }

 private:
  std::vector<std::function<void()>> stops_;
};

Threads choose_threads(int requested, int cores, int ranks_on_node) {
  QUINTET_CHECK(requested >= 0, "{} threads were asked for; expected a positive number, or 0 for all cores.",
                requested);
  if (requested == 0) return {std::max(1, cores / ranks_on_node), cores};
  // One thread a rank is as few as there can be: more ranks than cores is mpirun's decision, not ours.
  QUINTET_CHECK(
      requested == 1 || requested <= cores / ranks_on_node,
      "{} x {} on this node are more than the {} this job may use. Ask for {} or fewer a rank, start fewer "
      "ranks, or let mpirun give each rank more cores (Open MPI: --map-by slot:PE={}, or --bind-to none).",
      counted(ranks_on_node, "rank"), counted(requested, "thread"), counted(cores, "core"),
      std::max(1, cores / ranks_on_node), requested);
  return {requested, cores, true};
}

struct Runtime::Implementation {
  Implementation(int& argc, char**& argv, int requested_threads, const std::vector<Subsystem>& subsystems)
      : comm(start_all_ranks(argc, argv)) {
    together(comm,
             [&] { threads = choose_threads(requested_threads, cores_on_node(comm), comm.node_size()); });
    set_library_threads(threads.per_rank);
    flush_denormals();  // before any library has threads
    if (!Kokkos::is_initialized()) {
      start_kokkos(threads.per_rank);
      stops.push([] { Kokkos::finalize(); });
    }
    for (const auto& subsystem : subsystems) start(subsystem);
  }

  Comm start_all_ranks(int& argc, char**& argv) {
    require_room_for_mpi();
    if (start_mpi(argc, argv)) stops.push(stop_mpi);
    return Comm::world();
  }

  void start(const Subsystem& subsystem) {
    together(comm, [&] {
      subsystem.start(comm, threads.per_rank);
      stops.push(subsystem.stop);
    });
    names += ", " + subsystem.name;
  }

  StopStack stops;  // first member: dies last, also when the constructor throws
  Comm comm;
  Threads threads;
  std::string names;
};

Runtime::Runtime(int& argc, char**& argv, int threads, std::vector<Subsystem> subsystems)
    : implementation_(std::make_unique<Implementation>(argc, argv, threads, subsystems)) {}
Runtime::~Runtime() = default;

const Comm& Runtime::comm() const { return implementation_->comm; }
const Threads& Runtime::threads() const { return implementation_->threads; }

std::string Runtime::description() const {
  const auto& threads = implementation_->threads;
  const bool is_crowded = comm().node_size() * threads.per_rank > threads.cores_on_node;
  return fmt::format("{}, {} x {} ({}{}), {}{}, BLAS: {}", mpi_version(), counted(comm().size(), "rank"),
                     counted(threads.per_rank, "thread"), counted(threads.cores_on_node, "core"),
                     is_crowded ? ", fewer than ranks" : "", kokkos_version(), implementation_->names,
                     blas_in_use());
}

}  // namespace quintet
