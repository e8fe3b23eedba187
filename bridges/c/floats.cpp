#include "bridges/c/floats.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "io/log/error.hpp"

namespace quintet::bridges {

ToFloats::ToFloats(std::size_t n_owned, std::size_t n_all, const Arrays& to)
    : energy_to_(to.energy),
      forces_{"force", to.forces, std::vector<double>(3 * n_all)},
      virial_{"virial", to.virial, std::vector<double>(9)},
      atomic_energies_{"atomic energy", to.atomic_energies, std::vector<double>(n_owned)},
      atomic_virials_{"atomic virial", to.atomic_virials,
                      std::vector<double>(to.atomic_virials == nullptr ? 0 : 9 * n_all)} {}

Results ToFloats::results() {
  return {&energy_, forces_.data(), virial_.data(), atomic_energies_.data(), atomic_virials_.data()};
}

void ToFloats::hand_over() const {
  const std::initializer_list<const Part*> parts{&forces_, &virial_, &atomic_energies_, &atomic_virials_};
  for (const Part* part : parts)
    for (const double value : part->values)
      if (part->to != nullptr && std::abs(value) > std::numeric_limits<float>::max())
        throw NumericalError(fmt::format(
            "a number of the {} is {:.4g}, beyond float: take the function of double", part->name, value));
  for (const Part* part : parts)
    if (part->to != nullptr) std::copy(part->values.begin(), part->values.end(), part->to);
  if (energy_to_ != nullptr) *energy_to_ = energy_;
}

}  // namespace quintet::bridges
