#include <algorithm>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "apps/dpmd/convert/from_deepmd.hpp"
#include "apps/dpmd/train/train_options.hpp"
#include "io/log/error.hpp"
#include "tests/support/scratch.hpp"

namespace quintet::dpmd {
namespace {

/// A full input of water; `change` replaces text in it.
std::string input(const std::string& from = "", const std::string& to = "") {
  std::string text = R"({
    "_comment": "water",
    "model": {
      "type_map": ["O", "H"], "data_stat_nbatch": 20,
      "descriptor": {"type": "se_e2_a", "sel": [46, 92], "rcut_smth": 0.5, "rcut": 6.0, "neuron": [25, 50, 100],
        "resnet_dt": false, "axis_neuron": 16, "type_one_side": true, "seed": 1, "precision": "float32",
        "activation_function": "gelu_tf", "exclude_types": [[0, 1]]},
      "fitting_net": {"neuron": [240, 240, 240], "resnet_dt": true, "seed": 1, "precision": "float32"},
      "pair_exclude_types": [[1, 1]], "atom_exclude_types": [1]
    },
    "learning_rate": {"type": "exp", "decay_steps": 10, "start_lr": 0.001, "stop_lr": 1e-5},
    "loss": {"type": "ener", "start_pref_e": 0.02, "limit_pref_e": 1, "start_pref_f": 1000, "limit_pref_f": 1,
      "start_pref_v": 0.5, "limit_pref_v": 2},
    "training": {
      "training_data": {"systems": ["a", "b"], "batch_size": "auto:64", "auto_prob": "prob_uniform"},
      "validation_data": {"systems": "c", "batch_size": 1, "numb_btch": 3},
      "numb_steps": 300, "seed": 10, "disp_file": "lcurve.out", "disp_freq": 50, "save_freq": 40
    }
  })";
  if (const auto at = text.find(from); !from.empty()) {
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
  }
  return text;
}

Translation translated(const std::string& text) { return translate_deepmd(parse_yaml(text, "input.json")); }

