#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/campaign/graph.hpp"
#include "apps/campaign/runner.hpp"
#include "apps/campaign/store.hpp"
#include "apps/dpmd/learn/learn_options.hpp"

namespace quintet::dpmd {

/// Result of one iteration.
struct IterationResult {
  std::int64_t iteration = 0;
  std::int64_t accurate = 0, candidates = 0, failed = 0, labelled = 0;
  /// Error of forces as `dpmd train` reports it (of held-out frames where it has some), mean of the models
  /// (eV/angstrom); NaN if unknown.
  double training_rmse = 0;
  double selected_rmse = 0;  ///< of forces of the first model on the frames labelled afterwards; NaN without
  std::vector<double> deviation,
      error;  ///< of each such frame: max_devi_f and largest force error (eV/angstrom)
};

/// Rounds of active learning, run as a campaign (learn_file.hpp) whose store lies in the loop's folder.
class LearningRounds {
 public:
  /// Throws InputError for a folder of an earlier version. `may_redo`: see run().
  LearningRounds(const LearnOptions& options, std::string directory, int cores, bool may_redo);

  /// Do what is left of the first `iterations` rounds, with the training of one more if `trains_after`.
  /// Throws Interrupted if a signal came, Error with the exit code of a stage that failed, and InputError
  /// where nothing in the store is what these rounds would make, unless we may redo it: another build of
  /// dpmd, or other paths, would make all anew.
  void run(std::int64_t iterations, bool trains_after);
  /// From the files of a round that is done; of the training after the last one, its models' rmse alone.
  [[nodiscard]] IterationResult result(std::int64_t iteration) const;
  [[nodiscard]] std::string model(std::int64_t iteration, int index) const;

 private:
  void require_known_store() const;
  void require_success(const campaign::CampaignResult& result) const;
  /// Items of a stage in a round that were needed, by their numbers.
  [[nodiscard]] std::vector<const campaign::Item*> items(const std::string& stage, std::int64_t round) const;
  [[nodiscard]] std::string folder(const campaign::Item& item) const;
  /// iteration_00/train/model_0 and so on: names for what is in the store.
  void link_names(std::int64_t iteration) const;

  const LearnOptions& options_;
  std::string directory_;
  int cores_;
  bool may_redo_;
  campaign::Store store_;
  std::optional<campaign::Graph> graph_;
};

}  // namespace quintet::dpmd
