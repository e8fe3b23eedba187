#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "apps/application/life/context.hpp"
#include "apps/dpmd/learn/learn_options.hpp"
#include "io/config/tree.hpp"

namespace quintet::dpmd {

/// What one iteration came to.
struct IterationResult {
  std::int64_t iteration = 0;
  std::int64_t training_frames = -1;  ///< labelled by the loop before its training
  std::int64_t accurate = 0, candidates = 0, failed = 0, labelled = 0;
  /// Of forces as `dpmd train` says (of held-out frames where it has some), mean of the models; NaN if
  /// unknown (eV/angstrom).
  double training_rmse = 0;
  double selected_rmse = 0;  ///< of forces of the first model on the frames labelled afterwards; NaN without
  std::vector<double> deviation,
      error;  ///< of each such frame: max_devi_f and largest force error (eV/angstrom)
};

/// The stages of one iteration of active learning. Each does what is left to do, then marks its folder as
/// done; throws Error(stopped_early) if a signal came.
class LearningStages {
 public:
  /// `restart_with_changes`: trainings and runs that go on may do so with a changed input.
  LearningStages(const LearnOptions& options, std::string directory, bool restart_with_changes);

  void train(std::int64_t iteration) const;
  void run(std::int64_t iteration) const;
  void select(std::int64_t iteration) const;
  void label(std::int64_t iteration) const;
  /// From the files of the stages that are done.
  [[nodiscard]] IterationResult result(std::int64_t iteration) const;
  [[nodiscard]] std::string model(std::int64_t iteration, int index) const;
  [[nodiscard]] bool is_done(std::int64_t iteration, const char* stage) const;

 private:
  [[nodiscard]] std::string folder(std::int64_t iteration, const char* stage) const;
  void mark_done(std::int64_t iteration, const char* stage, const Tree& facts) const;
  [[nodiscard]] Tree facts(std::int64_t iteration, const char* stage) const;
  [[nodiscard]] std::vector<std::string> data(std::int64_t iteration) const;
  [[nodiscard]] std::vector<std::string> runs(std::int64_t iteration) const;
  /// Run `dpmd WORDS` with output to `log`; returns its exit code. Throws for a code that is not `accepted`.
  int call(const std::vector<std::string>& words, const std::string& log,
           const std::vector<int>& accepted) const;
  /// `dpmd COMMAND INPUT --output OUTPUT`, going on where it was left.
  [[nodiscard]] std::vector<std::string> continued(const std::string& command, const std::string& input,
                                                   const std::string& output) const;
  void run_one(std::int64_t iteration, const std::string& name, const Exploration& exploration,
               const std::string& start, std::int64_t seed) const;

  const LearnOptions& options_;
  std::string directory_;
  bool restart_with_changes_;
};

}  // namespace quintet::dpmd
