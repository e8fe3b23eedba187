#include "physics/electronic/submatrix/submatrix_evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <ctime>
#include <limits>
#include <numbers>
#include <numeric>
#include <string>
#include <tuple>

#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "physics/electronic/functions/chemical_potential.hpp"
#include "physics/electronic/submatrix/truncation_error.hpp"

// One evaluation of P = f(A), f the occupation, by submatrices (Lass et al., SC20, arXiv 2004.10811).
//
//   constructor
//     1. plan_submatrices()      which block columns share a submatrix; gather(): the blocks that they need
//   run()
//     2. first_mu()              the given mu, or the one that holds the pairs by moments of a coarse A
//     3. look_at_spectrum()      HOMO, LUMO and gap as sampled block columns see them, by Lanczos' recurrence
//     4. sweep()                 f as a Chebyshev series on bands(), on either side of the gap: fit()
//          cluster_anew()        step 1 again, where its costs have turned out to be others; at T > 0 in the
//                                first pass only: N(mu) of other submatrices is another function, of which
//                                step 5 need not find the zero
//          sweep_by_kernels()    each submatrix by its cheapest kernel
//          sweep_by_polynomial() submatrices whose P P is not P have eigenvalues in the gap: once more with a
//                                sharper series, the last few by the eigen kernel
//     5. hold_pairs()            fixed n_pairs: the s for which the terms sum_k P_k s^k hold them exactly.
//                                None: next_mu() from what the sweeps have seen, and back to 3; at T = 0
//                                after two passes hold_by_levels(), or refuse_pairs()
//     6. share_columns_of()      sum_k P_k s^k, each block column to its owner; report()
//   estimate_error()             later, with the symmetric P: see truncation_error.hpp
namespace quintet::electronic {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr int max_degree = 2000;

std::vector<BlockRows> rows_of(const std::vector<Submatrix>& work) {
  std::vector<BlockRows> rows;
  for (const Submatrix& s : work) rows.push_back(s.rows);
  return rows;
}

/// The sampled block columns: up to 8, by their numbers in the whole matrix, at multiples of the golden
/// ratio: a supercell's even strides would meet the same molecule of each cell.
std::vector<int> sampled_columns(int n_blocks) {
  constexpr int n_samples = 8;
  std::vector<int> columns;
  for (int s = 1; s <= n_samples; ++s)
    columns.push_back(n_blocks * std::fmod(s * (std::numbers::phi - 1), 1.0));
  std::sort(columns.begin(), columns.end());
  columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  return columns;
}

}  // namespace

std::vector<double> summed(const Comm& comm, std::vector<double> values, std::size_t n) {
  values.resize(n, 0.0);
  comm.reduce(std::span<double>(values), Comm::Reduction::sum);
  return values;
}

SubmatrixEvaluation::SubmatrixEvaluation(const BlockMatrix& a, const SubmatrixOptions& options)
    : a_(a),
      options_(options),
      comm_(a.comm),
      cost_(first_cost(options)),
      work_(plan_submatrices(a, clustering(cost_))),
      sweep_(a, gathered_, work_),
      error_(options.polynomial_error > 0 ? options.polynomial_error
                                          : std::clamp(0.003 * options.threshold, 1e-12, 3e-7)),
      eigen_only_(options.kernel == SubmatrixKernel::eigen) {
  sweep_.ask(options.interrupt);
  sweep_.compute_on(options.device);
  check_memory(a, work_, row_of(submatrix_kernels, options.kernel).has_dense, options.memory_bytes);
  gathered_ = gather(a, rows_of(work_));
  bounds_ = spectrum_bounds(a);
}

Clustering SubmatrixEvaluation::clustering(const CostModel& cost) const {
  return {options_.columns_together, cost, cost.may_eigen, memory_of_a_rank(comm_, options_.memory_bytes)};
}

