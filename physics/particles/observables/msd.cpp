#include "physics/particles/observables/msd.hpp"

#include <cmath>
#include <limits>

#include "io/hdf5/file.hpp"

namespace quintet {

namespace {

/// Positions x + n_a a + n_b b + n_c c of the local atoms.
std::vector<AtomSample> unwrapped_positions(const Exec& exec, const Atoms& atoms) {
  std::vector<AtomSample> samples(atoms.n_local);
  const auto x = atoms.position;
  const auto image = atoms.image;
  const auto type = atoms.type;
  const auto id = atoms.id;
  const Mat3 rows = atoms.box.rows();
  AtomSample* const out = samples.data();
  Kokkos::parallel_for("particles::unwrap", Kokkos::RangePolicy<Exec>(exec, 0, atoms.n_local), [=](int i) {
    out[i].id = id(i);
    out[i].type = type(i);
    for (int k = 0; k < 3; ++k)
      out[i].value[k] =
          x(i, k) + image(i, 0) * rows[k] + image(i, 1) * rows[3 + k] + image(i, 2) * rows[6 + k];
  });
  exec.fence();
  return samples;
}

}  // namespace

double fitted_slope(std::span<const double> y, std::size_t first, double h) {
  const double n = y.size() - first;
  const double mean_i = 0.5 * (first + y.size() - 1);
  double mean_y = 0, numerator = 0, denominator = 0;
  for (std::size_t i = first; i < y.size(); ++i) mean_y += y[i] / n;
  for (std::size_t i = first; i < y.size(); ++i) {
    const double d = i - mean_i;
    numerator += d * (y[i] - mean_y);
    denominator += d * d;
  }
  return numerator / (denominator * h);
}

double block_error(std::span<const double> values, std::size_t block) {
  const std::size_t n_blocks = values.size() / block;
  if (n_blocks < 2) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> means(n_blocks, 0.0);
  double mean = 0, square = 0;
  for (std::size_t i = 0; i < n_blocks * block; ++i) means[i / block] += values[i] / block;
  for (const double m : means) mean += m / n_blocks;
  for (const double m : means) square += (m - mean) * (m - mean);
  return std::sqrt(square / (n_blocks * (n_blocks - 1)));
}

MeanSquareDisplacement::MeanSquareDisplacement(const MsdOptions& options, double dt)
    : Observer(options.correlation.interval),
      options_(options),
      sample_time_(dt * options.correlation.interval),
      correlation_(options.correlation, TimeCorrelation::Product::squared_difference) {}

double MeanSquareDisplacement::diffusion(std::span<const double> curve) const {
  const std::size_t first = std::ceil(options_.fit_start * (curve.size() - 1));
  return fitted_slope(curve, std::min(first, curve.size() - 2), sample_time_) / 6;
}

void MeanSquareDisplacement::sample(const Exec& exec, const Atoms& atoms, const Domain& domain) {
  const auto curves = correlation_.add(exec, domain.comm(), unwrapped_positions(exec, atoms), atoms);
  if (!curves) return;
  for (int t = 0; t < correlation_.n_types(); ++t)
    diffusions_.push_back(
        diffusion(std::span(*curves).subspan(t * correlation_.n_lags(), correlation_.n_lags())));
}

std::vector<Table> MeanSquareDisplacement::tables() const {
  if (correlation_.n_types() == 0) return {};
  std::vector<double> time(correlation_.n_seen());
  for (std::size_t lag = 0; lag < time.size(); ++lag) time[lag] = lag * sample_time_;
  Table table{"msd", "Mean-square displacement <|x(t) - x(0)|^2>", {{"time", "ps", "Time difference", time}}};
  for (int t = 0; t < correlation_.n_types(); ++t)
    table.columns.push_back({correlation_.type_names()[t], "angstrom^2",
                             "Mean-square displacement of " + correlation_.type_names()[t],
                             correlation_.average(t)});
  return {table};
}

std::vector<Scalar> MeanSquareDisplacement::scalars() const {
  std::vector<Scalar> result;
  const std::size_t n_types = correlation_.n_types();
  // rounded up, without a sum that a large interval would overflow
  const auto overlap = 1 + (options_.correlation.length - 1) / options_.correlation.origin_interval;
  for (std::size_t t = 0; t < n_types; ++t) {
    const auto curve = correlation_.average(t);
    if (curve.size() < 2) continue;
    std::vector<double> seen;
    for (std::size_t i = t; i < diffusions_.size(); i += n_types) seen.push_back(diffusions_[i]);
    result.push_back({"diffusion_" + correlation_.type_names()[t], "angstrom^2/ps",
                      "Diffusion coefficient of " + correlation_.type_names()[t], diffusion(curve),
                      block_error(seen, overlap)});
  }
  return result;
}

void MeanSquareDisplacement::save(hdf5::Group& group) const {
  correlation_.save(group);
  group.set_attribute("completed_origins", std::ssize(diffusions_));
  if (!diffusions_.empty())
    group.write("diffusions", std::span<const double>(diffusions_), {diffusions_.size()},
                {"angstrom^2/ps", {"origin_type"}, "Diffusion coefficients of the completed origins"});
}

void MeanSquareDisplacement::restore(const Comm& comm, const hdf5::Group& group) {
  correlation_.restore(comm, group);
  diffusions_.clear();
  if (group.number_attribute("completed_origins").at(0) > 0) diffusions_ = group.read<double>("diffusions");
}

}  // namespace quintet
