#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "io/config/tree_fwd.hpp"
#include "io/parallel/comm_fwd.hpp"
#include "physics/tasks/efficiency.hpp"

/// A search for the METG: rounds over sizes, and what came out.
namespace quintet::bench {

/// Half of the best rate: what is wanted of the shortest tasks.
constexpr double half = 0.5;

struct Result {
  std::vector<tasks::Grain> grains;  ///< of each size the best of all rounds, smallest first
  std::vector<double> of_rounds;     ///< what crosses `half` in each round: seconds of a task
  std::string doubt;                 ///< why not to publish it
  /// Sizes as each round of judge() found them, with efficiencies.
  std::vector<std::vector<tasks::Grain>> rounds{};
};

/// Measure all sizes `rounds` times and look around before and after each. `first` finds the sizes and is the
/// first round; `measure` measures them again. Collective. Errors: ResourceError on a busy machine, unless
/// `force`: then the result says so.
[[nodiscard]] Result search(const Comm& comm, int rounds, bool force,
                            const std::function<std::vector<tasks::Grain>()>& first,
                            const std::function<tasks::Grain(std::int64_t size)>& measure);

/// Judge rounds that `measure` makes in one go, as search() does, with a look around before and after them.
[[nodiscard]] Result judge(const Comm& comm, bool force,
                           const std::function<std::vector<std::vector<tasks::Grain>>()>& measure);

[[nodiscard]] double task_seconds(const tasks::Grain& grain);
/// "METG(50 %): 1.2 us (rounds: 1.1 to 1.3 us)", or what it is below or above.
[[nodiscard]] std::string metg_text(const Result& result);
/// Add the keys that every metg.json has: metg_us with its spread over rounds, publishable, doubt,
/// efficiency, task_us.
void add_to(Tree& tree, const Result& result);
/// DIR/metg.json.
void write_metg(const std::string& folder, const Tree& tree);

}  // namespace quintet::bench
