#include <algorithm>
#include <filesystem>
#include <set>

#include "apps/campaign/graph.hpp"
#include "apps/campaign/workers/contents.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"

/// Identity of an item: what its result depends on.
namespace quintet::campaign {
namespace fs = std::filesystem;

const std::vector<std::string>& Graph::matching(const std::string& pattern, const std::string& who) const {
  const std::string whole = pattern_in(here_, pattern);
  auto& files = found_[whole];
  if (files.empty()) files = files_that_match(whole);
  QUINTET_CHECK(!files.empty(), "{}: no file matches '{}'", who, whole);
  return files;
}

const std::string& Graph::contents(const std::string& file) const {
  auto& text = contents_[file];
  std::error_code wrong;
  if (text.empty()) text = is_frozen_ && !fs::is_regular_file(file, wrong) ? "gone" : contents_of(file);
  return text;
}

std::string Graph::program_of(const Item& item) const {
  const auto& options = stage_of(item);
  const std::string& word = options.command[is_launched(options) ? 1 : 0];
  const auto texts = words(item, {word}, "{output}", {"{store}"}, here_);
  QUINTET_CHECK(texts.size() == 1, "stage {}: command: '{}' is {}; expected one, the program", options.name,
                word, counted(texts.size(), "word"));
  try {
    return executable(texts.front(), here_, path_, "stage " + options.name);
  } catch (const InputError&) {
    if (is_frozen_) return texts.front();
    throw;
  }
}

/// Files that words name count by their contents: those that a word or a part of it between '=', ',', '[' and
/// ']' is, and those within a line of shell.
void Graph::add_files(const Item& item, const std::vector<std::string>& rest,
                      std::vector<Ingredient>& all) const {
  std::set<std::string> named;
  const auto add = [&](const std::string& file) {
    all.push_back({"file " + contents(file), "file " + file});
    named.insert(file);
  };
  const auto texts = words(item, rest, "{output}", {"{store}"}, here_);
  for (const auto& word : texts)
    for (const auto& part : parts_of(word)) {
      std::error_code wrong;
      if (part.front() == '/' && fs::is_regular_file(part, wrong)) add(part);
    }
  for (const auto& word : texts)
    for (const auto& file : files_within(word))
      if (!named.contains(file)) add(file);
}

std::vector<Ingredient> Graph::ingredients(const Item& item) const {
  const auto& options = stage_of(item);
  const std::string& program = options.command[is_launched(options) ? 1 : 0];
  std::vector<Ingredient> all{
      {"quintet campaign 1", "version"},
      {fmt::format("program {} {}", program, contents(item.program)), "program " + item.program}};
  if (is_launched(options)) all.push_back({fmt::format("launch {}", options.ranks), "ranks"});
  // Folders do not count: what is in them does.
  const std::vector<std::string> rest(options.command.begin() + (is_launched(options) ? 2 : 1),
                                      options.command.end());
  Item plain = item;
  if (!item.file.empty()) plain.file = "{input}";
  const auto add_words = [&](const char* kind, const std::vector<std::string>& list) {
    for (const auto& word : words(plain, list, "{output}", {"{store}"}, "{here}"))
      all.push_back({fmt::format("{} {}", kind, word), fmt::format("{} {}", kind, word)});
  };
  if (program.find('{') != std::string::npos) add_words("program", {program});
  add_words("word", rest);
  add_words("word", options.again);
  add_words("only if", options.only_if);
  add_files(item, rest, all);
  for (const auto& pattern : options.outputs) all.push_back({"makes " + pattern, "outputs: " + pattern});
  for (const auto& pattern : options.non_empty)
    all.push_back({"makes something in " + pattern, "non_empty: " + pattern});
  for (const std::int64_t code : options.accepts) all.push_back({fmt::format("accepts {}", code), "accepts"});
  if (!item.file.empty()) all.push_back({"input " + contents(item.file), "file " + item.file});
  for (const auto& pattern : options.inputs) {
    // An input may be named by what the item has: inputs: ["{name}.dat"].
    Values values{{"here", {{literal(here_)}}}};
    for (const auto& [name, value] : item.values) values[name] = {{value}};
    const std::string who = "stage " + options.name + ": inputs";
    for (const auto& each : expanded(pattern, values, who))
      for (const auto& file : matching(each, who))
        all.push_back(
            {fmt::format("input {} {}", fs::path(file).filename().string(), contents(file)), "file " + file});
  }
  for (const std::size_t i : item.after)
    all.push_back({"after " + items_[i].key, fmt::format("'{}', which it waits for", items_[i].label)});
  return all;
}

}  // namespace quintet::campaign
