#include "physics/particles/atoms/read_configuration_elements.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "physics/particles/atoms/configuration.hpp"

namespace quintet {

namespace {

/// The elements that have a standard atomic mass; those without a stable isotope are left to be named by the
/// user.
constexpr std::array symbols{
    "H",  "He", "Li", "Be", "B",  "C",  "N",  "O",  "F",  "Ne", "Na", "Mg", "Al", "Si", "P",  "S",  "Cl",
    "Ar", "K",  "Ca", "Sc", "Ti", "V",  "Cr", "Mn", "Fe", "Co", "Ni", "Cu", "Zn", "Ga", "Ge", "As", "Se",
    "Br", "Kr", "Rb", "Sr", "Y",  "Zr", "Nb", "Mo", "Ru", "Rh", "Pd", "Ag", "Cd", "In", "Sn", "Sb", "Te",
    "I",  "Xe", "Cs", "Ba", "La", "Ce", "Pr", "Nd", "Sm", "Eu", "Gd", "Tb", "Dy", "Ho", "Er", "Tm", "Yb",
    "Lu", "Hf", "Ta", "W",  "Re", "Os", "Ir", "Pt", "Au", "Hg", "Tl", "Pb", "Bi", "Th", "U"};

}  // namespace

std::string nearest_element(double mass) {
  return *std::min_element(symbols.begin(), symbols.end(), [&](const char* a, const char* b) {
    return std::abs(atomic_mass(a) - mass) < std::abs(atomic_mass(b) - mass);
  });
}

std::optional<std::string> element_of_mass(double mass) {
  constexpr double tolerance = 0.1;  // (amu)
  const std::string nearest = nearest_element(mass);
  if (std::abs(atomic_mass(nearest) - mass) > tolerance) return std::nullopt;
  return nearest;
}

}  // namespace quintet
