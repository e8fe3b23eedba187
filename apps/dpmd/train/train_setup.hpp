#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/dpmd/train/train_options.hpp"
#include "io/parallel/interrupt.hpp"
#include "surrogates/potential/model/model.hpp"
#include "surrogates/potential/training/data.hpp"
#include "surrogates/potential/training/frame.hpp"
#include "surrogates/potential/training/initialise.hpp"

/// Start of a training: labelled systems and a model.
namespace quintet::dpmd {

/// Frames of a list of systems ready for the model, made when first asked for and kept up to a size.
class FrameStore {
 public:
  /// @param systems must outlive the store. @param budget most bytes kept.
  FrameStore(const std::vector<potential::LabelledSystem>& systems, double cutoff, std::size_t budget);
  /// Frames of one system; the pointers are good until the next call.
  [[nodiscard]] std::span<const potential::TrainingFrame* const> take(std::size_t system,
                                                                      std::span<const std::size_t> frames);
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  const std::vector<potential::LabelledSystem>& systems_;
  double cutoff_;
  std::size_t budget_, bytes_ = 0;
  std::vector<std::vector<std::unique_ptr<potential::TrainingFrame>>> kept_;  ///< [system][frame]
  std::vector<std::unique_ptr<potential::TrainingFrame>> passing_;            ///< of this call alone
  std::vector<const potential::TrainingFrame*> taken_;
};

struct TrainingData {
  std::vector<std::string> type_map;
  std::vector<potential::LabelledSystem> training, validation;
  potential::NeighbourCensus census;  ///< of the training systems
  double least_distance = 0;          ///< of all systems, at most the cutoff (angstrom)
};

/// The start of a training: data read, sizes fixed, a model made or read.
struct TrainingSetup {
  TrainingData data;
  potential::Model model;
};

/// Data of the model from a checkpoint, in place of the data's statistics.
struct KnownModel {
  std::vector<std::string> type_map;
  std::vector<int> sel;
  std::vector<std::array<double, 4>> mean, deviation;
  std::vector<double> output_bias;
  potential::Model::ReadParameters atom_parameters{};
};

/// Read systems, count neighbours, make or read the model; logs what there is and warns of what looks wrong.
/// Every rank does it all. Throws InputError; Interrupted, asked between systems and frames.
[[nodiscard]] TrainingSetup set_up_training(const TrainOptions& options,
                                            const std::optional<KnownModel>& known = std::nullopt,
                                            const Interrupt& interrupt = {});

/// Sampler that draws the batches: with the probabilities or blocks of the options, else by numbers of
/// batches. Throws InputError: a block beyond the systems, or two that share one.
[[nodiscard]] potential::Sampler training_sampler(const TrainOptions& options,
                                                  const std::vector<potential::LabelledSystem>& systems);

/// "O-H" as indices; with '-' in names, any split into two known ones. Throws InputError.
[[nodiscard]] std::vector<std::array<int, 2>> parse_type_pairs(const std::vector<std::string>& pairs,
                                                               const std::vector<std::string>& type_map,
                                                               const std::string& key);

}  // namespace quintet::dpmd
