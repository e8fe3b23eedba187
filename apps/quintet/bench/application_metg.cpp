#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <thread>

#include <fmt/ranges.h>
#include <unistd.h>

#include "apps/quintet/bench/application_case.hpp"
#include "apps/quintet/bench/flags.hpp"
#include "apps/quintet/bench/metg.hpp"
#include "apps/quintet/bench/result.hpp"
#include "apps/quintet/owner/owner.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/machine/command.hpp"
#include "io/machine/detect.hpp"

namespace quintet::bench {
namespace {

namespace fs = std::filesystem;
using tasks::Grain;
using Size = std::vector<std::int64_t>;

constexpr double default_seconds = 1, longest_run_s = 3600;
constexpr std::int64_t first_steps = 10, most_steps = 1000;  ///< more lead where a case was not meant to go

/// A folder that is gone with its runs afterwards.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / fmt::format("quintet_metg_{}", getpid())) {
    fs::create_directories(path_);
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::string run() const { return (path_ / "run").string(); }

 private:
  fs::path path_;
};

/// What a program that failed has to say: its own error, else the launcher's first words (after a rule of
/// dashes).
std::string reason(const CommandResult& result) {
  std::istringstream lines(result.errors + result.out);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("error: ")) return line.substr(7);
    if (first.empty() && line.find_first_not_of("- ") != std::string::npos) first = line;
  }
  return first;
}

/// The application and its case, which is run with other sizes.
class Case {
 public:
  Case(const ApplicationWords& words, const ApplicationMetgOptions& options, double seconds)
      : row_(application_case(words.application)),
        words_(words),
        executable_(sibling_named(words.application).executable),
        seconds_(seconds),
        ranks_(options.ranks > 0 ? options.ranks
                                 : std::max(1, static_cast<int>(std::thread::hardware_concurrency()))) {
    std::istringstream launch(options.launch);
    for (std::string word; launch >> word;) {
      if (const auto at = word.find("{ranks}"); at != std::string::npos)
        word.replace(at, 7, std::to_string(ranks_));
      launch_.push_back(word);
    }
  }

