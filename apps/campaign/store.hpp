#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/campaign/graph.hpp"
#include "apps/campaign/workers/workers.hpp"

namespace quintet::campaign {

/// Record of an item that is done: its file campaign_item.yaml in the store.
struct DoneItem {
  std::string identity, label, host, boot;
  double seconds = 0;
  std::int64_t tries = 1;
  bool needed = true;              ///< false: nothing to do, and no files
  std::vector<std::string> files;  ///< "SIZE XXH64 path in the folder"
  std::string damage{};            ///< what is wrong with its folder, and the cure; "": nothing

  [[nodiscard]] static std::string name_of(const std::string& file);  ///< the path of an element of `files`
};
void describe(Schema& schema, DoneItem& item);

/// Items as folders: work/KEY while one runs, store/KEY once it is whole, failed/KEY with what a failed one
/// left, damaged/KEY what was put aside. An item gets into the store by one rename, with the checksums of its
/// files. Whatever is killed, it is whole or absent; after the machine itself went down, all bytes are
/// compared with their checksums.
class Store {
 public:
  /// Open a store, and first end what a killed campaign left running. Throws InputError for a store of
  /// another version, and if another campaign is at it and this one wants to be alone.
  Store(const std::string& directory, Sharing sharing);

  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] std::string folder() const { return directory_ + "/store"; }
  [[nodiscard]] std::string work(const Item& item) const { return directory_ + "/work/" + item.key; }
  /// The item if it is done. Its `damage` says so if its folder is another item's, or a file of it is gone or
  /// has another size; with `all_bytes`, or if it was made before this machine came up, every file is read.
  [[nodiscard]] static std::optional<DoneItem> find(const std::string& directory, const Item& item,
                                                    bool all_bytes);
  [[nodiscard]] std::optional<DoneItem> find(const Item& item) const { return find(directory_, item, false); }

  /// "done", "not needed", "damaged", "running as 1234" with the host behind it where that is another,
  /// "failed" or "waiting".
  [[nodiscard]] static std::string state(const std::string& directory, const Item& item);
  /// (s) that items took when they ran last, by their labels.
  [[nodiscard]] static std::map<std::string, double> times(const std::string& directory);
  /// (B) to ask for where items were killed for memory, by their labels.
  [[nodiscard]] static std::map<std::string, double> memory(const std::string& directory);
  void ask_more(const Item& item, double memory) const;

  /// Have an item; false: another campaign that lives has it.
  [[nodiscard]] bool claim(const Item& item) { return workers_.claim(item.key); }
  void release(const Item& item) const { workers_.release(item.key); }
  [[nodiscard]] bool is_claimed(const Item& item) const { return workers_.is_claimed(item.key); }
  /// Read all files of an item that is done; if it is damaged put it aside, so that it is made again. Not if
  /// another campaign is at it.
  void put_damaged_aside(const Item& item);
  /// Why an item has failed that nobody has and that is not done, since this store was opened; or "".
  [[nodiscard]] std::string why_failed(const Item& item) const;

  [[nodiscard]] bool is_begun(const Item& item) const;  ///< a campaign that was ended left a part of it
  void begin(const Item& item, bool afresh) const;      ///< its folder in work
  /// Into the store. Returns what is missing of the stage's outputs, or "".
  [[nodiscard]] std::string finish(const Item& item, const StageOptions& stage, double seconds,
                                   std::int64_t tries) const;
  void leave_out(const Item& item) const;                        ///< into the store, as not needed
  void give_up(const Item& item, const std::string& why) const;  ///< into failed
  /// Read the record of an item that is done; its files are not looked at. Throws InputError.
  [[nodiscard]] static DoneItem read(const std::string& folder);

 private:
  void write_done(const Item& item, DoneItem& done) const;

  std::string directory_;
  Workers workers_;
};

}  // namespace quintet::campaign
