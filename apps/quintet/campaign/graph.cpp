#include "apps/quintet/campaign/graph.hpp"

#include <glob.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include <fmt/ranges.h>

#include "apps/quintet/campaign/contents.hpp"
#include "io/log/error.hpp"

namespace quintet::campaign {
namespace fs = std::filesystem;
namespace {

std::size_t stage_named(const std::vector<StageOptions>& stages, const std::string& name) {
  for (std::size_t s = 0; s < stages.size(); ++s)
    if (stages[s].name == name) return s;
  return Item::none;
}

/// Files that match, sorted; relative patterns from `here`.
std::vector<std::string> matching(const std::string& here, const std::string& pattern,
                                  const std::string& who) {
  const std::string whole = fs::path(pattern).is_absolute() ? pattern : (fs::path(here) / pattern).string();
  glob_t found{};
  const int code = glob(whole.c_str(), 0, nullptr, &found);
  std::vector<std::string> files;
  for (std::size_t i = 0; code == 0 && i < found.gl_pathc; ++i)
    if (fs::is_regular_file(found.gl_pathv[i])) files.emplace_back(found.gl_pathv[i]);
  globfree(&found);
  QUINTET_CHECK(!files.empty(), "{}: no file matches '{}'", who, whole);
  return files;
}

/// An executable: a path, a program beside this one, or a name on the PATH.
std::string executable(const std::string& word, const std::string& here, const std::string& who) {
  const auto runs = [](const std::string& path) {
    return fs::is_regular_file(path) && access(path.c_str(), X_OK) == 0;
  };
  if (word.find('/') != std::string::npos) {
    const std::string path = fs::path(word).is_absolute() ? word : (fs::path(here) / word).string();
    QUINTET_CHECK(runs(path), "{}: '{}' is no program that can be run", who, path);
    return path;
  }
  if (const auto beside = fs::read_symlink("/proc/self/exe").parent_path() / word; runs(beside.string()))
    return beside.string();
  const char* const environment = std::getenv("PATH");
  std::string rest = environment ? environment : "";
  while (!rest.empty()) {
    const auto end = rest.find(':');
    const std::string path = (fs::path(rest.substr(0, end)) / word).string();
    if (runs(path)) return path;
    rest = end == std::string::npos ? "" : rest.substr(end + 1);
  }
  throw InputError(
      fmt::format("{}: there is no program '{}', neither beside quintet nor on the PATH", who, word));
}

using Values = std::map<std::string, std::vector<std::string>>;

/// A word with what its names stand for: as many words as the one list in it has values. "{{" is a brace.
std::vector<std::string> expanded(const std::string& word, const Values& values, const std::string& who) {
  std::vector<std::string> texts{""};
  bool has_list = false;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char c = word[i];
    if ((c == '{' || c == '}') && i + 1 < word.size() && word[i + 1] == c) {
      for (auto& text : texts) text += c;
      ++i;
      continue;
    }
    if (c != '{') {
      for (auto& text : texts) text += c;
      continue;
    }
    const auto end = word.find('}', i);
    QUINTET_CHECK(end != std::string::npos, "{}: '{}' has a brace that is not closed; write {{{{ for one",
                  who, word);
    const std::string name = word.substr(i + 1, end - i - 1);
    const auto found = values.find(name);
    if (found == values.end()) {
      std::vector<std::string> known;
      for (const auto& [key, value] : values) known.push_back("{" + key + "}");
      throw InputError(fmt::format("{}: '{{{}}}' in '{}' stands for nothing here; known are {}", who, name,
                                   word, fmt::join(known, ", ")));
    }
    if (found->second.size() == 1) {
      for (auto& text : texts) text += found->second.front();
    } else {
      QUINTET_CHECK(!has_list, "{}: '{}' names two stages of several items each; use a word for each", who,
                    word);
      has_list = true;
      std::vector<std::string> all;
      for (const auto& value : found->second) all.push_back(texts.front() + value);
      texts = all;
    }
    i = end;
  }
  return texts;
}

/// A word and what lies in it between '=', ',', '[' and ']': "data.files=[/a,/b]" names two files.
std::vector<std::string> parts_of(const std::string& word) {
  std::vector<std::string> parts;
  if (!word.empty()) parts.push_back(word);
  for (std::size_t begin = 0; begin < word.size();) {
    const auto end = std::min(word.find_first_of("=,[]", begin), word.size());
    if (end > begin && end - begin < word.size()) parts.push_back(word.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

}  // namespace

Graph::Graph(CampaignOptions options, std::string here)
    : options_(std::move(options)), here_(std::move(here)) {
  static const std::set<std::string> taken{"input", "name", "output", "here"};
  std::set<std::string> names;
  for (const auto& stage : options_.stages)
    for (const auto& setting : stage.points.front()) {
      const std::string key = setting.substr(0, setting.find('='));
      QUINTET_CHECK(!taken.contains(key) && stage_named(options_.stages, key) == Item::none,
                    "stage {}: sweep.{}: {{{}}} has a meaning of its own in commands; name the key otherwise",
                    stage.name, key, key);
    }
  for (const auto& stage : options_.stages) {
    QUINTET_CHECK(!stage.name.empty() && stage.name.find_first_of("{}/ \t\n") == std::string::npos,
                  "stages: '{}' is no name of a stage: letters, digits and '_'", stage.name);
    QUINTET_CHECK(!taken.contains(stage.name),
                  "stages: '{}' has a meaning of its own in commands; name the stage otherwise", stage.name);
    QUINTET_CHECK(names.insert(stage.name).second, "stages: there are two stages '{}'", stage.name);
    const auto slot = options_.slots.find(stage.slot);
    if (slot == options_.slots.end()) {
      std::vector<std::string> known;
      for (const auto& [name, n] : options_.slots) known.push_back(name);
      throw InputError(fmt::format("stage {}: there is no slot of class '{}'; slots has {}", stage.name,
                                   stage.slot, fmt::join(known, ", ")));
    }
    QUINTET_CHECK(stage.ranks <= slot->second,
                  "stage {}: an item takes {} slots of class '{}', of which there are {}", stage.name,
                  stage.ranks, stage.slot, slot->second);
  }
  of_stage_.resize(options_.stages.size());
  for (const std::size_t stage : order_of_stages()) add_items(stage);
  std::map<std::string, std::string> keys;
  for (const auto& item : items_) {
    const auto [other, is_new] = keys.emplace(item.key, item.label);
    QUINTET_CHECK(is_new, "'{}' and '{}' are the same run: the same command on the same inputs",
                  other->second, item.label);
  }
}

std::vector<std::size_t> Graph::order_of_stages() const {
  const auto& stages = options_.stages;
  std::vector<std::vector<std::size_t>> before(stages.size());
  for (std::size_t s = 0; s < stages.size(); ++s) {
    for (const auto& name : stages[s].needs) {
      before[s].push_back(stage_named(stages, name));
      QUINTET_CHECK(before[s].back() != Item::none, "stage {}: needs '{}', which is no stage", stages[s].name,
                    name);
    }
    if (const auto each = stage_named(stages, stages[s].each); each != Item::none) before[s].push_back(each);
  }
  std::vector<std::size_t> order;
  std::vector<bool> is_in(stages.size(), false);
  while (order.size() < stages.size()) {
    const std::size_t size = order.size();
    for (std::size_t s = 0; s < stages.size(); ++s)
      if (!is_in[s] && std::all_of(before[s].begin(), before[s].end(), [&](auto b) { return is_in[b]; })) {
        order.push_back(s);
        is_in[s] = true;
      }
    if (order.size() > size) continue;
    std::vector<std::string> left;
    for (std::size_t s = 0; s < stages.size(); ++s)
      if (!is_in[s]) left.push_back(stages[s].name);
    throw InputError(fmt::format("stages wait for each other in a circle: {}", fmt::join(left, ", ")));
  }
  return order;
}

void Graph::add_items(std::size_t stage) {
  const auto& options = options_.stages[stage];
  const std::string who = "stage " + options.name;
  std::vector<Item> bases;
  if (const auto each = stage_named(options_.stages, options.each); each != Item::none) {
    for (const std::size_t i : of_stage_[each]) {
      Item item;
      item.input = i;
      item.after = {i};
      item.values = items_[i].values;
      bases.push_back(std::move(item));
    }
  } else if (!options.each.empty()) {
    for (const auto& file : matching(here_, options.each, who + ": each")) {
      Item item;
      item.file = file;
      item.values["name"] = fs::path(file).stem().string();
      bases.push_back(std::move(item));
    }
  } else {
    bases.emplace_back();
  }
  for (const auto& name : options.needs) {
    const auto& all = of_stage_[stage_named(options_.stages, name)];
    for (auto& item : bases) item.after.insert(item.after.end(), all.begin(), all.end());
  }
  for (const auto& base : bases)
    for (const auto& point : options.points) {
      Item item = base;
      item.stage = stage;
      for (const auto& setting : point) {
        const auto equals = setting.find('=');
        item.values[setting.substr(0, equals)] = setting.substr(equals + 1);
      }
      item.label = options.name;
      for (const auto& [name, value] : item.values) item.label += fmt::format(" {}={}", name, value);
      item.program = executable(options.command.front(), here_, who);
      identify(item);
      of_stage_[stage].push_back(items_.size());
      items_.push_back(std::move(item));
    }
}

std::vector<std::string> Graph::words(const Item& item, const std::vector<std::string>& words,
                                      const std::string& own, const std::string& store) const {
  const auto& options = options_.stages[item.stage];
  Values values{{"output", {own}}, {"here", {here_}}};
  for (const auto& [name, value] : item.values) values[name] = {value};
  const auto folder = [&](std::size_t i) { return store + "/" + items_[i].key; };
  if (item.input != Item::none) values["input"] = {folder(item.input)};
  if (!item.file.empty()) values["input"] = {item.file};
  for (const auto& name : options.needs) {
    std::vector<std::string> folders;
    for (const std::size_t i : of_stage_[stage_named(options_.stages, name)]) folders.push_back(folder(i));
    values[name] = folders;
  }
  std::vector<std::string> result;
  for (const auto& word : words) {
    const auto texts = expanded(word, values, "stage " + options.name);
    result.insert(result.end(), texts.begin(), texts.end());
  }
  return result;
}

void Graph::identify(Item& item) {
  const auto& options = options_.stages[item.stage];
  const auto contents = [&](const std::string& file) {
    auto& text = contents_[file];
    if (text.empty()) text = contents_of(file);
    return text;
  };
  std::string text =
      fmt::format("quintet campaign 1\nprogram {} {}\n", options.command.front(), contents(item.program));
  // Folders do not count: what is in them does.
  const std::vector<std::string> rest(options.command.begin() + 1, options.command.end());
  Item plain = item;
  if (!item.file.empty()) plain.file = "{input}";
  const std::string here = std::exchange(here_, "{here}");
  for (const auto* list : {&rest, &options.again})
    for (const auto& word : words(plain, *list, "{output}", "{store}"))
      text += fmt::format("word {}\n", word);
  here_ = here;
  // A file that is named in full stands for what is in it, whether or not `inputs` has it.
  for (const auto& word : words(item, rest, "{output}", "{store}"))
    for (const auto& part : parts_of(word)) {
      std::error_code wrong;
      if (part.front() == '/' && fs::is_regular_file(part, wrong))
        text += fmt::format("file {}\n", contents(part));
    }
  for (const auto& pattern : options.outputs) text += fmt::format("makes {}\n", pattern);
  if (!item.file.empty()) text += fmt::format("input {}\n", contents(item.file));
  for (const auto& pattern : options.inputs) {
    // An input may be named by what the item has: inputs: ["{name}.dat"].
    Values values;
    for (const auto& [name, value] : item.values) values[name] = {value};
    for (const auto& each : expanded(pattern, values, "stage " + options.name + ": inputs"))
      for (const auto& file : matching(here_, each, "stage " + options.name + ": inputs"))
        text += fmt::format("input {} {}\n", fs::path(file).filename().string(), contents(file));
  }
  for (const std::size_t i : item.after) text += fmt::format("after {}\n", items_[i].key);
  item.identity = text;
  item.key = key_of(text);
}

}  // namespace quintet::campaign
