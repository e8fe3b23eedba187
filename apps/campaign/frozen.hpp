#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/campaign/graph.hpp"
#include "io/config/schema_fwd.hpp"

namespace quintet::campaign {

/// Data of a campaign that its file has no place for: .campaign_place.yaml beside a copy of the file.
struct Place {
  std::string here;                   ///< folder of the file that was copied
  std::string path;                   ///< folders of programs
  std::vector<std::string> found;     ///< "PATTERN<TAB>FILE<TAB>FILE", what patterns found
  std::vector<std::string> contents;  ///< "SIZE XXH64 FILE" of what counts by its contents
  bool is_frozen = false;
};
void describe(Schema& schema, Place& place);

/// A campaign's file and what it means now.
struct Frozen {
  std::string text, meaning;  ///< of the file; of its Place
  std::string copy;           ///< DIR/frozen/KEY/NAME.yaml, whose KEY is that of both
};
[[nodiscard]] Frozen frozen(const Graph& graph, const std::string& file, const std::string& directory);
/// Write the copy into the store: jobs that run it are not touched by what is written into the file later,
/// nor by new files that its patterns would find.
void write_frozen(const Frozen& frozen);

/// The place of a campaign's file: its own folder and this PATH, or what was frozen with it.
[[nodiscard]] Place place_of(const std::string& file, const std::string& path);
/// Files that patterns matched; nothing if nothing was frozen.
[[nodiscard]] std::optional<FoundFiles> found_in(const Place& place);

/// "case.yaml, model.h5": files that have changed since the campaign was frozen; "" for none.
[[nodiscard]] std::string changed_files(const Place& place);

}  // namespace quintet::campaign
