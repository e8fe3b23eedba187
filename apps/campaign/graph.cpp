#include "apps/campaign/graph.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include <fmt/ranges.h>

#include "apps/campaign/workers/contents.hpp"
#include "io/config/scalar.hpp"
#include "io/formula/formula.hpp"
#include "io/formula/names.hpp"
#include "io/log/error.hpp"

namespace quintet::campaign {
namespace fs = std::filesystem;
namespace {

constexpr const char* launch = "{launch}";

std::size_t stage_named(const std::vector<StageOptions>& stages, const std::string& name) {
  for (std::size_t s = 0; s < stages.size(); ++s)
    if (stages[s].name == name) return s;
  return Item::none;
}

/// Names with a meaning of their own in commands.
const std::set<std::string>& taken_names() {
  static const std::set<std::string> taken{"input", "name",    "output", "here", "launch",
                                           "ranks", "threads", "round",  "size"};
  return taken;
}

/// 0 for a file that is gone.
double bytes_of(const std::string& file) {
  std::error_code absent;
  const auto size = fs::file_size(file, absent);
  return absent ? 0 : static_cast<double>(size);
}

void check_one_stage(const StageOptions& stage, const CampaignOptions& options) {
  QUINTET_CHECK(!stage.name.empty() && stage.name.find_first_of("{}:/ \t\n") == std::string::npos,
                "stages: '{}' is no name of a stage: letters, digits and '_'", stage.name);
  QUINTET_CHECK(!taken_names().contains(stage.name),
                "stages: '{}' has a meaning of its own in commands; name the stage otherwise", stage.name);
  for (const auto& setting : stage.points.front()) {
    const std::string key = setting.substr(0, setting.find('='));
    QUINTET_CHECK(!taken_names().contains(key) && stage_named(options.stages, key) == Item::none,
                  "stage {}: sweep.{}: {{{}}} has a meaning of its own in commands; name the key otherwise",
                  stage.name, key, key);
  }
  QUINTET_CHECK(!Graph::is_launched(stage) || stage.command.size() > 1,
                "stage {}: command has no program behind {{launch}}", stage.name);
  for (const auto& pattern : stage.outputs)
    QUINTET_CHECK(
        !pattern.empty() && pattern.front() != '/' && ("/" + pattern + "/").find("/../") == std::string::npos,
        "stage {}: outputs: '{}' is not in the item's own folder, where no two stages can write the "
        "same file",
        stage.name, pattern);
  std::map<std::string, std::string> lists;  // that a name is in
  for (const auto& [list, names] :
       {std::pair{"needs", &stage.needs}, {"earlier", &stage.earlier}, {"previous", &stage.previous}})
    for (const auto& name : *names) {
      const std::string other = lists.emplace(name, list).first->second;
      QUINTET_CHECK(other == list, "stage {}: '{}' is in {} and in {}; {{{}}} can only mean one of them",
                    stage.name, name, other, list, name);
    }
}

}  // namespace

bool Graph::is_launched(const StageOptions& stage) { return stage.command.front() == launch; }

bool Graph::is_of_suite(const Item& item) {
  static const std::set<std::string> suite{"dpmd", "meshfreeflow", "podlstm", "submatrix", "vlasov"};
  static const fs::path here = fs::read_symlink("/proc/self/exe").parent_path();
  const fs::path program = item.program;
  return suite.contains(program.filename().string()) && program.parent_path() == here;
}

bool Graph::can_be_warm(const Item& item) const { return !is_launched(stage_of(item)) && is_of_suite(item); }

bool Graph::is_in_rounds(std::size_t stage) const {
  if (!options_.rounds) return false;
  const auto& names = options_.rounds->stages;
  return std::find(names.begin(), names.end(), options_.stages[stage].name) != names.end();
}

void Graph::check_stages() const {
  const auto& stages = options_.stages;
  if (options_.rounds)
    for (const auto& name : options_.rounds->stages)
      QUINTET_CHECK(stage_named(stages, name) != Item::none, "rounds.stages: '{}' is no stage", name);
  std::set<std::string> names;
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const auto& stage = stages[s];
    check_one_stage(stage, options_);
    QUINTET_CHECK(names.insert(stage.name).second, "stages: there are two stages '{}'", stage.name);
    for (const auto& name : stage.needs)
      QUINTET_CHECK(stage_named(stages, name) != Item::none, "stage {}: needs '{}', which is no stage",
                    stage.name, name);
    for (const auto* list : {&stage.earlier, &stage.previous})
      for (const auto& name : *list) {
        const auto other = stage_named(stages, name);
        QUINTET_CHECK(other != Item::none && is_in_rounds(other) && is_in_rounds(s),
                      "stage {}: {}: '{}': both must be in rounds.stages", stage.name,
                      list == &stage.earlier ? "earlier" : "previous", name);
      }
    QUINTET_CHECK(is_in_rounds(s) || (stage.first_round == 0 && !stage.last_round),
                  "stage {}: first_round and last_round are for stages of rounds.stages", stage.name);
  }
}

