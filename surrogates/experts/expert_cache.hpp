#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/hdf5/embedded_file.hpp"
#include "io/tiers/read_cache.hpp"
#include "surrogates/experts/registry.hpp"

namespace quintet::experts {

struct CacheOptions {
  std::size_t host = 0;          ///< bytes for experts in memory, those on their way included
  std::vector<std::string> pin;  ///< IDs that stay, once they were asked for
  int prefetch = 1;              ///< experts that are read ahead
  std::string key = "budget";    ///< of the input, for messages
};

/// The experts of one application in memory, as far as a budget goes (ReadCache).
///
/// An expert is opened by its application's own reader from its own file's bytes: what it answers is to the
/// last bit what its model answers alone. `open` gets the name "registry.h5:ID", which any reader takes
/// while it runs; the bytes have been read and checked by then. An expert that takes more memory than its
/// registry says is refused. One cache at a time opens.
class ExpertCache {
 public:
  using Open = std::function<std::shared_ptr<void>(const std::string& name)>;

  /// Throws InputError where the budget does not hold the largest expert beside those that are pinned and
  /// those on their way, with the least that works.
  ExpertCache(const Registry& registry, const std::string& app, const CacheOptions& options, Open open);

  /// @param expert number in the registry
  [[nodiscard]] ReadCache::Hold hold(int expert) { return cache_->hold(place(expert)); }
  void fetch(int expert) { cache_->fetch(place(expert)); }
  [[nodiscard]] bool holds(int expert) const { return cache_->holds(place(expert)); }
  [[nodiscard]] const ReadCache::Counts& counts() const { return cache_->counts(); }
  [[nodiscard]] const Ledger& ledger() const { return ledger_; }
  /// "12 of 20 requests from memory, 2 read ahead, 6 read; 3 evictions; at most 4.2 MB of 8 MB"
  [[nodiscard]] std::string summary() const;

 private:
  [[nodiscard]] int place(int expert) const { return place_.at(expert); }

  Ledger ledger_;
  std::size_t budget_;
  std::vector<int> place_;  ///< [experts of the registry] number in the cache; -1: another application's
  std::vector<hdf5::EmbeddedPlace> files_;
  std::unique_ptr<ReadCache> cache_;
};

}  // namespace quintet::experts
