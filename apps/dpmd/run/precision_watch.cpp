#include "apps/dpmd/run/precision_watch.hpp"

#include <algorithm>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "physics/kernels/gemm_bf16.hpp"

namespace quintet::dpmd {

PrecisionWatch::PrecisionWatch(const Simulation& simulation) {
  if (simulation.rounds()) rows_.push_back({simulation.step(), simulation.precision_at_start()});
}

Schedule PrecisionWatch::schedule() const {
  return rows_.empty() ? Schedule() : at_step(rows_.front().step + first) | every_steps(interval) | at_end();
}

void PrecisionWatch::look(const Exec& exec, Simulation& simulation) {
  if (rows_.back().step == simulation.step()) return;
  const auto error = simulation.measure_precision(exec);
  rows_.push_back({simulation.step(), error});
  if (!error.accurate())
    throw NumericalError(fmt::format(
        "potential.precision: bf16 is no longer accurate enough at step {}: {}; the limit is {:g} %: go on "
        "with mixed",
        simulation.step(), error.in_words(), 100 * potential::PrecisionError::bound));
}

void PrecisionWatch::report(Context& context) const {
  if (rows_.empty()) return;
  const CheckedStep& start = rows_.front();
  const CheckedStep& worst = *std::max_element(
      rows_.begin(), rows_.end(),
      [](const CheckedStep& a, const CheckedStep& b) { return a.error.force_rmse < b.error.force_rmse; });
  context.summarise("bf16_force_error_relative_start", start.error.relative(),
                    "rms difference of forces to those in double over their rms, at this process's start");
  context.summarise("bf16_force_error_relative", worst.error.relative(), "likewise, where it was largest");
  context.summarise("bf16_force_rmse_ev_per_angstrom", worst.error.force_rmse, "likewise, not divided");
  context.summarise("bf16_checks", rows_.size(), "frames evaluated in double, too");
  context.headline("bf16 beside double", fmt::format("{:.2g} % of the force", 100 * worst.error.relative()));
  auto& report = context.report();
  report.section("bf16 beside double");
  report.paragraph(fmt::format(
      "The fitting networks' products were made of numbers rounded to bf16 ({}), about the mean "
      "descriptors of "
      "the first frame. After {} and every {} the forces were evaluated in double, too; a run with an "
      "rms difference "
      "above {:g} % of the rms force (or {:g} eV/Å where forces vanish) is stopped.",
      doc_of(bf16_unit()), counted(first, "step"), interval, 100 * potential::PrecisionError::bound,
      potential::PrecisionError::least_bound));
  std::vector<std::vector<std::string>> table;
  for (const auto& [name, row] :
       {std::pair{"start", start}, std::pair{"worst", worst}, std::pair{"last", rows_.back()}})
    table.push_back({name, fmt::format("{}", row.step), fmt::format("{:.3g}", row.error.force_rmse),
                     fmt::format("{:.3g}", row.error.force_rms),
                     fmt::format("{:.3g}", row.error.force_largest),
                     fmt::format("{:.3g}", row.error.energy)});
  report.table({"", "step", "force rmse (eV/Å)", "rms force (eV/Å)", "largest difference (eV/Å)",
                "energy difference (eV/atom)"},
               table);
}

}  // namespace quintet::dpmd
