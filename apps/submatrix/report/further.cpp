#include "apps/submatrix/report/further.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "io/config/schema.hpp"
#include "io/config/tree.hpp"
#include "io/hdf5/file.hpp"

namespace quintet::submatrix {

namespace {

void summarise(Context& context, std::size_t number, const MatrixNumbers& m) {
  const auto write = [&](const char* name, std::optional<double> value, const char* text = "") {
    if (value) context.summarise(fmt::format("{}_k{}", name, number), *value, text);
  };
  write("tr_dk_hartree", m.tr_dk, "Tr(DK) of one spin");
  write("band_energy_hartree", 2 * m.tr_dk, "of both spins");
  write("electrons", m.electrons, "2 Tr P, of both spins");
  write("mu_hartree", m.mu);
  write("entropy_kb", m.entropy);
  write("gap_ev", m.gap_ev);
  write("idempotency_error", m.idempotency);
  write("energy_estimated_error_hartree", m.energy_error);
  write("electrons_estimated_error", m.electrons_error);
  write("density_estimated_error", m.density_error);
  write("submatrices_s", m.seconds);
}

}  // namespace

void report_further(Context& context, const std::vector<MatrixRow>& matrices) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::int64_t> number;
  std::vector<double> tr_dk, mu, energy_error;
  for (std::size_t m = 0; m < matrices.size(); ++m) {
    const auto name = std::filesystem::path(matrices[m].path).filename().string();
    auto& row = rows.emplace_back(std::vector<std::string>{fmt::format("{}", m + 1), name});
    if (!matrices[m].numbers) {
      row.insert(row.end(), 6, "-");
      continue;
    }
    const MatrixNumbers& n = *matrices[m].numbers;
    if (m > 0) summarise(context, m + 1, n);
    for (auto& cell :
         {fmt::format("{:.0e}", n.threshold), fmt::format("{:.8f}", n.tr_dk),
          n.energy_error ? fmt::format("{:.1e}", *n.energy_error) : "-", fmt::format("{:.10g}", n.electrons),
          fmt::format("{:.6f}", n.mu), n.gap_ev ? fmt::format("{:.4g}", *n.gap_ev) : "-"})
      row.push_back(cell);
    number.push_back(static_cast<std::int64_t>(m) + 1);
    tr_dk.push_back(n.tr_dk);
    mu.push_back(n.mu);
    energy_error.push_back(n.energy_error.value_or(0));
  }
  context.report().section("Further Kohn-Sham matrices");
  context.report().table({"number", "K", "threshold (hartree)", "Tr(DK) (hartree)",
                          "estimated error (hartree)", "electrons", "mu (hartree)", "gap (eV)"},
                         rows, "Each K of the same S at its last threshold; -: stopped before, or refused.");
  auto group = context.results().root().group("matrices");
  const auto write = [&]<class T>(const char* name, const char* units, const char* what,
                                  const std::vector<T>& values) {
    group.write(name, std::span<const T>(values), {values.size()}, {units, {"matrix"}, what});
  };
  write("number", "1", "Of K: 1 is matrices.kohn_sham, the others are further_kohn_sham", number);
  write("tr_dk", "hartree", "Tr(D K) of one spin", tr_dk);
  write("mu", "hartree", "Chemical potential", mu);
  write("energy_error", "hartree", "Estimated error of Tr(D K); 0: none", energy_error);
}

}  // namespace quintet::submatrix
