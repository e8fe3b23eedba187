#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/application/table/run_table.hpp"
#include "apps/dpmd/setup/deviation_options.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/potential/evaluation/model_ensemble.hpp"

namespace quintet::dpmd {

/// One line of a model deviation file.
struct DeviationRow {
  std::int64_t step = 0;
  potential::Deviation deviation;
};

/// The head of a file in the columns of DeePMD-kit's `dp model-devi`: step, max_devi_v, min_devi_v,
/// avg_devi_v, max_devi_f, min_devi_f, avg_devi_f, devi_e (eV, eV/angstrom); with `atomic` the force
/// deviation of each atom follows.
[[nodiscard]] std::string deviation_header(bool atomic);
/// One line of it, with its end.
[[nodiscard]] std::string deviation_line(const DeviationRow& row, std::span<const double> by_atom = {});
/// Read such a file, also one of LAMMPS's `pair_style deepmd` (without devi_e). Throws InputError with
/// file:line.
[[nodiscard]] std::vector<DeviationRow> read_deviations(const std::string& path);

/// The deviation of a run's models: `model_devi.out`, the group `deviation` of run.h5, summary and report.
class DeviationLog {
 public:
  /// On a restart rows after `first_step` are dropped from both files. Collective.
  DeviationLog(Context& context, const DeviationOptions& options, std::int64_t first_step);

  /// Add a row; a step that is there already is passed over. by_atom: [n_atoms] in the order of ids, on rank
  /// 0, empty unless atomic. Collective.
  void add(const DeviationRow& row, std::span<const double> by_atom);
  [[nodiscard]] const std::vector<DeviationRow>& rows() const { return rows_; }
  /// Plots and means; `levels` are drawn as lines (eV/angstrom).
  void report(Context& context, std::span<const double> levels) const;

 private:
  /// Keep the whole lines up to `first_step`, with their atoms; of rows of run.h5 that have none, make one.
  /// Returns how many were made. On rank 0.
  [[nodiscard]] std::int64_t cut_text(std::int64_t first_step) const;

  DeviationOptions options_;
  std::string path_;
  Comm comm_;
  RunTable<DeviationRow> table_;
  std::vector<DeviationRow> rows_;  ///< all so far
};

/// Force deviations of all atoms in the order of their ids on rank 0 (empty elsewhere). Collective.
[[nodiscard]] std::vector<double> gather_by_atom(const Comm& comm, const Atoms& atoms,
                                                 const Array<double>& values);

}  // namespace quintet::dpmd