Graph::Graph(CampaignOptions options, std::string here, std::string path, std::optional<FoundFiles> found)
    : options_(std::move(options)),
      here_(std::move(here)),
      path_(std::move(path)),
      is_frozen_(found.has_value()),
      found_(std::move(found).value_or(FoundFiles())) {
  check_stages();
  of_stage_.resize(options_.stages.size());
  make_items();
  std::map<std::string, std::string> keys;
  for (const auto& item : items_) {
    const auto [other, is_new] = keys.emplace(item.key, item.label);
    QUINTET_CHECK(is_new, "'{}' and '{}' are the same run: the same command on the same inputs",
                  other->second, item.label);
  }
}

/// Groups of stages, each behind those that it waits for; waiting within a group does not count.
std::vector<std::size_t> Graph::ordered(const std::vector<std::vector<std::size_t>>& groups) const {
  const auto& stages = options_.stages;
  std::vector<std::size_t> group_of(stages.size(), Item::none);
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const std::size_t s : groups[g]) group_of[s] = g;
  std::vector<std::set<std::size_t>> before(groups.size());
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (const std::size_t s : groups[g]) {
      auto names = stages[s].needs;
      names.push_back(stages[s].each);
      for (const auto& name : names)
        if (const auto other = stage_named(stages, name);
            other != Item::none && group_of[other] != Item::none && (group_of[other] != g || other == s))
          before[g].insert(group_of[other]);
    }
  std::vector<std::size_t> order;
  std::vector<bool> is_in(groups.size(), false);
  while (order.size() < groups.size()) {
    const std::size_t size = order.size();
    for (std::size_t g = 0; g < groups.size(); ++g)
      if (!is_in[g] && std::all_of(before[g].begin(), before[g].end(), [&](auto b) { return is_in[b]; })) {
        order.push_back(g);
        is_in[g] = true;
      }
    if (order.size() > size) continue;
    std::vector<std::string> left;
    for (std::size_t g = 0; g < groups.size(); ++g)
      for (const std::size_t s : groups[g])
        if (!is_in[g]) left.push_back(stages[s].name);
    throw InputError(fmt::format("stages wait for each other in a circle: {}", fmt::join(left, ", ")));
  }
  return order;
}

void Graph::make_items() {
  // The rounds are one group among the other stages, which wait for all of them.
  std::vector<std::vector<std::size_t>> groups, of_rounds;
  std::vector<std::size_t> rounds;
  for (std::size_t s = 0; s < options_.stages.size(); ++s) {
    if (!is_in_rounds(s)) {
      groups.push_back({s});
      continue;
    }
    rounds.push_back(s);
    of_rounds.push_back({s});
  }
  const auto inner = ordered(of_rounds);
  if (!rounds.empty()) groups.push_back(rounds);
  for (const std::size_t g : ordered(groups)) {
    if (!is_in_rounds(groups[g].front())) {
      add_items(groups[g].front(), -1);
      continue;
    }
    for (std::int64_t round = 0; round < options_.rounds->count; ++round)
      for (const std::size_t i : inner) {
        const std::size_t s = of_rounds[i].front();
        const auto& stage = options_.stages[s];
        if (round >= stage.first_round && round <= stage.last_round.value_or(round)) add_items(s, round);
      }
  }
}

std::vector<std::size_t> Graph::seen(const std::string& stage, std::int64_t round, bool earlier) const {
  std::vector<std::size_t> result;
  for (const std::size_t i : of_stage_[stage_named(options_.stages, stage)]) {
    const std::int64_t other = items_[i].round;
    if (earlier ? other < round : round < 0 || other < 0 || other == round) result.push_back(i);
  }
  return result;
}

std::vector<std::size_t> Graph::previous(const std::string& stage, const Item& item) const {
  const auto differs = [&](const auto& value) {
    const auto own = item.values.find(value.first);
    return value.first != "round" && own != item.values.end() && own->second != value.second;
  };
  std::vector<std::size_t> result;
  for (const std::size_t i : of_stage_[stage_named(options_.stages, stage)]) {
    const auto& values = items_[i].values;
    if (items_[i].round == item.round - 1 && std::none_of(values.begin(), values.end(), differs))
      result.push_back(i);
  }
  return result;
}

std::map<std::string, std::vector<std::size_t>> Graph::upstream(const Item& item) const {
  const auto& options = stage_of(item);
  std::map<std::string, std::vector<std::size_t>> all;
  for (const auto& name : options.needs) all[name] = seen(name, item.round, false);
  for (const auto& name : options.earlier) all[name] = seen(name, item.round, true);
  for (const auto& name : options.previous) all[name] = previous(name, item);
  return all;
}

