#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/parallel/comm.hpp"
#include "io/parallel/repeated_messages.hpp"
#include "physics/kernels/aligned.hpp"
#include "physics/tasks/graph.hpp"
#include "physics/tasks/kernel.hpp"
#include "physics/tasks/plan.hpp"
#include "physics/tasks/stamp.hpp"

/// Graphs of tasks on the ranks of a communicator.
namespace quintet::tasks {

/// One input that is spoilt on purpose, to show that it is found.
struct Damage {
  enum class Kind { missing, surplus, wrong_step, wrong_byte };
  Kind kind = Kind::missing;
  int step = 1;   ///< of the task that gets it; from 1
  int point = 0;  ///< of the task; must have an input there
};
/// "missing", "surplus", "step", "byte".
[[nodiscard]] std::vector<std::pair<std::string, Damage::Kind>> damage_names();

struct RunnerOptions {
  KernelOptions kernel{};  ///< its iterations are run()'s
  int output_bytes = 16;   ///< of each task; a multiple of 16
  Messages messages = Messages::by_rank;
  std::optional<Damage> damage{};
};

/// Runs a graph again and again. All that a step needs is made here: in the loop nothing is allocated.
///
/// A step: compute what needs this rank alone; wait for the inputs from other ranks; compute the rest; send.
/// So messages travel while a rank has something else to do. Outputs are read where they lie, in two buffers
/// (of even and odd steps); every input of every task is compared to the last byte.
class Runner {
 public:
  /// Errors, the same on all ranks: InputError if outputs are not whole stamps, a message would be too long,
  /// or the task to be damaged has no input.
  Runner(const Comm& comm, const Graph& graph, const RunnerOptions& options);
  ~Runner();
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  /// Run the graph once with n iterations a task; returns wall seconds from the first rank's start to the
  /// last one's end, the same on all ranks. Collective. Throws InternalError on the rank where a task got a
  /// wrong input; the others may then wait for ever.
  double run(std::int64_t iterations);
  /// Work of all tasks of the graph, see work_of(). Collective.
  [[nodiscard]] double work(std::int64_t iterations) const;

 private:
  struct Step;
  [[nodiscard]] Stamp* output(int step, int point);
  void make_steps(const RunnerOptions& options);
  void spoil(const Damage& damage, Step& step) const;
  void make_buffers();
  void connect(Step& step, int parity);
  void flip_byte(const Step& plan, int step, int begin, int end) const;
  void send(int step);
  void compute(int step, int begin, int end);
  [[nodiscard]] bool compute_one(const Step& plan, int step, int task);
  [[noreturn]] void complain(const Step& plan, int step, int task) const;

  using Buffer = AlignedVector<Stamp>;
  Comm comm_;
  Graph graph_;
  Parts parts_;
  int first_, count_;  ///< the rank's points
  int length_;         ///< stamps of an output
  KernelOptions kernel_;
  std::optional<Damage> damage_;
  std::array<Buffer, 2> outputs_, inbox_, outbox_;  ///< of even and odd steps
  AlignedVector<std::byte> scratch_;
  std::vector<double> results_;               ///< [points] of the kernel, so that it has to be computed
  std::vector<std::unique_ptr<Step>> steps_;  ///< those that differ
  std::vector<Step*> step_;                   ///< [T]
  std::atomic<int> wrong_{-1};                ///< a task whose inputs are wrong
};

}  // namespace quintet::tasks
