#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "apps/application/report/report.hpp"
#include "apps/dpmd/test/parity.hpp"
#include "io/config/tree.hpp"
#include "surrogates/potential/training/frame.hpp"

/// Results that `dpmd test` finds and writes.
namespace quintet::dpmd {

/// Deviations of one system, or of all: every frame's energy, every component of force and virial counts
/// once, as in DeePMD-kit's `dp test` (whose averages over systems weigh by these numbers).
struct TestResult {
  std::string name;
  std::size_t frames = 0, atoms = 0;  ///< atoms of all frames
  Errors energy, energy_atom;         ///< (eV), (eV an atom)
  Errors force;                       ///< components (eV/angstrom)
  Errors virial, virial_atom;         ///< components (eV), (eV an atom)
  std::vector<Errors> force_of_type;  ///< [n_types] components (eV/angstrom)
  TestResult& operator+=(const TestResult& other);
};

/// Results system by system; frames without a label leave its deviation alone.
/// @param predictions of the frames of `systems`, in their order.
[[nodiscard]] std::vector<TestResult> test_results(const std::vector<potential::LabelledSystem>& systems,
                                                   const std::vector<Prediction>& predictions, int n_types);
/// Their sum, named "all".
[[nodiscard]] TestResult sum(const std::vector<TestResult>& results);

/// All numbers, for NAME.json.
[[nodiscard]] Tree to_tree(const std::string& model, const std::vector<std::string>& type_names,
                           const std::vector<TestResult>& results, const TestResult& all);
/// One line: root-mean-square deviations.
[[nodiscard]] std::string summary(const TestResult& result);
/// The page with tables and parity plots.
[[nodiscard]] Report test_report(const std::string& model, const std::string& description,
                                 const std::vector<std::string>& type_names,
                                 const std::vector<TestResult>& results, const TestResult& all,
                                 const Parity& parity);

/// Names of the files of `--detail PREFIX`: as those of `dp test`.
[[nodiscard]] std::vector<std::string> detail_files(const std::string& prefix);
/// Write them: labels and the model's values beside one another, a line "# SYSTEM: columns" before each
/// system. PREFIX.e.out, .e_peratom.out: data_e pred_e; .f.out: data_fx .. pred_fz an atom; .v.out,
/// .v_peratom.out: data_vxx data_vxy .. pred_vzz. Source: DeePMD-kit, `dp test --detail-file`.
void write_details(const std::string& prefix, const std::vector<potential::LabelledSystem>& systems,
                   const std::vector<Prediction>& predictions);

}  // namespace quintet::dpmd
