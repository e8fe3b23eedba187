#include "apps/dpmd/learn/learn_rounds.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

#include "apps/dpmd/label/label_process.hpp"
#include "apps/dpmd/learn/learn_errors.hpp"
#include "apps/dpmd/learn/learn_file.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/together.hpp"
#include "physics/particles/formats/extended_xyz.hpp"

namespace quintet::dpmd {

namespace fs = std::filesystem;

namespace {

double number_or_nan(const Tree& tree, const char* key) {
  const Tree* value = tree.find(key);
  return value && value->is_scalar() ? value->as_number() : std::nan("");
}

std::string folder_of(const std::string& directory, std::int64_t iteration) {
  return fmt::format("{}/iteration_{:02}", directory, iteration);
}

/// The loop's exit code where one of its programs ended with `code`. What a signal ended, or too little room,
/// is no fault of the input: --restart auto goes on with it.
ExitCode code_of_loop(int code) {
  if (code == static_cast<int>(ExitCode::numerical)) return ExitCode::numerical;
  const bool was_killed = code > 128;
  return was_killed || code == static_cast<int>(ExitCode::resource) ? ExitCode::resource : ExitCode::input;
}

/// The directory, if it is of this version.
std::string checked(const std::string& directory) {
  QUINTET_CHECK(
      !fs::exists(folder_of(directory, 0) + "/train/done"),
      "'{}' was written by an earlier version of dpmd learn, which this one cannot continue; start again in "
      "another directory (--output DIR), with its label/labelled.xyz in data",
      directory);
  return directory;
}

}  // namespace

LearningRounds::LearningRounds(const LearnOptions& options, std::string directory, int cores, bool may_redo)
    : options_(options),
      directory_(std::move(directory)),
      cores_(cores),
      may_redo_(may_redo),
      store_(checked(directory_), campaign::Sharing::alone) {}

void LearningRounds::run(std::int64_t iterations, bool trains_after) {
  const std::string file = directory_ + "/campaign.yaml";
  write_text_file(file, to_yaml(campaign_of(options_, iterations, trains_after, cores_)));
  const char* const path = std::getenv("PATH");
  graph_.emplace(campaign::read_campaign(file), directory_, path != nullptr ? path : "");
  if (!may_redo_) require_known_store();
  campaign::RunnerOptions runner;
  runner.stop = &StopWatch::seen();
  const auto result = campaign::run_campaign(*graph_, store_, runner);
  for (std::int64_t k = 0; k < iterations + (trains_after ? 1 : 0); ++k) link_names(k);
  require_success(result);
}

void LearningRounds::require_known_store() const {
  const auto& items = graph_->items();
  QUINTET_CHECK(
      fs::is_empty(store_.folder()) ||
          std::any_of(items.begin(), items.end(), [&](const auto& item) { return store_.find(item); }),
      "what is in {} was made by another build of dpmd, or from inputs at other paths. Go on with that build "
      "and those paths, or add --restart-with-changes to compute all again. Labels of the same structures by "
      "the same input are kept in {}/labels",
      store_.folder(), directory_);
}

void LearningRounds::require_success(const campaign::CampaignResult& result) const {
  for (std::size_t i = 0; i < result.outcomes.size(); ++i) {
    if (result.outcomes[i] != campaign::Outcome::failed) continue;
    const auto& item = graph_->items()[i];
    const std::string log = fmt::format("{}/failed/{}/log.txt", directory_, item.key);
    QUINTET_CHECK(fs::exists(log), "{}: {}", item.label, result.why[i]);  // damaged
    throw Error(code_of_loop(result.codes[i]),
                fmt::format("{} failed: {}; the last lines of {}:{}", item.label, result.why[i], log,
                            last_lines(log, 8)));
  }
  if (result.stopped || StopWatch::seen())
    throw Interrupted("stopped; --restart auto goes on with what is left");
}

std::vector<const campaign::Item*> LearningRounds::items(const std::string& stage, std::int64_t round) const {
  std::vector<const campaign::Item*> found;
  for (const auto& item : graph_->items()) {
    if (item.round != round || !graph_->stage_of(item).name.starts_with(stage)) continue;
    if (const auto done = store_.find(item); done && done->needed && done->damage.empty())
      found.push_back(&item);
  }
  return found;
}

std::string LearningRounds::folder(const campaign::Item& item) const {
  return store_.folder() + "/" + item.key;
}

void LearningRounds::link_names(std::int64_t iteration) const {
  const std::string place = folder_of(directory_, iteration);
  const auto link = [&](const campaign::Item& item, const std::string& inside, const std::string& name) {
    const fs::path path = place + "/" + name;
    fs::create_directories(path.parent_path());
    fs::remove(path);
    fs::create_directory_symlink(fs::path(folder(item) + inside).lexically_relative(path.parent_path()),
                                 path);
  };
  for (const auto* item : items("train", iteration))
    link(*item, "/run", "train/model_" + item->values.at("member"));
  for (const auto* item : items("run_", iteration)) {
    const std::string name = graph_->stage_of(*item).name;  // run_E_S
    const auto start = name.rfind('_');
    link(*item, "/run",
         fmt::format("run/explore_{}_start_{}", name.substr(4, start - 4), name.substr(start + 1)));
  }
  for (const auto* item : items("select", iteration)) link(*item, "", "select");
  for (const auto* item : items("label", iteration)) link(*item, "/labels", "label");
}

std::string LearningRounds::model(std::int64_t iteration, int index) const {
  return folder(*items("train", iteration).at(index)) + "/run/model.dp";
}

IterationResult LearningRounds::result(std::int64_t iteration) const {
  IterationResult result{.iteration = iteration,
                         .training_rmse = 0,
                         .selected_rmse = std::nan(""),
                         .deviation = {},
                         .error = {}};
  for (const auto* item : items("train", iteration))
    result.training_rmse +=
        number_or_nan(read_yaml(folder(*item) + "/run/summary.json"), "force_rmse_ev_per_angstrom") /
        options_.models;
  for (const auto* item : items("run_", iteration)) {
    const std::string place = folder(*item) + "/run";
    if (fs::exists(place + "/summary.json") &&
        read_yaml(place + "/summary.json").at("exit_code").as_integer() != 0)
      log::warning("{}: the run failed, and its frames until then are used; {}/run.log says why", item->label,
                   place);
  }
  const auto selections = items("select", iteration), labels = items("label", iteration);
  if (selections.empty()) return result;
  const Tree selection = read_yaml(folder(*selections.front()) + "/selected.json");
  result.accurate = selection.at("accurate").as_integer();
  result.candidates = selection.at("candidates").as_integer();
  result.failed = selection.at("failed").as_integer();
  if (labels.empty()) return result;
  const std::string place = folder(*labels.front()) + "/labels";
  const auto frames = read_extended_xyz(place + "/labelled.xyz", std::nullopt);
  const FrameErrors errors = frame_errors(model(iteration, 0), frames);
  result.labelled = std::ssize(frames);
  result.selected_rmse = errors.rmse;
  const auto& selected = selection.at("selected").items();
  for (std::size_t i = 0; i < selected.size() && result.error.size() < errors.largest.size(); ++i) {
    if (!fs::exists(fmt::format("{}/frame_{:06}/label.xyz", place, i))) continue;  // it could not be labelled
    result.error.push_back(errors.largest[result.error.size()]);
    result.deviation.push_back(number_or_nan(selected[i], "max_devi_f_ev_per_angstrom"));
  }
  return result;
}

}  // namespace quintet::dpmd
