#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "physics/electronic/functions/chemical_potential.hpp"
#include "physics/electronic/submatrix/submatrix_evaluation.hpp"

namespace quintet::electronic {

namespace {

/// The most that may be put on frontier orbitals for what truncation misses: more could be another orbital's.
constexpr double most_pairs_put = 0.25;

constexpr double ev_per_hartree = 27.211386245988;

}  // namespace

SubmatrixEvaluation::Range SubmatrixEvaluation::whole_range() const {
  return {bounds_.lower - 40 * options_.temperature, bounds_.upper + 40 * options_.temperature};
}

double SubmatrixEvaluation::mu_that_holds(const Moments& moments, const SpectralMeasure& levels, bool damped,
                                          Range range) const {
  const auto& [centre, half_width, values] = moments;
  PairCount of_moments{centre, half_width, values, nullptr, options_.temperature, damped};
  PairCount of_levels{centre, half_width, {}, &levels, options_.temperature, damped};
  const bool has_levels = comm_.any(!levels.x.empty());  // a rank may have none
  for (int i = 0; i < 60; ++i) {
    const double mu = 0.5 * (range.lower + range.upper);
    const double n = of_moments(mu) + (has_levels ? comm_.sum(of_levels(mu)) : 0);
    (n < *options_.n_pairs ? range.lower : range.upper) = mu;
  }
  return 0.5 * (range.lower + range.upper);
}

/// Where mu is to be next, by the moments and levels of the last sweep.
///
/// T > 0: N(mu) rises with mu, so each sweep says on which side of its mu the one that holds the pairs is.
/// Moments of a split series do not resolve Fermi's function between its bands: what they say is taken inside
/// the range that is left, and after some passes this is halved until hold_pairs() reaches across it.
double SubmatrixEvaluation::next_mu(int pass, Range& range) const {
  const bool has_temperature = options_.temperature > 0;
  if (has_temperature) (count_ < *options_.n_pairs ? range.lower : range.upper) = occupation_.mu;
  const double width = range.upper - range.lower, middle = 0.5 * (range.lower + range.upper);
  constexpr double narrow = 0.1;  // of the temperature: hold_pairs() reaches further
  if (has_temperature && width < narrow * options_.temperature)
    throw NumericalError(fmt::format(
        "mu that holds {} pairs was not found: it lies between {:.10g} and {:.10g} Hartree, where errors of "
        "{:.1e} "
        "of the polynomial change their number more than mu does (there were {:.12g}); give a smaller "
        "polynomial_error, or take the eigen kernel",
        *options_.n_pairs, range.lower, range.upper, error_, count_));
  constexpr int by_moments = 4;  // passes
  if (has_temperature && pass >= by_moments) return middle;
  const auto n_moments = comm_.maximum(static_cast<int>(sweep_.moments().size()));
  const double mu =
      mu_that_holds({series_.centre, series_.half_width, summed(comm_, sweep_.moments(), n_moments)},
                    sweep_.levels(), !has_temperature, range);
  const bool is_inside = std::min(mu - range.lower, range.upper - mu) > 1e-6 * width;
  return is_inside || !has_temperature ? mu : middle;
}

bool SubmatrixEvaluation::hold_pairs() {
  std::vector<double> traces;
  for (std::size_t f = 0; f < sweep_.values().size(); ++f) traces.push_back(sweep_.trace(f));
  traces = summed(comm_, traces, traces.size());
  count_ = traces[0];
  if (options_.temperature == 0) {
    if (std::abs(*options_.n_pairs - traces[0]) > most_pairs_put) return false;
    const auto [homo, lumo] = levels_around_mu();
    if (lumo - homo < equal_levels()) return false;  // rounding, not mu, has parted them
  }
  if (const auto s = occupation_.variation(traces, *options_.n_pairs)) {
    variation_ = *s;
    return true;
  }
  // In a gap no shift of mu changes the pairs: it holds them if they are right to the error of the kernel.
  const double resolved = a_.blocking->n_rows() * std::max(n_polynomial_ > 0 ? error_ : 0.0, 1e-12);
  variation_ = 0;
  return options_.temperature > 0 && std::abs(*options_.n_pairs - traces[0]) <= resolved;
}

double SubmatrixEvaluation::count_levels(double mu) const {
  return comm_.sum(PairCount{0, 1, {}, &sweep_.levels(), 0, false}(mu));
}

double SubmatrixEvaluation::level_of(double n) const {
  double lower = bounds_.lower - 1, upper = bounds_.upper + 1;
  while (upper - lower > 1e-12 * (bounds_.upper - bounds_.lower)) {
    const double mu = 0.5 * (lower + upper);
    (count_levels(mu) < n ? lower : upper) = mu;
  }
  return 0.5 * (lower + upper);
}

bool SubmatrixEvaluation::submatrices_are_whole() const {
  return !comm_.any(std::any_of(work_.begin(), work_.end(),
                                [&](const Submatrix& s) { return s.n < a_.blocking->n_rows(); }));
}

bool SubmatrixEvaluation::keeps_eigenpairs() const {
  if (!eigen_only_ || !options_.n_pairs || options_.temperature > 0) return false;
  double bytes = 0;
  for (const Submatrix& s : work_) bytes += 8.0 * s.n * s.n;
  return !comm_.any(bytes > 0.25 * memory_of_a_rank(comm_, options_.memory_bytes));
}

void SubmatrixEvaluation::transform_levels(std::span<const std::function<double(double)>> functions) {
  if (keeps_eigenpairs()) return sweep_.transform(functions);
  std::vector<int> all(work_.size());
  std::iota(all.begin(), all.end(), 0);
  sweep_.clear(functions.size());
  together(comm_, [&] { sweep_.eigen(all, functions, false); });
  give_up_if_asked(comm_, options_.interrupt);
}

bool SubmatrixEvaluation::is_gap(double n) const {
  // in a band N(mu) rises evenly between n - 1/2 and n + 1/2; at a gap it does so at the edges
  const double whole = level_of(n + 0.5) - level_of(n - 0.5), half = level_of(n + 0.25) - level_of(n - 0.25);
  const double around = (level_of(n + 2.5) - level_of(n - 2.5) - whole) / 4;
  return half > 0.7 * whole && whole > 2 * around;
}

void SubmatrixEvaluation::hold_by_levels() {
  const double n = *options_.n_pairs;
  spectrum_.homo = level_of(n - 0.5);
  spectrum_.lumo = level_of(n + 0.5);
  occupation_.mu = 0.5 * (spectrum_.homo + spectrum_.lumo);
  occupation_.gap = spectrum_.lumo - spectrum_.homo;
  // levels of many submatrices lie denser than those of the whole matrix: in a band they touch
  const double least = submatrices_are_whole() ? equal_levels() : 1e-3 * (bounds_.upper - bounds_.lower);
  if (occupation_.gap < least) refuse_pairs();
  transform_levels(occupation_.functions(true));
  if (!hold_pairs()) refuse_pairs();
}

void SubmatrixEvaluation::refuse_pairs() const {
  const double n = *options_.n_pairs;
  std::string here, nearest;
  const auto gap_at = [&](double count) { return level_of(count + 0.5) - level_of(count - 0.5); };
  const auto named = [](double count, double gap) {
    return fmt::format("; the nearest number with a gap is {:.0f} ({:.3g} eV)", count, gap * ev_per_hartree);
  };
  if (eigen_only_) {
    here = fmt::format(": the levels around them are about {:.3g} eV apart", gap_at(n) * ev_per_hartree);
    std::vector<std::pair<double, double>> gaps;  // count and gap, the nearest first
    for (int k = 1; k <= 64; ++k)
      for (const double count : {n + k, n - k})
        if (count > 0 && count < a_.blocking->n_rows()) gaps.emplace_back(count, gap_at(count));
    double widest = 0;
    for (const auto& [count, gap] : gaps) widest = std::max(widest, gap);
    for (const auto& [count, gap] : gaps)
      if (nearest.empty() && gap > 0.5 * widest && is_gap(count)) nearest = named(count, gap);
  } else {
    nearest = "; the eigen kernel names the nearest number with a gap";
  }
  throw InputError(fmt::format(
      "{:.0f} occupied orbitals cut into a band or a degenerate level, or their gap is too small for "
      "submatrices "
      "of this threshold (at most {} of {} rows){}{}. Take that number of electrons (twice that of orbitals, "
      "of "
      "a closed shell), give a temperature, or let each submatrix be the whole matrix: a smaller threshold, "
      "larger blocks, the eigen kernel; or diagonalise it once (method.dense: always)",
      n,
      comm_.maximum(std::accumulate(work_.begin(), work_.end(), 0,
                                    [](int most, const Submatrix& s) { return std::max(most, s.n); })),
      a_.blocking->n_rows(), here, nearest));
}

}  // namespace quintet::electronic
