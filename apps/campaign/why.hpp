#pragma once

#include <map>
#include <string>

#include "apps/campaign/graph.hpp"

namespace quintet::campaign {

/// Why items are to be done, beside what a store holds of items of the same name.
class Reasons {
 public:
  Reasons(const Graph& graph, std::string directory);
  /// One line: what has changed since the item of this name was done last (which file, word or program), what
  /// is damaged, how it failed, or that there was none; "" for one that is done.
  [[nodiscard]] std::string why(const Item& item) const;

 private:
  const Graph& graph_;
  std::string directory_;
  std::map<std::string, std::string>
      last_;  ///< identities of the newest items that no longer exist, by label
};

/// Differences between a former identity and the present ingredients: "file case.yaml has changed; ...".
[[nodiscard]] std::string changes(const std::string& before, const std::vector<Ingredient>& now);

}  // namespace quintet::campaign
