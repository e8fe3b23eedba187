#include "apps/dpmd/learn/learn_stages.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "apps/dpmd/deviation/deviation.hpp"
#include "apps/dpmd/deviation/selection.hpp"
#include "apps/dpmd/label/label.hpp"
#include "apps/dpmd/label/label_process.hpp"
#include "apps/dpmd/learn/learn_errors.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/together.hpp"
#include "physics/particles/files/extended_xyz.hpp"

namespace quintet::dpmd {

namespace fs = std::filesystem;

namespace {

constexpr int done = 0, numerical = 3;  // exit codes of runs whose frames count

std::string quoted(const std::string& word) {
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

/// ["/a/b.dp", "/c.dp"] for --set.
std::string list_text(const std::vector<std::string>& texts) {
  Tree list = Tree::list();
  for (const auto& text : texts) list.append(Tree::text(text));
  return to_json(list, 0);
}

std::string selection_text(const SelectionOptions& options) {
  std::string text = fmt::format("force_low: {:.17g} eV/angstrom, force_high: {:.17g} eV/angstrom",
                                 options.force_low, options.force_high);
  if (options.virial_low)
    text += fmt::format(", virial_low: {:.17g} eV, virial_high: {:.17g} eV", *options.virial_low,
                        *options.virial_high);
  return fmt::format("selection={{{}}}", text);
}

void add_settings(std::vector<std::string>& words, const std::vector<std::string>& settings) {
  for (const auto& setting : settings) {
    words.emplace_back("--set");
    words.push_back(setting);
  }
}

double number_or_nan(const Tree& tree, const char* key) {
  const Tree* value = tree.find(key);
  return value && value->is_scalar() ? value->as_number() : std::nan("");
}

std::int64_t integer_or_zero(const Tree& tree, const char* key) {
  const Tree* value = tree.find(key);
  return value && value->is_scalar() ? value->as_integer() : 0;
}

}  // namespace

LearningStages::LearningStages(const LearnOptions& options, std::string directory, bool restart_with_changes)
    : options_(options), directory_(std::move(directory)), restart_with_changes_(restart_with_changes) {}

std::string LearningStages::folder(std::int64_t iteration, const char* stage) const {
  return fmt::format("{}/iteration_{:02}/{}", directory_, iteration, stage);
}

bool LearningStages::is_done(std::int64_t iteration, const char* stage) const {
  return fs::exists(folder(iteration, stage) + "/done");
}

void LearningStages::mark_done(std::int64_t iteration, const char* stage, const Tree& facts) const {
  write_text_file(folder(iteration, stage) + "/done", to_json(facts) + "\n");
}

Tree LearningStages::facts(std::int64_t iteration, const char* stage) const {
  return is_done(iteration, stage) ? read_yaml(folder(iteration, stage) + "/done") : Tree::map();
}

std::string LearningStages::model(std::int64_t iteration, int index) const {
  return fmt::format("{}/model_{}/model.dp", folder(iteration, "train"), index);
}

/// What there is to learn from at the start of an iteration.
std::vector<std::string> LearningStages::data(std::int64_t iteration) const {
  auto systems = options_.data;
  for (std::int64_t k = 0; k < iteration; ++k)
    if (const auto path = folder(k, "label") + "/labelled.xyz"; fs::exists(path)) systems.push_back(path);
  return systems;
}

int LearningStages::call(const std::vector<std::string>& words, const std::string& log,
                         const std::vector<int>& accepted) const {
  std::string command = options_.launcher + (options_.launcher.empty() ? "exec " : " ") +
                        quoted(fs::read_symlink("/proc/self/exe").string());
  for (const auto& word : words) command += fmt::format(" {}", quoted(word));
  const ProcessEnd end = run_program(command, directory_, log, std::nullopt, StopWatch::seen());
  if (end.stopped || end.code == static_cast<int>(ExitCode::stopped_early))
    throw Interrupted("stopped; --restart auto goes on with this stage");
  if (std::find(accepted.begin(), accepted.end(), end.code) != accepted.end()) return end.code;
  throw Error(end.code == static_cast<int>(ExitCode::numerical) ? ExitCode::numerical : ExitCode::input,
              fmt::format("'dpmd {}' ended with {}; the last lines of {}:{}", words.front(), end.text(), log,
                          last_lines(log, 8)));
}

std::vector<std::string> LearningStages::continued(const std::string& command, const std::string& input,
                                                   const std::string& output) const {
  std::vector<std::string> words{command, input, "--output", output, "--restart", "auto", "--quiet"};
  if (restart_with_changes_) words.emplace_back("--restart-with-changes");
  return words;
}

void LearningStages::train(std::int64_t iteration) const {
  if (is_done(iteration, "train")) return;
  const std::string place = folder(iteration, "train");
  fs::create_directories(place);
  double rmse = 0;
  for (int m = 0; m < options_.models; ++m) {
    const std::string output = fmt::format("{}/model_{}", place, m);
    const bool trained = fs::exists(output + "/summary.json") && fs::exists(model(iteration, m));
    if (!trained) {
      log::info("iteration {}: training model {} of {}", iteration, m + 1, options_.models);
      auto words = continued("train", options_.train.input, output);
      add_settings(words, options_.train.set);
      add_settings(words, {"data.training.systems=" + list_text(data(iteration)), "output=model.dp",
                           fmt::format("seed={}", options_.seed + 1000 * iteration + m)});
      if (options_.train.reuse && iteration > 0)
        add_settings(words, {"model.start=" + model(iteration - 1, m)});
      call(words, output + ".log", {done});
    }
    rmse +=
        number_or_nan(read_yaml(output + "/summary.json"), "force_rmse_ev_per_angstrom") / options_.models;
  }
  Tree facts = Tree::map();
  if (std::isfinite(rmse)) facts.set("force_rmse_ev_per_angstrom", Tree::number(rmse));
  mark_done(iteration, "train", facts);
}

void LearningStages::run_one(std::int64_t iteration, const std::string& name, const Exploration& exploration,
                             const std::string& start, std::int64_t seed) const {
  const std::string output = folder(iteration, "run") + "/" + name, finished = output + ".done";
  if (fs::exists(finished)) return;
  std::vector<std::string> models;
  for (int m = 0; m < options_.models; ++m) models.push_back(model(iteration, m));
  auto words = continued("run", exploration.input, output);
  if (!start.empty()) add_settings(words, {"system.file=" + start});
  if (!read_yaml(exploration.input).has("deviation")) add_settings(words, {"deviation={}"});
  add_settings(words, {"potential.model=" + list_text(models), selection_text(options_.selection),
                       fmt::format("seed={}", seed)});
  add_settings(words, exploration.set);
  const int code = call(words, output + ".log", {done, numerical});
  if (code == numerical)
    log::warning("iteration {}: {} is no physics any more; its frames so far count:{}", iteration, name,
                 last_lines(output + ".log", 1));
  write_text_file(finished, fmt::format("{}\n", code));
}

void LearningStages::run(std::int64_t iteration) const {
  if (is_done(iteration, "run")) return;
  fs::create_directories(folder(iteration, "run"));
  std::int64_t n = 0;
  for (std::size_t e = 0; e < options_.explore.size(); ++e) {
    const Exploration& exploration = options_.explore[e];
    if (iteration < exploration.first_iteration || iteration > exploration.last_iteration.value_or(iteration))
      continue;
    auto starts = exploration.starts;
    if (starts.empty()) starts = {""};
    for (std::size_t s = 0; s < starts.size(); ++s, ++n) {
      log::info("iteration {}: run {} from start {}", iteration, e, s);
      run_one(iteration, fmt::format("explore_{}_start_{}", e, s), exploration, starts[s],
              options_.seed + 1000 * iteration + n);
    }
  }
  QUINTET_CHECK(n > 0, "iteration {} has no run: no element of 'explore' is for it", iteration);
  mark_done(iteration, "run", Tree::map());
}

std::vector<std::string> LearningStages::runs(std::int64_t iteration) const {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator(folder(iteration, "run")))
    if (entry.is_directory() && fs::exists(entry.path() / "model_devi.out"))
      found.push_back(entry.path().string());
  std::sort(found.begin(), found.end());
  return found;
}

void LearningStages::select(std::int64_t iteration) const {
  if (is_done(iteration, "select")) return;
  const std::string place = folder(iteration, "select");
  fs::create_directories(place);
  std::vector<FrameSource> sources;
  for (const auto& path : runs(iteration))
    sources.push_back({path + "/candidates.h5", read_deviations(path + "/model_devi.out"), {}});
  const Selection selection =
      select_frames(sources, options_.selection, static_cast<std::uint64_t>(options_.seed + iteration));
  write_selection(place + "/selected", selection);
  log::info("iteration {}: {}", iteration, summary_of(selection));
  mark_done(iteration, "select", read_yaml(place + "/selected.json"));
}

void LearningStages::label(std::int64_t iteration) const {
  if (is_done(iteration, "label")) return;
  const std::string place = folder(iteration, "label"),
                    selected = folder(iteration, "select") + "/selected.xyz";
  fs::create_directories(place);
  Tree facts = Tree::map();
  Labelling labelling;
  if (fs::exists(selected)) {
    log::info("iteration {}: labelling", iteration);
    labelling = label_frames(read_extended_xyz(selected, std::nullopt), options_.label, place);
    if (labelling.stopped) throw Interrupted("stopped; --restart auto goes on with the frames that are left");
    QUINTET_CHECK(!labelling.frames.empty(), "none of {} frames could be labelled; the first: {}",
                  labelling.failures.size(), labelling.failures.front().reason);
    write_labelled(place, labelling.frames);
    const FrameErrors errors = frame_errors(model(iteration, 0), labelling.frames);
    facts.set("force_rmse_ev_per_angstrom", Tree::number(errors.rmse));
    Tree largest = Tree::list();
    for (std::size_t i = 0, next = 0; i < labelling.frames.size() + labelling.failures.size(); ++i) {
      const bool failed = std::any_of(labelling.failures.begin(), labelling.failures.end(),
                                      [&](const auto& failure) { return failure.frame == i; });
      largest.append(failed ? Tree() : Tree::number(errors.largest[next++]));
    }
    facts.set("largest_force_errors_ev_per_angstrom", largest);
  }
  facts.set("labelled", Tree::integer(static_cast<std::int64_t>(labelling.frames.size())));
  facts.set("not_labelled", Tree::integer(static_cast<std::int64_t>(labelling.failures.size())));
  mark_done(iteration, "label", facts);
}

IterationResult LearningStages::result(std::int64_t iteration) const {
  IterationResult result;
  result.iteration = iteration;
  result.training_frames = 0;
  for (std::int64_t k = 0; k < iteration; ++k)
    result.training_frames += integer_or_zero(facts(k, "label"), "labelled");
  result.training_rmse = number_or_nan(facts(iteration, "train"), "force_rmse_ev_per_angstrom");
  const Tree selection = facts(iteration, "select"), label = facts(iteration, "label");
  result.accurate = integer_or_zero(selection, "accurate");
  result.candidates = integer_or_zero(selection, "candidates");
  result.failed = integer_or_zero(selection, "failed");
  result.labelled = integer_or_zero(label, "labelled");
  result.selected_rmse = number_or_nan(label, "force_rmse_ev_per_angstrom");
  const Tree *errors = label.find("largest_force_errors_ev_per_angstrom"),
             *frames = selection.find("selected");
  for (std::size_t i = 0; errors && frames && i < std::min(errors->items().size(), frames->items().size());
       ++i) {
    if (errors->items()[i].is_null()) continue;
    result.error.push_back(errors->items()[i].as_number());
    result.deviation.push_back(number_or_nan(frames->items()[i], "max_devi_f_ev_per_angstrom"));
  }
  return result;
}

}  // namespace quintet::dpmd
