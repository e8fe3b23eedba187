#include <gtest/gtest.h>

#include <random>

#include "io/config/schema_marks.hpp"
#include "tests/unit/config/sample_options.hpp"

using quintet::described;
using quintet::options_tree;
using quintet::parse_yaml;
using quintet::to_json;
using quintet::Tree;

namespace {

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\n  lacks: " << part;
}

/// Options with random values of every kind.
sample::Run random_run(std::mt19937_64& random) {
  std::uniform_real_distribution<double> unit(0, 1);
  const auto coin = [&] { return unit(random) < 0.5; };
  const auto spread = [&] { return std::exp(40 * (unit(random) - 0.5)); };
  sample::Run run;
  run.time = {0.1 * unit(random) + 1e-9, static_cast<std::int64_t>(random() >> 1)};
  run.ensemble = coin() ? sample::Ensemble::nve : sample::Ensemble::npt;
  if (coin() || run.ensemble == sample::Ensemble::npt) {
    run.barostat.emplace().pressure = {spread(), -spread(), spread()};
    if (coin()) run.barostat->relaxation = spread();
  }
  run.observers.resize(random() % 3);
  const char* words[] = {"rdf", "42", "yes", "a: b # c", "", "null", "two\nlines", "\"q\" \\"};
  for (auto& observer : run.observers)
    observer = {words[random() % 8], 1 + static_cast<int>(random() % 1000)};
  run.replicate = {1, 2, static_cast<std::int64_t>(1 + random() % 9)};
  run.types = {words[random() % 8], words[random() % 8]};
  run.weights.assign(random() % 4, spread());
  run.temperature = spread();
  run.fraction = unit(random);
  run.cutoff = spread();
  if (coin()) run.tolerance = unit(random) * 0.99 + 1e-12;
  if (coin()) run.seed = -static_cast<std::int64_t>(random() >> 1);
  if (coin()) run.label = words[random() % 8];
  run.wrap = coin();
  return run;
}

void expect_same(const sample::Run& a, const sample::Run& b) {
  EXPECT_EQ(a.time.dt, b.time.dt);
  EXPECT_EQ(a.time.steps, b.time.steps);
  EXPECT_EQ(a.ensemble, b.ensemble);
  ASSERT_EQ(a.barostat.has_value(), b.barostat.has_value());
  if (a.barostat) {
    EXPECT_EQ(a.barostat->pressure, b.barostat->pressure);
    EXPECT_EQ(a.barostat->relaxation, b.barostat->relaxation);
  }
  ASSERT_EQ(a.observers.size(), b.observers.size());
  for (std::size_t i = 0; i < a.observers.size(); ++i) {
    EXPECT_EQ(a.observers[i].name, b.observers[i].name);
    EXPECT_EQ(a.observers[i].every, b.observers[i].every);
  }
  EXPECT_EQ(a.replicate, b.replicate);
  EXPECT_EQ(a.types, b.types);
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_EQ(a.temperature, b.temperature);
  EXPECT_EQ(a.fraction, b.fraction);
  EXPECT_EQ(a.cutoff, b.cutoff);
  EXPECT_EQ(a.tolerance, b.tolerance);
  EXPECT_EQ(a.seed, b.seed);
  EXPECT_EQ(a.label, b.label);
  EXPECT_EQ(a.wrap, b.wrap);
}

/// Start values that differ from all defaults, so that a key which is not read back shows.
sample::Run other_run() {
  std::mt19937_64 random(999);
  auto run = random_run(random);
  run.barostat.emplace();
  run.observers.resize(5);
  run.tolerance = 0.25;
  run.seed = 1;
  run.label = "other";
  return run;
}

struct Layers {
  std::vector<std::pair<std::string, double>> tile;
};

void describe(quintet::Schema& schema, Layers& layers) {
  schema.named_quantities("tile", layers.tile, "1", "Tiles of layers").at_least(1);
}

Layers layers_of(Tree document, const std::string& path, const std::string& value) {
  if (!path.empty()) {
    Tree set = parse_yaml(value, "--set " + path);
    set.set_location({"--set " + path, 0, 0});
    document.set_path(path, std::move(set));
  }
  Layers layers;
  quintet::parse_options(document, described(layers));
  return layers;
}

}  // namespace

TEST(SchemaDocuments, printed_options_parse_back_bitwise) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200; ++i) {
    auto run = random_run(random);
    auto again = other_run();
    const auto text = quintet::print_options(described(run));

    ASSERT_NO_THROW(quintet::parse_options(parse_yaml(text, "printed"), described(again))) << text;

    expect_same(run, again);
  }
}

