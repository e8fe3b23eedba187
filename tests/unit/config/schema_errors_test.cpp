#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "io/config/schema_hints.hpp"
#include "io/config/schema_marks.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/config/sample_options.hpp"

using sample::message_of;

namespace {

/// The message for a document; a good `time` section is put before it.
std::string error_of(const std::string& text) {
  return message_of([&] { (void)sample::parse("time: {steps: 1}\n" + text); });
}

void expect_contains(const std::string& text, const std::string& part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\n  lacks: " << part;
}

}  // namespace

TEST(SchemaErrors, a_good_document_fills_the_options) {
  const auto run = sample::parse(
      "time: {dt: 0.5 fs, steps: 1e6}\nensemble: npt\nbarostat: {pressure: 1 1 2 kbar}\n"
      "observers: [{name: rdf}, {every: 5}, {}]\nreplicate: [2, 2, 1]\ntypes: [O, H]\ntemperature: 300 K\n"
      "fraction: 50 %\ntolerance: 1e-3\nseed: 42\nlabel: 17\nwrap: off\n");

  EXPECT_EQ(run.time.dt, 0.0005);
  EXPECT_EQ(run.time.steps, 1000000);
  EXPECT_EQ(run.ensemble, sample::Ensemble::npt);
  ASSERT_TRUE(run.barostat);
  EXPECT_EQ(run.barostat->pressure, (std::vector<double>{1000, 1000, 2000}));
  EXPECT_FALSE(run.barostat->relaxation);
  ASSERT_EQ(run.observers.size(), 3u);
  EXPECT_EQ(run.observers[0].name, "rdf");
  EXPECT_EQ(run.observers[1].every, 5);
  EXPECT_EQ(run.observers[2].every, 100);
  EXPECT_EQ(run.replicate, (std::vector<std::int64_t>{2, 2, 1}));
  EXPECT_EQ(run.types, (std::vector<std::string>{"O", "H"}));
  EXPECT_EQ(run.fraction, 0.5);
  EXPECT_EQ(run.tolerance, 1e-3);
  EXPECT_EQ(run.seed, 42);
  EXPECT_EQ(run.label, "17");
  EXPECT_FALSE(run.wrap);
}

TEST(SchemaErrors, keys_that_are_not_given_keep_their_default) {
  const auto run = sample::parse("time: {steps: 0}\nbarostat: ~\n");

  EXPECT_EQ(run.time.dt, 0.0005);
  EXPECT_EQ(run.temperature, 300);
  EXPECT_FALSE(run.barostat);
  EXPECT_TRUE(run.observers.empty());
}

TEST(SchemaErrors, all_errors_come_at_once_sorted_by_place) {
  const auto message =
      message_of([] { (void)sample::parse("time:\n  dt: 0.5\n  stepz: 10\ntemperature: -5 K\ntiem: 3\n"); });

  EXPECT_EQ(
      message,
      "run.yaml:1:1: time.steps: required key is missing; expected an integer, at least 0 (Number of steps)\n"
      "run.yaml:2:7: time.dt: '0.5' needs a unit: write for example '0.5 fs', '0.5 ps' or '0.5 ns'\n"
      "run.yaml:3:3: time.stepz: unknown key; did you mean 'steps'?\n"
      "run.yaml:4:14: temperature: -5 K is out of range; expected at least 0 K\n"
      "run.yaml:5:1: tiem: unknown key; did you mean 'time'?");
}

TEST(SchemaErrors, unknown_key_of_another_section_is_sent_home) {
  EXPECT_EQ(error_of("dt: 1 fs"), "run.yaml:2:1: dt: unknown key; did you mean 'time.dt'?");
  EXPECT_EQ(error_of("barostat: {every: 1}"),
            "run.yaml:2:12: barostat.every: unknown key; did you mean 'observers.every'?");
  expect_contains(error_of("barostat: {zebra: 1}"), "unknown key; known here: pressure, relaxation");
}

TEST(SchemaErrors, missing_section_with_required_key_is_reported) {
  EXPECT_EQ(
      message_of([] { (void)sample::parse("wrap: yes"); }),
      "run.yaml:1:1: time.steps: required key is missing; expected an integer, at least 0 (Number of steps)");
  expect_contains(message_of([] { (void)sample::parse(""); }), "time.steps: required key is missing");
  expect_contains(message_of([] { (void)sample::parse("time:"); }), "time.steps: required key is missing");
}

