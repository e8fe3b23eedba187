#include "apps/submatrix/report/further.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace quintet::submatrix {

namespace {

void summarise(Context& context, const Evaluation& e, double temperature) {
  const auto key = [&](const char* name) { return fmt::format("{}_k{}", name, e.matrix + 1); };
  context.summarise(key("tr_dk_hartree"), e.tr_dk, "Tr(DK) of one spin");
  context.summarise(key("band_energy_hartree"), 2 * e.tr_dk, "of both spins");
  context.summarise(key("electrons"), 2 * e.n_pairs, "2 Tr P, of both spins");
  context.summarise(key("mu_hartree"), e.mu);
  if (temperature > 0) context.summarise(key("entropy_kb"), 2 * e.entropy);
  if (std::isfinite(e.lumo - e.homo)) context.summarise(key("gap_ev"), (e.lumo - e.homo) * ev_per_hartree);
  context.summarise(key("idempotency_error"), e.idempotency);
  if (e.error_columns > 0) {
    context.summarise(key("energy_estimated_error_hartree"), e.energy_error);
    context.summarise(key("electrons_estimated_error"), 2 * e.pairs_error);
    if (std::isfinite(e.density_error)) context.summarise(key("density_estimated_error"), e.density_error);
  }
  context.summarise(key("submatrices_s"), e.seconds);
}

}  // namespace

void report_further(Context& context, const EvaluateOptions& options,
                    const std::vector<Evaluation>& evaluations) {
  std::vector<const Evaluation*> last(options.further_kohn_sham.size() + 1, nullptr);
  for (const Evaluation& e : evaluations)
    if (e.refused.empty()) last.at(e.matrix) = &e;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::int64_t> number;
  std::vector<double> tr_dk, mu, energy_error;
  for (std::size_t m = 0; m < last.size(); ++m) {
    const auto& path = m == 0 ? options.matrices.kohn_sham : options.further_kohn_sham[m - 1];
    const auto name = std::filesystem::path(path).filename().string();
    if (last[m] == nullptr) {
      rows.push_back({fmt::format("{}", m + 1), name, "-", "-", "-", "-", "-", "-"});
      continue;
    }
    const Evaluation& e = *last[m];
    if (m > 0) summarise(context, e, options.temperature);
    rows.push_back(
        {fmt::format("{}", m + 1), name, fmt::format("{:.0e}", e.threshold), fmt::format("{:.8f}", e.tr_dk),
         e.error_columns > 0 ? fmt::format("{:.1e}", e.energy_error) : "-",
         fmt::format("{:.10g}", 2 * e.n_pairs), fmt::format("{:.6f}", e.mu),
         std::isfinite(e.lumo - e.homo) ? fmt::format("{:.4g}", (e.lumo - e.homo) * ev_per_hartree) : "-"});
    number.push_back(static_cast<std::int64_t>(m) + 1);
    tr_dk.push_back(e.tr_dk);
    mu.push_back(e.mu);
    energy_error.push_back(e.energy_error);
  }
  context.report().section("Further Kohn-Sham matrices");
  context.report().table({"number", "K", "threshold (hartree)", "Tr(DK) (hartree)",
                          "estimated error (hartree)", "electrons", "mu (hartree)", "gap (eV)"},
                         rows, "Each K of the same S at its last threshold; -: stopped before, or refused.");
  auto group = context.results().root().group("matrices");
  const auto write = [&](const char* name, const char* units, const char* text, const auto& values) {
    group.write(name, std::span(values.data(), values.size()), {values.size()}, {units, {"matrix"}, text});
  };
  write("number", "1", "Of K: 1 is matrices.kohn_sham, the others are further_kohn_sham",
        std::as_const(number));
  write("tr_dk", "hartree", "Tr(D K) of one spin", std::as_const(tr_dk));
  write("mu", "hartree", "Chemical potential", std::as_const(mu));
  write("energy_error", "hartree", "Estimated error of Tr(D K); 0: none", std::as_const(energy_error));
}

}  // namespace quintet::submatrix
