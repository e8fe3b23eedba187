#pragma once

#include <cstdint>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/application/loop/schedule.hpp"
#include "apps/dpmd/run/simulation.hpp"

namespace quintet::dpmd {

/// Observer of a run with rounded products (potential.precision: bf16): compares its forces with those in
/// double, so that a run cannot leave the configurations for which they are accurate.
class PrecisionWatch {
 public:
  /// Steps between looks; one costs about what five steps do.
  static constexpr std::int64_t interval = 1000;
  /// The first look comes sooner: a crystal at rest, as many runs begin, says nothing of atoms that move.
  static constexpr std::int64_t first = 100;

  explicit PrecisionWatch(const Simulation& simulation);

  [[nodiscard]] Schedule schedule() const;
  /// Collective. Throws NumericalError where forces are off by more than PrecisionError allows.
  void look(const Exec& exec, Simulation& simulation);
  void report(Context& context) const;

 private:
  struct CheckedStep {
    std::int64_t step;
    potential::PrecisionError error;
  };
  std::vector<CheckedStep> rows_;  ///< the start first; empty where nothing is rounded
};

}  // namespace quintet::dpmd
