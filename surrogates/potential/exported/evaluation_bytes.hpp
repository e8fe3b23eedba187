#pragma once

#include "surrogates/potential/exported/exported_model.hpp"

namespace quintet::potential {

/// What LibTorch holds at most in an evaluation of a model that sees all atoms at once (bytes):
///
///     bytes = fixed + by_row n_rows + by_atom n_atoms
///
/// Arrays of pairs and triplets belong to rows, so that by_row depends on how dense atoms are.
class EvaluationBytes {
 public:
  /// Rows of the largest sample. Systems of twice as many or more can be asked about.
  static constexpr int most_sampled = 128;

  /// Measured with samples of a system: some of its rows, who stands in them, and atoms that stand in none.
  EvaluationBytes(ExportedModel& model, const ExportedSystem& system);
  /// Of one that is as dense.
  [[nodiscard]] double of(const ExportedSystem& system) const;
  /// Whether it is as dense as what was measured, to 5 %: neighbours in a row, on average.
  [[nodiscard]] bool holds_for(const ExportedSystem& system) const;

 private:
  double fixed_, by_row_, by_atom_, neighbours_;
};

/// A part of a system for such a measurement: `n_rows` of its rows, evenly spread over their lengths, who
/// stands in them, and `n_idle` more atoms. Who is an image of an atom without a row is given another owner:
/// a model's arrays are as large as for those atoms in the system, its energies are not theirs.
[[nodiscard]] ExportedSystem sample_of(const ExportedSystem& system, int n_rows, int n_idle);

}  // namespace quintet::potential
