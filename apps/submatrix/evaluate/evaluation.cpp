#include "apps/submatrix/evaluate/evaluation.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "apps/submatrix/input/system_options.hpp"
#include "io/config/table.hpp"
#include "physics/electronic/density/density_errors.hpp"
#include "physics/electronic/density/density_matrix.hpp"

namespace quintet::submatrix {

using namespace electronic;

Evaluation summary_of(double threshold, const SubmatrixResult& sign, const DensityResult& density,
                      double density_seconds) {
  const Comm& comm = sign.p.comm;
  Evaluation result;
  result.threshold = threshold;
  result.tr_dk = density.tr_dk;
  result.n_pairs = sign.n_pairs;
  result.n_pairs_of_d = density.n_pairs;
  result.n_pairs_put = sign.n_pairs_put;
  result.n_in_gap = sign.n_in_gap;
  result.mu = sign.mu;
  result.homo = sign.homo;
  result.lumo = sign.lumo;
  result.entropy = sign.entropy;
  result.rest = density.rest;
  result.idempotency = density.idempotency;
  result.commutator = density.commutator;
  result.asymmetry = sign.asymmetry;
  result.error_columns = sign.error.n_columns;
  const DensityErrors errors = errors_of(sign, density);
  result.energy_error = errors.energy;
  result.pairs_error = errors.n_pairs;
  result.mu_error = errors.mu;
  result.p_error = sign.error.p;
  result.density_error = errors.density;
  result.p_error_inside = sign.error.p_inside;
  result.error_seconds = comm.maximum(sign.error.seconds);
  result.blocks =
      static_cast<double>(comm.sum(static_cast<long>(sign.p.n_blocks()))) / sign.p.blocking->n_blocks();
  result.n_mean = sign.n_mean;
  result.n_max = sign.n_max;
  result.n_submatrices = sign.n_submatrices;
  result.clustering_gain = sign.clustering_gain;
  result.degree = sign.degree;
  result.kernel = row_of(submatrix_kernels, sign.kernel).name;
  result.flops = sign.flops;
  result.seconds = comm.maximum(sign.seconds);
  result.kernel_seconds = sign.kernel_seconds;
  result.predicted_seconds = comm.maximum(sign.predicted_seconds);
  result.density_seconds = comm.maximum(density_seconds);
  return result;
}

Evaluation mean_of(const Evaluation& up, const Evaluation& down) {
  Evaluation both = up;
  const auto half = [&](double Evaluation::*number) { both.*number = 0.5 * (up.*number + down.*number); };
  const auto sum = [&](double Evaluation::*number) { both.*number = up.*number + down.*number; };
  const auto root = [&](double Evaluation::*number) {
    both.*number = std::sqrt(0.5 * (std::pow(up.*number, 2) + std::pow(down.*number, 2)));
  };
  for (auto number : {&Evaluation::clustering_gain, &Evaluation::tr_dk, &Evaluation::n_pairs,
                      &Evaluation::n_pairs_of_d, &Evaluation::n_pairs_put, &Evaluation::entropy,
                      &Evaluation::blocks, &Evaluation::energy_error, &Evaluation::pairs_error})
    half(number);
  for (auto number :
       {&Evaluation::idempotency, &Evaluation::commutator, &Evaluation::asymmetry, &Evaluation::p_error,
        &Evaluation::p_error_inside, &Evaluation::rest, &Evaluation::density_error})
    root(number);
  for (auto number :
       {&Evaluation::flops, &Evaluation::seconds, &Evaluation::kernel_seconds, &Evaluation::predicted_seconds,
        &Evaluation::density_seconds, &Evaluation::error_seconds})
    sum(number);
  both.mu_down = down.mu;
  both.up = {up.homo, up.lumo, up.homo_error + up.lumo_error};
  both.down = {down.homo, down.lumo, down.homo_error + down.lumo_error};
  both.unpaired = up.n_pairs - down.n_pairs;
  if (down.homo > up.homo) both.homo = down.homo, both.homo_error = down.homo_error;
  if (down.lumo < up.lumo) both.lumo = down.lumo, both.lumo_error = down.lumo_error;
  both.n_mean = (up.n_mean + down.n_mean) / 2;
  both.n_max = std::max(up.n_max, down.n_max);
  both.mu_error = std::max(up.mu_error, down.mu_error);
  both.n_submatrices = up.n_submatrices + down.n_submatrices;
  both.n_in_gap = up.n_in_gap + down.n_in_gap;
  both.degree = std::max(up.degree, down.degree);
  both.probed_error = std::sqrt(0.5 * (std::pow(up.probed_error, 2) + std::pow(down.probed_error, 2)));
  if (both.probed_error > 0)
    both.probed_deviation =
        0.5 * std::hypot(up.probed_error * up.probed_deviation, down.probed_error * down.probed_deviation) /
        both.probed_error;
  both.probe_series_error = std::max(up.probe_series_error, down.probe_series_error);
  both.probe_degree = std::max(up.probe_degree, down.probe_degree);
  both.probe_vectors = std::min(up.probe_vectors, down.probe_vectors);
  if (both.probe_refused.empty()) both.probe_refused = down.probe_refused;
  return both;
}

bool has_two_mu(const Evaluation& e) { return e.mu_down && *e.mu_down != e.mu; }

double smallest_gap(const Evaluation& e) {
  return has_two_mu(e) ? std::min(e.up.lumo - e.up.homo, e.down.lumo - e.down.homo) : e.lumo - e.homo;
}

std::string gap_text(const Evaluation& e, const char* plus_minus) {
  const auto text = [&](double gap, double error) {
    return std::isfinite(gap)
               ? fmt::format("{:.5g} {} {:.1g} eV", gap * ev_per_hartree, plus_minus, error * ev_per_hartree)
               : std::string("not found");
  };
  const std::string innermost = text(e.lumo - e.homo, e.lumo_error + e.homo_error);
  if (!has_two_mu(e)) return innermost;
  return fmt::format("{} (spin up), {} (spin down); innermost levels of both {}",
                     text(e.up.lumo - e.up.homo, e.up.error), text(e.down.lumo - e.down.homo, e.down.error),
                     innermost);
}

std::optional<std::string> doubt(const Evaluation& e, double temperature) {
  const double n_pairs = std::max(1.0, e.n_pairs), orbitals = std::sqrt(n_pairs);
  if (e.error_columns == 0) {
    constexpr double most = 0.03;
    if (temperature == 0 && e.idempotency > most * orbitals)
      return fmt::format("the density matrix is not idempotent (||PP - P|| {:.1e} of {:.1f})", e.idempotency,
                         orbitals);
    return std::nullopt;
  }
  constexpr double most_inside = 0.02, most_energy = 1e-4;  // of the orbitals; hartree a pair
  if (e.p_error_inside > most_inside * orbitals)
    return fmt::format(
        "{:.0f} % of the density matrix is wrong by estimate in the blocks that it has (||dP|| {:.1e} there, "
        "energy {:.1e} hartree)",
        100 * e.p_error_inside / orbitals, e.p_error_inside, e.energy_error);
  if (e.energy_error > most_energy * n_pairs)
    return fmt::format("the energy is off by {:.1e} hartree by estimate, {:.1e} an electron pair",
                       e.energy_error, e.energy_error / n_pairs);
  return std::nullopt;
}

}  // namespace quintet::submatrix
