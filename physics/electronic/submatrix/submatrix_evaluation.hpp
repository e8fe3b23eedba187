#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "physics/electronic/functions/occupation.hpp"
#include "physics/electronic/submatrix/submatrix.hpp"
#include "physics/electronic/submatrix/submatrix_sweep.hpp"

namespace quintet::electronic {

/// One evaluation of the occupation of a filtered matrix: finds where mu lies and how wide the gap is,
/// chooses a kernel for each submatrix, sweeps over them and holds the number of pairs. All members are
/// collective.
class SubmatrixEvaluation {
 public:
  /// `a` is filtered; it must outlive the evaluation.
  SubmatrixEvaluation(const BlockMatrix& a, const SubmatrixOptions& options);
  /// Fill the result's values (not yet symmetrised) and estimates; `result.p` may be `a` itself.
  void run(SubmatrixResult& result);
  /// After run(): errors of P = result.p; `a` is not filtered.
  [[nodiscard]] TruncationError estimate_error(const BlockMatrix& a, const BlockMatrix& p) const;

 private:
  void look_at_spectrum();
  void sweep();
  void sweep_by_kernels();
  void sweep_by_polynomial(std::vector<int> which);
  [[nodiscard]] Clustering clustering(const CostModel& cost) const;
  void cluster_anew(const CostModel& cost);
  [[nodiscard]] std::vector<Band> bands() const;
  [[nodiscard]] double distance_to_bands() const;  ///< of mu (hartree)
  [[nodiscard]] double first_mu() const;
  /// Energies between which mu is looked for (hartree).
  struct Range {
    double lower, upper;
  };
  [[nodiscard]] Range whole_range() const;
  /// Moments of Chebyshev polynomials in (x - centre)/half_width.
  struct Moments {
    double centre, half_width;
    std::vector<double> values;
  };
  [[nodiscard]] double mu_that_holds(const Moments& moments, const SpectralMeasure& levels, bool damped,
                                     Range range) const;
  [[nodiscard]] double next_mu(int pass, Range& range) const;
  [[nodiscard]] double idempotency_tolerance(double error, double rounding) const;
  bool hold_pairs();
  void hold_by_levels();
  void transform_levels(std::span<const std::function<double(double)>> functions);
  [[noreturn]] void refuse_pairs() const;
  [[nodiscard]] bool keeps_eigenpairs() const;
  [[nodiscard]] bool submatrices_are_whole() const;
  [[nodiscard]] bool is_gap(double n) const;
  /// Levels no further apart are one, as for fill() (hartree).
  [[nodiscard]] double equal_levels() const { return 1e-9 * (bounds_.upper - bounds_.lower); }
  [[nodiscard]] double count_levels(double mu) const;
  [[nodiscard]] double level_of(double n) const;
  [[nodiscard]] std::pair<double, double> levels_around_mu() const;
  void report(SubmatrixResult& result) const;
  [[nodiscard]] double entropy() const;
  [[nodiscard]] double n_pairs_put() const;

  const BlockMatrix& a_;
  const SubmatrixOptions& options_;
  const Comm& comm_;
  CostModel cost_;  ///< of the submatrices of `work_`
  std::vector<Submatrix> work_;
  GatheredMatrix gathered_;
  SpectrumBounds bounds_;
  Sweep sweep_;
  Occupation occupation_;
  LocalSpectrum spectrum_;
  double error_;            ///< of the polynomial
  ChebyshevSeries series_;  ///< of the first round
  bool eigen_only_;
  bool plan_stays_ = false;  ///< `work_` is not clustered anew
  double variation_ = 0;     ///< s of the occupation's series
  double count_ = 0;         ///< fixed pairs: N(mu) of the last sweep, before mu is varied
  double kernel_seconds_ = 0;
  int n_polynomial_ = 0, n_eigen_ = 0, n_in_gap_ = 0;
};

/// The sum over all ranks of n values, those that are missing being 0. Collective.
[[nodiscard]] std::vector<double> summed(const Comm& comm, std::vector<double> values, std::size_t n);

}  // namespace quintet::electronic
