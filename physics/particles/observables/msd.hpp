#pragma once

#include <span>

#include "physics/particles/observables/observables_correlation.hpp"

namespace quintet {

/// Mean-square displacement MSD(t) = <|x(t) - x(0)|^2> of each type from unwrapped positions, and the
/// diffusion coefficient by Einstein's relation MSD = 6 D t + const: least squares over the lags from
/// fit_start on.
///
/// The standard error of D is that of the means of D over blocks of time origins that do not overlap. Under
/// ensemble npt unwrapped positions scale with the cell; for diffusion use a constant volume.
class MeanSquareDisplacement : public Observer {
 public:
  MeanSquareDisplacement(const MsdOptions& options, double dt);
  [[nodiscard]] std::string name() const override { return "msd"; }
  [[nodiscard]] std::vector<Table> tables() const override;
  [[nodiscard]] std::vector<Scalar> scalars() const override;
  void save(hdf5::Group& group) const override;
  void restore(const Comm& comm, const hdf5::Group& group) override;

 protected:
  void sample(const Exec& exec, const Atoms& atoms, const Domain& domain) override;

 private:
  [[nodiscard]] double diffusion(std::span<const double> curve) const;

  MsdOptions options_;
  double sample_time_;  ///< (ps)
  TimeCorrelation correlation_;
  std::vector<double> diffusions_;  ///< [n completed origins, n_types] (angstrom^2/ps)
};

/// Slope of the least-squares line through (i h, y_i), i = first .. y.size() - 1.
[[nodiscard]] double fitted_slope(std::span<const double> y, std::size_t first, double h);
/// Standard error of the mean of values of which each `block` consecutive ones are dependent; NaN with fewer
/// than 2 blocks.
[[nodiscard]] double block_error(std::span<const double> values, std::size_t block);

}  // namespace quintet
