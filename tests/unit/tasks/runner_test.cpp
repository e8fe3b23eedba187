#include "physics/tasks/runner.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "tests/unit/tasks/cases.hpp"

using namespace quintet;
using namespace quintet::tasks;

namespace {
std::atomic<long> n_allocations{0};
}

/// All of this program's own allocations are counted.
void* operator new(std::size_t bytes) {
  ++n_allocations;
  if (void* memory = std::malloc(bytes)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

/// A communicator of all ranks whose counters start at 0.
Comm fresh_comm() { return Comm::world().split(0, Comm::world().rank()); }

Comm::Counter sent_by_all(const Comm& comm) {
  const auto mine = comm.counter(Comm::Call::point_to_point);
  return {comm.sum(mine.messages), comm.sum(mine.bytes)};
}

struct Expected {
  std::int64_t messages, bytes;
};

/// What one run of a graph sends, counted.
Comm::Counter sent(Pattern pattern, int width, int steps, const RunnerOptions& options) {
  const auto comm = fresh_comm();
  Runner runner(comm, Graph({.pattern = pattern, .width = width, .steps = steps}), options);
  runner.run(1);
  return sent_by_all(comm);
}

std::string complaint(const Graph& graph, const Damage& damage) {
  Runner runner(Comm::self(), graph, {.output_bytes = 64, .damage = damage});
  try {
    runner.run(1);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(TaskRunner, runs_every_graph_with_right_inputs_again_and_again) {
  const auto comm = Comm::world();
  for (const auto& graph : all_patterns({1, 6, 8}, {3}))
    for (const auto messages : {Messages::by_rank, Messages::by_edge}) {
      SCOPED_TRACE(about(graph));
      Runner runner(comm, graph, {.output_bytes = 48, .messages = messages});
      for (int repeat = 0; repeat < 2; ++repeat) EXPECT_GT(runner.run(2), 0);
    }
}

TEST(TaskRunner, runs_every_kernel_and_graphs_of_few_steps) {
  const auto comm = Comm::world();
  for (const auto kind : {KernelKind::empty, KernelKind::busy_wait, KernelKind::compute_bound,
                          KernelKind::memory_bound, KernelKind::load_imbalance})
    for (const int steps : {1, 2, 3}) {
      const Graph graph({.width = 5, .steps = steps});
      Runner runner(comm, graph, {.kernel = {.kernel = kind, .scratch_bytes = 1024}});
      runner.run(3);
      KernelOptions one{.kernel = kind, .iterations = 3, .scratch_bytes = 1024};
      double work = 0;
      for (int t = 0; t < steps; ++t)
        for (int p = 0; p < 5; ++p) work += work_of(one, t, p);
      EXPECT_DOUBLE_EQ(runner.work(3), work);
    }
}

TEST(TaskRunner, sends_what_the_formulas_of_the_patterns_say) {
  const int n = Comm::world().size(), width = 12, steps = 20, bytes = 32;
  // Per step: neighbours exchange one output; everybody sends all of his points to everybody.
  const Expected stencil{2 * (n - 1), 2 * (n - 1) * bytes},
      periodic{n == 1   ? 0
               : n == 2 ? 2
                        : 2 * n,
               n == 1 ? 0 : 2 * n * bytes},
      all{n * (n - 1), (n - 1) * width * bytes}, none{0, 0};
  for (const auto& [pattern, expected] :
       {std::pair{Pattern::stencil_1d, stencil}, std::pair{Pattern::stencil_1d_periodic, periodic},
        std::pair{Pattern::all_to_all, all}, std::pair{Pattern::no_comm, none},
        std::pair{Pattern::trivial, none}}) {
    const auto counted = sent(pattern, width, steps, {.output_bytes = bytes});
    EXPECT_EQ(counted.messages, expected.messages * (steps - 1)) << name_of(pattern);
    EXPECT_EQ(counted.bytes, expected.bytes * (steps - 1)) << name_of(pattern);
  }
}

TEST(TaskRunner, sends_one_message_for_each_edge_where_asked) {
  const int n = Comm::world().size(), width = 12, steps = 20;
  const int apart = width * width - n * (width / n) * (width / n);  // pairs of points on two ranks
  const auto counted = sent(Pattern::all_to_all, width, steps, {.messages = Messages::by_edge});
  EXPECT_EQ(counted.messages, apart * (steps - 1));
  EXPECT_EQ(counted.bytes, 16 * apart * (steps - 1));
}

TEST(TaskRunner, allocates_nothing_in_its_steps) {
  const auto allocations_of = [](int steps) {
    Runner runner(Comm::world(), Graph({.pattern = Pattern::fft, .width = 12, .steps = steps}),
                  {.output_bytes = 64});
    runner.run(1);
    const long before = n_allocations;
    runner.run(1);
    return n_allocations - before;
  };

  EXPECT_EQ(allocations_of(60), allocations_of(10));
}

TEST(TaskRunner, finds_every_kind_of_damage) {
  for (const auto& graph : all_patterns()) {
    const int step = 4, point = graph.window(step).first;
    if (graph.inputs(step, point).empty()) continue;
    SCOPED_TRACE(about(graph));
    EXPECT_NE(complaint(graph, {Damage::Kind::missing, step, point}).find("a missing input"),
              std::string::npos);
    EXPECT_NE(complaint(graph, {Damage::Kind::surplus, step, point}).find("a surplus input"),
              std::string::npos);
    EXPECT_NE(complaint(graph, {Damage::Kind::wrong_step, step, point}).find("expected (step 3"),
              std::string::npos);
    EXPECT_NE(complaint(graph, {Damage::Kind::wrong_byte, step, point}).find("byte 61 of the 64 bytes"),
              std::string::npos);
  }
}

TEST(TaskRunner, refuses_what_cannot_be) {
  const Graph graph({.width = 4});
  EXPECT_THROW(Runner(Comm::self(), graph, {.output_bytes = 24}), InputError);
  EXPECT_THROW(Runner(Comm::self(), graph, {.output_bytes = 1 << 29}), InputError);
  EXPECT_THROW(Runner(Comm::self(), Graph({.pattern = Pattern::trivial, .width = 4}), {.damage = Damage{}}),
               InputError);
}
