#include "apps/quintet/plan/plan.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <limits>
#include <sstream>
#include <string_view>
#include <utility>

#include "apps/application/cli/launch.hpp"
#include "apps/quintet/bench/metg_file.hpp"
#include "apps/quintet/owner/owner.hpp"
#include "apps/quintet/plan/cost.hpp"
#include "apps/quintet/plan/plan_table.hpp"
#include "apps/quintet/plan/training_table.hpp"
#include "io/config/schema.hpp"
#include "io/device/device.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::commands {
namespace {

/// Request of the command line.
struct Wanted {
  std::string file, machine, ranks, application, command, output, metg;
  std::vector<std::string> settings;
  std::int64_t threads = 1;
  bool oracle = false;
};

/// A whole number from 1 to 2^31 - 1, the value of a flag or one of its values.
std::int64_t count_of(const char* flag, std::string_view text) {
  std::int32_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc() || end != text.data() + text.size() || count < 1)
    throw UsageError(fmt::format("{} {}: expected a whole number from 1", flag, text));
  return count;
}

Wanted wanted_of(const PlanFlags& flags) {
  Wanted wanted{.file = flags.file,
                .machine = flags.machine,
                .ranks = flags.ranks,
                .application = flags.application.value_or(""),
                .command = flags.command.value_or(""),
                .output = flags.output.value_or(""),
                .metg = flags.metg.value_or(""),
                .settings = flags.settings};
  wanted.threads = count_of("--threads", flags.threads.value_or("1"));
  wanted.oracle = flags.oracle;
  std::istringstream ranks(wanted.ranks);
  if (wanted.ranks.empty()) throw UsageError("--ranks: expected numbers of ranks, such as 1,8,64");
  for (std::string one; std::getline(ranks, one, ',');) count_of("--ranks", one);
  return wanted;
}

/// Least work of a rank, from metg.json; nothing if all sizes that were measured were long enough.
std::optional<double> least_work(const std::string& file, const Owner& owner,
                                 const planning::CostModel& model) {
  const auto metg = bench::read_metg(file);
  const std::string& who = owner.application.name;
  QUINTET_CHECK(metg.of == who && metg.unit == model.unit + "s",
                "{} is of {}{}, not of {}, whose work is counted in {}s", file, metg.of,
                metg.unit.empty() ? "" : " in " + metg.unit, who, model.unit);
  if (!metg.doubt.empty()) log::warning("{}: {}", file, metg.doubt);
  return metg.per_rank;
}

/// Whether the file asks for states elsewhere than in memory, or late.
bool has_place(const planning::StatesPlace& place) { return place.in_file || place.host || place.delayed; }

/// Rows of the stages in place of a data-parallel row, with states in memory and as the file asks for, and
/// what `auto` would take: by the machine's memory, where a run goes by what is free of it. Where nothing
/// fits, rows with states in a file are added.
void add_stages(Plan& plan, const planning::StepCost& row, const Machine& machine, std::int64_t threads) {
  planning::CostModel model = plan.model;
  const auto asked = std::exchange(model.division->states_place, {});
  const auto& division = *model.division;
  const auto placed = place(machine, row.ranks, threads, 0, std::nullopt);
  const auto per_node = std::min<std::int64_t>(placed.ranks_per_node, row.ranks);
  const int per_holder = division.per_holder(row.team, per_node);
  const auto stages = row.team > 1 ? planning::stages(division) : planning::stages().first(1);
  const auto add = [&](const planning::StatesPlace& states) {
    model.division->states_place = states;
    for (const auto& stage : stages)
      plan.rows.push_back(
          plan_stage_row(model, row, stage, per_holder, machine, plan.slower.value_or(1), threads));
  };
  add({});
  if (has_place(asked)) add(asked);
  model.division->states_place = asked;
  constexpr double unknown = std::numeric_limits<double>::infinity();
  const double of_node = machine.node.memory ? *machine.node.memory / double(per_node) : unknown;
  const auto choice =
      planning::choose_stage(division, row.team, per_holder, planning::memory_besides(model, row),
                             std::min(of_node, division.memory.value_or(unknown)));
  if (choice.stage == nullptr && !asked.in_file) add({.in_file = true});
  if (row.team > 1)
    plan.choices.push_back({row.ranks, choice.stage != nullptr ? choice.stage->yaml : "", choice.reason});
}

}  // namespace

