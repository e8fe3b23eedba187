#include "apps/campaign/options.hpp"

#include <algorithm>

#include "apps/application/cli/input_hints.hpp"
#include "apps/application/life/request.hpp"
#include "io/config/table.hpp"
#include "io/log/error.hpp"

namespace quintet::campaign {
namespace {

struct StartRow {
  Start value;
  const char* name;
};
constexpr StartRow starts[] = {{Start::automatic, "auto"}, {Start::warm, "warm"}, {Start::cold, "cold"}};

}  // namespace

void describe(Schema& schema, StageOptions& options) {
  schema.text("name", options.name, "Of the stage; others name it in each, needs and {name}").required();
  schema
      .texts(
          "command", options.command,
          "Program and its words. {key}: a value of sweep, {input}: what each stands for, {name}: its "
          "name, {STAGE}: "
          "folders of a stage in needs, {STAGE:/path}: the same in one word, with commas between, {output}: "
          "the item's own folder, {here}: the folder of this file, {=100*round + member}: a number of "
          "numbers; {launch} in front: what starts MPI here")
      .required()
      .length(1)
      .example("[vlasov, run, '{here}/wave.yaml', --set, 'constants.k={k}', --output, '{output}/run']");
  schema.texts("again", options.again,
               "Words after those of the command where an item that ended with exit code 75 goes on");
  schema.texts("aside", options.aside,
               "Words after all others that do not count: another number of threads makes no other item");
  schema.text("each", options.each,
              "A stage, or a pattern of files: one item for each of its items or files");
  schema.texts("needs", options.needs, "Stages of which all items must be done");
  schema.texts(
      "earlier", options.earlier,
      "Stages of the rounds of which all items of the rounds before must be done; {name}: their folders");
  schema.texts("previous", options.previous,
               "Stages of the rounds of which those items of the round before must be done that differ in no "
               "value; {name}: their folders, none in the first round");
  schema.texts(
      "only_if", options.only_if,
      "Patterns of files such as '{STAGE}/found.txt'; an item that finds none of them is not needed, "
      "nor is what is made of it");
  schema.texts("inputs", options.inputs, "Patterns of files on whose contents the result depends");
  schema
      .texts("outputs", options.outputs,
             "Patterns of files that a whole item has in its folder; {file: PATTERN, non_empty: true} in the "
             "place of one: files with something in them")
      .example("[run/summary.json, {file: table.csv, non_empty: true}]");
  schema.integers("accepts", options.accepts, "Exit codes beside 0 with which an item is done")
      .at_least(1)
      .at_most(255)
      .example("[3]");
  schema.text("slot", options.slot,
              "Class of the slots that an item takes; of gpu it sees its own devices alone");
  schema.integer("ranks", options.ranks, "Processes of an item: a GPU each, or `threads` slots each")
      .at_least(1)
      .at_most(1000000);
  schema.integer("threads", options.threads, "Cores of a process").at_least(1).at_most(10000);
  schema.choice("start", options.start, choices_of(starts),
                "How its program is started where several items run it here, one of the suite and without "
                "{launch}: forked by one that was loaded once (warm), or each by itself (cold); results are "
                "the same to the last bit");
  schema
      .integer("buckets", options.buckets,
               "Job arrays of a queue that the items are sorted into by their cost, as evenly as can be: "
               "walltime is that of the costliest, the others ask for their share of it")
      .at_least(1)
      .at_most(100);
  schema
      .integer("batch", options.batch,
               "Items that one job of a queue runs, one after another, within its walltime")
      .at_least(1);
  schema.quantity("memory", options.memory, "B", "That an item needs").above(0);
  schema
      .quantity("walltime", options.walltime, "s",
                "An item that takes longer is ended, and has failed; of a job, if it is queued")
      .above(0);
  schema.formula("cost", options.cost,
                 "Time of an item beside others of its stage, of values of sweep and `size`, the bytes of "
                 "{input}: what takes long begins early. What an item once took counts more");
  schema
      .integer("tries", options.tries, "Of an item that fails; one that ends with exit code 3 is tried once")
      .at_least(1)
      .at_most(100);
  schema.integer("first_round", options.first_round, "First round that has the stage, from 0").at_least(0);
  schema.integer("last_round", options.last_round, "Last round that has it; absent: all").at_least(0);
}

void describe(Schema& schema, RoundOptions& options) {
  schema.integer("count", options.count, "How many").required().at_least(1).at_most(1000);
  schema.texts("stages", options.stages, "Stages of a round; {round} counts from 0").required().length(1);
}

void describe(Schema& schema, CampaignOptions& options) {
  schema
      .quantity("memory", options.memory, "B", "Of all items that run at once; absent: what this machine has")
      .above(0);
  schema.text(
      "launch", options.launch,
      "Line of shell in the place of {launch}, with {ranks} and {threads}; jobs have their machine's");
  schema.section("rounds", options.rounds, "Stages that are run again and again, with what was made before");
  schema.sections("stages", options.stages, "What is run").required();
}

namespace {

std::map<std::string, std::int64_t> read_slots(const Tree& tree) {
  QUINTET_CHECK(tree.is_map() && !tree.entries().empty(),
                "{}: slots: expected numbers of slots by class such as {{cpu: 2}}, found {}",
                tree.location().text(), tree.found());
  std::map<std::string, std::int64_t> slots;
  for (const auto& [name, value] : tree.entries()) {
    const std::int64_t n = value.as_integer();
    QUINTET_CHECK(n >= 1 && n <= 100000, "{}: slots.{}: {} is out of range; expected 1 to 100000",
                  value.location().text(), name, n);
    slots[name] = n;
  }
  return slots;
}

/// Conditions on a file of `outputs`.
struct OutputOptions {
  std::string file;
  bool non_empty = false;
};
void describe(Schema& schema, OutputOptions& options) {
  schema.text("file", options.file, "Pattern of files in the item's folder").required();
  schema.flag("non_empty", options.non_empty, "Whether each must hold something");
}

/// A stage with its outputs as texts; those of them that may not be empty beside it.
std::pair<Tree, std::vector<std::string>> plain_outputs(Tree stage) {
  std::vector<std::string> non_empty;
  const Tree* const given = stage.is_map() ? stage.find("outputs") : nullptr;
  if (given == nullptr || !(given->is_map() || given->is_list())) return {std::move(stage), non_empty};
  Tree plain = Tree::list();
  plain.set_location(given->location());
  const Tree::List one{*given};
  for (const auto& each : given->is_map() ? one : given->items()) {
    if (!each.is_map()) {
      plain.append(each);
      continue;
    }
    OutputOptions output;
    parse_options(each, described(output));
    Tree text = Tree::text(output.file);
    text.set_location(each.location());
    plain.append(std::move(text));
    if (output.non_empty) non_empty.push_back(output.file);
  }
  stage.set("outputs", std::move(plain));
  return {std::move(stage), non_empty};
}

}  // namespace

void widen_slots(CampaignOptions& options) {
  for (const auto& stage : options.stages)
    options.slots[stage.slot] = std::max(options.slots[stage.slot], stage.slots());
  for (const auto& stage : options.stages)
    if (stage.memory && options.memory) options.memory = std::max(*options.memory, *stage.memory);
}

namespace {

// `sweep` and lists of outputs are no plain keys: they are taken out of the tree before its options are
// parsed, and put back into the result.
CampaignOptions read_as_campaign(const std::string& path) {
  const Tree document = read_yaml(path);
  QUINTET_CHECK(document.is_map(), "{}: expected a map with stages, found {}", path, document.found());
  CampaignOptions options;
  Tree rest = Tree::map();
  rest.set_location(document.location());
  std::vector<std::vector<SweepPoint>> points;
  std::vector<std::vector<std::string>> non_empty;
  for (const auto& [key, value] : document.entries()) {
    if (key == "slots") {
      options.slots = read_slots(value);
    } else if (key == "stages" && value.is_list()) {
      Tree stages = Tree::list();
      stages.set_location(value.location());
      for (const auto& stage : value.items()) {
        points.push_back(sweep_points(stage));
        auto [plain, filled] = plain_outputs(without_sweep(stage));
        stages.append(std::move(plain));
        non_empty.push_back(std::move(filled));
      }
      rest.set(key, std::move(stages));
    } else {
      rest.set(key, value);
    }
  }
  parse_options(rest, described(options));
  QUINTET_CHECK(!options.stages.empty(), "{}: stages: expected one or more", path);
  for (std::size_t s = 0; s < options.stages.size(); ++s) {
    options.stages[s].points = points[s];
    options.stages[s].non_empty = non_empty[s];
  }
  return options;
}

}  // namespace

CampaignOptions read_campaign(const std::string& path) {
  try {
    return read_as_campaign(path);
  } catch (const InputError& error) {
    Request request;
    request.program = "quintet campaign";
    request.input = path;
    CampaignOptions options;
    throw InputError(explained(error.what(), request, described(options)));
  }
}

}  // namespace quintet::campaign
