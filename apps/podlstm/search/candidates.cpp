#include "apps/podlstm/search/candidates.hpp"

#include <cmath>
#include <span>

#include <fmt/format.h>

#include "io/config/schema.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "surrogates/sequence/skill/scores.hpp"

namespace quintet::podlstm {

namespace {

/// All keys that an evaluation depends on, as one line of YAML's flow style.
std::string in_one_line(const Tree& tree) {
  std::string line, text = to_yaml(tree);
  for (const char letter : text) {
    if (letter == '\n')
      line += line.ends_with(':') ? "" : ",";
    else if (letter != ' ' || !line.ends_with(' '))
      line += letter;
  }
  while (line.ends_with(',')) line.pop_back();
  return line;
}

}  // namespace

ValidationSkill::ValidationSkill(const sequence::TrainingSet& set, const std::vector<double>& truth)
    : targets_(set.validation_targets) {
  const std::size_t modes = set.model.n_modes(), outputs = set.model.shape.out * modes;
  const std::size_t n = set.n_validation;
  for (std::size_t o = 0; o < outputs; ++o) {
    double mean = 0, variation = 0;
    for (std::size_t i = 0; i < n; ++i) mean += truth[i * outputs + o] / n;
    for (std::size_t i = 0; i < n; ++i) variation += std::pow(truth[i * outputs + o] - mean, 2);
    variations_.push_back(variation / std::pow(set.model.output.scale[o % modes], 2));
  }
}

double ValidationSkill::of(std::span<const double> outputs) const {
  const auto width = variations_.size();
  std::vector<double> errors(width, 0.0);
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    const double error = outputs[i] - targets_[i];
    errors[i % width] += error * error;
  }
  return sequence::r2_uniform_of(errors.data(), variations_.data(), width);
}

const std::vector<std::string>& Candidates::fact_names() {
  static const std::vector<std::string> names = {"parameters", "best epoch", "validation loss"};
  return names;
}

Candidates::Candidates(const SpaceOptions& space, const sequence::ForecastOptions& forecast,
                       sequence::TrainingSet set, const std::vector<double>& truth, std::string data)
    : space_(space),
      forecast_(forecast),
      data_(std::move(data)),
      set_(std::move(set)),
      skill_(set_, truth),
      n_network_genes_(decisions(space.networks).size()) {
  // A network that does not fit the windows would fail in every trial.
  const search::Genes first(this->space().n_genes(), 0);
  auto options = training(first);
  options.epochs = 0;
  const sequence::Trainer trial(network(first), set_.model.shape.in, set_.training(), set_.validation(),
                                options, 0);
}

search::Space Candidates::space() const {
  std::vector<search::Gene> genes;
  for (auto& [name, choices] : decisions(space_.networks)) genes.push_back({name, choices});
  if (!space_.learning_rates.empty()) {
    genes.push_back({"learning rate", {}});
    for (const double rate : space_.learning_rates) genes.back().choices.push_back(fmt::format("{:g}", rate));
  }
  if (!space_.batches.empty()) {
    genes.push_back({"batch", {}});
    for (const auto batch : space_.batches) genes.back().choices.push_back(fmt::format("{}", batch));
  }
  return search::Space(std::move(genes));
}

sequence::Architecture Candidates::network(const search::Genes& genes) const {
  const auto end = genes.begin() + n_network_genes_;
  return make_architecture(space_.networks, {genes.begin(), end}, set_.model.n_inputs(), set_.model.n_modes(),
                           set_.model.shape.out);
}

sequence::TrainingOptions Candidates::training(const search::Genes& genes) const {
  auto options = forecast_.training;
  std::size_t gene = n_network_genes_;
  if (!space_.learning_rates.empty()) options.learning_rate = space_.learning_rates.at(genes.at(gene++));
  if (!space_.batches.empty()) options.batch = space_.batches.at(genes.at(gene));
  return options;
}

std::string Candidates::text(const search::Genes& genes) const {
  auto words = summary(network(genes));
  if (!space_.learning_rates.empty()) words += fmt::format(", rate {:g}", training(genes).learning_rate);
  if (!space_.batches.empty()) words += fmt::format(", batch {}", training(genes).batch);
  return words;
}

/// Networks of one graph are one candidate where they are trained alike.
std::string Candidates::key(const search::Genes& genes) const {
  const auto options = training(genes);
  return fmt::format("{}; rate {}, batch {}", canonical_form(network(genes)), options.learning_rate,
                     options.batch);
}

std::string Candidates::identity() const {
  CandidateOptions options{forecast_};
  return fmt::format("forecast {{{}}}, {}", in_one_line(options_tree(described(options))), data_);
}

search::Outcome Candidates::evaluate(const search::Trial& trial, search::Progress& progress) const {
  const auto architecture = network(trial.genes);
  const auto options = training(trial.genes);
  const auto trained = train(architecture, set_.model.shape.in, set_.training(), set_.validation(), options,
                             trial.seed, [&](const sequence::EpochReport& epoch) {
                               return progress.report(skill_.of(epoch.validation_outputs));
                             });
  search::Outcome outcome;
  outcome.objective = skill_.of(predict(architecture, set_.model.shape.in, trained.parameters,
                                        set_.validation_inputs, options.precision, options.engine));
  outcome.facts = {static_cast<double>(trained.parameters.size()), static_cast<double>(trained.best_epoch),
                   trained.best_loss};
  return outcome;
}

search::Problem Candidates::problem() const {
  return {
      space(),
      [this](const search::Trial& trial, search::Progress& progress) { return evaluate(trial, progress); },
      [this](const search::Genes& genes) { return key(genes); },
      static_cast<int>(forecast_.training.epochs),
      fact_names(),
      identity()};
}

}  // namespace quintet::podlstm
