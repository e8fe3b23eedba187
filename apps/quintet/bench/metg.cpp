#include "apps/quintet/bench/metg.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include <Kokkos_Core.hpp>

#include "apps/application/cli/option_flags.hpp"
#include "apps/quintet/bench/metg_options.hpp"
#include "apps/quintet/bench/quiet.hpp"
#include "io/config/suggest.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/machine/detect.hpp"
#include "physics/kernels/execution.hpp"
#include "physics/tasks/efficiency.hpp"

namespace quintet::bench {
namespace {

using tasks::Grain;

constexpr std::size_t first_own = 1;  ///< the flags before those of MetgOptions
constexpr double target = 0.5, longest_task_s = 0.05;
constexpr int least_repeats = 5;

std::optional<tasks::Damage> damage_of(const std::optional<std::string>& text) {
  if (!text) return {};
  char name[16] = {};
  tasks::Damage damage;
  const int n = std::sscanf(text->c_str(), "%15[a-z],%d,%d", name, &damage.step, &damage.point);
  for (const auto& [known, kind] : tasks::damage_names()) {
    if (n != 3 || known != name) continue;
    damage.kind = kind;
    return damage;
  }
  throw InputError(fmt::format(
      "--damage: '{}' is no damage; expected KIND,STEP,POINT with missing, surplus, step or byte, "
      "for example byte,3,2",
      *text));
}

/// A graph on the ranks, and how its tasks are measured.
class Bench {
 public:
  Bench(const Comm& comm, const MetgOptions& options)
      : comm_(comm),
        options_(options),
        graph_(options.graph),
        runner_(comm, graph_,
                {.kernel = options.kernel,
                 .output_bytes = static_cast<int>(options.output_bytes),
                 .messages = options.messages,
                 .damage = damage_of(options.damage)}) {}

  [[nodiscard]] int cores() const { return comm_.size() * Exec().concurrency(); }

  /// Tasks of n iterations: the least time of as many runs as the time allows.
  Grain measure(std::int64_t n) {
    std::vector<double> seconds;
    for (double sum = 0; sum < options_.seconds || std::ssize(seconds) < least_repeats; sum += seconds.back())
      seconds.push_back(runner_.run(n));
    const auto times = tasks::times_of(std::move(seconds));
    const double n_tasks = static_cast<double>(graph_.n_tasks());
    return {.size = n,
            .task_s = times.least * cores() / n_tasks,
            .rate = runner_.work(n) / times.least,
            .spread = times.median / times.least - 1,
            .repeats = times.repeats};
  }

