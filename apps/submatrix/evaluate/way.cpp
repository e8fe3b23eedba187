#include "apps/submatrix/evaluate/way.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/loop/interrupt_of.hpp"
#include "apps/submatrix/evaluate/dense.hpp"
#include "apps/submatrix/evaluate/output.hpp"
#include "apps/submatrix/report/pictures.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "physics/electronic/density/orthogonalise.hpp"
#include "physics/electronic/matrix/diagonalise.hpp"
#include "physics/electronic/submatrix/submatrix_plan.hpp"

namespace quintet::submatrix {

using namespace electronic;

namespace {

bool fits(Context& context, double n_rows) {
  try {
    context.require_memory(dense_bytes(n_rows), "dense diagonalisation");
    return true;
  } catch (const ResourceError&) {
    return false;
  }
}

/// Rows of a submatrix over those of the matrix, on the mean.
double mean_part(const BlockMatrix& a, double threshold) {
  const auto sizes = submatrix_sizes(a, threshold);
  return std::accumulate(sizes.begin(), sizes.end(), 0.0) /
         (static_cast<double>(a.blocking->n_rows()) * static_cast<double>(sizes.size()));
}

/// Elements and mean rows of a block column of this matrix where blocks below `threshold` are dropped.
struct PatternSize {
  double elements, rows;
};
PatternSize columns_of(const BlockMatrix& a, double threshold) {
  const double n = a.blocking->n_rows(), part = mean_part(a, threshold);
  return {part * n * n, part * n};
}

/// Seconds of a rank for a spin by submatrices at all thresholds. `a`: A, or K while A is not known; `basis`:
/// whether A is still to be made; `sharing`: as in predicted_costs_of().
double submatrix_seconds_of(const EvaluateOptions& options, const System& system, const BlockMatrix& a,
                            bool basis, std::size_t sharing) {
  constexpr double products_per_second = 6e9;  // operations of products of small blocks
  constexpr double level_seconds = 2e-7;   // an element of A: some 200 products with vectors for HOMO, LUMO
  constexpr double least_seconds = 0.005;  // of a threshold: its many small sums
  constexpr double beside_kernels = 2;     // moments, edges of the spectrum, samples for the errors
  constexpr double passes_at_temperature = 2;  // until N(mu) is met
  const auto& thresholds = options.method.thresholds;
  const double finest = *std::min_element(thresholds.begin(), thresholds.end());
  const double n = system.blocking().n_rows(), whole = columns_of(a, 0.01 * finest).elements;
  const double z_rows = n * inverse_sqrt_part(system.s, finest);
  double seconds = 0;
  for (const double threshold : thresholds) {
    const auto costs = predicted_costs(a, submatrix_options(options, threshold, std::nullopt));
    const double kernels = std::accumulate(costs.begin(), costs.end(), 0.0);
    const double p_rows = columns_of(a, threshold).rows;
    seconds +=
        least_seconds + (options.temperature > 0 ? passes_at_temperature : 1) * beside_kernels * kernels +
        (options.temperature > 0 ? 0 : level_seconds * whole) + 2 * n * z_rows * p_rows / products_per_second;
  }
  if (!basis) return seconds / a.comm.size();
  const double k_rows = columns_of(system.k, 0.01 * finest).rows;
  const CostModel series{.degree = 30};
  const Blocking& blocks = system.blocking();
  if (sharing > 0 && n * z_rows > n)
    seconds +=
        series.polynomial(z_rows, n / blocks.n_blocks()) * blocks.n_blocks() / static_cast<double>(sharing);
  seconds += 4 * n * z_rows * k_rows / products_per_second;
  return seconds / a.comm.size();
}

/// Predicted for both ways, all spins and thresholds together: seconds of a core's clock, memory of all ranks
/// (B). The dense way is one diagonalisation on the first rank; submatrices are shared by all.
struct Costs {
  double dense_seconds, submatrix_seconds, dense_bytes, submatrix_bytes;
};
/// Predict both ways. `a`: S^-1/2 K S^-1/2 where it has been made, whose making is then no part of the
/// prediction; without it, K's pattern stands for A's. `sharing`: number of K that share S^-1/2; 0: it is
/// known. Collective.
Costs predicted_costs_of(const EvaluateOptions& options, const std::vector<Spin>& spins, const BlockMatrix* a,
                         std::size_t sharing = 1) {
  const System& system = spins.front().system;
  const double n_rows = system.blocking().n_rows(), n_spins = spins.size();
  const double bytes_of_k = system.k.comm.sum(static_cast<double>(system.k.bytes()));
  return {
      n_spins * dense_seconds(n_rows),
      n_spins * submatrix_seconds_of(options, system, a != nullptr ? *a : system.k, a == nullptr, sharing),
      dense_bytes(n_rows), matrices_beside_k * n_spins * bytes_of_k};
}

/// Why one dense diagonalisation is the cheaper way, or "": the choice is not left open, a check, a spectrum
/// or a matrix of the basis S^-1/2 is wanted, memory is too small, or it would save less than 0.1 s.
std::string cheaper_dense(Context& context, const EvaluateOptions& options, const Costs& costs) {
  const auto& method = options.method;
  constexpr double least_saving = 0.1;  // (s): below, nobody waits, and submatrices tell their errors
  if (method.dense != Dense::automatic || method.kernel != SubmatrixKernel::automatic ||
      method.columns_together != 0 || wants_orthogonal(options.output) || options.check.vectors > 0 ||
      options.spectrum.vectors > 0 || options.device != Device::cpu)
    return {};
  if (costs.submatrix_seconds - costs.dense_seconds < least_saving) return {};
  if (costs.dense_bytes > method.memory.value_or(std::numeric_limits<double>::infinity()) ||
      !fits(context, std::sqrt(costs.dense_bytes / dense_bytes(1))))
    return {};
  return fmt::format("it is predicted to take {:.2g} s, submatrices {:.2g} s for {}", costs.dense_seconds,
                     costs.submatrix_seconds,
                     method.thresholds.size() == 1
                         ? "the threshold"
                         : fmt::format("all {} thresholds", method.thresholds.size()));
}

/// Why the whole matrix is diagonalised at this threshold: submatrices would be nearly the whole matrix, or
/// the user wants it; "" if it is not. `a` is S^-1/2 K S^-1/2; while that is not known, sizes are judged by
/// the submatrices of K and of S^-1/2. Collective.
std::string why_dense(Context& context, const EvaluateOptions& options, const System& system,
                      double threshold, const BlockMatrix* a) {
  const auto& method = options.method;
  if (method.dense == Dense::always) return "method.dense is always";
  if (method.dense == Dense::never || method.kernel != SubmatrixKernel::automatic ||
      method.columns_together != 0 || wants_orthogonal(options.output))
    return {};
  constexpr double nearly_all = 0.9;
  const double part = a != nullptr
                          ? mean_part(*a, threshold)
                          : std::max(mean_part(system.k, threshold), inverse_sqrt_part(system.s, threshold));
  const int n_rows = system.blocking().n_rows();
  if (part < nearly_all || !fits(context, n_rows)) return {};
  return fmt::format("at threshold {:.0e} a submatrix has {:.0f} % of all {} orbitals on the mean", threshold,
                     100 * part, n_rows);
}

/// Reasons at each threshold. Submatrices shrink with rising threshold: once one is not dense, none above is.
std::vector<std::string> reasons_for_dense(Context& context, const EvaluateOptions& options,
                                           const System& system, const BlockMatrix* a) {
  const auto& thresholds = options.method.thresholds;
  std::vector<std::size_t> ascending(thresholds.size());
  std::iota(ascending.begin(), ascending.end(), std::size_t{0});
  std::sort(ascending.begin(), ascending.end(),
            [&](std::size_t i, std::size_t j) { return thresholds[i] < thresholds[j]; });
  std::vector<std::string> reasons(thresholds.size());
  for (const std::size_t i : ascending) {
    reasons[i] = why_dense(context, options, system, thresholds[i], a);
    if (reasons[i].empty()) break;
  }
  return reasons;
}

/// One dense diagonalisation, which answers all thresholds, where it is predicted to be cheaper than all of
/// them by submatrices. `first`: before S^-1/2, when both predictions are told.
void take_cheaper(Context& context, const EvaluateOptions& options, const Costs& costs, bool first,
                  Way& way) {
  const std::string why = cheaper_dense(context, options, costs);
  const bool all_dense =
      std::none_of(way.why_dense.begin(), way.why_dense.end(), [](const auto& w) { return w.empty(); });
  if (first || (!why.empty() && !all_dense))
    log::info(
        "Predicted: one dense diagonalisation {:.2g} s and {:.2g} MB, submatrices {:.2g} s and {:.2g} MB{}; "
        "taken: "
        "{}",
        costs.dense_seconds, 1e-6 * costs.dense_bytes, costs.submatrix_seconds, 1e-6 * costs.submatrix_bytes,
        first ? "" : " from here on", all_dense || !why.empty() ? "dense diagonalisation" : "submatrices");
  if (first) {
    context.summarise("predicted_dense_s", costs.dense_seconds);
    context.summarise("predicted_submatrix_s", costs.submatrix_seconds, "of all thresholds");
  }
  for (auto& reason : way.why_dense)
    if (reason.empty()) reason = why;
}

}  // namespace

Way choose_way(Context& context, const EvaluateOptions& options, const std::vector<Spin>& spins,
               DeviceSubmatrices* device, bool first, std::optional<KeptRoot> root) {
  const auto& thresholds = options.method.thresholds;
  const auto phase = context.phase("orthogonalise");
  Way way{reasons_for_dense(context, options, spins.front().system, nullptr), {}, {}};
  take_cheaper(context, options,
               predicted_costs_of(options, spins, nullptr, root ? 0 : options.further_kohn_sham.size() + 1),
               first, way);
  if (std::none_of(way.why_dense.begin(), way.why_dense.end(), [](const auto& why) { return why.empty(); })) {
    if (first && options.method.inverse_sqrt)
      log::info("method.inverse_sqrt: {} is left as it is, dense diagonalisation needs no S^-1/2",
                *options.method.inverse_sqrt);
    return way;
  }
  try {
    for (const auto& spin : spins) {
      if (!way.bases.empty() && same_matrix(spins.front().system.s, spin.system.s)) {
        log::info("S^-1/2 is that of the other spin, whose S is the same");
        root = root_of(way.bases.front());
      }
      way.bases.push_back(make_basis(spin.system, *std::min_element(thresholds.begin(), thresholds.end()),
                                     wants_orthogonal(options.output), interrupt_of(context), device,
                                     root ? &*root : nullptr));
      root.reset();
    }
  } catch (const IllConditioned& error) {
    if (options.method.dense == Dense::never)
      throw InputError(
          fmt::format("{}; or let method.dense be automatic: one dense diagonalisation does without S^-1/2",
                      error.what()));
    if (wants_orthogonal(options.output))
      throw InputError(fmt::format(
          "{}; or leave what needs S^-1/2 out of output.matrices: one dense diagonalisation does without it",
          error.what()));
    const auto why = fmt::format(
        "the condition number of S, about {:.1g} with functions of each block made orthogonal, is too large "
        "for "
        "S^-1/2",
        error.condition);
    return {std::vector<std::string>(thresholds.size(), why), {}, {}};
  }
  const auto reasons = reasons_for_dense(context, options, spins.front().system, &way.bases.front().a);
  for (std::size_t i = 0; i < thresholds.size(); ++i)
    if (way.why_dense[i].empty()) way.why_dense[i] = reasons[i];
  take_cheaper(context, options, predicted_costs_of(options, spins, &way.bases.front().a), false, way);
  return way;
}

bool may_be_dense(Context& context, const EvaluateOptions& options, const System& system) {
  constexpr double most_seconds = 600;
  const double n_rows = system.blocking().n_rows();
  const auto& method = options.method;
  if (method.kernel != SubmatrixKernel::automatic) return false;
  return method.dense == Dense::automatic && dense_seconds(n_rows) <= most_seconds &&
         !wants_orthogonal(options.output) &&
         dense_bytes(n_rows) <= method.memory.value_or(std::numeric_limits<double>::infinity()) &&
         fits(context, n_rows);
}

}  // namespace quintet::submatrix
