#include "apps/quintet/plan/plan.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>

#include "apps/application/cli/launch.hpp"
#include "apps/quintet/owner/owner.hpp"
#include "apps/quintet/plan/placement.hpp"
#include "apps/quintet/plan/plan_table.hpp"
#include "apps/quintet/plan/training_table.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/machine/command.hpp"

namespace quintet::commands {
namespace {

/// What the command line asked for.
struct Wanted {
  std::string file, machine, ranks, application, command, output, metg;
  std::vector<std::string> settings;
  std::int64_t threads = 1;
};

const std::string& only(const std::vector<std::string>& values) {
  static const std::string none;
  return values.empty() ? none : values.back();
}

Wanted wanted_of(const Application::Arguments& arguments) {
  Wanted wanted{.file = only(arguments[0]),
                .machine = only(arguments[1]),
                .ranks = only(arguments[2]),
                .application = only(arguments[4]),
                .command = only(arguments[5]),
                .output = only(arguments[7]),
                .metg = only(arguments[8]),
                .settings = arguments[3]};
  const std::string& threads = only(arguments[6]);
  const auto [end, error] = std::from_chars(threads.data(), threads.data() + threads.size(), wanted.threads);
  if (error != std::errc() || end != threads.data() + threads.size() || wanted.threads < 1)
    throw UsageError(fmt::format("--threads {}: expected a number from 1", threads));
  return wanted;
}

/// What the application says that its command costs.
planning::CostModel ask(const Owner& owner, const Wanted& wanted) {
  std::vector<std::string> words{
      owner.application.executable,  owner.command, wanted.file, "--cost", wanted.ranks, "--threads",
      std::to_string(wanted.threads)};
  for (const auto& setting : wanted.settings) words.insert(words.end(), {"--set", setting});
  constexpr double limit_s = 900;
  const auto result = run_command(words, limit_s);
  const auto who = fmt::format("{} {}", owner.application.name, owner.command);
  QUINTET_CHECK(
      result.errors.find("unknown flag '--cost'") == std::string::npos,
      "'{}' has no model of its cost; those that have one: dpmd run, vlasov run, meshfreeflow simulate, "
      "submatrix evaluate",
      who);
  QUINTET_CHECK(!result.timed_out, "'{}' has timed its steps for {:.0f} s; plan a smaller case", who,
                limit_s);
  QUINTET_CHECK(result.good(), "'{}' cannot say what it costs: {}", who,
                result.errors.substr(0, result.errors.find('\n')));
  return planning::cost_model_of(parse_yaml(result.out, who));
}

/// What a rank must have at least, from metg.json; nothing where all sizes that were measured were long
/// enough.
std::optional<double> least_work(const std::string& file, const Owner& owner,
                                 const planning::CostModel& model) {
  const Tree metg = read_yaml(file);
  const std::string &application = metg.at("metg").as_text(), who = owner.application.name;
  QUINTET_CHECK(application == who && metg.at("unit").as_text() == model.unit + "s",
                "{} is of {}{}, not of {}, whose work is counted in {}s", file, application,
                metg.has("unit") ? " in " + metg.at("unit").as_text() : "", who, model.unit);
  if (!metg.at("publishable").as_boolean()) log::warning("{}: {}", file, metg.at("doubt").as_text());
  const Tree* bound = metg.find("metg_per_rank");
  return bound ? std::optional(bound->as_number()) : std::nullopt;
}

PlanRow plan_row(const planning::CostModel& model, const planning::StepCost& row, const Machine& machine,
                 double slower, std::int64_t threads) {
  PlanRow planned{.cost = row, .reason = row.impossible};
  if (!planned.reason.empty()) return planned;
  const Placement first = place(machine, row.ranks, threads, row.memory, std::nullopt);
  const auto links = links_among(machine, row.ranks, first.ranks_per_node);
  planned.links_known = row.ranks == 1 || links.known();
  if (links.known() || row.ranks == 1) {
    planned.step = planning::plan_step(model, row, links, slower);
  } else {  // without messages: a lower bound
    const planning::StepCost silent{.ranks = row.ranks, .work = row.work};
    const planning::Links instant(std::vector<planning::Links::Tier>{{double(row.ranks), {0, 0}}});
    planned.step = planning::plan_step(model, silent, instant, slower);
  }
  if (model.steps) planned.seconds = *model.steps * planned.step.seconds();
  planned.placement = place(machine, row.ranks, threads, row.memory, planned.seconds);
  planned.reason = planned.placement.impossible;
  return planned;
}

}  // namespace

std::vector<Application::Flag> plan_flags() {
  return {{"FILE", "the YAML file of a run", true, ""},
          {"--machine", "a machine of configs/machines, or its file", false, "local"},
          {"--ranks", "numbers of ranks: 1,8,64", true, ""},
          {"--set", "KEY.PATH=VALUE: override one value of the YAML file (repeatable)", false, ""},
          {"--app", "the application, where the file does not tell", false, ""},
          {"--command", "its command, likewise", false, ""},
          {"--threads", "cores of each rank", false, "1"},
          {"--output", "write the plan to this file, as JSON", false, ""},
          {"--metg", "metg.json of 'quintet bench metg --app': ranks with less than its bound are marked",
           false, ""}};
}

void plan(const Application::Arguments& arguments) {
  const Wanted wanted = wanted_of(arguments);
  Request request;
  request.input = wanted.file;
  request.settings = wanted.settings;
  const Owner owner = owner_of(load_document(request), wanted.application, wanted.command);
  const Machine machine = read_machine(wanted.machine), here = read_machine("local");
  const auto model = ask(owner, wanted);

  const auto slower = wanted.machine == "local" ? std::optional(1.0) : slowness(machine, here);
  Plan plan{.who = fmt::format("{} {}", owner.application.name, owner.command),
            .file = wanted.file,
            .machine = machine.name,
            .model = model,
            .slower = slower,
            .least_work = wanted.metg.empty() ? std::nullopt : least_work(wanted.metg, owner, model)};
  for (const auto& row : model.rows)
    plan.rows.push_back(plan_row(model, row, machine, slower.value_or(1), wanted.threads));
  std::string text = text_of(plan);
  if (model.training) {
    std::vector<std::int64_t> ranks;
    for (const auto& row : model.rows)
      if (ranks.empty() || ranks.back() != row.ranks) ranks.push_back(row.ranks);
    text += strategies_text(*model.training, machine, ranks, wanted.threads, slower.value_or(1));
  }
  std::fputs(text.c_str(), stdout);
  if (!wanted.output.empty()) write_text_file(wanted.output, to_json(tree_of(plan)));
}

}  // namespace quintet::commands
