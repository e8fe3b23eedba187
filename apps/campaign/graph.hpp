#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/campaign/options.hpp"
#include "apps/campaign/words.hpp"

namespace quintet::campaign {

/// A run of a stage's command.
struct Item {
  std::size_t stage = 0;
  std::int64_t round = -1;                    ///< from 0; -1: of no round
  std::string label;                          ///< "scan k=0.3 alpha=0.01"
  std::map<std::string, std::string> values;  ///< of sweep, `each` and stages upstream, without folders
  std::vector<std::size_t> after;             ///< items that must be done before
  std::size_t input = none;                   ///< the item that `each` stands for
  std::string file;                           ///< the file that it stands for
  std::string program;                        ///< path of the executable
  double cost = 1;                            ///< beside items of the same stage
  std::string identity;                       ///< all that its result depends on, in words
  std::string key;                            ///< 128 bits of it, in hexadecimal digits

  static constexpr std::size_t none = -1;
};

/// A part of what an item's result depends on.
struct Ingredient {
  std::string line;  ///< of its identity
  std::string what;  ///< what it is to a reader: "file case.yaml"
};

/// Files by the pattern that found them: of the file's folder, in full.
using FoundFiles = std::map<std::string, std::vector<std::string>>;

/// Where items are, and which of them turned out not to be needed: their folders are left out of lists.
struct Folders {
  std::string store;
  std::vector<bool> left_out{};  ///< of each item; empty: none

  [[nodiscard]] bool has(std::size_t item) const { return left_out.empty() || !left_out[item]; }
};

/// All items of a campaign, each behind those that it waits for.
///
/// The key of an item is made of its program's bytes, its words (folders replaced by the keys of what is in
/// them), the contents of its inputs and of files that its words name, and the keys upstream: a change redoes
/// what depends on it, nothing else.
class Graph {
 public:
  /// `here`: folder of the campaign's file; `path`: folders of programs, as PATH has them; `found`: what
  /// patterns found when the campaign was frozen; of such a one files that are gone make other items, of
  /// which nobody has asked for, and no error. Throws InputError for cycles, unknown stages, patterns without
  /// files, words that stand for nothing, programs that are not there, and two items that are the same.
  Graph(CampaignOptions options, std::string here, std::string path,
        std::optional<FoundFiles> found = std::nullopt);

  [[nodiscard]] const std::vector<Item>& items() const { return items_; }
  [[nodiscard]] const CampaignOptions& options() const { return options_; }
  [[nodiscard]] const std::vector<StageOptions>& stages() const { return options_.stages; }
  [[nodiscard]] const StageOptions& stage_of(const Item& item) const { return options_.stages[item.stage]; }
  [[nodiscard]] const std::vector<std::size_t>& items_of(std::size_t stage) const { return of_stage_[stage]; }
  [[nodiscard]] const std::string& here() const { return here_; }
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Files that patterns matched, and "SIZE XXH64" of each file that counts.
  [[nodiscard]] const FoundFiles& found() const { return found_; }
  [[nodiscard]] const std::map<std::string, std::string>& contents() const { return contents_; }
  /// All that an item's result depends on, line by line of its identity.
  [[nodiscard]] std::vector<Ingredient> ingredients(const Item& item) const;

  /// The words to run an item with in its own folder, the program's first; with those of `again` if it goes
  /// on.
  [[nodiscard]] std::vector<std::string> command(const Item& item, bool goes_on, const std::string& own,
                                                 const Folders& folders) const;
  /// Whether a stage's command begins with {launch}.
  [[nodiscard]] static bool is_launched(const StageOptions& stage);
  /// Whether an item's program is an application of the suite, beside this one.
  [[nodiscard]] static bool is_of_suite(const Item& item);
  /// Whether an item may be forked by a warm program: one of the suite, without {launch}.
  [[nodiscard]] bool can_be_warm(const Item& item) const;
  /// Whether an item is needed, now that all before it are done: it is not where nothing matches `only_if`,
  /// or where what it would be made of was not needed.
  [[nodiscard]] bool is_needed(const Item& item, const Folders& folders) const;

 private:
  void check_stages() const;
  void make_items();
  void add_items(std::size_t stage, std::int64_t round);
  [[nodiscard]] std::vector<std::size_t> ordered(const std::vector<std::vector<std::size_t>>& stages) const;
  [[nodiscard]] bool is_in_rounds(std::size_t stage) const;
  /// Items of a stage that an item of this round sees: of its own round, or with `earlier` of those before.
  [[nodiscard]] std::vector<std::size_t> seen(const std::string& stage, std::int64_t round,
                                              bool earlier) const;
  /// Items of a stage in the round before an item's that differ from it in no value but the round.
  [[nodiscard]] std::vector<std::size_t> previous(const std::string& stage, const Item& item) const;
  /// Items that the names of stages stand for in an item's words, by the stage's name.
  [[nodiscard]] std::map<std::string, std::vector<std::size_t>> upstream(const Item& item) const;
  [[nodiscard]] std::vector<std::string> words(const Item& item, const std::vector<std::string>& words,
                                               const std::string& own, const Folders& folders,
                                               const std::string& here) const;
  /// The program of an item, whose word may hold names in braces.
  [[nodiscard]] std::string program_of(const Item& item) const;
  /// Files that match, sorted; relative patterns from the campaign's folder. Throws InputError if no file
  /// matches.
  const std::vector<std::string>& matching(const std::string& pattern, const std::string& who) const;
  [[nodiscard]] const std::string& contents(const std::string& file) const;
  void add_files(const Item& item, const std::vector<std::string>& words, std::vector<Ingredient>& all) const;

  CampaignOptions options_;
  std::string here_, path_;
  bool is_frozen_;
  std::vector<Item> items_;
  std::vector<std::vector<std::size_t>> of_stage_;  ///< items of each stage
  mutable FoundFiles found_;
  mutable std::map<std::string, std::string> contents_;  ///< "size xxh64" of files that were read
};

}  // namespace quintet::campaign
