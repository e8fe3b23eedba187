#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <thread>

#include <fmt/ranges.h>

#include "apps/application/loop/size_times.hpp"
#include "apps/quintet/bench/flags.hpp"
#include "apps/quintet/bench/metg.hpp"
#include "apps/quintet/bench/result.hpp"
#include "apps/quintet/owner/owner.hpp"
#include "io/config/table.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/machine/command.hpp"
#include "io/machine/detect.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::bench {
namespace {

using tasks::Grain;

constexpr double default_seconds = 0.5, longest_run_s = 7200;

/// Applications that time steps of ever smaller cases (Application::sizes).
struct TimedApplication {
  const char *name, *command;
};
constexpr TimedApplication rows[] = {{"vlasov", "run"}, {"dpmd", "run"}, {"submatrix", "evaluate"}};

/// Reason of a program that failed: its own error, else the launcher's first words (after a rule of dashes).
std::string reason(const CommandResult& result) {
  std::istringstream lines(result.errors + result.out);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("error: ")) return line.substr(7);
    if (first.empty() && line.find_first_not_of("- ") != std::string::npos) first = line;
  }
  return first;
}

/// The words that start the application on so many ranks.
std::vector<std::string> words_of(const TimedApplication& row, const ApplicationWords& words,
                                  const ApplicationMetgOptions& options, int ranks, int rounds,
                                  double seconds) {
  std::vector<std::string> all;
  std::istringstream launch(options.launch);
  for (std::string word; ranks > 1 && launch >> word;) {
    if (const auto at = word.find("{ranks}"); at != std::string::npos)
      word.replace(at, 7, std::to_string(ranks));
    all.push_back(word);
  }
  for (const auto& word :
       {sibling_named(row.name).executable, std::string(row.command), words.file, std::string("--step-times"),
        fmt::format("{},{}", rounds, seconds), std::string("--threads"), std::string("1")})
    all.push_back(word);
  for (const auto& setting : words.settings) all.insert(all.end(), {"--set", setting});
  return all;
}

SizeSeriesTimes ask(const TimedApplication& row, const std::vector<std::string>& words) {
  const auto result = run_command(words, longest_run_s);
  QUINTET_CHECK(result.good(), "{} ended with code {}: {}", row.name, result.code, reason(result));
  const auto begin = result.out.find('{');  // launchers may speak first
  QUINTET_CHECK(begin != std::string::npos, "{} gave no times of its steps: {}", row.name, reason(result));
  return size_times_of(parse_yaml(result.out.substr(begin), row.name));
}

/// Grains of each round, smallest first.
std::vector<std::vector<Grain>> grains_of(const SizeSeriesTimes& times) {
  std::vector<std::vector<Grain>> all(times.sizes.front().step_s.size());
  for (std::size_t round = 0; round < all.size(); ++round)
    for (auto one = times.sizes.rbegin(); one != times.sizes.rend(); ++one) {
      const double seconds = one->step_s.at(round);
      all[round].push_back(
          {.size = std::llround(one->work), .task_s = seconds, .rate = one->work / seconds, .repeats = 1});
    }
  return all;
}

/// Cells (atoms) a rank at which half of the efficiency is lost.
std::optional<double> size_at_half(const std::vector<Grain>& grains, int ranks) {
  return tasks::crossing(grains, half,
                         [ranks](const Grain& g) { return static_cast<double>(g.size) / ranks; });
}

/// size_at_half() of each round that has one.
std::vector<double> sizes_at_half(const Result& result, int ranks) {
  std::vector<double> sizes;
  for (const auto& round : result.rounds)
    if (const auto size = size_at_half(round, ranks)) sizes.push_back(*size);
  return sizes;
}

