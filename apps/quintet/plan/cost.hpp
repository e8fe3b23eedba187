#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/quintet/owner/owner.hpp"
#include "surrogates/planning/cost_model.hpp"

namespace quintet {

/// The command whose cost is asked for.
struct CostQuestion {
  std::string file{};
  std::vector<std::string> settings{};  ///< KEY.PATH=VALUE
  std::vector<std::string> without{};   ///< keys of the file that are not the application's
  std::string ranks{};                  ///< "1,8,64"
  std::int64_t threads = 1;
  bool crowded = true;  ///< time copies on all cores too; not on a node that is shared with others
};

/// Ask an application for the cost model of its command (its hidden flag --cost). It takes a few steps here,
/// then once more in as many copies at once as the node has cores for; that lasts some seconds. Absent: the
/// command has no model of its cost. Throws InputError with the application's first line where it refuses.
[[nodiscard]] std::optional<planning::CostModel> ask_cost(const Owner& owner, const CostQuestion& question);

}  // namespace quintet
