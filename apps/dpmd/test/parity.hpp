#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/application/report/report_fwd.hpp"
#include "io/parallel/comm_fwd.hpp"
#include "physics/particles/forces/force_field.hpp"
#include "surrogates/potential/training/frame.hpp"

/// Labels against a model: predictions, deviations, pictures; for `dpmd train` and `dpmd test`.
namespace quintet::dpmd {

/// A frame of a list of systems.
struct FrameIndex {
  std::size_t system = 0, frame = 0;
};
/// All frames, or at most `most` of them, evenly spread. most 0: all.
[[nodiscard]] std::vector<FrameIndex> frames_of(const std::vector<potential::LabelledSystem>& systems,
                                                std::size_t most = 0);

/// Prediction of a model for a frame.
struct Prediction {
  FrameIndex index;
  double energy = 0;         ///< (eV)
  Mat3 virial{};             ///< (eV)
  std::vector<Vec3> forces;  ///< [n_atoms, 3] (eV/angstrom)
};
/// Energies, forces and virials of frames; each frame is evaluated whole by one rank. On rank 0 in the order
/// of `frames`, empty elsewhere. The systems' types must be the force field's. Collective.
[[nodiscard]] std::vector<Prediction> predict(const Comm& comm, ForceField& field,
                                              const std::vector<potential::LabelledSystem>& systems,
                                              std::span<const FrameIndex> frames);

/// Labels and the model's values beside one another.
struct Pairs {
  std::vector<double> label, model;
};
/// Sums over differences, model minus label, as they come.
struct Errors {
  std::size_t n = 0;
  double absolute = 0, square = 0, largest = 0;
  void add(double difference);
  Errors& operator+=(const Errors& other);
  [[nodiscard]] double rmse() const;  ///< sqrt(sum d^2 / n); 0 for n = 0
  [[nodiscard]] double mae() const;   ///< sum |d| / n; 0 for n = 0
};
[[nodiscard]] Errors errors(const Pairs& pairs);

/// All labels that frames have, beside the model's values.
struct Parity {
  Pairs energy;  ///< an atom (eV)
  Pairs force;   ///< a component (eV/angstrom)
  Pairs virial;  ///< a component, an atom (eV)
};
[[nodiscard]] Parity parity(const std::vector<potential::LabelledSystem>& systems,
                            const std::vector<Prediction>& predictions);

/// Share of the labels' variance that the model explains, 1 - sum (model - label)^2 / sum (label - mean)^2: 1
/// of a perfect one, 0 of one that says the mean; below 0 it is worse. None of labels that are all the same.
[[nodiscard]] std::optional<double> explained_variance(const Pairs& pairs);
/// Sentence on a model that explains less than a tenth of the forces (of energies, where there are no
/// forces): it has learnt nothing, and its parity line is flat. Else "".
[[nodiscard]] std::string learnt_nothing(const Parity& parity);

/// A table of deviations and pictures of model against label under a heading.
void report_parity(Report& report, const std::string& heading, const Parity& parity);

}  // namespace quintet::dpmd