TEST(SchemaDocuments, options_tree_parses_back_bitwise_through_yaml_and_json) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 200; ++i) {
    auto run = random_run(random);
    auto from_yaml = other_run(), from_json = other_run();
    const auto tree = options_tree(described(run));

    quintet::parse_options(parse_yaml(quintet::to_yaml(tree), "yaml"), described(from_yaml));
    quintet::parse_options(parse_yaml(to_json(tree), "json"), described(from_json));

    expect_same(run, from_yaml);
    expect_same(run, from_json);
  }
}

TEST(SchemaDocuments, units_other_than_the_internal_one_survive_the_round_trip) {
  for (const char* cutoff : {"0.1 nm", "1 bohr", "0.7 nm", "3.3e-10 m"}) {
    auto run = sample::parse(std::string("time: {steps: 1, dt: 0.7 fs}\ncutoff: ") + cutoff);
    const auto again = sample::parse(quintet::print_options(described(run)));
    expect_same(run, again);
  }
}

TEST(SchemaDocuments, printed_options_carry_unit_range_choices_and_default) {
  auto run = sample::parse("time: {steps: 5, dt: 1 fs}\nensemble: nvt\nobservers: [{}]\n");

  const auto text = quintet::print_options(described(run));

  expect_contains(
      text, "  # Time step [time in ps; above 0 ps and at most 0.1 ps; default 0.0005 ps]\n  dt: 0.001 ps\n");
  expect_contains(text, "  # Number of steps [at least 0; required]\n  steps: 5\n");
  expect_contains(text, "# Thermodynamic ensemble [nve, nvt, npt; default nve]\nensemble: nvt\n");
  expect_contains(text, "# Pressure control [optional]\nbarostat: null\n");
  expect_contains(text, "observers:\n  -\n    # What to observe [default thermo]\n    name: thermo\n");
}

namespace {

/// A section with a key, and a choice of another key, that experts alone set.
struct Products {
  int rows = 8, layout = 0;
};
void describe(quintet::Schema& schema, Products& options) {
  schema.integer("rows", options.rows, "Rows of a block").at_least(1);
  schema.choice("layout", options.layout, {{"plain", 0}, {"shared", 1}, {"cubes", 2}}, "Who has what");
  schema.check(quintet::Expert{"rows"});
  schema.check(quintet::Expert{"layout", {"cubes"}, "cubes: of ranks"});
}

Products products_of(const std::string& text) {
  Products options;
  quintet::parse_options(parse_yaml(text, "run.yaml"), described(options));
  return options;
}

}  // namespace

TEST(SchemaDocuments, what_experts_set_is_printed_where_it_is_set_or_asked_for) {
  Products usual, tuned = products_of("{rows: 3, layout: cubes}");
  EXPECT_EQ(tuned.rows, 3);
  EXPECT_EQ(tuned.layout, 2);

  const auto common = print_common_options(described(usual)), set = print_common_options(described(tuned));
  EXPECT_EQ(common, "# Who has what [plain, shared; default plain]\nlayout: plain\n");
  expect_contains(set, "rows: 3\n");
  expect_contains(set, "layout: cubes\n");
  EXPECT_EQ(products_of(set).rows, 3) << "what is printed is what is in force";
  expect_contains(print_options(described(usual)), "rows: 8\n");
  expect_contains(print_options(described(usual)), "[plain, shared, cubes; default plain]");
}

TEST(SchemaDocuments, what_experts_set_has_a_table_of_its_own_in_the_reference) {
  Products options;
  const auto page = quintet::reference_page(described(options), "run");

  const auto heading = page.find("### Expert keys");
  ASSERT_NE(heading, std::string::npos) << page;
  EXPECT_LT(page.find("`plain`, `shared` |"), heading);
  EXPECT_GT(page.find("| `rows` |"), heading);
  EXPECT_GT(page.find("`cubes` |"), heading);
  expect_contains(page, "cubes: of ranks");
  expect_contains(to_json(quintet::json_schema(described(options), "run")), "\"x-expert\": true");
}

TEST(SchemaDocuments, a_lambda_is_a_description_too) {
  double dt = 0.25;
  const auto describe = [&](quintet::Schema& schema) { schema.quantity("dt", dt, "ps", "Time step"); };

  quintet::parse_options(parse_yaml("dt: 3 fs", "x"), describe);

  EXPECT_EQ(dt, 0.003);
  EXPECT_EQ(quintet::print_options(describe), "# Time step [time in ps]\ndt: 0.003 ps\n");
}