void describe(Schema& schema, PlanFlags& flags) {
  schema.text("file", flags.file, "the YAML file of a run").required();
  schema.text("machine", flags.machine, "a machine of configs/machines, or its file");
  schema.text("ranks", flags.ranks, "numbers of ranks: 1,8,64").required();
  schema.texts("set", flags.settings, "KEY.PATH=VALUE: override one value of the YAML file (repeatable)");
  schema.text("app", flags.application, "the application, where the file does not tell");
  schema.text("command", flags.command, "its command, likewise");
  schema.text("threads", flags.threads, "cores of each rank (default: 1)");
  schema.text("output", flags.output, "write the plan to this file, as JSON");
  schema.text("metg", flags.metg,
              "metg.json of 'quintet bench metg --app': ranks with less than its bound are marked");
  schema.flag("oracle", flags.oracle,
              "also what ways to share a training out would take that no trainer here has: formulas");
}

void plan(const PlanFlags& flags) {
  const Wanted wanted = wanted_of(flags);
  Request request;
  request.input = wanted.file;
  request.settings = wanted.settings;
  const Owner owner = owner_of(load_document(request), wanted.application, wanted.command);
  const Machine machine = read_machine(wanted.machine), here = read_machine("local");
  const auto asked = ask_cost(
      owner,
      {.file = wanted.file, .settings = wanted.settings, .ranks = wanted.ranks, .threads = wanted.threads});
  QUINTET_CHECK(
      asked,
      "'{} {}' has no model of its cost; those that have one: dpmd run, dpmd train, meshfreeflow "
      "flow, simulate and train, podlstm fit, hindcast, search and train, submatrix evaluate, vlasov run",
      owner.application.name, owner.command);
  const auto& model = *asked;
  QUINTET_CHECK(
      wanted.machine == "local" || !model.engine.is_gpu,
      "device: steps were timed on {}, which says nothing of a GPU of {}; plan on a node of {}, with "
      "--machine local, or with --set device=cpu",
      model.engine.name, machine.name, machine.name);

  const auto slower = wanted.machine == "local" ? std::optional(1.0) : slowness(machine, here);
  Plan plan{.who = fmt::format("{} {}", owner.application.name, owner.command),
            .file = wanted.file,
            .machine = machine.name,
            .rates_remark = machine.rates.remark,
            .model = model,
            .slower = slower,
            .least_work = wanted.metg.empty() ? std::nullopt : least_work(wanted.metg, owner, model)};
  for (const auto& row : model.rows)
    if (model.division && row.impossible.empty() &&
        (row.team > 1 || (row.team == 1 && has_place(model.division->states_place))))
      add_stages(plan, row, machine, wanted.threads);
    else
      plan.rows.push_back(plan_row(model, row, machine, slower.value_or(1), wanted.threads));
  std::string text = text_of(plan);
  if (model.training && wanted.oracle) {
    std::vector<std::int64_t> ranks;
    for (const auto& row : model.rows)
      if (ranks.empty() || ranks.back() != row.ranks) ranks.push_back(row.ranks);
    text += strategies_text(*model.training, machine, ranks, wanted.threads, slower.value_or(1),
                            model.division ? planning::stages(*model.division).size() : 0);
  }
  std::fputs(text.c_str(), stdout);
  if (!wanted.output.empty()) write_text_file(wanted.output, to_json(tree_of(plan)));
}

}  // namespace quintet::commands