TEST(SchemaErrors, wrong_types_say_what_was_found) {
  EXPECT_EQ(error_of("tolerance: abc"),
            "run.yaml:2:12: tolerance: expected a number, above 0 and below 1, found the text 'abc'");
  EXPECT_EQ(error_of("seed: [1]"), "run.yaml:2:7: seed: expected an integer, found a list of 1");
  EXPECT_EQ(error_of("seed: 1.5"), "run.yaml:2:7: seed: expected an integer, found the number 1.5");
  EXPECT_EQ(error_of("wrap: maybe"), "run.yaml:2:7: wrap: expected true or false, found the text 'maybe'");
  EXPECT_EQ(error_of("label: {a: 1}"), "run.yaml:2:8: label: expected text, found a map");
  EXPECT_EQ(error_of("barostat: 3"),
            "run.yaml:2:11: barostat: expected a section (keys with values), found the number 3");
  expect_contains(error_of("observers: {name: a}"),
                  "observers: expected a list of sections, each starting with '- ', found a map");
  expect_contains(
      error_of("replicate: 2"),
      "expected a list of integers such as [2, 2, 1], 3 values, each at least 1, found the number 2");
  expect_contains(error_of("wrap:"), "run.yaml:2:1: wrap: has no value; expected true or false");
  EXPECT_EQ(message_of([] { (void)sample::parse("[1]"); }),
            "run.yaml:1:1: expected a map of keys and values, found a list of 1");
}

TEST(SchemaErrors, odd_numbers_say_how_to_write_them) {
  expect_contains(error_of("seed: 10_000"), "found the text '10_000'; write 10000 without separators");
  expect_contains(error_of("seed: '7'"), "found the text '7'; write 7 without quotes");
  expect_contains(error_of("tolerance: 0.1 eV"), "found the text '0.1 eV'; this key takes no unit");
  expect_contains(error_of("seed: 99999999999999999999"), "expected an integer");
  expect_contains(error_of("tolerance: 0,5"), "found the text '0,5'; write 0.5 with a decimal point");
  expect_contains(error_of("seed: 1,000,000"), "write 1000000 without separators");
  expect_contains(error_of("seed: 10^5"), "found the text '10^5'; write 1e5");
  expect_contains(error_of("tolerance: 3*10^-5"), "write 3e-5");
  expect_contains(error_of("tolerance: 1/3"), "found the text '1/3'; this key takes no formula");
  expect_contains(error_of("temperature: 300,5 K"), "'300,5 K' has a decimal comma; write '300.5 K'");
  expect_contains(error_of("observers: [{every: 3000000000}]"),
                  "observers.0.every: 3000000000 is too large for a 32-bit integer");
}

TEST(SchemaErrors, a_choice_may_be_in_capitals_or_another_name_of_the_same_unit) {
  using quintet::choice_hint;

  expect_contains(error_of("ensemble: NVT"),
                  "unknown value 'NVT'; expected one of nve, nvt, npt; did you mean 'nvt'?");
  EXPECT_EQ(choice_hint("Ha", {"from_file", "eV", "hartree"}), "; did you mean 'hartree'?");
  EXPECT_EQ(choice_hint("Ry", {"from_file", "eV", "hartree"}), "");
}

TEST(SchemaErrors, a_word_of_other_programs_is_answered) {
  const auto error = [](const std::string& word) {
    int value = 0;
    return message_of([&] {
      quintet::parse_options(
          quintet::parse_yaml("ensemble: " + word, "run.yaml"), [&](quintet::Schema& schema) {
            schema.choice("ensemble", value, {{"langevin", 1}, {"nose_hoover", 2}}, "Which");
            schema.check(quintet::OtherWord{"ensemble", "nvt", "name its thermostat"});
          });
    });
  };

  expect_contains(error("NVT"),
                  "unknown value 'NVT'; expected one of langevin, nose_hoover; name its thermostat");
  expect_contains(error("langvin"), "did you mean 'langevin'?");
  EXPECT_EQ(error("langevin"), "");
}

