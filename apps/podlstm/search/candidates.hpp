#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/podlstm/setup/search_input.hpp"
#include "surrogates/search/search.hpp"
#include "surrogates/sequence/forecast/training_set.hpp"

namespace quintet::podlstm {

/// R2 as the SC20 paper defines it of what networks give on the validation windows: forecasts are base +
/// output, and an output counts the same in whatever units it is.
class ValidationSkill {
 public:
  ValidationSkill(const sequence::TrainingSet& set, const std::vector<double>& truth);
  /// @param outputs [n, out, modes] in the units of the set's targets
  [[nodiscard]] double of(std::span<const double> outputs) const;

 private:
  std::vector<double> targets_, variations_;  ///< [n, outputs], [outputs]
};

/// Candidates of a search: map genes to a network and its training.
class Candidates {
 public:
  /// @param data names what candidates are trained on and judged by
  /// Throws InputError for a space of size zero, and for networks that do not fit the windows.
  Candidates(const SpaceOptions& space, const sequence::ForecastOptions& forecast, sequence::TrainingSet set,
             const std::vector<double>& truth, std::string data);

  /// The problem of a search; it refers to this.
  [[nodiscard]] search::Problem problem() const;
  [[nodiscard]] search::Space space() const;
  [[nodiscard]] sequence::Architecture network(const search::Genes& genes) const;
  [[nodiscard]] sequence::TrainingOptions training(const search::Genes& genes) const;
  /// A network in short, with what else its genes decide: "80 - 96 - 5, skips 0->2, rate 0.001".
  [[nodiscard]] std::string text(const search::Genes& genes) const;
  [[nodiscard]] const ValidationSkill& skill() const { return skill_; }

  /// Numbers that evaluations leave beside the objective.
  enum Fact { parameters, best_epoch, loss, n_facts };
  static const std::vector<std::string>& fact_names();

 private:
  [[nodiscard]] search::Outcome evaluate(const search::Trial& trial, search::Progress& progress) const;
  [[nodiscard]] std::string key(const search::Genes& genes) const;
  [[nodiscard]] std::string identity() const;

  SpaceOptions space_;
  sequence::ForecastOptions forecast_;
  std::string data_;
  sequence::TrainingSet set_;
  ValidationSkill skill_;
  std::size_t n_network_genes_ = 0;
};

}  // namespace quintet::podlstm
