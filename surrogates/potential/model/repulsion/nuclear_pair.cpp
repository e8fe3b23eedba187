#include "surrogates/potential/model/repulsion/nuclear_pair.hpp"

#include <cmath>

#include "io/log/error.hpp"
#include "physics/particles/atoms/configuration.hpp"

namespace quintet::potential {

namespace {
constexpr double coulomb_constant = 14.3996454784;  // e^2/(4 pi eps_0) in eV angstrom, CODATA 2018
}

NuclearPair nuclear_pair(int z_i, int z_j, const RepulsionOptions& options) {
  const double length = 0.46850 / (std::pow(z_i, 0.23) + std::pow(z_j, 0.23));
  return {coulomb_constant * z_i * z_j, 1 / length, options.inner, options.outer};
}

std::vector<NuclearPair> nuclear_pairs(const std::vector<std::string>& type_names, double cutoff,
                                       const RepulsionOptions& options) {
  QUINTET_CHECK(
      options.inner < options.outer && options.outer <= cutoff,
      "the repulsion is switched off between {} and {} angstrom; expected inner < outer <= {} angstrom, the "
      "model's cutoff",
      options.inner, options.outer, cutoff);
  std::vector<NuclearPair> pairs;
  for (const auto& i : type_names)
    for (const auto& j : type_names)
      pairs.push_back(nuclear_pair(atomic_number(i), atomic_number(j), options));
  return pairs;
}

std::string in_words(const RepulsionOptions& options) {
  return fmt::format("with the universal repulsion of nuclei (ZBL), switched off from {} to {} angstrom",
                     options.inner, options.outer);
}

}  // namespace quintet::potential
