#pragma once

#include <vector>

#include "io/parallel/comm.hpp"
#include "io/parallel/interrupt.hpp"
#include "physics/ocean/joint_records.hpp"
#include "physics/ocean/modes_file.hpp"
#include "physics/ocean/record.hpp"
#include "surrogates/sequence/skill/scores.hpp"
#include "surrogates/sequence/windows/windows.hpp"

namespace quintet::podlstm {

/// Part of the fields of a test outside their modes, of the first variable where modes are joint: r(t, x) =
/// field - background - sum_m a(t, m) mode_m(x), at each date that is forecast.
///
/// With it errors are those of whole fields: a forecast of coefficients off by e is off by sum_m e_m
/// mode_m(x)
/// - r(x). Points are shared out over the ranks, as in the record.
class LeftOut {
 public:
  /// Reads the dates of the windows. Collective. Throws InputError: another grid or sea than the modes',
  /// other variables, dates that the record lacks, fields that do not have the coefficients of the modes
  /// file; Interrupted.
  LeftOut(const Comm& comm, const ocean::OceanModes& modes, const ocean::JointRecords& records,
          const sequence::Windows& windows, const Interrupt& interrupt = {});
  /// Memory of one and of what it makes, on a rank (bytes).
  [[nodiscard]] static double bytes(const ocean::Record& record, const sequence::Windows& windows);

  /// In the mean over points with weights [P], or of the square of their mean. Collective.
  [[nodiscard]] sequence::Truncation over(const std::vector<double>& weights) const;
  [[nodiscard]] sequence::Truncation of_mean(const std::vector<double>& weights) const;
  /// Mean square error of whole fields at each point for one lead (1 first), [P] (degC^2), on all ranks.
  /// Collective.
  [[nodiscard]] std::vector<double> square_error_map(const std::vector<double>& truth,
                                                     const std::vector<double>& forecast,
                                                     const sequence::SampleShape& shape, int lead) const;

 private:
  [[nodiscard]] std::size_t date_of(int window, int lead) const;
  /// What is outside of the modes: [dates, this rank's points] of a variable. Collective.
  [[nodiscard]] std::vector<double> left_of(const ocean::Record& record, const ocean::FieldModes& modes,
                                            const std::vector<int>& times, const Interrupt& interrupt) const;
  /// Add the inner products of what is outside with the modes to `misses` [dates, modes].
  void add_products(const ocean::Record& record, const ocean::FieldModes& modes,
                    const std::vector<double>& left, std::vector<double>& misses) const;
  /// Throws where products of all variables are no round-off.
  void check_products(const std::vector<double>& misses) const;
  /// Numbers of each date as those of each window and lead. @param gram [dates, dates]
  [[nodiscard]] sequence::Truncation by_window(std::vector<double> gram,
                                               const std::vector<double>& products) const;

  Comm comm_;
  const ocean::OceanModes& modes_;
  sequence::Windows windows_;
  std::vector<int> rows_;  ///< of the series, whose dates are forecast; ascending
  std::size_t first_ = 0, mine_ = 0;
  std::vector<double> values_;  ///< [dates, this rank's points]
};

}  // namespace quintet::podlstm
