#include "apps/dpmd/evaluate/elastic_strains.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "physics/particles/atoms/units.hpp"

namespace quintet::dpmd {

namespace {

/// What acts at strains -2h, -h, h, 2h of one kind.
using FourLoads = std::array<Loads, 4>;

std::array<double, 6> slope(const FourLoads& at, double h, bool is_fine) {
  std::array<std::array<double, 6>, 4> s;
  for (std::size_t k = 0; k < 4; ++k) s[k] = voigt_stress(at[k].stress);
  std::array<double, 6> result;
  for (std::size_t i = 0; i < 6; ++i)
    result[i] =
        is_fine ? (s[2][i] - s[1][i]) / (2 * h) : (8 * (s[2][i] - s[1][i]) - (s[3][i] - s[0][i])) / (12 * h);
  return result;
}

double curvature(const FourLoads& at, const Loads& middle, double h) {
  const auto energy = [&](std::size_t k) { return at[k].energy - middle.energy; };
  return (16 * (energy(1) + energy(2)) - (energy(0) + energy(3))) / (12 * h * h) / middle.volume;
}

/// Fill the symmetric part of `found`, and say how far it was from that.
void symmetrise(const Matrix6& found, ElasticConstants& result) {
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) {
      result.stiffness[i][j] = (found[i][j] + found[j][i]) / 2;
      result.asymmetry = std::max(result.asymmetry, std::abs(found[i][j] - found[j][i]));
    }
}

}  // namespace

double largest_stress(const Loads& loads) {
  double largest = 0;
  for (const double s : voigt_stress(loads.stress)) largest = std::max(largest, std::abs(s));
  return largest;
}

std::optional<ElasticConstants> elastic_constants(StrainedCrystal& crystal, double strain,
                                                  const std::function<bool()>& next) {
  if (!next()) return std::nullopt;
  const Loads middle = crystal.at_rest(scaling(1));
  ElasticConstants result{
      .stress = voigt_stress(middle.stress), .energy = middle.energy, .volume = middle.volume};
  Matrix6 found{};
  for (int j = 0; j < 6; ++j) {
    FourLoads at;
    for (std::size_t k = 0; k < 4; ++k) {
      if (!next()) return std::nullopt;
      constexpr double sizes[] = {-2, -1, 1, 2};
      at[k] = crystal.at_rest(voigt_deformation(j, sizes[k] * strain));
    }
    const auto column = slope(at, strain, false), fine = slope(at, strain, true);
    for (int i = 0; i < 6; ++i) {
      found[i][j] = column[i];
      result.step_error = std::max(result.step_error, std::abs(column[i] - fine[i]));
    }
    result.by_energy[j] = curvature(at, middle, strain);
  }
  symmetrise(found, result);
  return result;
}

void relax_cell(StrainedCrystal& crystal, const Matrix6& stiffness, double tolerance) {
  constexpr int most = 30;
  const Spectrum6 spectrum = spectrum_of(stiffness);
  if (!has_inverse(spectrum))
    throw NumericalError(
        "the cell does not resist a strain, so that it cannot come to rest: there is vacuum in it, or atoms "
        "are beyond the cutoff of one another; give a crystal that fills its cell, or set relax_cell: false");
  if (!(spectrum.values.front() > 0))
    throw NumericalError(
        fmt::format("the crystal is not stable as it is given: an eigenvalue of its elastic constants is "
                    "{:.4g} GPa, so that "
                    "its cell cannot come to rest; give another structure, or set relax_cell: false",
                    spectrum.values.front() * units::ev_per_a3_to_gpa));
  Loads loads = crystal.become(scaling(1));
  for (int round = 0; round < most && largest_stress(loads) > tolerance; ++round) {
    const auto stress = voigt_stress(loads.stress);
    std::array<double, 6> strain{};
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j < 6; ++j) strain[i] -= spectrum.inverse[i][j] * stress[j];
    for (double& e : strain) e = std::clamp(e, -0.05, 0.05);
    loads = crystal.become(voigt_deformation(strain));
  }
  if (const double left = largest_stress(loads); left > tolerance)
    throw NumericalError(fmt::format(
        "after {} of the cell a stress of {:.4g} GPa is left, more than stress_tolerance = "
        "{:.4g} GPa; give a cell nearer to equilibrium, or raise it",
        counted(most, "strain"), left * units::ev_per_a3_to_gpa, tolerance * units::ev_per_a3_to_gpa));
}

}  // namespace quintet::dpmd
