#include "apps/quintet/campaign/options.hpp"

#include "io/log/error.hpp"

namespace quintet::campaign {

void describe(Schema& schema, StageOptions& options) {
  schema.text("name", options.name, "Of the stage; others name it in each, needs and {name}").required();
  schema
      .texts("command", options.command,
             "Program and its words. {key}: a value of sweep, {input}: what each stands for, {name}: its "
             "name, {STAGE}: "
             "folders of a stage in needs, {output}: the item's own folder, {here}: the folder of this file")
      .required()
      .length(1)
      .example("[vlasov, run, '{here}/wave.yaml', --set, 'constants.k={k}', --output, '{output}/run']");
  schema.texts("again", options.again,
               "Words after those of the command where an item that ended with exit code 75 goes on");
  schema.text("each", options.each,
              "A stage, or a pattern of files: one item for each of its items or files");
  schema.texts("needs", options.needs, "Stages of which all items must be done");
  schema.texts("inputs", options.inputs, "Patterns of files on whose contents the result depends");
  schema.texts("outputs", options.outputs, "Patterns of files that a whole item has in its folder");
  schema.text("slot", options.slot, "Class of the slots that an item takes");
  schema.integer("ranks", options.ranks, "Slots that an item takes").at_least(1);
  schema.quantity("walltime", options.walltime, "s", "An item that takes longer is ended, and has failed")
      .above(0);
  schema
      .integer("tries", options.tries, "Of an item that fails; one that ends with exit code 3 is tried once")
      .at_least(1)
      .at_most(100);
}

void describe(Schema& schema, CampaignOptions& options) {
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

}  // namespace

CampaignOptions read_campaign(const std::string& path) {
  const Tree document = read_yaml(path);
  QUINTET_CHECK(document.is_map(), "{}: expected a map with stages, found {}", path, document.found());
  CampaignOptions options;
  Tree rest = Tree::map();
  rest.set_location(document.location());
  std::vector<std::vector<SweepPoint>> points;
  for (const auto& [key, value] : document.entries()) {
    if (key == "slots") {
      options.slots = read_slots(value);
    } else if (key == "stages" && value.is_list()) {
      Tree stages = Tree::list();
      stages.set_location(value.location());
      for (const auto& stage : value.items()) {
        points.push_back(sweep_points(stage));
        stages.append(without_sweep(stage));
      }
      rest.set(key, std::move(stages));
    } else {
      rest.set(key, value);
    }
  }
  parse_options(rest, described(options));
  QUINTET_CHECK(!options.stages.empty(), "{}: stages: expected one or more", path);
  for (std::size_t s = 0; s < options.stages.size(); ++s) options.stages[s].points = points[s];
  return options;
}

}  // namespace quintet::campaign
