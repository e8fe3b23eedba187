#include "apps/campaign/frozen.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

#include "apps/campaign/workers/contents.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"

namespace quintet::campaign {
namespace fs = std::filesystem;
namespace {

constexpr const char* place_file = ".campaign_place.yaml";  // no name that a user gives beside a campaign

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  QUINTET_CHECK(file.good(), "'{}' cannot be read", path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

void describe(Schema& schema, Place& place) {
  schema.text("here", place.here, "Folder of the file that was copied").required();
  schema.text("path", place.path, "Folders of programs");
  schema.texts("found", place.found, "Patterns, each with what it found behind it, parted by tabs");
  schema.texts("contents", place.contents, "Size, XXH64 and name of each file that counts");
}

Frozen frozen(const Graph& graph, const std::string& file, const std::string& directory) {
  Place place{.here = graph.here(), .path = graph.path(), .found = {}, .contents = {}};
  for (const auto& [pattern, files] : graph.found()) {
    std::string line = pattern;
    for (const auto& each : files) line += "\t" + each;
    place.found.push_back(line);
  }
  for (const auto& [name, contents] : graph.contents()) place.contents.push_back(contents + " " + name);
  Frozen result{.text = text_of(file), .meaning = print_options(described(place)), .copy = {}};
  const fs::path folder = fs::path(directory) / "frozen" / key_of(result.text + result.meaning);
  result.copy = (folder / fs::path(file).filename()).string();
  return result;
}

void write_frozen(const Frozen& frozen) {
  const fs::path folder = fs::path(frozen.copy).parent_path();
  std::error_code wrong;
  fs::create_directories(folder, wrong);
  QUINTET_CHECK(!wrong, "The directory '{}' cannot be used: {}", folder.string(), wrong.message());
  write_text_file((folder / place_file).string(), frozen.meaning);
  write_text_file(frozen.copy, frozen.text);
}

Place place_of(const std::string& file, const std::string& path) {
  const fs::path folder = fs::path(file).parent_path();
  Place place{.here = folder.string(), .path = path, .found = {}, .contents = {}};
  place.is_frozen = fs::exists(folder / place_file);
  if (place.is_frozen) parse_options(read_yaml((folder / place_file).string()), described(place));
  return place;
}

std::optional<FoundFiles> found_in(const Place& place) {
  if (!place.is_frozen) return std::nullopt;
  FoundFiles found;
  for (const auto& line : place.found) {
    std::istringstream words(line);
    std::string pattern;
    std::getline(words, pattern, '\t');
    for (std::string file; std::getline(words, file, '\t');) found[pattern].push_back(file);
  }
  return found;
}

std::string changed_files(const Place& place) {
  std::string changed;
  for (const auto& line : place.contents) {
    const auto second = line.find(' ', line.find(' ') + 1);
    const std::string file = line.substr(second + 1);
    std::error_code wrong;
    if (fs::is_regular_file(file, wrong) && contents_of(file) == line.substr(0, second)) continue;
    changed += (changed.empty() ? "" : ", ") + file;
  }
  return changed;
}

}  // namespace quintet::campaign
