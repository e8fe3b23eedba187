#include "apps/dpmd/train/train_report.hpp"

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "apps/application/training/memory_report.hpp"
#include "apps/dpmd/test/parity.hpp"
#include "io/log/counted.hpp"
#include "io/log/log.hpp"
#include "surrogates/potential/evaluation/deep_potential.hpp"

namespace quintet::dpmd {

namespace {

constexpr std::size_t most_training_frames = 400;  ///< in the accuracy of what was learnt from

void summarise(Context& context, const std::string& prefix, const Parity& parity) {
  const auto put = [&](const char* key, const Pairs& pairs, double scale) {
    if (!pairs.label.empty()) context.summarise(prefix + key, scale * errors(pairs).rmse());
  };
  put("energy_rmse_mev_per_atom", parity.energy, 1e3);
  put("force_rmse_ev_per_angstrom", parity.force, 1);
  put("virial_rmse_mev_per_atom", parity.virial, 1e3);
}

/// Tiles of what the model is worth on frames it has not learnt from, or on those it has.
void add_headlines(Context& context, const Parity& parity, bool held_out) {
  const char* doubt =
      held_out ? "" : "Of frames it has learnt from; new ones will be worse: add the section validation.";
  const auto add = [&](const char* name, const Pairs& pairs, const char* unit) {
    if (!pairs.label.empty())
      context.headline(name, fmt::format("{:.3g} {}", 1e3 * errors(pairs).rmse(), unit), doubt);
  };
  add("energy rmse", parity.energy, "meV/atom");
  add("force rmse", parity.force, "meV/Å");
  add("virial rmse", parity.virial, "meV/atom");
}

void say(const char* what, const Parity& parity) {
  std::string line;
  const auto add = [&](const char* name, const Pairs& pairs, double scale, const char* unit) {
    if (!pairs.label.empty())
      line +=
          fmt::format("{}{} {:.4g} {}", line.empty() ? "" : ", ", name, scale * errors(pairs).rmse(), unit);
  };
  add("energy", parity.energy, 1e3, "meV/atom");
  add("force", parity.force, 1, "eV/angstrom");
  add("virial", parity.virial, 1e3, "meV/atom");
  if (!line.empty()) log::info("{} rmse: {}", what, line);
}

/// Of a training that frames held out may end.
void report_stopping(Context& context, const Training& training) {
  if (!training.best() || training.best()->weights().empty()) return;
  const auto& best = *training.best();
  context.summarise("best_step", best.step(),
                    "of the least loss of all frames held out: its weights are kept");
  context.summarise("best_loss", best.loss(), "of all frames held out, with the prefactors limit");
  context.summarise("ended_by_early_stopping", training.stopped() ? 1.0 : 0.0);
  context.report().paragraph(fmt::format(
      "The weights are those of step {}, with the least loss of all frames held out ({:.4g}); {} of {} "
      "were done.",
      best.step(), best.loss(), training.step(), counted(training.last_step(), "step")));
}

void report_speed(Context& context, const Training& training, std::int64_t steps, double seconds) {
  context.headline("steps", std::to_string(training.step()));
  if (steps > 0 && seconds > 0) context.headline("speed", fmt::format("{:.3g} s a step", seconds / steps));
  context.summarise("training_steps", training.step());
  context.summarise("parameters", training.trainer().n_parameters());
  summarise_stage(context, training.parallel(), training.trainer().account());
  if (steps == 0 || seconds <= 0) return;
  context.summarise("seconds_per_step", seconds / steps);
  context.summarise("frames_per_s", training.frames_seen() / seconds);
  context.summarise("atoms_per_s", training.atoms_seen() / seconds);
}

// What was held out judges a model, where there is any: errors of what it learnt from cannot show
// overfitting.
void report_accuracy(Context& context, const TrainOptions& options, const Training& training,
                     const potential::Model& model) {
  const auto timer = context.phase("accuracy");
  potential::DeepPotentialOptions evaluation;
  evaluation.sel_rule = options.model.sel_rule;
  potential::DeepPotential field(model, evaluation);
  const auto of = [&](const std::vector<potential::LabelledSystem>& systems, std::size_t most) {
    return parity(systems, predict(context.comm(), field, systems, frames_of(systems, most)));
  };
  const auto& data = training.data();
  const Parity learnt = of(data.training, most_training_frames);
  say("Training", learnt);
  Parity held_out;
  if (training.validates()) {
    held_out = of(data.validation, 0);
    say("Validation", held_out);
    summarise(context, "", held_out);
    add_headlines(context, held_out, true);
    if (context.comm().is_root()) report_parity(context.report(), "Frames held out", held_out);
  } else {
    summarise(context, "", learnt);
    add_headlines(context, learnt, false);
  }
  const Parity& judged = training.validates() ? held_out : learnt;
  if (const auto share = explained_variance(judged.force))
    context.summarise("force_variance_explained", *share, "1: all of it; 0: as if all forces were the mean");
  if (const auto doubt = learnt_nothing(judged); !doubt.empty()) {
    log::warning("{}", doubt);
    context.report().warning(doubt + ".");
  }
  context.summarise("rmse_of", std::string(training.validates() ? "validation" : "training"));
  summarise(context, "training_", learnt);
  if (context.comm().is_root())
    report_parity(context.report(),
                  fmt::format("Frames learnt from (at most {} of them)", most_training_frames), learnt);
}

}  // namespace

void report_training(Context& context, const TrainOptions& options, const Training& training,
                     const potential::Model& model, std::int64_t steps, double seconds) {
  context.report().title("dpmd train", fmt::format("{} of {}; {}", training.step(),
                                                   counted(training.last_step(), "step"), model.summary()));
  if (!context.stopped_early()) report_accuracy(context, options, training, model);
  report_stopping(context, training);
  report_speed(context, training, steps, seconds);
}

}  // namespace quintet::dpmd