TEST(SchemaErrors, a_key_without_its_colon_and_a_comma_within_brackets_say_what_was_meant) {
  expect_contains(error_of("barostat: {relaxation:2}"),
                  "barostat.relaxation:2: unknown key; write 'relaxation: 2'");
  expect_contains(error_of("barostat: {relaxation 2 ps}"), "unknown key; write 'relaxation: 2 ps'");
  expect_contains(error_of("barostat: {relaxation: 0,5 ps}"),
                  "unknown key; a comma begins a new key here: write 0.5 ps with a decimal point");
}

TEST(SchemaErrors, a_formula_that_is_a_number_with_a_unit_is_refused_at_its_place) {
  using quintet::plain_formula_problem;

  EXPECT_EQ(
      plain_formula_problem("50 eV"),
      "'50 eV' has a unit, but this key takes a number or a formula in the units of the equations; write 50");
  EXPECT_EQ(plain_formula_problem("0,5"), "'0,5' has a decimal comma; write 0.5");
  EXPECT_EQ(plain_formula_problem(".nan"), "'.nan' is not a finite number; expected a formula or a number");
  for (const char* formula : {"50", "2*pi/k", "50*eV", "2 * k", "k", "-1e-3", "atan2(1,2)"})
    EXPECT_EQ(plain_formula_problem(formula), "");
}

TEST(SchemaErrors, nan_and_infinity_are_refused) {
  for (const char* value : {".nan", ".inf", "-.inf", "nan", "inf", "1e999"}) {
    EXPECT_NE(error_of(std::string("tolerance: ") + value), "") << value;
    EXPECT_NE(error_of(std::string("temperature: ") + value), "") << value;
    EXPECT_NE(error_of(std::string("temperature: ") + value + " K"), "") << value;
    EXPECT_NE(error_of(std::string("weights: [") + value + "]"), "") << value;
    EXPECT_NE(error_of(std::string("seed: ") + value), "") << value;
  }
  EXPECT_EQ(error_of("weights: [1, .nan]"),
            "run.yaml:2:14: weights.1: '.nan' is not a finite number; expected a number");
}

TEST(SchemaErrors, ranges_print_the_value_with_its_unit) {
  EXPECT_EQ(message_of([] { (void)sample::parse("time: {steps: 1, dt: 0 fs}"); }),
            "run.yaml:1:22: time.dt: 0 fs is out of range; expected above 0 ps and at most 0.1 ps");
  EXPECT_EQ(message_of([] { (void)sample::parse("time: {steps: 1, dt: 101 fs}"); }),
            "run.yaml:1:22: time.dt: 101 fs is out of range; expected above 0 ps and at most 0.1 ps");
  EXPECT_EQ(message_of([] { (void)sample::parse("time: {steps: 1, dt: 100 fs}"); }), "");
  EXPECT_EQ(error_of("tolerance: 1"),
            "run.yaml:2:12: tolerance: 1 is out of range; expected above 0 and below 1");
  EXPECT_EQ(error_of("replicate: [1, 0, 2]"),
            "run.yaml:2:16: replicate.1: 0 is out of range; expected 3 values, each at least 1");
}

TEST(SchemaErrors, list_lengths_are_checked) {
  expect_contains(
      error_of("replicate: [2, 2]"),
      "replicate: the list has 2 elements; expected a list of integers such as [2, 2, 1], 3 values");
  expect_contains(error_of("barostat: {pressure: 1 bar}"),
                  "barostat.pressure: the list has 1 element; expected");
  expect_contains(error_of("barostat: {pressure: [1 bar, 2 ps, 3]}"),
                  "barostat.pressure.1: 'ps' is a time, expected a pressure");
  expect_contains(error_of("barostat: {pressure: [1 bar, 2 ps, 3]}"),
                  "barostat.pressure.2: '3' needs a unit: write for example '3 bar', '3 kbar' or '3 GPa'");
}

TEST(SchemaErrors, list_elements_are_named_by_index) {
  const auto message = error_of("observers:\n  - {name: a}\n  - {evry: 2}\n  - 7\n");

  EXPECT_EQ(message,
            "run.yaml:4:6: observers.1.evry: unknown key; did you mean 'every'?\n"
            "run.yaml:5:5: observers.2: expected a section (keys with values), found the number 7");
}

