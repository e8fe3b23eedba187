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
  void report(Report& report) const;

 private:
  [[nodiscard]] std::string csv_row(std::size_t row) const;
  [[nodiscard]] Curve curve(const std::string& label, const std::string& name) const;

  bool speaks_, validates_;
  std::string csv_;
  std::vector<std::string> fields_, equations_;
  RunTable<Training::Row> table_;
};

}  // namespace quintet::meshfreeflow