void SubmatrixEvaluation::cluster_anew(const CostModel& cost) {
  cost_ = cost;
  if (plan_stays_ || options_.columns_together != 0 || options_.kernel != SubmatrixKernel::automatic) return;
  const bool some_by_eigen = std::any_of(work_.begin(), work_.end(),
                                         [&](const Submatrix& s) { return cost.by_eigen(s.n, s.n_own); });
  if (!comm_.any(some_by_eigen)) return;
  auto work = plan_submatrices(a_, clustering(cost));
  const double now = comm_.sum(predicted_work(*a_.blocking, work_, cost).together);
  const double then = comm_.sum(predicted_work(*a_.blocking, work, cost).together);
  if (!(then < 0.98 * now)) return;
  work_ = std::move(work);
  gathered_ = gather(a_, rows_of(work_));
}

void SubmatrixEvaluation::look_at_spectrum() {
  spectrum_ = {-infinity, infinity, {}};
  double elements = 0, squares = 0;
  // About as many steps as the polynomial will have degrees: then Lanczos sees the edges of the gap.
  for (int n_steps = 32; n_steps <= 256; n_steps *= 2) {
    LocalSpectrum found{-infinity, infinity, {}};
    LocalMatrix<double> local;
    elements = squares = 0;
    for (const int column : sampled_columns(a_.blocking->n_blocks()))
      for (const Submatrix& s : work_) {
        if (std::none_of(s.columns.begin(), s.columns.end(),
                         [=](const auto& c) { return c.column == column; }))
          continue;
        local.assign(gathered_, s.rows, 0, 1);
        std::vector<int> own;
        electronic::own_rows(local.begin(), s.rows, column, own);
        if (options_.interrupt && options_.interrupt()) continue;
        sample_spectrum(local, own, occupation_.mu, n_steps, found);
        elements += local.n_elements();
        squares += static_cast<double>(s.n) * s.n;
      }
    give_up_if_asked(comm_, options_.interrupt);
    spectrum_ = {comm_.maximum(found.homo), comm_.minimum(found.lumo), std::move(found.density)};
    if (n_steps * (spectrum_.lumo - spectrum_.homo) > 8 * (bounds_.upper - bounds_.lower)) break;
  }
  spectrum_.homo = std::max(spectrum_.homo, bounds_.lower);
  spectrum_.lumo = std::min(spectrum_.lumo, bounds_.upper);
  spectrum_.density.x = comm_.all_gather(std::span<const double>(spectrum_.density.x));
  spectrum_.density.weight = comm_.all_gather(std::span<const double>(spectrum_.density.weight));
  cost_.fill = comm_.sum(elements) / comm_.sum(squares);
  occupation_.gap = spectrum_.lumo - spectrum_.homo;
}

double SubmatrixEvaluation::distance_to_bands() const {
  return std::min(occupation_.mu - spectrum_.homo, spectrum_.lumo - occupation_.mu);
}

std::vector<Band> SubmatrixEvaluation::bands() const {
  const double margin = 0.02 * occupation_.gap;
  const bool split =
      options_.temperature > 0 ? options_.temperature < 0.1 * distance_to_bands() : occupation_.gap > 0;
  if (!split) return {{bounds_.lower, bounds_.upper}};
  return {{bounds_.lower, spectrum_.homo + margin}, {spectrum_.lumo - margin, bounds_.upper}};
}

double SubmatrixEvaluation::first_mu() const {
  if (options_.mu) return *options_.mu;
  constexpr std::size_t n_moments = 80;
  BlockMatrix coarse = a_;
  filter(coarse, 100 * options_.threshold);
  const auto work = plan_submatrices(coarse, clustering(CostModel{}));
  const GatheredMatrix gathered = gather(coarse, rows_of(work));
  Sweep sweep(coarse, gathered, work);
  sweep.ask(options_.interrupt);
  sweep.compute_on(options_.device);
  sweep.clear(1);
  std::vector<int> all(work.size());
  std::iota(all.begin(), all.end(), 0);
  ChebyshevSeries series{0.5 * (bounds_.lower + bounds_.upper),
                         0.55 * (bounds_.upper - bounds_.lower),
                         {std::vector<double>(n_moments, 0.0)},
                         0};
  static_cast<void>(sweep.polynomial(all, series, infinity, false));
  give_up_if_asked(comm_, options_.interrupt);
  return mu_that_holds({series.centre, series.half_width, summed(comm_, sweep.moments(), n_moments)}, {},
                       true, whole_range());
}

