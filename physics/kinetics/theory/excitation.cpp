#include "physics/kinetics/theory/excitation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "io/log/error.hpp"
#include "physics/kinetics/theory/plasma_dispersion.hpp"

namespace quintet::kinetics {
namespace {

using Complex = std::complex<double>;

/// int M/(omega - k v) dv, continued from above the real axis.
Complex free_streaming(Complex omega, double k, const DriftingMaxwellian& one) {
  const Complex shifted = omega - k * one.drift;
  const double width = std::numbers::sqrt2 * std::abs(k) * one.thermal_speed;
  return width > 0 ? -plasma_dispersion_function(shifted / width) / width : 1.0 / shifted;
}

}  // namespace

std::vector<Complex> electrostatic_candidates(double k, std::span<const DriftingMaxwellian> species) {
  constexpr int most_roots = 4;
  auto roots = electrostatic_modes(k, species, most_roots);
  const auto add = [&](Complex root) {
    const auto is_same = [&](Complex other) { return std::abs(root - other) < 1e-6 * std::abs(root); };
    if (std::none_of(roots.begin(), roots.end(), is_same)) roots.push_back(root);
  };
  double square = 0;
  for (const auto& one : species) square += one.plasma_frequency * one.plasma_frequency;
  for (const auto& one : species) {
    if (!(one.thermal_speed > 0)) continue;
    try {
      const Complex own = landau_mode(k, std::sqrt(square), one.thermal_speed);
      for (const Complex guess : {own, -std::conj(own)})
        add(electrostatic_root(k, species, guess + k * one.drift));
    } catch (const NumericalError&) {  // so heavily damped that no root is found: no signal shows it
    }
  }
  const auto all = roots;
  std::erase_if(roots, [&](Complex root) {
    return root.real() < 0 && std::any_of(all.begin(), all.end(), [&](Complex other) {
             return std::abs(other + std::conj(root)) < 1e-6 * std::abs(root);
           });
  });
  std::stable_sort(roots.begin(), roots.end(), [](Complex a, Complex b) { return a.imag() > b.imag(); });
  return roots;
}

double excitation(Complex omega, double k, std::span<const DriftingMaxwellian> species,
                  std::span<const DensityWave> density) {
  if (density.size() != species.size()) throw InternalError("density waves of other species");
  Complex sum = 0;
  for (std::size_t s = 0; s < species.size(); ++s) {
    const double frequency = species[s].plasma_frequency;
    sum += frequency * frequency * density[s].mass_to_charge * density[s].relative *
           free_streaming(omega, k, species[s]);
  }
  const double h = 1e-4 * std::abs(omega);  // central difference: an error of 1e-8
  const Complex slope =
      (electrostatic_dielectric(omega + h, k, species) - electrostatic_dielectric(omega - h, k, species)) /
      (2 * h);
  return std::abs(sum / slope);
}

}  // namespace quintet::kinetics