void show(const Result& result, const SizeSeriesTimes& times) {
  const std::string unit = times.unit;
  std::printf("%16s %14s %14s %11s\n", (unit + " a rank").c_str(), "us a step", "core ns each", "efficiency");
  for (const auto& g : result.grains) {
    const double each = static_cast<double>(g.size) / times.ranks;
    std::printf("%16.6g %14.4g %14.4g %9.1f %%\n", each, 1e6 * g.task_s, 1e9 * g.task_s / each,
                100 * g.efficiency);
  }
  const auto size = size_at_half(result.grains, times.ranks);
  if (!size) {
    std::printf(
        "No METG: half of the efficiency is not lost down to %.4g %s a rank, a step of %.4g us. No smaller: "
        "%s\n",
        static_cast<double>(result.grains.front().size) / times.ranks, unit.c_str(),
        1e6 * result.grains.front().task_s, times.end.c_str());
    return;
  }
  const auto of_rounds = sizes_at_half(result, times.ranks);
  const auto [low, high] = std::minmax_element(of_rounds.begin(), of_rounds.end());
  std::printf("Half of the efficiency is lost at %.4g %s a rank%s. %s\n", *size, unit.c_str(),
              of_rounds.empty() ? "" : fmt::format(" (rounds: {:.4g} to {:.4g})", *low, *high).c_str(),
              metg_text(result).c_str());
}

/// metg.json, which plans read (metg_file.hpp): metg_per_rank in `unit`, absent where it lies below all
/// sizes.
Tree record(const TimedApplication& row, const Result& result, const SizeSeriesTimes& times,
            const ApplicationWords& words) {
  Tree tree = Tree::map(), sizes = Tree::list();
  tree.set("metg", Tree::text(words.application));
  tree.set("command", Tree::text(row.command));
  tree.set("input", Tree::text(words.file));
  tree.set("ranks", Tree::integer(times.ranks));
  tree.set("unit", Tree::text(times.unit));
  if (const auto size = size_at_half(result.grains, times.ranks)) {
    tree.set("metg_per_rank", Tree::number(*size));
    const auto of_rounds = sizes_at_half(result, times.ranks);
    if (!of_rounds.empty()) {
      tree.set("metg_per_rank_least", Tree::number(*std::min_element(of_rounds.begin(), of_rounds.end())));
      tree.set("metg_per_rank_greatest", Tree::number(*std::max_element(of_rounds.begin(), of_rounds.end())));
    }
  } else {
    tree.set("no_smaller", Tree::text(times.end));
  }
  tree.set("processor", Tree::text(processor_name()));
  add_to(tree, result);
  for (const auto& grain : result.grains)
    sizes.append(Tree::number(static_cast<double>(grain.size) / times.ranks));
  tree.set("size_per_rank", std::move(sizes));
  return tree;
}

/// The largest case must be one that loses little, else all others look better than they are.
std::string still_rising(const Result& result) {
  const auto& grains = result.grains;
  if (grains.size() < 2) return "Only one size was measured: begin with a larger case";
  const double gain = grains.back().rate / grains[grains.size() - 2].rate;
  return gain < 1.1 ? ""
                    : fmt::format(
                          "The largest case is still {:.0f} % faster than one of half its size: begin with a "
                          "larger one",
                          100 * (gain - 1));
}

}  // namespace

void metg_of_application(const Application::Arguments& arguments) {
  MetgOptions o;
  ApplicationMetgOptions a;
  const auto words = parse_application_flags(arguments, o, a);
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (std::getenv(variable))
      throw UsageError(
          "quintet bench metg --app starts the ranks itself: call it without mpirun, --ranks says how many");
  const TimedApplication& row = row_given(rows, words.application, "--app");
  const int ranks = a.ranks > 0 ? a.ranks : std::max<int>(1, std::thread::hardware_concurrency());
  const auto command = words_of(row, words, a, ranks, o.rounds, o.seconds.value_or(default_seconds));
  log::info("{} {} {} on {}; {}", row.name, row.command, words.file, counted(ranks, "rank"),
            processor_name());
  SizeSeriesTimes times;
  Result result = judge(Comm::self(), o.force, [&] {
    times = ask(row, command);
    return grains_of(times);
  });
  if (result.doubt.empty()) result.doubt = still_rising(result);
  show(result, times);
  if (!result.doubt.empty()) log::warning("Not to be published: {}", result.doubt);
  if (!o.output.empty()) write_metg(o.output, record(row, result, times, words));
}

}  // namespace quintet::bench