// Items are the product of what the stage is made for (items of `each`, files, or one) and its sweep; each
// then waits for all that it names.
void Graph::add_items(std::size_t stage, std::int64_t round) {
  const auto& options = options_.stages[stage];
  const std::string who = "stage " + options.name;
  std::vector<Item> bases;
  if (stage_named(options_.stages, options.each) != Item::none) {
    for (const std::size_t i : seen(options.each, round, false)) {
      Item item;
      item.input = i;
      item.after = {i};
      item.values = items_[i].values;
      bases.push_back(std::move(item));
    }
  } else if (!options.each.empty()) {
    for (const auto& file : matching(options.each, who + ": each")) {
      Item item;
      item.file = file;
      item.values["name"] = fs::path(file).stem().string();
      bases.push_back(std::move(item));
    }
  } else {
    bases.emplace_back();
  }
  for (const auto& base : bases)
    for (const auto& point : options.points) {
      Item item = base;
      item.stage = stage;
      item.round = round;
      if (round >= 0) item.values["round"] = fmt::format("{}", round);
      for (const auto& setting : point) {
        const auto equals = setting.find('=');
        item.values[setting.substr(0, equals)] = setting.substr(equals + 1);
      }
      const auto before = upstream(item);
      for (const auto* list : {&options.needs, &options.earlier, &options.previous})
        for (const auto& name : *list)
          for (const std::size_t i : before.at(name))
            if (i != item.input) item.after.push_back(i);
      item.label = options.name;
      for (const auto& [name, value] : item.values) item.label += fmt::format(" {}={}", name, value);
      item.program = program_of(item);
      std::map<std::string, double> numbers{{"size", item.file.empty() ? 0 : bytes_of(item.file)}};
      for (const auto& [name, value] : item.values)
        if (const auto number = to_number(value); number && detail::is_name(name)) numbers[name] = *number;
      if (options.cost.text != "1") item.cost = Formula(options.cost.text, {}, numbers, who + ": cost")({});
      QUINTET_CHECK(options.start != Start::warm || can_be_warm(item),
                    "{}: start: warm is for applications of the suite, without {{launch}}; '{}' is another "
                    "program",
                    who, options.command[is_launched(options) ? 1 : 0]);
      QUINTET_CHECK(std::isfinite(item.cost) && item.cost > 0,
                    "{}: cost: '{}' is {} for '{}'; expected a number above 0", who, options.cost.text,
                    item.cost, item.label);
      for (const auto& ingredient : ingredients(item)) item.identity += ingredient.line + "\n";
      item.key = key_of(item.identity);
      of_stage_[stage].push_back(items_.size());
      items_.push_back(std::move(item));
    }
}

std::vector<std::string> Graph::words(const Item& item, const std::vector<std::string>& words,
                                      const std::string& own, const Folders& folders,
                                      const std::string& here) const {
  const auto& options = stage_of(item);
  Values values{{"output", {{own}}},
                {"here", {{here}}},
                {"ranks", {{fmt::format("{}", options.ranks)}}},
                {"threads", {{fmt::format("{}", options.threads)}}}};
  for (const auto& [name, value] : item.values) values[name] = {{value}};
  const auto folder = [&](std::size_t i) { return folders.store + "/" + items_[i].key; };
  if (item.input != Item::none) values["input"] = {{folder(item.input)}};
  if (!item.file.empty()) values["input"] = {{item.file}};
  for (const auto& [name, items] : upstream(item)) {
    Meaning meaning{{}, true};
    for (const std::size_t i : items)
      if (folders.has(i)) meaning.texts.push_back(folder(i));
    values[name] = meaning;
  }
  std::vector<std::string> result;
  for (const auto& word : words) {
    const auto texts = expanded(word, values, "stage " + options.name);
    result.insert(result.end(), texts.begin(), texts.end());
  }
  return result;
}

std::vector<std::string> Graph::command(const Item& item, bool goes_on, const std::string& own,
                                        const Folders& folders) const {
  const auto& stage = stage_of(item);
  std::vector<std::string> all(stage.command.begin() + (is_launched(stage) ? 1 : 0), stage.command.end());
  if (goes_on) all.insert(all.end(), stage.again.begin(), stage.again.end());
  all.insert(all.end(), stage.aside.begin(), stage.aside.end());
  return words(item, all, own, folders, here_);
}

bool Graph::is_needed(const Item& item, const Folders& folders) const {
  const auto& stage = stage_of(item);
  if (item.input != Item::none && !folders.has(item.input)) return false;
  const auto all_left_out = [&](const std::vector<std::size_t>& items) {
    return !items.empty() && std::none_of(items.begin(), items.end(), [&](auto i) { return folders.has(i); });
  };
  for (const auto& name : stage.needs)
    if (all_left_out(seen(name, item.round, false))) return false;
  for (const auto& name : stage.earlier)
    if (item.round > 0 && all_left_out(seen(name, item.round - 1, false))) return false;
  for (const auto& name : stage.previous)
    if (all_left_out(previous(name, item))) return false;
  if (stage.only_if.empty()) return true;
  const Folders in_patterns{literal(folders.store), folders.left_out};
  for (const auto& pattern : words(item, stage.only_if, "", in_patterns, literal(here_)))
    if (!files_that_match(pattern_in(here_, pattern)).empty()) return true;
  return false;
}

}  // namespace quintet::campaign