TEST(SchemaErrors, unknown_choice_lists_the_names) {
  EXPECT_EQ(
      error_of("ensemble: NVT"),
      "run.yaml:2:11: ensemble: unknown value 'NVT'; expected one of nve, nvt, npt; did you mean 'nvt'?");
}

TEST(SchemaErrors, rules_between_keys_run_when_all_keys_are_good) {
  EXPECT_EQ(error_of("ensemble: npt"), "run.yaml:1:1: ensemble npt needs a section 'barostat'");
  EXPECT_EQ(error_of("ensemble: npt\nseed: x"),
            "run.yaml:3:7: seed: expected an integer, found the text 'x'");
  EXPECT_EQ(error_of("ensemble: npt\nbarostat: {}"), "");
}

TEST(SchemaErrors, a_key_that_means_nothing_here_is_refused_with_the_reason_but_for_its_default) {
  const auto describe = [](quintet::Schema& schema) {
    static double dt = 1;
    schema.number("dt", dt, "Step");
    schema.check(quintet::WithoutKey{"bucket", "there is one unit; leave it out", "1 MB"});
  };
  const auto error = [&](const std::string& text) {
    return message_of([&] { quintet::parse_options(quintet::parse_yaml(text, "run.yaml"), describe); });
  };
  EXPECT_EQ(error("dt: 2\nbucket: 1 MB"), "");
  EXPECT_EQ(error("dt: 2\nbucket: 2 MB"), "run.yaml:2:1: bucket: there is one unit; leave it out");
  EXPECT_EQ(error("bucket: [1 MB]"), "run.yaml:1:1: bucket: there is one unit; leave it out");
  expect_contains(error("buckets: 1 MB"), "unknown key");
  EXPECT_EQ(quintet::print_options(describe).find("bucket"), std::string::npos);
  EXPECT_EQ(quintet::reference_page(describe, "x").find("bucket"), std::string::npos);
}

TEST(SchemaErrors, command_line_values_name_the_flag) {
  auto document = quintet::parse_yaml("time: {steps: 1}", "run.yaml");
  document.set_path("time.dt", quintet::parse_yaml("0.5", "--set time.dt=0.5"));
  sample::Run run;

  EXPECT_EQ(
      message_of([&] { quintet::parse_options(document, quintet::described(run)); }),
      "--set time.dt=0.5: time.dt: '0.5' needs a unit: write for example '0.5 fs', '0.5 ps' or '0.5 ns'");
}

TEST(SchemaErrors, files_are_found_beside_the_document_first) {
  const Scratch scratch("schema_files");
  std::filesystem::create_directories(scratch / "sub");
  quintet::write_text_file(scratch / "sub/model.dp", "x");
  quintet::write_text_file(scratch / "sub/run.yaml", "time: {steps: 1}\nmodel: model.dp\n");
  sample::Run run;

  quintet::parse_options(quintet::read_yaml(scratch / "sub/run.yaml"), quintet::described(run));

  EXPECT_EQ(run.model, scratch / "sub/model.dp");
}

TEST(SchemaErrors, files_are_then_looked_for_in_the_working_folder) {
  const auto name = "quintet_schema_working_" + std::to_string(getpid());
  quintet::write_text_file(name, "x");
  sample::Run run;

  quintet::parse_options(quintet::parse_yaml("time: {steps: 1}\nmodel: " + name, "/nowhere/run.yaml"),
                         quintet::described(run));
  std::filesystem::remove(name);

  EXPECT_EQ(run.model, (std::filesystem::current_path() / name).string());
}

TEST(SchemaErrors, files_are_found_beside_an_input_that_is_named_without_a_folder) {
  const std::string name = "quintet_schema_bare_" + std::to_string(getpid()) + ".dp";
  quintet::write_text_file(name, "x");
  sample::Run run;
  quintet::parse_options(quintet::parse_yaml("time: {steps: 1}\nmodel: " + name, "run.yaml"),
                         quintet::described(run));
  std::filesystem::remove(name);
  EXPECT_EQ(run.model, (std::filesystem::current_path() / name).string());
}

