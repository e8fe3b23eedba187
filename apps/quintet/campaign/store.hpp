#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/application/life/run_owner.hpp"
#include "apps/quintet/campaign/graph.hpp"

namespace quintet::campaign {

/// What is known of an item that is done: its file campaign_item.yaml in the store.
struct DoneItem {
  std::string identity, label, host, boot;
  double seconds = 0;
  std::int64_t tries = 1;
  std::vector<std::string> files;  ///< "SIZE XXH64 path in the folder"
};
void describe(Schema& schema, DoneItem& item);

/// Items as folders: work/KEY while one runs, store/KEY once it is whole, failed/KEY with what a failed one
/// left. An item gets into the store by one rename, with the checksums of its files. Whatever is killed, it
/// is whole or absent; after the machine itself went down, all bytes are compared with their checksums.
class Store {
 public:
  /// Owned by one campaign at a time: throws InputError that names the other one. What a killed one left
  /// running is ended first. Throws InputError for a store of another version.
  explicit Store(const std::string& directory);

  [[nodiscard]] std::string folder() const { return directory_ + "/store"; }
  [[nodiscard]] std::string work(const Item& item) const { return directory_ + "/work/" + item.key; }
  /// The item if it is done. Throws InputError if its folder is another item's, or a file of it is gone or
  /// has another size; with `all_bytes`, or if it was made before this machine came up, every file is read.
  [[nodiscard]] static std::optional<DoneItem> find(const std::string& directory, const Item& item,
                                                    bool all_bytes);
  [[nodiscard]] std::optional<DoneItem> find(const Item& item) const { return find(directory_, item, false); }

  /// "done", "running as 1234" (on this machine), "failed" or "waiting".
  [[nodiscard]] static std::string state(const std::string& directory, const Item& item);

  [[nodiscard]] bool is_begun(const Item& item) const;       ///< a campaign that was ended left a part of it
  void begin(const Item& item, bool afresh) const;           ///< its folder in work
  void claim(const Item& item, std::int64_t process) const;  ///< who is at it
  /// Into the store. Returns what is missing of the stage's outputs, or "".
  [[nodiscard]] std::string finish(const Item& item, const StageOptions& stage, double seconds,
                                   std::int64_t tries) const;
  void give_up(const Item& item, const std::string& why) const;  ///< into failed

 private:
  void end_what_is_left() const;

  std::string directory_;
  std::unique_ptr<RunOwner> owner_;
};

}  // namespace quintet::campaign
