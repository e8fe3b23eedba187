#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "apps/quintet/campaign/options.hpp"

namespace quintet::campaign {

/// A run of a stage's command.
struct Item {
  std::size_t stage = 0;
  std::string label;                          ///< "scan k=0.3 alpha=0.01"
  std::map<std::string, std::string> values;  ///< of sweep, `each` and stages upstream, without folders
  std::vector<std::size_t> after;             ///< items that must be done before
  std::size_t input = none;                   ///< the item that `each` stands for
  std::string file;                           ///< the file that it stands for
  std::string program;                        ///< path of the executable
  std::string identity;                       ///< all that its result depends on, in words
  std::string key;                            ///< 128 bits of it, in hexadecimal digits

  static constexpr std::size_t none = static_cast<std::size_t>(-1);
};

/// All items of a campaign, each behind those that it waits for.
///
/// The key of an item is made of its program's bytes, its words (folders replaced by the keys of what is in
/// them), the contents of its inputs and the keys upstream: a change redoes what depends on it, nothing else.
class Graph {
 public:
  /// `here`: folder of the campaign's file. Throws InputError for cycles, unknown stages, patterns without
  /// files, words that stand for nothing, programs that are not there, classes without slots, and two items
  /// that are the same.
  Graph(CampaignOptions options, std::string here);

  [[nodiscard]] const std::vector<Item>& items() const { return items_; }
  [[nodiscard]] const std::vector<StageOptions>& stages() const { return options_.stages; }
  [[nodiscard]] const std::map<std::string, std::int64_t>& slots() const { return options_.slots; }
  /// The words to run an item with, its own folder and those of the store being these.
  [[nodiscard]] std::vector<std::string> words(const Item& item, const std::vector<std::string>& words,
                                               const std::string& own, const std::string& store) const;

 private:
  [[nodiscard]] std::vector<std::size_t> order_of_stages() const;
  void add_items(std::size_t stage);
  void identify(Item& item);

  CampaignOptions options_;
  std::string here_;
  std::vector<Item> items_;
  std::vector<std::vector<std::size_t>> of_stage_;  ///< items of each stage
  std::map<std::string, std::string> contents_;     ///< "size xxh64" of files that were read
};

}  // namespace quintet::campaign
