#include "apps/dpmd/train/train_options.hpp"

#include <algorithm>
#include <charconv>

#include "apps/dpmd/setup/sel_rules.hpp"
#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "surrogates/networks/activation_names.hpp"
#include "surrogates/potential/training/trainer.hpp"

namespace quintet::dpmd {

namespace {

std::vector<std::pair<std::string, Activation>> activations() {
  std::vector<std::pair<std::string, Activation>> names;
  for (const auto& row : networks::activation_rows) names.emplace_back(row.name, row.value);
  return names;
}

template <class Number>
std::optional<Number> parsed(std::string_view text) {
  Number value{};
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end.ec != std::errc() || end.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

/// What follows "auto:", or nothing.
std::optional<std::string_view> after_auto(const std::string& text) {
  if (!text.starts_with("auto:")) return std::nullopt;
  return std::string_view(text).substr(5);
}

std::string at(const FormulaText& text) {
  const auto place = text.place.text();
  return place.empty() ? "" : place + ": ";
}

/// A rule of a section from a parser that throws.
template <class Parse>
std::function<std::optional<std::string>()> rule(Parse parse) {
  return [parse]() -> std::optional<std::string> {
    try {
      parse();
    } catch (const InputError& error) {
      return error.what();
    }
    return std::nullopt;
  };
}

void network_keys(Schema& schema, std::vector<std::int64_t>& neurons, bool& timestep, Activation& activation,
                  const char* which) {
  schema.integers("neurons", neurons, std::string("Widths of the layers of the ") + which)
      .length(1, 20)
      .at_least(1)
      .at_most(100000);
  schema.flag("timestep", timestep, "Trained step sizes idt of layers with a skip connection (resnet_dt)");
  schema.choice("activation", activation, activations(), "Activation function");
}

}  // namespace

BatchSize parse_batch_size(const FormulaText& text) {
  if (text.text == "auto") return {};
  const auto automatic = after_auto(text.text);
  const auto number = automatic ? parsed<int>(*automatic) : parsed<int>(text.text);
  QUINTET_CHECK(number && *number > 0,
                "{}batch size '{}': expected a number of frames above 0, 'auto' (frames * atoms >= 32) or "
                "'auto:ATOMS'",
                at(text), text.text);
  return automatic ? BatchSize{0, *number} : BatchSize{*number, 0};
}

SystemBlock parse_block(const std::string& text) {
  const auto first_colon = text.find(':'), second_colon = text.find(':', first_colon + 1);
  std::optional<std::size_t> first, end;
  std::optional<double> weight;
  if (first_colon != std::string::npos && second_colon != std::string::npos) {
    first = parsed<std::size_t>(text.substr(0, first_colon));
    end = parsed<std::size_t>(text.substr(first_colon + 1, second_colon - first_colon - 1));
    weight = parsed<double>(text.substr(second_colon + 1));
  }
  QUINTET_CHECK(
      first && end && *first < *end && weight && *weight >= 0,
      "block of systems '{}': expected FIRST:END:WEIGHT with FIRST below END and a weight of 0 or more, as "
      "in 0:2:0.5",
      text);
  return {*first, *end, *weight};
}

SelRequest parse_sel(const std::vector<FormulaText>& texts) {
  SelRequest request;
  if (texts.size() == 1 && texts.front().text == "auto") return request;
  if (texts.size() == 1)
    if (const auto factor = after_auto(texts.front().text)) {
      const auto value = parsed<double>(*factor);
      QUINTET_CHECK(value && *value >= 1 && *value <= 100,
                    "{}sel '{}': expected a factor from 1 to 100 after 'auto:'", at(texts.front()),
                    texts.front().text);
      request.factor = *value;
      return request;
    }
  for (const auto& text : texts) {
    const auto number = parsed<int>(text.text);
    QUINTET_CHECK(number && *number > 0 && *number <= 100000,
                  "{}sel '{}': expected 'auto', 'auto:1.2' or a number of neighbours above 0 for each type",
                  at(text), text.text);
    request.sel.push_back(*number);
  }
  QUINTET_CHECK(!request.sel.empty(), "sel: expected 'auto' or a number of neighbours for each type");
  return request;
}

void describe(Schema& schema, TypeEmbeddingOptions& options) {
  schema.integer("width", options.width, "Numbers that stand for a type (tebd_dim)")
      .at_least(1)
      .at_most(10000);
  schema.choice("mode", options.has_gate, {{"concat", false}, {"strip", true}},
                "How they reach the embedding network: concat: as inputs beside the distance; strip: by a "
                "network of their own that scales its outputs (tebd_input_mode)");
  schema.flag("smooth", options.smooth,
              "With strip the scale goes smoothly to 1 at the cutoff (smooth_type_embedding)");
  schema.flag("in_fitting", options.in_fitting,
              "The fitting network reads the numbers of the centre's type (concat_output_tebd)");
}

void describe(Schema& schema, DescriptorOptions& options) {
  using potential::DescriptorKind;
  schema.choice("type", options.kind,
                {{name_of(DescriptorKind::se_e2_a), DescriptorKind::se_e2_a},
                 {name_of(DescriptorKind::se_e2_r), DescriptorKind::se_e2_r},
                 {name_of(DescriptorKind::se_e3), DescriptorKind::se_e3},
                 {name_of(DescriptorKind::dpa1), DescriptorKind::dpa1}},
                "se_e2_a: distances and angles, networks for each type; se_e2_r: distances alone; se_e3: "
                "angles between pairs of neighbours, networks for each pair of types; dpa1: as se_e2_a with "
                "networks that all types share (se_atten without attention layers)");
  schema.quantity("rcut", options.rcut, "angstrom", "Cutoff").above(0).at_most(100);
  schema.quantity("rcut_smooth", options.rcut_smooth, "angstrom", "Where 1/r begins to go smoothly to 0")
      .at_least(0);
  schema
      .formulas("sel", options.sel,
                "Most neighbours of each type: [46, 92], of dpa1 of all types: [138], 'auto' (1.1 times the "
                "most in the training data, "
                "rounded up to a multiple of 4) or 'auto:FACTOR'")
      .length(1)
      .example("[46, 92]");
  network_keys(schema, options.neurons, options.timestep, options.activation, "embedding networks");
  schema.integer("axis_neurons", options.axis_neurons, "Columns M2 of the second factor, of se_e2_a and dpa1")
      .at_least(1);
  schema.flag("type_one_side", options.type_one_side,
              "Embedding networks depend on the neighbour's type alone, not on the centre's too; those of "
              "se_e2_r always do, those of se_e3 never");
  schema
      .texts("exclude_types", options.exclude_types,
             "Pairs of types that do not see one another, such as O-H; their rows are 0 (not of se_e2_r)")
      .example("[O-H]");
  schema.quantity("protection", options.protection, "angstrom", "p in 1/(r + p) (env_protection)")
      .at_least(0);
  schema.flag("set_davg_zero", options.set_davg_zero,
              "Subtract no mean from the environment matrix; from that of dpa1 one is subtracted with smooth "
              "strip alone");
  schema.section("types", options.types, "How the networks of dpa1 tell types");
  schema.check([&options]() -> std::optional<std::string> {
    if (options.rcut_smooth >= options.rcut)
      return fmt::format("rcut_smooth = {:g} angstrom is not below rcut = {:g} angstrom", options.rcut_smooth,
                         options.rcut);
    if (options.kind != DescriptorKind::dpa1 && options.types != TypeEmbeddingOptions())
      return "types is of dpa1: give type: dpa1, or leave it out";
    if (options.kind == DescriptorKind::se_e2_r && !options.exclude_types.empty())
      return "exclude_types is not of se_e2_r; take model.pair_exclude_types";
    if (options.kind == DescriptorKind::se_e3 && options.type_one_side)
      return "type_one_side is not of se_e3, whose networks depend on two neighbours; leave it out";
    if (!has_axis(options.kind) && options.axis_neurons != DescriptorOptions().axis_neurons)
      return fmt::format("axis_neurons is of se_e2_a and dpa1, not of {}; leave it out",
                         name_of(options.kind));
    if (has_axis(options.kind) && options.axis_neurons > options.neurons.back())
      return fmt::format("axis_neurons = {} is more than the last of neurons, {}", options.axis_neurons,
                         options.neurons.back());
    return std::nullopt;
  });
  schema.check(rule([&options] { static_cast<void>(parse_sel(options.sel)); }));
}

void describe(Schema& schema, FittingOptions& options) {
  network_keys(schema, options.neurons, options.timestep, options.activation, "fitting networks");
  schema
      .integer("atom_parameters", options.atom_parameters,
               "Numbers of each atom that the networks read beside the descriptor (aparam: a spin, a "
               "temperature); "
               "all data must have them: aparam.npy, or a column aparam of extended XYZ")
      .at_least(0)
      .at_most(100);
}

void describe(Schema& schema, ModelOptions& options) {
  using potential::SelRule;
  schema
      .texts("type_map", options.type_map,
             "Names of the atom types in their order; empty: those of the data, in order of appearance")
      .example("[O, H]");
  schema
      .text("start", options.start,
            "Go on from this model (.dp): its sizes, statistics, energy biases and weights; descriptor and "
            "fitting below are not used")
      .existing_file()
      .on_restart(OnRestart::free);
  schema
      .text(
          "initial_model", options.initial_model,
          "Fine-tune this model (.dp): as start, but with other types too: those of type_map, or its own and "
          "then what the data add. Types are matched by name; new ones begin with random networks; energy "
          "biases change by least squares of the new energies less the model's")
      .existing_file()
      .on_restart(OnRestart::free);
  schema.check([&options]() -> std::optional<std::string> {
    if (!options.start || !options.initial_model) return std::nullopt;
    return "start and initial_model are both given: start goes on with the same types and biases, "
           "initial_model "
           "takes other types and new biases; leave one out";
  });
  schema.choice("precision", options.single_precision, {{"double", false}, {"single", true}},
                "Arithmetic of descriptor, networks and training");
  schema.section("descriptor", options.descriptor, "Environments to numbers");
  schema.section("fitting", options.fitting, "Numbers to energies");
  schema
      .texts("pair_exclude_types", options.pair_exclude_types, "Pairs of types that are no neighbours at all")
      .example("[O-H]");
  schema.texts("atom_exclude_types", options.atom_exclude_types, "Types whose atoms have no energy");
  schema.choice("sel_overflow", options.sel_rule, choices_of(sel_rules),
                "Which neighbours stay when there are more than sel holds: as in 'dpmd run'");
  schema
      .integer("statistics_batches", options.statistics_batches,
               "Batches of each system for mean and deviation of the environment matrix (data_stat_nbatch)")
      .at_least(1);
}

void describe(Schema& schema, TrainingDataOptions& options) {
  schema
      .texts("systems", options.systems,
             "DeePMD folders (also folders or patterns that hold some), HDF5 files ('data.h5' or "
             "'data.h5#/path'), extended XYZ, or VASP's OUTCAR and vasprun.xml")
      .required()
      .length(1)
      .existing_file();
  schema
      .formula("batch_size", options.batch_size,
               "Frames a step: a number, 'auto' (the least with frames * atoms >= 32) or 'auto:ATOMS'")
      .example("4");
  schema
      .numbers("probabilities", options.probabilities,
               "Weight of each system in the draw; empty: its number of batches")
      .at_least(0);
  schema
      .texts("blocks", options.blocks,
             "Instead: systems FIRST to END - 1, from 0, share the weight, each by its number of batches; "
             "systems in "
             "no block are not drawn")
      .example("['0:2:0.5', '2:4:0.5']");
  schema.check(rule([&options] { static_cast<void>(parse_batch_size(options.batch_size)); }));
  schema.check(rule([&options] {
    for (const auto& block : options.blocks) static_cast<void>(parse_block(block));
    QUINTET_CHECK(options.blocks.empty() || options.probabilities.empty(),
                  "give probabilities or blocks, not both");
  }));
}

void describe(Schema& schema, ValidationDataOptions& options) {
  schema.texts("systems", options.systems, "As for training").required().length(1).existing_file();
  schema.formula("batch_size", options.batch_size, "As for training");
  schema.integer("batches", options.batches, "Batches for each row of the learning curve (numb_btch)")
      .at_least(1);
  schema.check(rule([&options] { static_cast<void>(parse_batch_size(options.batch_size)); }));
}

void describe(Schema& schema, DataSection& options) {
  schema.section("training", options.training, "What the model learns from");
  schema.section("validation", options.validation, "Frames held out; absent: none")
      .on_restart(OnRestart::free);
  schema.section("labels", options.labels, "Which labels of extended XYZ count, and what their stress means");
  schema
      .quantity("min_pair_distance", options.min_pair_distance, "angstrom",
                "Frames with two atoms nearer than this are left out, of training and validation; 0: none")
      .at_least(0);
  schema
      .quantity(
          "frame_memory", options.frame_memory, "GB",
          "Neighbours of frames are kept up to this size on each rank, made anew beyond it; on its device "
          "as much again")
      .at_least(0)
      .on_restart(OnRestart::free);
}

void describe(Schema& schema, PrefactorOptions& options) {
  schema.number("start", options.start, "At the first step; falls or rises with the learning rate")
      .at_least(0);
  schema.number("limit", options.limit, "When the learning rate is 0; 0 here or there: no such term")
      .at_least(0);
  schema
      .number("huber", options.huber,
              "Deviation (energy and virial: an atom's share; eV, eV/angstrom) from which the term grows as "
              "|d|, below it as d^2/2; 0: d^2 everywhere")
      .at_least(0);
}

void describe(Schema& schema, LossOptions& options) {
  schema.section("energy", options.energy, "Prefactor of (dE)^2 / atoms");
  schema.section("force", options.force, "Prefactor of the mean of (dF)^2");
  schema.section("virial", options.virial, "Prefactor of the mean of (dV)^2 / atoms");
  schema.flag("intensive", options.intensive,
              "Energy and virial terms divided by atoms^2 (intensive_ener_virial)");
  schema.check([&options]() -> std::optional<std::string> {
    if (options.energy.active() || options.force.active() || options.virial.active()) return std::nullopt;
    return "no term is left: 'start' and 'limit' of energy, force or virial must both be above 0";
  });
}

void describe(Schema& schema, LearningRateOptions& options) {
  schema.number("start", options.start, "At the first step").above(0);
  schema.number("stop", options.stop, "At the last step").above(0);
  schema
      .integer("decay_steps", options.decay_steps,
               "Steps between two reductions; where not fewer than all steps: 100, or a hundredth of them")
      .at_least(1);
  schema.flag("smooth", options.smooth, "Reduce at every step instead (exponential)");
  const auto kinds = {RateKind::exponential, RateKind::step, RateKind::cosine};
  schema.choice("schedule", options.schedule, rate_choices(kinds),
                fmt::format("How it falls from start to stop. {}", describe_rates(kinds)));
  schema.number("factor", options.factor, "What a reduction multiplies the rate by, down to stop (step)")
      .above(0)
      .at_most(1);
  schema
      .integer("warmup_steps", options.warmup_steps, "First steps, in which the rate rises linearly to start")
      .at_least(0);
  schema.number("warmup_factor", options.warmup_factor, "Share of start with which they begin")
      .at_least(0)
      .at_most(1);
  schema.check([&options]() -> std::optional<std::string> {
    if (options.stop > options.start)
      return fmt::format("stop = {:g} is above start = {:g}", options.stop, options.start);
    if (options.smooth && options.schedule != RateKind::exponential)
      return "smooth is for schedule: exponential";
    const LearningRateOptions usual;
    if (options.factor != usual.factor && options.schedule != RateKind::step)
      return "factor is for schedule: step; exponential and cosine end at stop";
    if (options.decay_steps != usual.decay_steps && options.schedule == RateKind::cosine)
      return "decay_steps is for schedule: exponential or step; cosine falls at every step";
    if (options.warmup_factor != usual.warmup_factor && options.warmup_steps == 0)
      return "warmup_factor is where a warm-up begins: give warmup_steps";
    return std::nullopt;
  });
}

void describe(Schema& schema, OptimiserOptions& options) {
  schema.number("beta1", options.beta1, "Decay of the mean of gradients").at_least(0).below(1);
  schema.number("beta2", options.beta2, "Decay of the mean of their squares").at_least(0).below(1);
  schema.number("epsilon", options.epsilon, "Added to the root of that").above(0);
  describe_clip_norm(schema, options.clip_norm);
}

quintet::OptimiserOptions OptimiserOptions::adam() const {
  quintet::OptimiserOptions adam{beta1, beta2, epsilon};
  adam.clip_norm = clip_norm;
  return adam;
}

void describe(Schema& schema, EarlyStoppingOptions& options) {
  schema.integer("interval", options.interval, "Steps between two looks at all frames held out").at_least(1);
  schema.integer("patience", options.patience, "Looks without a lower loss after which the training ends")
      .at_least(1);
  schema
      .number("min_improvement", options.min_improvement,
              "A loss counts as lower if it is lower by this share of the least one")
      .at_least(0)
      .below(1);
}

void describe(Schema& schema, TrainOptions& options) {
  schema.section("model", options.model, "What is trained").on_restart(OnRestart::fixed);
  schema.section("data", options.data, "Labelled frames");
  schema.section("loss", options.loss, "What is made small");
  schema.section("learning_rate", options.learning_rate, "How large steps are");
  schema.section("optimiser", options.optimiser, "Adam");
  describe(schema, options.parallel, options.offload, potential::trainer_traits);
  describe_device(schema, options.device);
  schema.integer("steps", options.steps, "Number of steps, one batch each").at_least(0);
  schema
      .number("epochs", options.epochs,
              "Instead of steps: so many times as many batches as let each system show all its frames")
      .above(0);
  schema
      .number("weight_average", options.weight_average,
              "Mean of the weights over about 1/(1 - this) steps, such as 0.999: it is what is validated and "
              "written; 0: the weights themselves")
      .at_least(0)
      .below(1);
  schema.section("early_stopping", options.early_stopping,
                 "End when the loss of frames held out, with the prefactors `limit`, no longer falls, and "
                 "write the weights of its least value; absent: all steps");
  schema.integer("report_interval", options.report_interval, "Steps between rows of the learning curve")
      .at_least(1)
      .on_restart(OnRestart::free);
  describe(schema, options.checkpoints);
  schema
      .number("divergence", options.divergence,
              "Stop (exit 3) when the loss stays above this many times its least value")
      .above(1)
      .on_restart(OnRestart::free);
  schema.integer("seed", options.seed, "Seed of weights and batches").at_least(0);
  schema.text("output", options.output, "Name of the trained model in the run directory")
      .on_restart(OnRestart::free);
  schema.check([&options]() -> std::optional<std::string> {
    if (options.steps.has_value() == options.epochs.has_value())
      return options.steps ? "steps and epochs are both given: leave one out"
                           : "steps is missing: give the number of steps, or epochs";
    if (options.early_stopping && !options.data.validation)
      return "early_stopping looks at frames held out: name some in data.validation, or leave it out";
    return std::nullopt;
  });
  schema.check([&options]() -> std::optional<std::string> {
    if (options.output.ends_with(".dp") && options.output.find('/') == std::string::npos) return std::nullopt;
    return fmt::format("output '{}': expected a name without folders that ends in .dp", options.output);
  });
}

}  // namespace quintet::dpmd