/// The message with which an input is refused.
std::string refusal(const std::string& text) {
  try {
    static_cast<void>(translated(text));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(FromDeepmd, every_key_reaches_its_option) {
  const Scratch folder("from_deepmd");
  for (const char* name : {"a", "b", "c"}) std::filesystem::create_directory(folder / name);
  Tree tree = translated(input()).options;
  tree.set_path("data.training.systems", Tree::list({Tree::text(folder / "a"), Tree::text(folder / "b")}));
  tree.set_path("data.validation.systems", Tree::list({Tree::text(folder / "c")}));
  TrainOptions options;

  parse_options(parse_yaml(to_yaml(tree), "train.yaml"), described(options));

  EXPECT_EQ(options.model.type_map, (std::vector<std::string>{"O", "H"}));
  EXPECT_EQ(options.model.statistics_batches, 20);
  EXPECT_TRUE(options.model.single_precision);
  const auto& descriptor = options.model.descriptor;
  EXPECT_EQ(descriptor.rcut, 6);
  EXPECT_EQ(descriptor.rcut_smooth, 0.5);
  EXPECT_EQ(parse_sel(descriptor.sel).sel, (std::vector<int>{46, 92}));
  EXPECT_EQ(descriptor.neurons, (std::vector<std::int64_t>{25, 50, 100}));
  EXPECT_EQ(descriptor.axis_neurons, 16);
  EXPECT_TRUE(descriptor.type_one_side);
  EXPECT_FALSE(descriptor.timestep);
  EXPECT_EQ(descriptor.activation, Activation::gelu);
  EXPECT_EQ(descriptor.exclude_types, std::vector<std::string>{"O-H"});
  EXPECT_EQ(options.model.fitting.neurons, (std::vector<std::int64_t>{240, 240, 240}));
  EXPECT_TRUE(options.model.fitting.timestep);
  EXPECT_EQ(options.model.pair_exclude_types, std::vector<std::string>{"H-H"});
  EXPECT_EQ(options.model.atom_exclude_types, std::vector<std::string>{"H"});
  EXPECT_EQ(options.learning_rate.start, 1e-3);
  EXPECT_EQ(options.learning_rate.stop, 1e-5);
  EXPECT_EQ(options.learning_rate.decay_steps, 10);
  EXPECT_EQ(options.loss.energy.start, 0.02);
  EXPECT_EQ(options.loss.force.start, 1000);
  EXPECT_EQ(options.loss.virial.start, 0.5);
  EXPECT_EQ(options.loss.virial.limit, 2);
  EXPECT_EQ(parse_batch_size(options.data.training.batch_size).atoms, 64);
  EXPECT_EQ(options.data.training.probabilities, (std::vector<double>{1, 1}));
  ASSERT_TRUE(options.data.validation);
  EXPECT_EQ(parse_batch_size(options.data.validation->batch_size).frames, 1);
  EXPECT_EQ(options.data.validation->batches, 3);
  EXPECT_EQ(options.steps, 300);
  EXPECT_EQ(options.seed, 10);
  EXPECT_EQ(options.report_interval, 50);
  EXPECT_EQ(options.checkpoints.interval, 40);
}

TEST(FromDeepmd, absent_keys_keep_defaults) {
  const Tree tree =
      translated(R"({"model": {"type_map": ["Cu"], "descriptor": {"sel": "auto"}, "fitting_net": {}},
    "training": {"training_data": {"systems": "a"}, "numb_steps": 7}})")
          .options;

  EXPECT_EQ(tree.at("model").at("descriptor").at("sel").as_text(), "auto");
  EXPECT_EQ(tree.at("model").at("descriptor").entries().size(), 1);
  for (const char* section : {"loss", "learning_rate", "optimiser", "seed"})
    EXPECT_FALSE(tree.has(section)) << section;
  EXPECT_FALSE(tree.at("data").has("validation"));
}

TEST(FromDeepmd, unknown_keys_are_refused_comments_are_not) {
  const auto warnings =
      translated(input("\"numb_steps\": 300", "\"numb_steps\": 300, \"_note\": 2")).warnings;
  const auto told = [&](const std::string& part) {
    return std::any_of(warnings.begin(), warnings.end(), [&](const auto& w) { return has(w, part); });
  };
  EXPECT_TRUE(told("model.descriptor.seed"));
  EXPECT_FALSE(told("_note"));
  EXPECT_FALSE(told("_comment"));

  EXPECT_TRUE(has(refusal(input("\"neuron\": [25", "\"neurons\": [25")), "input.json:5:"));
  EXPECT_TRUE(has(refusal(input("\"neuron\": [25", "\"neurons\": [25")),
                  "model.descriptor.neurons: unknown key; did you mean 'neuron'?"));
  EXPECT_TRUE(has(refusal(input("\"limit_pref_e\"", "\"limit_perf_e\"")), "did you mean 'limit_pref_e'?"));
  EXPECT_TRUE(has(refusal(input("\"loss\"", "\"los\"")), "los: unknown key; did you mean 'loss'?"));
  EXPECT_TRUE(has(refusal(input("\"disp_freq\"", "\"frobnicate\"")), "training.frobnicate: unknown key"));
}

TEST(FromDeepmd, other_names_of_keys_are_known) {
  for (const char* name : {"stop_batch", "num_step", "num_steps", "numb_step"})
    EXPECT_EQ(translated(input("numb_steps", name)).options.at("steps").as_integer(), 300) << name;
  EXPECT_EQ(translated(input("axis_neuron", "n_axis_neuron"))
                .options.at("model")
                .at("descriptor")
                .at("axis_neurons")
                .as_integer(),
            16);
}

TEST(FromDeepmd, lengths_may_be_epochs_lists_of_seeds_are_refused) {
  for (const char* name : {"numb_epoch", "num_epochs", "num_epoch", "numb_epochs"}) {
    const Tree tree = translated(input("numb_steps", name)).options;
    EXPECT_EQ(tree.at("epochs").as_number(), 300) << name;
    EXPECT_EQ(tree.find("steps"), nullptr) << name;
  }
  EXPECT_TRUE(has(refusal(input("\"numb_steps\": 300", "\"numb_steps\": 300, \"num_epoch\": 2")),
                  "num_epoch and numb_steps are both given"));
  EXPECT_TRUE(
      has(refusal(input("\"numb_steps\": 300, \"seed\": 10", "\"numb_steps\": 300, \"seed\": [1, 2]")),
          "training.seed is a list of 2"));
}

TEST(FromDeepmd, values_are_checked_at_their_place_in_the_input) {
  EXPECT_TRUE(has(refusal(input("\"numb_steps\": 300", "\"numb_steps\": \"many\"")), "input.json:17:"));
  EXPECT_TRUE(has(refusal(input("[25, 50, 100]", "[25, 0, 100]")), "model.descriptor.neurons"));
}

TEST(FromDeepmd, blocks_of_systems_are_translated) {
  const Tree tree = translated(input("prob_uniform", "prob_sys_size;0:1:0.5;1:2:1")).options;
  const auto& blocks = tree.at("data").at("training").at("blocks").items();
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].as_text(), "0:1:0.5");
  const SystemBlock block = parse_block(blocks[1].as_text());
  EXPECT_EQ(block.first, 1u);
  EXPECT_EQ(block.end, 2u);
  EXPECT_EQ(block.weight, 1);
  EXPECT_TRUE(has(refusal(input("prob_uniform", "prob_sys_size;0:1")), "expected FIRST:END:WEIGHT"));
  EXPECT_TRUE(has(refusal(input("prob_uniform", "prob_sys_size;2:1:1")), "FIRST below END"));
  EXPECT_TRUE(has(refusal(input("prob_uniform", "prob_size")), "auto_prob = 'prob_size' is not known"));
}

