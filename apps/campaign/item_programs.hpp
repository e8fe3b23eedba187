#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/campaign/graph.hpp"
#include "apps/campaign/store.hpp"
#include "apps/campaign/workers/programs.hpp"

namespace quintet::campaign {

/// The programs of a campaign's items, by the numbers of these: alone, behind what starts MPI, or forked by a
/// warm program, each in its item's folder.
class ItemPrograms {
 public:
  ItemPrograms(const Graph& graph, const Store& store);

  /// An item is to run here: a program is kept warm where several may be forked by it.
  void expect(std::size_t item);
  /// Start an item in its folder, with the words of `again` where it goes on; its process. `variables`: of
  /// its environment, beside this process's own. Throws ResourceError.
  [[nodiscard]] std::int64_t start(std::size_t item, bool goes_on, const Folders& folders,
                                   std::vector<std::string> variables);
  /// Exit code, or 128 + signal, and nothing of its process group is left; nothing while it runs. Behind
  /// {launch} that which an application of the suite tells itself, if it does.
  [[nodiscard]] std::optional<int> ended(std::size_t item);
  /// Let it write a checkpoint and end.
  void ask_to_end(std::size_t item) const;
  void kill(std::size_t item) const;
  [[nodiscard]] std::int64_t n_warm() const { return programs_.n_warm(); }  ///< items that were forked

 private:
  struct Run {
    std::int64_t process = 0;
    std::string start{};  ///< by which the program tells its own exit code; "": its process does
  };
  [[nodiscard]] bool may_be_warm(std::size_t item) const;
  [[nodiscard]] bool is_launched(std::size_t item) const;

  const Graph& graph_;
  const Store& store_;
  Programs programs_;
  std::map<std::string, std::size_t> n_to_fork_;  ///< items of each program that may be warm
  std::map<std::size_t, Run> runs_;               ///< of items that run
};

}  // namespace quintet::campaign