  [[nodiscard]] const ApplicationCase& row() const { return row_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  /// The size of the input as it stands.
  [[nodiscard]] Size size() const {
    Tree document = read_yaml(words_.file);
    for (const auto& setting : words_.settings) {
      const auto equals = setting.find('=');
      if (equals != std::string::npos && setting.substr(0, equals) == row_.size_key)
        document.set_path(row_.size_key, parse_yaml(setting.substr(equals + 1), "--set " + setting));
    }
    return size_of(row_, document);
  }

  /// A grain of this size: about as many steps as fit into the seconds. Its size: cells (atoms) of all ranks.
  /// Throws InputError with the application's last words where it refuses.
  Grain measure(const Size& size) {
    if (step_s_ == 0) (void)run(size, first_steps);  // how long a step is
    const Tree summary =
        run(size, std::clamp(static_cast<std::int64_t>(seconds_ / step_s_), first_steps, most_steps));
    const double step_s = row_.step_s(summary);
    return {.size = summary.at(row_.size_in_summary).as_integer(),
            .task_s = step_s,
            .rate = row_.work(summary) / step_s,
            .repeats = static_cast<int>(summary.at("steps").as_integer())};
  }

 private:
  Tree run(const Size& size, std::int64_t n_steps) {
    std::vector<std::string> words = ranks_ > 1 ? launch_ : std::vector<std::string>();
    for (const auto& word : {executable_, std::string(row_.command), words_.file, std::string("--quiet"),
                             std::string("--overwrite"), std::string("--output"), folder_.run()})
      words.push_back(word);
    auto settings = words_.settings;
    settings.push_back(fmt::format("{}=[{}]", row_.size_key, fmt::join(size, ",")));
    for (const auto& setting : row_.settings(n_steps)) settings.push_back(setting);
    for (const auto& setting : settings) words.insert(words.end(), {"--set", setting});
    const auto result = run_command(words, longest_run_s);
    if (!result.good())
      throw InputError(fmt::format("{} with {}=[{}] ended with code {}: {}", row_.name, row_.size_key,
                                   fmt::join(size, ","), result.code, reason(result)));
    const Tree summary = read_yaml(folder_.run() + "/summary.json");
    if (row_.way_in_summary) {
      const std::string& way = summary.at(row_.way_in_summary).as_text();
      if (way_.empty()) way_ = way;
      QUINTET_CHECK(way == way_,
                    "{} with {}=[{}] computes by '{}', the largest case by '{}': not to be compared",
                    row_.name, row_.size_key, fmt::join(size, ","), way, way_);
    }
    step_s_ = row_.step_s(summary);
    return summary;
  }

  const ApplicationCase& row_;
  const ApplicationWords& words_;
  std::string executable_;
  double seconds_;
  int ranks_;
  double step_s_ = 0;  ///< of the last run
  std::string way_;    ///< of the first run
  std::vector<std::string> launch_;
  Folder folder_;
};

/// From the input's size down, until half of the efficiency is lost or the application refuses; smallest
/// first.
std::vector<Grain> shrink(Case& application, std::vector<Size>& sizes) {
  std::vector<Grain> grains;
  for (Size size = application.size(); !size.empty(); size = halved(size)) {
    try {
      grains.insert(grains.begin(), application.measure(size));
    } catch (const InputError& error) {
      if (grains.empty()) throw;
      log::info("No smaller: {}", error.what());
      break;
    }
    sizes.insert(sizes.begin(), size);
    tasks::set_efficiencies(grains);
    if (grains.size() > 1 && grains[0].efficiency < half && grains[1].efficiency < half)
      break;  // one alone may be noise
  }
  return grains;
}

/// Cells (atoms) a rank at which half of the efficiency is lost.
std::optional<double> size_at_half(const Result& result, int ranks) {
  return tasks::crossing(result.grains, half,
                         [ranks](const Grain& g) { return static_cast<double>(g.size) / ranks; });
}

void show(const Result& result, const Case& application) {
  const std::string unit = application.row().unit;
  std::printf("%14s %14s %14s %11s\n", (unit + " a rank").c_str(), "us a step", "core ns each", "efficiency");
  for (const auto& g : result.grains) {
    const double each = static_cast<double>(g.size) / application.ranks();
    std::printf("%14.6g %14.4g %14.4g %9.1f %%\n", each, 1e6 * g.task_s, 1e9 * g.task_s / each,
                100 * g.efficiency);
  }
  if (const auto size = size_at_half(result, application.ranks()))
    std::printf("Half of the efficiency is lost at %.4g %s a rank. %s\n", *size, unit.c_str(),
                metg_text(result).c_str());
  else
    std::printf("Half of the efficiency is not lost down to %.4g %s a rank\n",
                static_cast<double>(result.grains.front().size) / application.ranks(), unit.c_str());
}

/// metg.json, which plans read: metg_per_rank in `unit`, absent where it lies below all sizes.
Tree record(const Result& result, const Case& application, const ApplicationWords& words) {
  Tree tree = Tree::map(), sizes = Tree::list();
  tree.set("metg", Tree::text(words.application));
  tree.set("command", Tree::text(application.row().command));
  tree.set("input", Tree::text(words.file));
  tree.set("ranks", Tree::integer(application.ranks()));
  tree.set("unit", Tree::text(application.row().unit));
  if (const auto size = size_at_half(result, application.ranks()))
    tree.set("metg_per_rank", Tree::number(*size));
  tree.set("processor", Tree::text(processor_name()));
  add_to(tree, result);
  for (const auto& grain : result.grains)
    sizes.append(Tree::number(static_cast<double>(grain.size) / application.ranks()));
  tree.set("size_per_rank", std::move(sizes));
  return tree;
}

/// The largest case must be one that loses little, else all others look better than they are.
std::string still_rising(const Result& result) {
  const auto& grains = result.grains;
  if (grains.size() < 2) return "";
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
  Case application(words, a, o.seconds.value_or(default_seconds));
  log::info("{} {} {} on {} ranks; {}", words.application, application.row().command, words.file,
            application.ranks(), processor_name());
  std::vector<Size> sizes;
  std::size_t next = 0;
  Result result = search(
      Comm::self(), o.rounds, o.force, [&] { return shrink(application, sizes); },
      [&](std::int64_t) { return application.measure(sizes[next++ % sizes.size()]); });
  if (result.doubt.empty()) result.doubt = still_rising(result);
  show(result, application);
  if (!result.doubt.empty()) log::warning("Not to be published: {}", result.doubt);
  if (!o.output.empty()) write_metg(o.output, record(result, application, words));
}

}  // namespace quintet::bench
