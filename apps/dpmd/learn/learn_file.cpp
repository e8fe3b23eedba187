#include "apps/dpmd/learn/learn_file.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "apps/campaign/words.hpp"
#include "io/config/schema.hpp"
#include "io/log/error.hpp"

namespace quintet::dpmd {

namespace fs = std::filesystem;

namespace {

using Words = std::vector<std::string>;

Tree list_of(const Words& words) {
  Tree list = Tree::list();
  for (const auto& word : words) list.append(Tree::text(word));
  return list;
}

/// A text as a word of a campaign that stands for exactly it.
std::string plain(const std::string& text) {
  std::string word;
  for (const char c : text) word += c == '{' || c == '}' ? std::string(2, c) : std::string(1, c);
  return word;
}

void add_settings(Words& words, const Words& settings) {
  for (const auto& setting : settings) words.push_back("--set=" + plain(setting));
}

/// Options as flags of the plain command that has them: --force-low='0.1 eV/angstrom'.
template <class Options>
Words flags_of(Options options) {
  Words flags;
  const Tree tree = options_tree(described(options));
  for (const auto& [key, value] : tree.entries()) {
    if (value.is_null()) continue;
    std::string name = key;
    std::replace(name.begin(), name.end(), '_', '-');
    flags.push_back(fmt::format("--{}={}", name, plain(value.as_text())));
  }
  return flags;
}

/// Patterns of the files that a name of data stands for, as `dpmd train` has them: a file, a folder,
/// FILE#/group, a pattern.
Words patterns_of(const std::string& name) {
  const std::string file = name.substr(0, name.rfind('#'));
  const Words named = fs::exists(name)   ? Words{name}
                      : fs::exists(file) ? Words{file}
                                         : campaign::files_that_match(name);
  Words patterns;
  const auto add = [&](const std::string& path) { patterns.push_back(plain(campaign::literal(path))); };
  for (const auto& path : named) {
    if (!fs::is_directory(path)) add(path);
    if (fs::is_directory(path))
      for (const auto& entry : fs::recursive_directory_iterator(path))
        if (entry.is_regular_file()) add(entry.path().string());
  }
  std::sort(patterns.begin(), patterns.end());
  return patterns;
}

/// Cores of each of n that run side by side, at most `at_once` of them.
std::int64_t share(const LearnOptions& options, std::int64_t cores, std::int64_t n) {
  if (!options.launcher.empty()) return cores;
  if (options.at_once && *options.at_once < n) return (cores + *options.at_once - 1) / *options.at_once;
  return std::max<std::int64_t>(1, cores / n);
}

Tree stage(const std::string& name, const Words& command, const Words& outputs) {
  Tree tree = Tree::map();
  tree.set("name", Tree::text(name));
  tree.set("command", list_of(command));
  tree.set("outputs", list_of(outputs));
  return tree;
}

/// Words of a run that goes on from its checkpoints where it was stopped, and its cores.
void add_run(Tree& stage, const LearnOptions& options, std::int64_t threads) {
  stage.set("again", list_of({"--restart", "auto"}));
  if (options.launcher.empty()) stage.set("aside", list_of({"--threads={threads}"}));
  stage.set("threads", Tree::integer(threads));
}

Tree train(const LearnOptions& options, std::int64_t cores) {
  std::string systems;
  Words inputs;
  for (const auto& system : options.data) {
    systems += plain(to_json(Tree::text(system), 0)) + ",";
    for (auto& pattern : patterns_of(system)) inputs.push_back(std::move(pattern));
  }
  Words words{"{launch}", "dpmd", "train", plain(options.train.input), "--output={output}/run", "--quiet"};
  add_settings(words, options.train.set);
  words.push_back(fmt::format("--set=data.training.systems=[{}{{label:/labels/labelled.xyz}}]", systems));
  words.push_back("--set=output=model.dp");
  words.push_back(fmt::format("--set=seed={{={} + 1000*round + member}}", options.seed));
  if (options.train.reuse) words.push_back("--set=model.start={train}/run/model.dp");
  Tree tree = stage("train", words, {"run/model.dp", "run/summary.json"});
  tree.set("inputs", list_of(inputs));
  tree.set("earlier", list_of({"label"}));
  if (options.train.reuse) tree.set("previous", list_of({"train"}));
  Tree members = Tree::list();
  for (int m = 0; m < options.models; ++m) members.append(Tree::integer(m));
  tree.set_path("sweep.member", members);
  add_run(tree, options, share(options, cores, options.models));
  return tree;
}

std::string limits_text(SelectionOptions options) {
  Tree limits = Tree::map();
  const Tree tree = options_tree(described(options));
  for (const auto& [key, value] : tree.entries())
    if (!value.is_null() && (key.ends_with("_low") || key.ends_with("_high"))) limits.set(key, value);
  return to_json(limits, 0);
}

/// How many runs of an iteration come before those of exploration e, as a formula of its round.
std::string runs_before(const LearnOptions& options, std::size_t e) {
  std::string formula = "0";
  for (std::size_t other = 0; other < e; ++other) {
    const auto& exploration = options.explore[other];
    formula += fmt::format(" + {}*(round >= {})", std::max<std::size_t>(1, exploration.starts.size()),
                           exploration.first_iteration);
    if (exploration.last_iteration) formula += fmt::format("*(round <= {})", *exploration.last_iteration);
  }
  return formula;
}

Tree run(const LearnOptions& options, std::size_t e, std::size_t s, std::int64_t iterations,
         std::int64_t threads) {
  const Exploration& exploration = options.explore[e];
  const Tree input = read_yaml(exploration.input);
  Words words{"{launch}", "dpmd", "run", plain(exploration.input), "--output={output}/run", "--quiet"},
      inputs;
  if (!exploration.starts.empty()) {
    add_settings(words, {"system.file=" + exploration.starts[s]});
    inputs = patterns_of(exploration.starts[s]);
  } else if (const Tree* system = input.find("system"); system && system->is_map() && system->has("file")) {
    const fs::path file = system->at("file").as_text();
    inputs = patterns_of((fs::path(exploration.input).parent_path() / file).string());
  }
  if (!input.has("deviation")) add_settings(words, {"deviation={}"});
  words.emplace_back("--set=potential.model=[{train:/run/model.dp}]");
  add_settings(words, {"selection=" + limits_text(options.selection)});
  words.push_back(
      fmt::format("--set=seed={{={} + 1000*round + {} + {}}}", options.seed, runs_before(options, e), s));
  add_settings(words, exploration.set);
  Tree tree = stage(fmt::format("run_{}_{}", e, s), words, {"run/model_devi.out"});
  tree.set("inputs", list_of(inputs));
  tree.set("needs", list_of({"train"}));
  tree.set("accepts", Tree::list({Tree::integer(3)}));  // no physics any more: the frames until then count
  tree.set("first_round", Tree::integer(exploration.first_iteration));
  tree.set("last_round",
           Tree::integer(std::min(exploration.last_iteration.value_or(iterations), iterations - 1)));
  add_run(tree, options, threads);
  return tree;
}

Tree select(const LearnOptions& options, const Words& runs, std::int64_t iterations) {
  Words words = flags_of(options.selection), frames;
  words.insert(words.begin(),
               {"dpmd", "select", fmt::format("--seed={{={} + round}}", options.seed), "--output=selected"});
  for (const auto& name : runs) {
    words.push_back(fmt::format("--deviation={{{}}}/run/model_devi.out", name));
    frames.push_back(fmt::format("{{{}}}/run/candidates.h5", name));
  }
  words.insert(words.end(), frames.begin(), frames.end());
  Tree tree = stage("select", words, {"selected.json"});
  tree.set("needs", list_of(runs));
  tree.set("last_round", Tree::integer(iterations - 1));
  return tree;
}

Tree label(const LearnOptions& options, std::int64_t iterations, std::int64_t cores) {
  Words words{"dpmd", "label"}, aside;
  for (const auto& flag : flags_of(options.label)) {
    const bool counts = !flag.starts_with("--jobs=") && !flag.starts_with("--time-limit=");
    (counts ? words : aside).push_back(flag);
  }
  aside.emplace_back("--known={here}/labels");  // whatever build of dpmd asked for them
  words.emplace_back("{select}/selected.xyz");
  Tree tree = stage("label", words, {"labels/labelled.xyz"});
  tree.set("again", list_of({"--output=labels"}));  // its own default: the frames that are labelled are there
  tree.set("aside", list_of(aside));
  tree.set("needs", list_of({"select"}));
  tree.set("only_if", list_of({"{select}/selected.xyz"}));
  tree.set("last_round", Tree::integer(iterations - 1));
  tree.set("threads", Tree::integer(std::min<std::int64_t>(options.label.jobs, cores)));
  // Frames that failed once fail again; but what a signal has ended has told nothing, and labels are kept.
  tree.set("tries", Tree::integer(3));
  return tree;
}

}  // namespace

bool is_in(const Exploration& exploration, std::int64_t iteration) {
  return iteration >= exploration.first_iteration &&
         iteration <= exploration.last_iteration.value_or(iteration);
}

Tree campaign_of(const LearnOptions& options, std::int64_t iterations, bool trains_after,
                 std::int64_t cores) {
  std::int64_t n_runs = 0;
  for (const auto& exploration : options.explore)
    n_runs += std::max<std::int64_t>(1, std::ssize(exploration.starts));
  Tree stages = Tree::list({train(options, cores)});
  Words runs;
  for (std::size_t e = 0; e < options.explore.size(); ++e)
    for (std::size_t s = 0; s < std::max<std::size_t>(1, options.explore[e].starts.size()); ++s) {
      if (options.explore[e].first_iteration >= iterations) continue;
      stages.append(run(options, e, s, iterations, share(options, cores, n_runs)));
      runs.push_back(stages.items().back().at("name").as_text());
    }
  stages.append(select(options, runs, iterations));
  stages.append(label(options, iterations, cores));
  Words names;
  for (const auto& each : stages.items()) names.push_back(each.at("name").as_text());
  Tree campaign = Tree::map();
  campaign.set_path("slots.cpu", Tree::integer(cores));
  campaign.set("launch", Tree::text(options.launcher.empty() ? "" : "env " + options.launcher));
  campaign.set_path("rounds.count", Tree::integer(iterations + (trains_after ? 1 : 0)));
  campaign.set_path("rounds.stages", list_of(names));
  campaign.set("stages", std::move(stages));
  return campaign;
}

}  // namespace quintet::dpmd