TEST(SchemaErrors, what_two_keys_contradict_is_told_at_the_one_that_is_given) {
  sample::Run run;
  const auto message = [&](const std::string& rule, const std::string& text) {
    return message_of([&] {
      quintet::parse_options(quintet::parse_yaml(text, "run.yaml"), [&](quintet::Schema& schema) {
        describe(schema, run);
        schema.check([&]() -> std::optional<std::string> { return rule; });
      });
    });
  };
  const std::string text = "seed: 1\ntime: {steps: 1}\n";

  EXPECT_EQ(message("time.steps of 1 are few", text), "run.yaml:2:15: time.steps of 1 are few");
  EXPECT_EQ(message("barostat.relaxation of 1 ps is below time.steps", text),  // the first is not in the file
            "run.yaml:2:15: barostat.relaxation of 1 ps is below time.steps");
  EXPECT_EQ(message("seed: is odd", text), "run.yaml:1:7: seed: is odd");
  for (const char* none : {"seed is odd", "steps. End", "barostat.relaxation: is short"})
    EXPECT_EQ(message(none, text), std::string("run.yaml:1:1: ") + none);
}

TEST(SchemaErrors, missing_file_has_a_near_name) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("quintet_near_files_" + std::to_string(getpid()));
  fs::create_directories(folder / "runs" / "fit");
  for (const char* name : {"copper.dp", "runs/fit/modes.h5"})
    quintet::write_text_file((folder / name).string(), "x");

  EXPECT_EQ(quintet::file_hint(folder, "coper.dp"), "; did you mean 'copper.dp'?");
  EXPECT_EQ(quintet::file_hint(folder, "runs/fitt/mode.h5"), "; did you mean 'runs/fit/modes.h5'?");
  EXPECT_EQ(quintet::file_hint(folder, "runs/train/modes.h5"), "; there is no folder 'runs/train'");
  EXPECT_EQ(quintet::file_hint(folder, "zebra.dp"), "");
  // Half a name is enough where it is that of one file.
  EXPECT_EQ(quintet::file_hint(folder, "cop.dp"), "; did you mean 'copper.dp'?");
  EXPECT_EQ(quintet::file_hint(folder, "co.dp"), "");
  quintet::write_text_file((folder / "copepods.dp").string(), "x");
  EXPECT_EQ(quintet::file_hint(folder, "cop.dp"), "");
  EXPECT_EQ(quintet::file_hint(folder, "copper.h5"), "");  // a file of another kind
  EXPECT_EQ(quintet::file_hint(folder / "absent", "coper.dp"), "");

  sample::Run run;
  const auto message = message_of([&] {
    quintet::parse_options(
        quintet::parse_yaml("time: {steps: 1}\nmodel: coper.dp", (folder / "run.yaml").string()),
        quintet::described(run));
  });
  fs::remove_all(folder);
  EXPECT_NE(message.find("; did you mean 'copper.dp'?"), std::string::npos) << message;
}

TEST(SchemaErrors, missing_file_has_a_near_name_in_the_working_folder) {
  namespace fs = std::filesystem;
  const std::string folder = "quintet_near_here_" + std::to_string(getpid());
  fs::create_directories(folder);
  quintet::write_text_file(folder + "/copper.dp", "x");
  const auto message_for = [&](const std::string& name) {
    return message_of([&] {
      sample::Run run;
      quintet::parse_options(quintet::parse_yaml("model: " + folder + "/" + name, "/nowhere/run.yaml"),
                             quintet::described(run));
    });
  };
  const auto near = message_for("coper.dp"), other = message_for("zebra.dp"),
             none = message_for("no/zebra.dp");
  fs::remove_all(folder);

  EXPECT_NE(near.find("; did you mean '" + folder + "/copper.dp'?"), std::string::npos) << near;
  EXPECT_EQ(other.find("there is no folder"), std::string::npos) << other;
  EXPECT_NE(none.find("; there is no folder '" + folder + "/no'"), std::string::npos) << none;
}

TEST(SchemaErrors, missing_file_names_both_places) {
  sample::Run run;
  const auto message = message_of([&] {
    quintet::parse_options(quintet::parse_yaml("time: {steps: 1}\nmodel: no.dp", "/nowhere/run.yaml"),
                           quintet::described(run));
  });

  EXPECT_EQ(message, "/nowhere/run.yaml:2:8: model: file 'no.dp' not found; tried /nowhere/no.dp and " +
                         (std::filesystem::current_path() / "no.dp").string());
}
