#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/config/schema_fwd.hpp"

/// Graphs of tasks: `steps` steps of up to `width` points; the task (t, i) needs what some tasks of step t -
/// 1 gave out. Source: E. Slaughter et al., SC20, "Task Bench: a parameterized benchmark for evaluating
/// parallel runtime performance", with the dependences of its released core (which are not always the
/// paper's).
namespace quintet::tasks {

/// Pattern of dependences: the points of step t - 1 that a point i of step t needs; `patterns()` says what
/// each is.
enum class Pattern {
  trivial,
  no_comm,
  stencil_1d,
  stencil_1d_periodic,
  dom,
  tree,
  fft,
  all_to_all,
  nearest,
  spread,
  random_nearest,
  random_spread
};

/// A graph's parameters.
struct GraphOptions {
  Pattern pattern = Pattern::stencil_1d;
  int width = 8;           ///< W, points of a step
  int steps = 100;         ///< T
  int radix = 3;           ///< k, of nearest, spread and the random ones
  int period = 0;          ///< steps after which spread and the random ones repeat; 0: automatic
  double fraction = 0.25;  ///< share of the neighbours that the random ones keep
};
void describe(Schema& schema, GraphOptions& options);

/// Points first ... first + count - 1.
struct Window {
  int first = 0, count = 0;
  [[nodiscard]] bool has(int point) const { return first <= point && point < first + count; }
  friend bool operator==(const Window&, const Window&) = default;
};

/// Graph of dependences between tasks. Cheap to copy; the same on all ranks.
class Graph {
 public:
  /// Throws InputError where the parameters do not fit each other.
  explicit Graph(const GraphOptions& options);

  [[nodiscard]] const GraphOptions& options() const { return options_; }
  [[nodiscard]] int width() const { return options_.width; }
  [[nodiscard]] int steps() const { return options_.steps; }
  /// Points that have a task at step t; none before step 0.
  [[nodiscard]] Window window(int step) const;
  /// Dependences repeat: step t has those of set_of(t), which is below n_sets().
  [[nodiscard]] int n_sets() const { return n_sets_; }
  [[nodiscard]] int set_of(int step) const;
  /// Points that point i needs, ascending, whether they have a task or not: who asks drops those outside the
  /// window of the step before.
  [[nodiscard]] std::vector<int> needs(int set, int point) const;
  /// The other side of the same edges: points that need point i, ascending.
  [[nodiscard]] std::vector<int> needed_by(int set, int point) const;
  /// The points whose outputs (step, point) gets: needs() inside the window of step - 1.
  [[nodiscard]] std::vector<int> inputs(int step, int point) const;
  /// Tasks and edges of the whole graph.
  [[nodiscard]] std::int64_t n_tasks() const;
  [[nodiscard]] std::int64_t n_edges() const;

 private:
  GraphOptions options_;
  int n_sets_ = 1;
};

/// Name and meaning of every pattern, for help texts.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> patterns();
[[nodiscard]] std::string name_of(Pattern pattern);

}  // namespace quintet::tasks
