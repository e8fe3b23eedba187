#include "surrogates/potential/evaluation/precision_check.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/potential/model/descriptor.hpp"

namespace quintet::potential {

namespace {
DeepPotentialOptions in_double(DeepPotentialOptions options) {
  options.precision = Precision::fp64;
  options.frame_parameters.clear();  // they are constants of the model that is checked
  options.atom_parameters.clear();
  return options;
}
}  // namespace

bool PrecisionError::accurate() const { return force_rmse <= std::max(bound * force_rms, least_bound); }

double PrecisionError::relative() const { return force_rms < least_bound ? 0 : force_rmse / force_rms; }

std::string PrecisionError::in_words() const {
  return fmt::format("force rmse {:.2g} eV/angstrom, {}", force_rmse,
                     force_rms < least_bound ? "where forces vanish"
                                             : fmt::format("{:.2g} % of their rms", 100 * relative()));
}

PrecisionCheck::PrecisionCheck(DeepPotential& rounded, const DeepPotentialOptions& options)
    : rounded_(rounded), exact_(rounded.model(), in_double(options)) {
  QUINTET_ASSERT(rounded.rounds(), "a field whose products are not rounded needs no check");
}

void PrecisionCheck::take_reference(const Exec& exec, const Comm& comm, const Atoms& atoms,
                                    const NeighbourList& list) {
  auto sums = rounded_.sum_descriptors(exec, atoms, list);
  comm.reduce(std::span<double>(sums), Comm::Reduction::sum);
  const std::size_t n_types = rounded_.type_names().size(), row = sums.size() / n_types;
  std::vector<double> mean;
  for (std::size_t t = 0; t < n_types; ++t) {
    const double n = std::max(1.0, sums[t * row]);  // of a type without atoms: 0
    for (std::size_t i = 1; i < row; ++i) mean.push_back(sums[t * row + i] / n);
  }
  set_reference(std::move(mean));
}

void PrecisionCheck::set_reference(std::vector<double> descriptors) {
  const Model& model = rounded_.model();
  const std::size_t size = Descriptor(model.n_channels(), model.axis_neuron, 1).size();
  QUINTET_CHECK(
      descriptors.size() == model.fitting.size() * size &&
          std::all_of(descriptors.begin(), descriptors.end(), [](double d) { return std::isfinite(d); }),
      "the reference of rounded products has {} numbers, this model's has {} for each of {} types, "
      "all finite: it is another model's, or broken",
      descriptors.size(), size, model.fitting.size());
  rounded_.round_about(descriptors);
  reference_ = std::move(descriptors);
}

PrecisionError PrecisionCheck::measure(const Exec& exec, Atoms& atoms, const Domain& domain) {
  const Comm& comm = domain.comm();
  const std::size_t n = 3 * std::int64_t{atoms.n_local};
  const auto forces = [&] { return std::span<double>(atoms.force.data(), n); };
  const std::vector<double> before(forces().begin(), forces().end());
  const auto evaluate = [&](DeepPotential& field) {
    const double energy = comm.sum(field.compute(exec, atoms, domain.list()).energy);
    domain.return_forces(exec, atoms);
    exec.fence();
    return energy;
  };
  const double energy = evaluate(rounded_);
  const std::vector<double> rounded(forces().begin(), forces().end());
  const double exact_energy = evaluate(exact_);

  double sums[2] = {}, largest = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double exact = forces()[i], difference = rounded[i] - exact;
    sums[0] += difference * difference;
    sums[1] += exact * exact;
    largest = std::max(largest, std::abs(difference));
  }
  std::copy(before.begin(), before.end(), forces().begin());
  comm.reduce(std::span<double>(sums), Comm::Reduction::sum);
  const double count = 3 * static_cast<double>(atoms.n_global);
  return {std::sqrt(sums[0] / count), std::sqrt(sums[1] / count), comm.maximum(largest),
          (energy - exact_energy) / atoms.n_global};
}

}  // namespace quintet::potential