TEST(FromDeepmd, what_would_train_another_model_is_refused_by_name_and_place) {
  EXPECT_TRUE(has(refusal(input("se_e2_a", "se_atten_v2")), "input.json:5:"));
  EXPECT_TRUE(has(refusal(input("se_e2_a", "hybrid")), "model.descriptor.type = hybrid"));
  EXPECT_TRUE(has(
      refusal(input("\"data_stat_nbatch\"", "\"type_embedding\": {\"neuron\": [8]}, \"data_stat_nbatch\"")),
      "model.type_embedding"));
  EXPECT_TRUE(has(refusal(input("\"neuron\": [240", "\"numb_fparam\": 1, \"neuron\": [240")), "numb_fparam"));
  EXPECT_TRUE(has(refusal(input("\"neuron\": [240", "\"use_aparam_as_mask\": true, \"neuron\": [240")),
                  "use_aparam_as_mask"));
  EXPECT_TRUE(has(refusal(input("\"neuron\": [240", "\"type\": \"dipole\", \"neuron\": [240")), "dipole"));
  EXPECT_TRUE(has(refusal(input("\"exp\"", "\"wsd\"")), "learning_rate.type = wsd"));
  EXPECT_TRUE(
      has(refusal(input("\"start_pref_v\"", "\"start_pref_ae\": 1, \"start_pref_v\"")), "start_pref_ae"));
  EXPECT_TRUE(has(refusal(input("\"numb_steps\"", "\"opt_type\": \"LKF\", \"numb_steps\"")), "LKF"));
  EXPECT_TRUE(has(refusal(input("gelu_tf", "swish")), "swish"));
  EXPECT_TRUE(has(refusal(input("float32", "bfloat16")), "bfloat16"));
  EXPECT_TRUE(has(refusal(input("float32", "float64")), "one precision"));
  EXPECT_TRUE(has(refusal(input("auto:64", "mixed:64")), "mixed:64"));
  EXPECT_TRUE(has(refusal(input("\"auto:64\"", "[1, 2]")), "of its own for each system"));
  EXPECT_TRUE(has(refusal(input("[[0, 1]]", "[[0, 2]]")), "type 2"));
  EXPECT_TRUE(has(refusal("{}"), "no section 'model'"));
}

/// Options of an input whose learning rate, loss or training has these keys, too.
TrainOptions options_with(const std::string& section, const std::string& keys) {
  TrainOptions options;
  Tree tree = translated(input("\"" + section + "\": {", "\"" + section + "\": {" + keys + ", ")).options;
  tree.set_path("data.training.systems", Tree::list({Tree::text(".")}));
  tree.set_path("data.validation", Tree());
  parse_options(tree, described(options));
  return options;
}

TEST(FromDeepmd, schedules_warm_up_clipping_huber_and_averages_are_translated) {
  const auto cosine = [] {
    Tree tree = translated(input("\"exp\"", "\"cosine\"")).options;
    return tree.at("learning_rate").at("schedule").as_text();
  };
  EXPECT_EQ(cosine(), "cosine");
  const auto rate = options_with("learning_rate", R"("decay_rate": 0.5, "warmup_ratio": 0.1)").learning_rate;
  EXPECT_EQ(rate.schedule, RateKind::step);
  EXPECT_EQ(rate.factor, 0.5);
  EXPECT_EQ(rate.warmup_steps, 30);
  EXPECT_EQ(rate.warmup_factor, 0);
  const auto loss = options_with("loss", R"("use_huber": true, "huber_delta": [0.1, 0.2, 0.3])").loss;
  EXPECT_EQ(loss.energy.huber, 0.1);
  EXPECT_EQ(loss.force.huber, 0.2);
  EXPECT_EQ(loss.virial.huber, 0.3);
  EXPECT_EQ(options_with("loss", R"("use_huber": true)").loss.force.huber, 0.01);
  const auto training = options_with("training", R"("gradient_max_norm": 5.0, "enable_ema": true)");
  EXPECT_EQ(training.optimiser.clip_norm, 5);
  EXPECT_EQ(training.weight_average, 0.999);
}

TEST(FromDeepmd, parameters_of_atoms_are_translated) {
  const Tree tree = translated(input("\"neuron\": [240", "\"numb_aparam\": 2, \"neuron\": [240")).options;
  EXPECT_EQ(tree.at("model").at("fitting").at("atom_parameters").as_integer(), 2);
}

TEST(FromDeepmd, what_is_switched_off_is_not_refused) {
  EXPECT_EQ(refusal(input("\"neuron\": [240", "\"numb_fparam\": 0, \"atom_ener\": [], \"neuron\": [240")),
            "");
  EXPECT_EQ(
      refusal(input("\"start_pref_v\"", "\"start_pref_ae\": 0.0, \"use_huber\": false, \"start_pref_v\"")),
      "");
}

}  // namespace
}  // namespace quintet::dpmd