 private:
  const Comm& comm_;
  const MetgOptions& options_;
  tasks::Graph graph_;
  tasks::Runner runner_;
};

/// What was found, of all rounds and of each.
struct Result {
  std::vector<Grain> grains;      ///< of each size the best of all rounds
  std::vector<double> of_rounds;  ///< METG of each round (s), where it lies among these sizes
  std::optional<double> metg_s;
  std::string doubt;  ///< why not to publish it
};

/// The better of each size.
void keep_best(std::vector<Grain>& grains, const std::vector<Grain>& round) {
  for (std::size_t i = 0; i < grains.size(); ++i)
    if (round[i].task_s < grains[i].task_s) grains[i] = round[i];
}

double task_seconds(const Grain& grain) { return grain.task_s; }

/// Rounds over all sizes. Looks around before, between and after; on a busy machine it says why.
Result search(const Comm& comm, Bench& bench, const MetgOptions& o) {
  Result result;
  const auto note = [&](const std::string& reason) {
    if (reason.empty()) return;
    if (!o.force)
      throw ResourceError(
          fmt::format("The machine is busy: {}. Leave it alone while this runs; --force measures anyway, "
                      "but not to be published",
                      reason));
    if (result.doubt.empty()) result.doubt = reason;
  };
  (void)look_around(comm);  // wakes the cores
  note(objection(look_around(comm)));
  for (int round = 0; round < o.rounds; ++round) {
    const Watch watch(comm);
    std::vector<Grain> grains;
    if (round == 0) {
      grains = tasks::sweep([&](std::int64_t n) { return bench.measure(n); }, o.ratio, longest_task_s);
      result.grains = grains;
    } else {
      for (const auto& grain : result.grains) grains.push_back(bench.measure(grain.size));
      keep_best(result.grains, grains);
    }
    note(objection(watch.look()));
    note(objection(look_around(comm)));
    tasks::set_efficiencies(grains);
    if (const auto metg = tasks::crossing(grains, target, task_seconds)) result.of_rounds.push_back(*metg);
  }
  tasks::set_efficiencies(result.grains);
  result.metg_s = tasks::crossing(result.grains, target, task_seconds);
  return result;
}

std::string rate_text(double rate, const std::string& unit) {
  return unit == "flop" || unit == "B" ? fmt::format("{:.3g} G{}/s", 1e-9 * rate, unit)
                                       : fmt::format("{:.3g} {}/s", rate, unit);
}

void show(const Result& result, const std::string& unit) {
  std::printf("%12s %14s %16s %11s %8s %8s\n", "iterations", "us a task", "work", "efficiency", "spread",
              "repeats");
  for (const auto& g : result.grains)
    std::printf("%12lld %14.3f %16s %9.1f %% %6.1f %% %8d\n", static_cast<long long>(g.size), 1e6 * g.task_s,
                rate_text(g.rate, unit).c_str(), 100 * g.efficiency, 100 * g.spread, g.repeats);
}

Tree list_of(const std::vector<Grain>& grains, double (*value)(const Grain&)) {
  Tree list = Tree::list();
  for (const auto& grain : grains) list.append(Tree::number(value(grain)));
  return list;
}

/// metg.json: flat, units in the names.
void write(const std::string& folder, const Comm& comm, const MetgOptions& o, const Result& result,
           int cores) {
  const auto [low, high] = std::minmax_element(result.of_rounds.begin(), result.of_rounds.end());
  Tree tree = Tree::map();
  tree.set("metg", Tree::text("tasks"));
  tree.set("pattern", Tree::text(tasks::name_of(o.graph.pattern)));
  tree.set("kernel", Tree::text(tasks::name_of(o.kernel.kernel)));
  for (const auto& [key, value] : {std::pair{"width", o.graph.width},
                                   {"steps", o.graph.steps},
                                   {"radix", o.graph.radix},
                                   {"ranks", comm.size()},
                                   {"cores", cores}})
    tree.set(key, Tree::integer(value));
  tree.set("output_bytes", Tree::integer(o.output_bytes));
  tree.set("messages", Tree::text(o.messages == tasks::Messages::by_rank ? "by_rank" : "by_edge"));
  tree.set("processor", Tree::text(processor_name()));
  if (result.metg_s) {
    tree.set("metg_us", Tree::number(1e6 * *result.metg_s));
    tree.set("metg_least_us", Tree::number(1e6 * *low));
    tree.set("metg_greatest_us", Tree::number(1e6 * *high));
  }
  tree.set("publishable", Tree::boolean(result.doubt.empty()));
  tree.set("doubt", Tree::text(result.doubt));
  tree.set("iterations", list_of(result.grains, [](const Grain& g) { return static_cast<double>(g.size); }));
  tree.set("task_us", list_of(result.grains, [](const Grain& g) { return 1e6 * g.task_s; }));
  tree.set("work_per_s", list_of(result.grains, [](const Grain& g) { return g.rate; }));
  tree.set("efficiency", list_of(result.grains, [](const Grain& g) { return g.efficiency; }));
  std::filesystem::create_directories(folder);
  write_text_file(folder + "/metg.json", to_json(tree));
}

void tell(const Comm& comm, const MetgOptions& o, const Result& result, int cores) {
  show(result, tasks::work_unit(o.kernel.kernel));
  const auto& shortest = result.grains.front();
  if (result.metg_s) {
    const auto [low, high] = std::minmax_element(result.of_rounds.begin(), result.of_rounds.end());
    std::printf("METG(50 %%): %.3f us (rounds: %.3f to %.3f us)\n", 1e6 * *result.metg_s, 1e6 * *low,
                1e6 * *high);
  } else {
    std::printf("METG(50 %%): below %.3f us, the shortest tasks measured\n", 1e6 * shortest.task_s);
  }
  if (!result.doubt.empty()) log::warning("Not to be published: {}", result.doubt);
  if (!o.output.empty()) write(o.output, comm, o, result, cores);
}

}  // namespace

std::vector<Application::Flag> flags() {
  std::vector<Application::Flag> flags = {{"WHAT", "metg: how short tasks may be", true, ""}};
  MetgOptions options;
  const auto own = flags_of(described(options));
  flags.insert(flags.end(), own.begin(), own.end());
  return flags;
}

void metg(const Comm& comm, const Application::Arguments& arguments) {
  const std::string& what = arguments[0].front();
  if (what != "metg")
    throw UsageError(
        fmt::format("quintet bench: there is no '{}'{}; there is: metg", what, did_you_mean(what, {"metg"})));
  MetgOptions o;
  parse_flags(arguments, first_own, described(o));
  Bench bench(comm, o);
  log::info("{}, {} points on {} ranks ({} cores), {}, {} steps a piece; {}", tasks::name_of(o.graph.pattern),
            o.graph.width, comm.size(), bench.cores(), tasks::name_of(o.kernel.kernel), o.graph.steps,
            processor_name());
  const bool has_work = o.kernel.kernel != tasks::KernelKind::empty;
  if (o.iterations || !has_work) {
    const Grain grain = bench.measure(o.iterations.value_or(0));
    if (!comm.is_root()) return;
    std::printf("%.4f us a task%s (%d runs, median %.1f %% above the least)\n", 1e6 * grain.task_s,
                has_work ? (", " + rate_text(grain.rate, tasks::work_unit(o.kernel.kernel))).c_str() : "",
                grain.repeats, 100 * grain.spread);
    return;
  }
  const Result result = search(comm, bench, o);
  if (comm.is_root()) tell(comm, o, result, bench.cores());
}

}  // namespace quintet::bench
