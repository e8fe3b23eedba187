#pragma once

#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/application/report/report.hpp"
#include "apps/application/table/run_table.hpp"
#include "apps/meshfreeflow/train/training.hpp"

namespace quintet::meshfreeflow {

/// The learning curve: group `learning_curve` of run.h5, `lcurve.csv`, and pictures in the report.
class LearningCurve {
 public:
  /// On a restart rows after `first_step` are dropped and those before are read back. Collective.
  LearningCurve(Context& context, const Training& training);

  void add(const Training::Row& row);  ///< collective
  /// A column's number in the last row, also of a former process; NaN without rows.
  [[nodiscard]] double last(const std::string& column) const;
  /// In words, where the loss of values of crops held out has stood still since the first of at least four
  /// validations, within `still`; else empty. Networks whose first steps were too long do so: the correction
  /// is then the same everywhere, and no step is known to bring it back.
  [[nodiscard]] std::string standstill() const;
  void report(Report& report) const;

  static constexpr double still = 2e-3;  ///< of the largest loss; collapsed trainings were seen to have 8e-4

 private:
  [[nodiscard]] std::string csv_row(std::size_t row) const;
  [[nodiscard]] Curve curve(const std::string& label, const std::string& name) const;

  bool speaks_, validates_;
  std::string csv_;
  std::vector<std::string> fields_, equations_;
  RunTable<Training::Row> table_;
};

}  // namespace quintet::meshfreeflow