TEST(SchemaDocuments, reference_page_has_a_table_for_each_section) {
  sample::Run run;

  const auto page = quintet::reference_page(described(run), "dpmd run");

  expect_contains(page,
                  "# dpmd run\n\n| key | type | unit | default | range or choices | restart | meaning |\n");
  expect_contains(page, "\n## `time`\n\nHow time advances\n\n");
  expect_contains(
      page,
      "| `dt` | quantity | `ps` | `0.0005 ps` | above 0 ps and at most 0.1 ps | physics | Time step "
      "(example: `0.5 fs`) |\n");
  expect_contains(page, "| `steps` | integer |  | required | at least 0 | physics | Number of steps |\n");
  expect_contains(
      page, "| `ensemble` | choice |  | `nve` | `nve`, `nvt`, `npt` | physics | Thermodynamic ensemble |\n");
  expect_contains(page, "Weights \\| of parts");
  expect_contains(page, "| `barostat` | section |  | absent |  |  | Pressure control |\n");
  expect_contains(page, "| `pressure` | list of quantities | `bar` |");
}

TEST(SchemaDocuments, reference_page_shows_defaults_not_values_in_force) {
  auto run = sample::parse("time: {steps: 5, dt: 1 fs}");
  sample::Run fresh;

  EXPECT_EQ(quintet::reference_page(described(run), "x"), quintet::reference_page(described(fresh), "x"));
}

TEST(SchemaDocuments, json_schema_describes_every_key) {
  sample::Run run;

  const auto schema = parse_yaml(to_json(quintet::json_schema(described(run), "dpmd run")), "schema");

  EXPECT_EQ(schema.at("$schema").as_text(), "https://json-schema.org/draft/2020-12/schema");
  EXPECT_EQ(schema.at("title").as_text(), "dpmd run");
  EXPECT_FALSE(schema.at("additionalProperties").as_boolean());
  const auto& properties = schema.at("properties");
  EXPECT_EQ(properties.entries().size(), options_tree(described(run)).entries().size());
  for (const auto& [key, value] : properties.entries()) EXPECT_TRUE(value.has("description")) << key;
  EXPECT_EQ(to_json(schema.at("required"), 0), R"(["time"])");
}

TEST(SchemaDocuments, json_schema_states_types_ranges_and_defaults) {
  sample::Run run;

  const auto properties = quintet::json_schema(described(run), "x").at("properties");

  const auto& time = properties.at("time");
  EXPECT_EQ(to_json(time.at("required"), 0), R"(["steps"])");
  EXPECT_FALSE(time.at("additionalProperties").as_boolean());
  EXPECT_EQ(time.at("properties").at("dt").at("default").as_text(), "0.0005 ps");
  EXPECT_TRUE(time.at("properties").at("dt").has("pattern"));
  EXPECT_EQ(time.at("properties").at("steps").at("minimum").as_integer(), 0);
  EXPECT_EQ(to_json(properties.at("ensemble").at("enum"), 0), R"(["nve", "nvt", "npt"])");
  EXPECT_EQ(properties.at("replicate").at("minItems").as_integer(), 3);
  EXPECT_EQ(properties.at("replicate").at("items").at("minimum").as_integer(), 1);
  EXPECT_EQ(properties.at("tolerance").at("anyOf").items()[0].at("exclusiveMaximum").as_integer(), 1);
  EXPECT_EQ(properties.at("observers").at("items").at("properties").at("every").at("default").as_integer(),
            100);
}

TEST(SchemaDocuments, a_name_with_points_may_be_a_path) {
  using Tiles = std::vector<std::pair<std::string, double>>;
  const auto file = [](const char* text) { return parse_yaml(text, "run.yaml"); };

  EXPECT_EQ(layers_of({}, "tile.middle.conv2", "2").tile, (Tiles{{"middle.conv2", 2}}));
  EXPECT_EQ(layers_of(file("tile: {middle.conv2: 4, up.conv1: 3}"), "tile.middle.conv2", "2").tile,
            (Tiles{{"middle.conv2", 2}, {"up.conv1", 3}}));
  EXPECT_EQ(layers_of(file("tile: {middle: {conv1: 4, conv2: 3}}"), "tile.middle.conv2", "2").tile,
            (Tiles{{"middle.conv1", 4}, {"middle.conv2", 2}}));
  EXPECT_EQ(sample::message_of(
                [&] { (void)layers_of(file("tile: {middle.conv2: 4, middle: {conv2: 3}}"), "", ""); }),
            "run.yaml:1:34: tile.middle.conv2: is there twice");
  expect_contains(sample::message_of([&] { (void)layers_of({}, "tile.middle.conv2", "0"); }),
                  "tile.middle.conv2: 0 is");
  expect_contains(sample::message_of([&] { (void)layers_of(file("tile: {middle: {}}"), "", ""); }),
                  "tile.middle: expected a number, found a map");
  expect_contains(sample::message_of([&] { (void)layers_of({}, "tile", "4"); }),
                  "tile: expected names with numbers such as {a: 2, b: 3}, at least 1, found the number 4");
}