double SubmatrixEvaluation::idempotency_tolerance(double error, double rounding) const {
  // Only a step function is idempotent: in one smooth band nothing can be asked. Beyond two bands f (1 - f)
  // of Fermi's function is at most `smeared`.
  if (bands().size() < 2) return infinity;
  const double smeared =
      options_.temperature > 0 ? std::exp(-distance_to_bands() / options_.temperature) : 0.0;
  return 2 * error + smeared + rounding;
}

void SubmatrixEvaluation::sweep_by_polynomial(std::vector<int> which) {
  const auto functions = occupation_.functions(options_.n_pairs.has_value());
  auto bands_now = bands();
  const double tolerance = idempotency_tolerance(error_, options_.single_precision ? 1e-5 : 1e-11);
  n_polynomial_ = comm_.sum(static_cast<int>(which.size()));
  const ChebyshevSeries* series = &series_;
  ChebyshevSeries sharper;
  for (int round = 0;; ++round) {
    which = sweep_.polynomial(which, *series, tolerance, options_.single_precision);
    const int n_left = comm_.sum(static_cast<int>(which.size()));
    if (n_left == 0) return;
    n_in_gap_ = std::max(n_in_gap_, n_left);
    if (round == 3 || n_left * 50 <= n_polynomial_) break;
    // They are too many for the eigen kernel: let the bands reach further into the gap.
    bands_now[0].upper += 0.3 * (occupation_.mu - bands_now[0].upper);
    bands_now[1].lower -= 0.3 * (bands_now[1].lower - occupation_.mu);
    try {
      sharper = fit(bands_now, functions, error_, max_degree, spectrum_.density);
    } catch (const NumericalError&) {
      break;
    }
    series = &sharper;
  }
  const int n_left = comm_.sum(static_cast<int>(which.size()));
  n_polynomial_ -= n_left;
  n_eigen_ += n_left;
  together(comm_, [&] { sweep_.eigen(which, functions, false); });
}

