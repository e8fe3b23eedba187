#include <array>
#include <cstdio>
#include <utility>

#include <Kokkos_Core.hpp>

#include "apps/quintet/bench/flags.hpp"
#include "apps/quintet/bench/metg.hpp"
#include "apps/quintet/bench/metg_options.hpp"
#include "apps/quintet/bench/result.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/machine/detect.hpp"
#include "physics/kernels/execution.hpp"
#include "physics/tasks/runner.hpp"

namespace quintet::bench {
namespace {

using tasks::Grain;

constexpr double longest_task_s = 0.05, default_seconds = 0.2;
constexpr int least_repeats = 5;

std::optional<tasks::Damage> damage_of(const std::optional<std::string>& text) {
  if (!text) return {};
  std::array<char, 16> name{};
  tasks::Damage damage;
  const int n = std::sscanf(text->c_str(), "%15[a-z],%d,%d", name.data(), &damage.step, &damage.point);
  for (const auto& [known, kind] : tasks::damage_names()) {
    if (n != 3 || known != name.data()) continue;
    damage.kind = kind;
    return damage;
  }
  throw InputError(
      fmt::format("--damage: '{}' is no damage; expected KIND,STEP,POINT with missing, surplus, step or "
                  "byte, as in byte,3,2",
                  *text));
}

/// A graph on the ranks, and how its tasks are measured.
class Bench {
 public:
  Bench(const Comm& comm, const GraphMetgOptions& options, double seconds)
      : seconds_(seconds),
        cores_(comm.size() * Exec().concurrency()),
        graph_(options.graph),
        runner_(comm, graph_,
                {.kernel = options.kernel,
                 .output_bytes = static_cast<int>(options.output_bytes),
                 .messages = options.messages,
                 .damage = damage_of(options.damage)}) {}

  [[nodiscard]] int cores() const { return cores_; }

  /// Tasks of n iterations: the least time of as many runs as the time allows. Collective.
  Grain measure(std::int64_t n) {
    std::vector<double> seconds;
    for (double sum = 0; sum < seconds_ || std::ssize(seconds) < least_repeats; sum += seconds.back())
      seconds.push_back(runner_.run(n));
    const auto times = tasks::times_of(std::move(seconds));
    return {.size = n,
            .task_s = times.least * cores_ / graph_.n_tasks(),
            .rate = runner_.work(n) / times.least,
            .spread = times.median / times.least - 1,
            .repeats = times.repeats};
  }

 private:
  double seconds_;
  int cores_;
  tasks::Graph graph_;
  tasks::Runner runner_;
};

std::string rate_text(double rate, const std::string& unit) {
  return unit == "flop" || unit == "B" ? fmt::format("{:.3g} G{}/s", 1e-9 * rate, unit)
                                       : fmt::format("{:.3g} {}/s", rate, unit);
}

void show_one(const Grain& grain, const std::string& unit) {
  const auto rate = unit.empty() ? "" : ", " + rate_text(grain.rate, unit);
  std::printf("%.4f us a task%s (%d runs, median %.1f %% above the least)\n", 1e6 * grain.task_s,
              rate.c_str(), grain.repeats, 100 * grain.spread);
}

void show(const Result& result, const std::string& unit) {
  std::printf("%12s %12s %16s %11s %8s %8s\n", "iterations", "us a task", "work", "efficiency", "spread",
              "repeats");
  for (const auto& g : result.grains)
    std::printf("%12lld %12.4f %16s %9.1f %% %6.1f %% %8d\n", static_cast<long long>(g.size), 1e6 * g.task_s,
                rate_text(g.rate, unit).c_str(), 100 * g.efficiency, 100 * g.spread, g.repeats);
  std::printf("%s\n", metg_text(result).c_str());
}

Tree record(const Comm& comm, const GraphMetgOptions& o, const Result& result, int cores) {
  Tree tree = Tree::map();
  tree.set("metg", Tree::text("tasks"));
  tree.set("pattern", Tree::text(tasks::name_of(o.graph.pattern)));
  tree.set("kernel", Tree::text(tasks::name_of(o.kernel.kernel)));
  tree.set("messages", Tree::text(o.messages == tasks::Messages::by_rank ? "by_rank" : "by_edge"));
  for (const auto& [key, value] : {std::pair{"width", o.graph.width},
                                   {"steps", o.graph.steps},
                                   {"radix", o.graph.radix},
                                   {"output_bytes", static_cast<int>(o.output_bytes)},
                                   {"ranks", comm.size()},
                                   {"cores", cores}})
    tree.set(key, Tree::integer(value));
  tree.set("processor", Tree::text(processor_name()));
  add_to(tree, result);
  Tree sizes = Tree::list(), rates = Tree::list();
  for (const auto& grain : result.grains) {
    sizes.append(Tree::integer(grain.size));
    rates.append(Tree::number(grain.rate));
  }
  tree.set("iterations", std::move(sizes));
  tree.set("work_per_s", std::move(rates));
  return tree;
}

}  // namespace

void metg_of_graph(const Comm& comm, const Application::Arguments& arguments) {
  MetgOptions o;
  GraphMetgOptions g;
  parse_graph_flags(arguments, o, g);
  Bench bench(comm, g, o.seconds.value_or(default_seconds));
  const std::string unit = tasks::work_unit(g.kernel.kernel);
  log::info("{}, {} on {} ({}), {}, {} a piece; {}", tasks::name_of(g.graph.pattern),
            counted(g.graph.width, "point"), counted(comm.size(), "rank"), counted(bench.cores(), "core"),
            tasks::name_of(g.kernel.kernel), counted(g.graph.steps, "step"), processor_name());
  if (g.iterations || unit.empty()) {
    const Grain grain = bench.measure(g.iterations.value_or(0));
    if (comm.is_root()) show_one(grain, unit);
    return;
  }
  const auto measure = [&](std::int64_t n) { return bench.measure(n); };
  const Result result = search(
      comm, o.rounds, o.force, [&] { return tasks::sweep(measure, g.ratio, longest_task_s); }, measure);
  if (!comm.is_root()) return;
  show(result, unit);
  if (!result.doubt.empty()) log::warning("Not to be published: {}", result.doubt);
  if (!o.output.empty()) write_metg(o.output, record(comm, g, result, bench.cores()));
}

}  // namespace quintet::bench
