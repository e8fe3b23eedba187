#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/application/report/report_fwd.hpp"
#include "apps/application/table/run_table.hpp"
#include "surrogates/potential/training/trainer.hpp"

namespace quintet::dpmd {

/// A row of the learning curve.
struct CurveRow {
  std::int64_t step = 0;                         ///< finished
  double learning_rate = 0;                      ///< that step's
  potential::Deviations training, validation{};  ///< of the step's batch before it; of batches held out after
};

/// The learning curve: group `learning_curve` of run.h5, `lcurve.csv`, and DeePMD-kit's `lcurve.out`.
class LearningCurve {
 public:
  /// On a restart rows after `first_step` are dropped and what was there before is read back. Collective.
  /// @param validates false: no frames held out; those columns are NaN, or absent in lcurve.out.
  /// @param virials whether lcurve.out has columns of virials.
  LearningCurve(Context& context, bool validates, bool virials, std::int64_t first_step);

  void add(const CurveRow& row);  ///< collective
  void report(Report& report) const;

 private:
  void begin_texts() const;
  [[nodiscard]] std::string deepmd_header() const;
  [[nodiscard]] std::string csv_row(std::size_t row) const;
  [[nodiscard]] std::string deepmd_row(std::size_t row) const;

  bool speaks_, validates_, virials_;
  std::string csv_, out_;
  RunTable<CurveRow> table_;
};

}  // namespace quintet::dpmd
