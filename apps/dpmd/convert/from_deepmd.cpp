#include "apps/dpmd/convert/from_deepmd.hpp"

#include <array>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "apps/dpmd/convert/deepmd_source.hpp"
#include "apps/dpmd/convert/from_deepmd_model.hpp"
#include "apps/dpmd/train/train_options.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"

namespace quintet::dpmd {

namespace {

namespace fs = std::filesystem;

std::optional<Tree> steps_of(Source& training) {
  const Tree* steps = training.find({"numb_steps", "stop_batch", "num_step", "num_steps", "numb_step"});
  return steps ? std::optional<Tree>(*steps) : std::nullopt;
}

double number_at(Source& from, const char* key, double otherwise) {
  const Tree* value = from.find(key);
  return value ? value->as_number() : otherwise;
}

/// Steps in which the rate rises, given as such or as a share of all steps.
void warmup(Source& from, const std::optional<Tree>& steps, Tree& to) {
  copy(from, "warmup_steps", to, "warmup_steps");
  copy(from, "warmup_start_factor", to, "warmup_factor");
  const Tree* share = from.find("warmup_ratio");
  if (!share) return;
  QUINTET_CHECK(steps, "{}: learning_rate.warmup_ratio needs training.numb_steps; give warmup_steps instead",
                share->location().text());
  to.set("warmup_steps", Tree::integer(static_cast<std::int64_t>(share->as_number() * steps->as_number())));
}

// Without decay_rate the rate ends at stop_lr, as here; decay_rate is the factor of each reduction: a step
// schedule.
Tree translate_learning_rate(Source from, const std::optional<Tree>& steps,
                             std::vector<std::string>& warnings) {
  Tree to = Tree::map();
  from.only("type", {"exp", "cosine"}, "the rate decays by schedule: exponential, step or cosine here");
  const Tree *type = from.find("type"), *smooth = from.find("smooth"), *factor = from.find("decay_rate");
  const bool is_cosine = type && type->as_text() == "cosine";
  if (is_cosine) to.set("schedule", Tree::text("cosine"));
  if (factor) {
    QUINTET_CHECK(!is_cosine && (!smooth || !smooth->as_boolean()),
                  "{}: learning_rate.decay_rate is not supported with type cosine or smooth; give stop_lr",
                  factor->location().text());
    to.set("schedule", Tree::text("step"));
    to.set("factor", *factor);
  }
  copy(from, "start_lr", to, "start");
  copy(from, "stop_lr", to, "stop");
  if (const Tree* ratio = from.find("stop_lr_ratio"))
    to.set("stop",
           Tree::number(ratio->as_number() * number_at(from, "start_lr", LearningRateOptions().start)));
  if (is_cosine)
    (void)from.find("decay_steps");  // a cosine has none; DeePMD-kit does not read it either
  else
    copy(from, "decay_steps", to, "decay_steps");
  if (!factor) copy(from, "smooth", to, "smooth");
  warmup(from, steps, to);
  if (to.find("warmup_steps"))
    warnings.push_back(
        "learning_rate.warmup_steps: prefactors of the loss are those of the first step meanwhile; "
        "DeePMD-kit "
        "lets them follow the low rate");
  if (from.find("scale_by_worker"))
    warnings.push_back(
        "learning_rate.scale_by_worker: the batch, and so the rate, is the same on any number of "
        "ranks here");
  from.finish();
  return to;
}

/// Say which prefactors of a term there are; the missing one has DeePMD-kit's default, as ours.
void prefactor(Source& from, const char* letter, const std::optional<Tree>& huber, Tree& to,
               const char* our_key) {
  Tree term = Tree::map();
  copy(from, fmt::format("start_pref_{}", letter).c_str(), term, "start");
  copy(from, fmt::format("limit_pref_{}", letter).c_str(), term, "limit");
  if (huber) term.set("huber", *huber);
  set_if_any(to, our_key, term);
}

/// Huber widths of energy, force and virial: one for all, or three; none where squares are summed.
std::array<std::optional<Tree>, 3> huber_widths(Source& from) {
  const Tree *use = from.find("use_huber"), *given = from.find("huber_delta");
  if (!use || !use->as_boolean()) return {};
  const Tree one = given ? *given : Tree::number(0.01);
  if (one.is_scalar()) return {one, one, one};
  QUINTET_CHECK(one.items().size() == 3, "{}: loss.huber_delta: expected a number or [energy, force, virial]",
                one.location().text());
  return {one.items()[0], one.items()[1], one.items()[2]};
}

Tree translate_loss(Source from) {
  Tree to = Tree::map();
  from.only("type", {"ener"}, "energies, forces and virials are fitted here");
  from.only("loss_func", {"mse"}, "squares of deviations are summed here");
  for (const char* term : {"start_pref_ae", "limit_pref_ae", "start_pref_pf", "limit_pref_pf",
                           "start_pref_gf", "limit_pref_gf", "numb_generalized_coord", "relative_f",
                           "enable_atom_ener_coeff", "start_pref_h", "limit_pref_h", "f_use_norm"})
    from.refuse(term, "the loss here has terms of energy, force and virial");
  const auto huber = huber_widths(from);
  prefactor(from, "e", huber[0], to, "energy");
  prefactor(from, "f", huber[1], to, "force");
  prefactor(from, "v", huber[2], to, "virial");
  copy(from, "intensive_ener_virial", to, "intensive");
  from.ignore({"use_default_pf"});
  from.finish();
  return to;
}

void batch_size(Source& from, Tree& to) {
  const Tree* value = from.find("batch_size");
  if (!value) return;
  Tree size = *value;
  if (size.is_list()) {
    QUINTET_CHECK(!size.items().empty(), "{}: {} is empty", value->location().text(),
                  from.name("batch_size"));
    for (const auto& item : size.items())
      QUINTET_CHECK(item.as_text() == size.items().front().as_text(),
                    "{}: {} of its own for each system is not supported; give one number or 'auto'",
                    value->location().text(), from.name("batch_size"));
    size = Tree(size.items().front());
  }
  FormulaText text(size.as_text());
  text.place = value->location();
  static_cast<void>(parse_batch_size(text));
  to.set("batch_size", size);
}

Tree systems(Source& from) {
  const Tree* value = from.find("systems");
  QUINTET_CHECK(value, "{}: {} is missing", from.place(), from.name("systems"));
  return value->is_scalar() ? Tree::list({*value}) : *value;
}

/// Weights of systems, or a rule for them.
void probabilities(Source& from, Tree& to) {
  const Tree* given = from.find({"sys_probs", "sys_weights"});
  const Tree* rule = from.find({"auto_prob", "auto_prob_style"});
  if (given) {
    to.set("probabilities", *given);
    return;
  }
  if (!rule || rule->as_text() == "prob_sys_size") return;
  const std::string& text = rule->as_text();
  if (text == "prob_uniform") {
    Tree ones = Tree::list();
    for (std::size_t i = 0; i < to.at("systems").items().size(); ++i) ones.append(Tree::integer(1));
    to.set("probabilities", ones);
    return;
  }
  QUINTET_CHECK(text.starts_with("prob_sys_size;"),
                "{}: {} = '{}' is not known; expected prob_uniform, prob_sys_size or "
                "prob_sys_size;FIRST:END:WEIGHT;...",
                rule->location().text(), from.name("auto_prob"), text);
  Tree blocks = Tree::list();
  for (std::size_t at = text.find(';'); at != std::string::npos; at = text.find(';', at + 1))
    blocks.append(Tree::text(text.substr(at + 1, text.find(';', at + 1) - at - 1)));
  for (const auto& block : blocks.items()) static_cast<void>(parse_block(block.as_text()));
  to.set("blocks", blocks);
}

// Every key of the section is translated, refused with the way out, or ignored by name: `finish()` ends with
// an error on any that is left.
Tree translate_data(Source& training, std::vector<std::string>& warnings) {
  Tree to = Tree::map(), trained = Tree::map();
  Source data = training.section("training_data");
  QUINTET_CHECK(data.given(), "{}: training.training_data is missing{}", training.place(),
                training.find("systems") ? "; inputs of DeePMD-kit 1.x are not read" : "");
  trained.set("systems", systems(data));
  batch_size(data, trained);
  probabilities(data, trained);
  data.refuse("rglob_patterns", "name the systems themselves, or a pattern of folders");
  copy_angstrom(data, "min_pair_dist", to, "min_pair_distance");
  data.ignore({"set_prefix"});
  data.finish();
  to.set("training", trained);

  Source held_out = training.section("validation_data");
  if (!held_out.given()) return to;
  Tree validation = Tree::map();
  validation.set("systems", systems(held_out));
  batch_size(held_out, validation);
  if (const Tree* batches = held_out.find({"numb_btch", "numb_batch"})) validation.set("batches", *batches);
  held_out.drop({"sys_probs", "sys_weights", "auto_prob", "auto_prob_style"},
                "frames for validation are drawn by system size", warnings);
  held_out.refuse("rglob_patterns", "name the systems themselves, or a pattern of folders");
  held_out.ignore({"set_prefix"});
  held_out.finish();
  if (!validation.at("systems").items().empty()) to.set("validation", validation);
  return to;
}

void translate_optimiser(Source from, const Tree* longest_gradient, Tree& to) {
  Tree optimiser = Tree::map();
  if (longest_gradient) optimiser.set("clip_norm", *longest_gradient);
  from.only("type", {"Adam"}, "Adam is the optimiser here");
  from.refuse("weight_decay", "Adam has no weight decay here");
  copy(from, "adam_beta1", optimiser, "beta1");
  copy(from, "adam_beta2", optimiser, "beta2");
  from.finish();
  set_if_any(to, "optimiser", optimiser);
}

// Every key of the section is translated, refused with the way out, or ignored by name, so that no training
// differs in silence.
void translate_training(Source from, Tree& to, std::vector<std::string>& warnings) {
  QUINTET_CHECK(from.given(), "no section 'training': is this DeePMD-kit's training input?");
  to.set("data", translate_data(from, warnings));
  from.only("opt_type", {"Adam"}, "Adam is the optimiser here");
  from.refuse("mixed_precision", "give the precision of the model: float64 or float32");
  from.refuse("change_bias_after_training", "energy biases stay as trained here");
  for (const char* key : {"model_prob", "num_epoch_dict", "data_dict"})
    from.refuse(key, "one model is trained on one task here");
  from.ignore({"gradient_max_norm"});  // of the optimiser here
  from.only("acc_freq", {"1"}, "gradients are not accumulated here: give larger batches");
  const auto steps = steps_of(from);
  const Tree* epochs = from.find({"numb_epoch", "num_epochs", "num_epoch", "numb_epochs"});
  QUINTET_CHECK(steps || epochs, "{}: training.numb_steps is missing", from.place());
  QUINTET_CHECK(!steps || !epochs, "{}: training.num_epoch and numb_steps are both given: leave one out",
                epochs->key_location().text());
  to.set(steps ? "steps" : "epochs", steps ? *steps : *epochs);
  if (const Tree* average = from.find("enable_ema"); average && average->as_boolean()) {
    to.set("weight_average", Tree::number(number_at(from, "ema_decay", 0.999)));
    warnings.push_back(
        "training.enable_ema: the averaged weights are what is validated and written here, not a second "
        "file");
  }
  copy(from, "disp_freq", to, "report_interval");
  copy(from, "save_freq", to, "checkpoint_interval");
  if (const Tree* keep = from.find("max_ckpt_keep")) to.set("checkpoint_keep", *keep);
  if (const Tree* seed = from.find("seed")) {
    QUINTET_CHECK(seed->is_scalar(),
                  "{}: training.seed is {}; expected one number: all random numbers come from it",
                  seed->location().text(), seed->found());
    to.set("seed", *seed);
  }
  from.drop({"disp_file"}, "the learning curve is lcurve.out and lcurve.csv in the run directory", warnings);
  from.drop({"save_ckpt", "save_dir", "ckpt_keep_ratio"},
            "checkpoints are in the run directory; the model is model.dp there", warnings);
  from.drop({"stat_file", "zero_stage"}, "no counterpart here", warnings);
  from.ignore({"disp_training", "time_training", "profiling", "profiling_file", "tensorboard",
               "tensorboard_log_dir", "tensorboard_freq", "disp_avg", "kf_blocksize", "enable_profiler",
               "stat_file_mode", "ema_decay", "ema_ckpt_keep", "neighbor_graph_method", "enable_compile",
               "enable_tf32"});
  from.finish();
}

/// A system as seen from another folder, if it is where the input says.
std::string seen_from(const std::string& system, const fs::path& input_folder,
                      const fs::path& output_folder) {
  const fs::path path(system);
  std::error_code ignored;
  const std::string file = system.substr(0, system.find_first_of("#*"));
  if (path.is_absolute() || !fs::exists(input_folder / file, ignored)) return system;
  return (fs::relative(input_folder, output_folder, ignored) / path).lexically_normal().string();
}

void move_systems(Tree& options, const fs::path& input_folder, const fs::path& output_folder) {
  std::error_code ignored;
  if (fs::equivalent(input_folder, output_folder, ignored)) return;
  for (const char* part : {"training", "validation"}) {
    const Tree* data = options.at("data").find(part);
    if (!data) continue;
    Tree moved = Tree::list();
    for (const auto& system : data->at("systems").items())
      moved.append(Tree::text(seen_from(system.as_text(), input_folder, output_folder)));
    options.set_path(fmt::format("data.{}.systems", part), moved);
  }
}

/// Refuse values that `dpmd train` would refuse, at their place in the input; where its data are is not
/// asked.
void check_values(Tree options) {
  for (const char* part : {"training", "validation"})
    if (options.at("data").find(part))
      options.set_path(fmt::format("data.{}.systems", part), Tree::list({Tree::text(".")}));
  TrainOptions parsed;
  parse_options(options, described(parsed));
}

}  // namespace

Translation translate_deepmd(const Tree& input) {
  Translation result;
  auto& warnings = result.warnings;
  Source from(&input, "");
  from.refuse("nvnmd", "there is no NVNMD here");
  for (const char* key : {"loss_dict", "learning_rate_dict"})
    from.refuse(key, "one model is trained on one task here");
  from.drop({"validating"}, "no counterpart here: the model of the last step is the result", warnings);
  Tree& to = result.options;
  to = Tree::map();
  to.set("model", translate_model(from.section("model"), warnings));
  Tree rest = Tree::map();
  translate_training(from.section("training"), rest, warnings);
  to.set("data", rest.at("data"));
  set_if_any(to, "loss", translate_loss(from.section("loss")));
  Source training = from.section("training");
  set_if_any(to, "learning_rate",
             translate_learning_rate(from.section("learning_rate"), steps_of(training), warnings));
  translate_optimiser(from.section("optimizer"), training.find("gradient_max_norm"), to);
  for (const auto& [key, value] : rest.entries())
    if (key != "data") to.set(key, value);
  from.finish();
  check_values(result.options);
  return result;
}

void from_deepmd(const std::string& input, const std::string& output) {
  const fs::path path = output.empty() ? fs::path(input).stem().string() + ".yaml" : output;
  QUINTET_CHECK(!fs::exists(path),
                "{} is there; nothing was written over. Remove it, or name another file with --output",
                path.string());
  auto translation = translate_deepmd(read_yaml(input));
  for (const auto& warning : translation.warnings) log::warning("{}: {}", input, warning);
  move_systems(translation.options, fs::absolute(fs::path(input)).parent_path(),
               fs::absolute(path).parent_path());
  std::string text = fmt::format("# Translated from {}\n", fs::path(input).filename().string());
  for (const auto& warning : translation.warnings) text += fmt::format("# {}\n", warning);
  write_text_file(path.string(), text + to_yaml(translation.options));
  log::info("{} written; run it with: dpmd train {}", path.string(), path.string());
}

}  // namespace quintet::dpmd