void SubmatrixEvaluation::sweep() {
  n_polynomial_ = n_eigen_ = n_in_gap_ = 0;
  if (options_.kernel != SubmatrixKernel::newton_schulz) {
    if (!eigen_only_) try {
        const auto bands_now = bands();
        series_ = fit(bands_now, occupation_.functions(options_.n_pairs.has_value()), error_, max_degree,
                      spectrum_.density);
      } catch (const NumericalError&) {
        if (options_.kernel == SubmatrixKernel::polynomial) throw;
        eigen_only_ = true;
      }
    const bool may_eigen = eigen_only_ || (options_.kernel == SubmatrixKernel::automatic &&
                                           !options_.single_precision && options_.device == nullptr);
    cluster_anew({cost_.fill, eigen_only_ ? 0 : series_.degree(), cost_.lanes, !eigen_only_, may_eigen});
  }
  const std::clock_t start = std::clock();
  sweep_by_kernels();
  give_up_if_asked(comm_, options_.interrupt);
  kernel_seconds_ = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

void SubmatrixEvaluation::sweep_by_kernels() {
  const auto functions = occupation_.functions(options_.n_pairs.has_value());
  sweep_.clear(functions.size());
  std::vector<int> by_polynomial, by_eigen;
  for (std::size_t i = 0; i < work_.size(); ++i)
    (cost_.by_eigen(work_[i].n, work_[i].n_own) ? by_eigen : by_polynomial).push_back(i);
  if (options_.kernel == SubmatrixKernel::newton_schulz)
    return together(
        comm_, [&] { sweep_.newton_schulz(by_eigen, occupation_.mu, error_, options_.newton_schulz_order); });
  n_eigen_ = comm_.sum(static_cast<int>(by_eigen.size()));
  const bool keep = keeps_eigenpairs();
  together(comm_, [&] { sweep_.eigen(by_eigen, functions, keep); });
  if (!eigen_only_) sweep_by_polynomial(std::move(by_polynomial));
}

double SubmatrixEvaluation::entropy() const {
  if (options_.temperature == 0) return 0;
  Occupation f = occupation_;
  f.mu += variation_;
  double sum = 0;
  for (std::size_t i = 0; i < sweep_.levels().x.size(); ++i)
    sum += sweep_.levels().weight[i] * f.entropy(sweep_.levels().x[i]);
  if (!series_.coefficients.empty() && !sweep_.moments().empty()) {
    const std::function<double(double)> functions[] = {f, [f](double x) { return f.entropy(x); }};
    const ChebyshevSeries series = fit(bands(), functions, error_, max_degree, spectrum_.density);
    const auto& c = series.coefficients.back();
    for (std::size_t k = 0; k < std::min(c.size(), sweep_.moments().size()); ++k)
      sum += c[k] * sweep_.moments()[k];
  }
  return comm_.sum(sum);
}

std::pair<double, double> SubmatrixEvaluation::levels_around_mu() const {
  double homo = spectrum_.homo, lumo = spectrum_.lumo;
  if (eigen_only_ && options_.n_pairs && options_.temperature == 0) return {homo, lumo};  // by count
  if (eigen_only_) {  // count: levels with little weight in the own columns are states of a submatrix's rim
    const double n = count_levels(occupation_.mu);
    return {level_of(n - 0.5), level_of(n + 0.5)};
  }
  for (std::size_t i = 0; i < sweep_.levels().x.size(); ++i) {
    const double level = sweep_.levels().x[i];
    if (sweep_.levels().weight[i] < 1e-6) continue;  // a state of the submatrix's rim
    if (level < occupation_.mu)
      homo = std::max(homo, level);
    else
      lumo = std::min(lumo, level);
  }
  return {comm_.maximum(homo), comm_.minimum(lumo)};
}

// Numbers of the whole system: sums and maxima over ranks, by the same measure of work that shared the
// submatrices out.
void SubmatrixEvaluation::report(SubmatrixResult& result) const {
  double rows = 0;
  int largest = 0;
  for (const Submatrix& s : work_) {
    rows += s.n;
    largest = std::max(largest, s.n);
  }
  result.n_mean = std::lround(comm_.sum(rows) / std::max(1, comm_.sum(static_cast<int>(work_.size()))));
  result.n_max = comm_.maximum(largest);
  result.n_submatrices = comm_.sum(static_cast<int>(work_.size()));
  const auto predicted = predicted_work(*a_.blocking, work_, cost_);
  result.kernel_seconds = comm_.maximum(kernel_seconds_);
  if (options_.kernel != SubmatrixKernel::newton_schulz)
    result.predicted_seconds = comm_.maximum(predicted.together);
  result.clustering_gain = comm_.sum(predicted.alone) / comm_.sum(predicted.together);
  std::tie(result.homo, result.lumo) = levels_around_mu();
  result.mu = occupation_.mu + (options_.temperature > 0 ? variation_ : 0);
  result.entropy = entropy();
  result.flops = comm_.sum(sweep_.flops());
  result.degree = series_.coefficients.empty() || eigen_only_ ? 0 : series_.degree();
  result.n_polynomial = n_polynomial_;
  result.n_eigen = n_eigen_;
  result.n_in_gap = n_in_gap_;
  result.kernel = options_.kernel == SubmatrixKernel::newton_schulz ? SubmatrixKernel::newton_schulz
                  : n_polynomial_ >= n_eigen_                       ? SubmatrixKernel::polynomial
                                                                    : SubmatrixKernel::eigen;
}

void SubmatrixEvaluation::run(SubmatrixResult& result) {
  occupation_ = {first_mu(), options_.temperature, 0};
  QUINTET_CHECK(!options_.mu || (*options_.mu > bounds_.lower && *options_.mu < bounds_.upper),
                "mu = {} Hartree lies outside the spectrum of A, about {:.4g} to {:.4g}: all orbitals would "
                "be empty or "
                "full; is it in Hartree?",
                *options_.mu, bounds_.lower, bounds_.upper);
  Range range = whole_range();
  for (int pass = 0;; ++pass) {
    look_at_spectrum();
    sweep();
    if (!options_.n_pairs) break;
    if (eigen_only_ && options_.temperature == 0) {
      hold_by_levels();
      break;
    }
    if (hold_pairs()) break;
    plan_stays_ = options_.temperature > 0;
    if (options_.temperature == 0 && pass == 1) {
      if (options_.kernel == SubmatrixKernel::polynomial) refuse_pairs();
      eigen_only_ = true;
      continue;
    }
    occupation_.mu = next_mu(pass, range);
  }
  const auto& values = sweep_.values();
  AlignedVector<double> sum = values.front();
  double power = 1;
  for (std::size_t f = 1; f < values.size(); ++f) {
    power *= variation_;
    for (std::size_t i = 0; i < values[f].size(); ++i) sum[i] += power * values[f][i];
  }
  sweep_.share_columns_of(sum, result.p.value);
  result.n_pairs_put = n_pairs_put();
  report(result);
}

double SubmatrixEvaluation::n_pairs_put() const {
  const bool put = options_.temperature == 0 && sweep_.values().size() > 1;
  return put ? variation_ * comm_.sum(sweep_.trace(1)) : 0;
}

TruncationError SubmatrixEvaluation::estimate_error(const BlockMatrix& a, const BlockMatrix& p) const {
  Occupation f = occupation_;
  if (options_.temperature > 0) f.mu += variation_;
  GrownColumns how;
  how.threshold = options_.threshold;
  how.mu = f.mu;
  how.width = 0.5 * (bounds_.upper - bounds_.lower);
  how.device = options_.device;
  how.holds_pairs = options_.n_pairs.has_value();
  how.functions = f.functions(how.holds_pairs && options_.temperature > 0);
  how.functions.resize(std::min<std::size_t>(how.functions.size(), 2));
  how.cost = {1, 0, pack_width<double>, false, true};
  // Of all ranks together, so that as many columns are drawn on any number of them.
  how.seconds = 0.25 * comm_.sum(predicted_work(*a_.blocking, work_, cost_).together) + 0.05;
  ChebyshevSeries series;
  if (!eigen_only_) try {
      constexpr double sharper = 0.1;  // the polynomial's own error is to be seen
      const double error = sharper * error_;
      series = fit(bands(), how.functions, error, max_degree, spectrum_.density);
      how.series = &series;
      how.cost.degree = series.degree();
      how.cost.may_polynomial = true;
      how.tolerance = idempotency_tolerance(error, 1e-11);
    } catch (const NumericalError&) {  // a degree beyond reason
    }
  TruncationError error = truncation_error(a, p, work_, how);
  if (how.holds_pairs && options_.temperature == 0)
    error.n_pairs = std::max(error.n_pairs, std::abs(n_pairs_put()));
  // A line in dN/dmu, which is almost 0 in a gap, does not reach beyond it: at its edge N(mu) rises.
  const auto [homo, lumo] = levels_around_mu();
  if (homo < occupation_.mu && occupation_.mu < lumo) error.mu = std::min(error.mu, lumo - homo);
  return error;
}

}  // namespace quintet::electronic
