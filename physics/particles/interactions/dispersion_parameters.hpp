#pragma once

#include <string>
#include <vector>

namespace quintet {

/// Damping of D3 dispersion after Becke and Johnson: E_ij = -s6 C6/(r^6 + R^6) - s8 C8/(r^8 + R^8),
/// R = a1 sqrt(C8/C6) + a2.
struct DispersionDamping {
  double s6 = 1, s8 = 0;  ///< weights of pairs
  double s9 = 0;          ///< weight of triples; 0: none
  double a1 = 0;
  double a2 = 0;  ///< (bohr)
};

/// Functionals whose fitted damping is known.
[[nodiscard]] std::vector<std::string> functional_names();
/// Damping of a functional, with the weight of triples. Throws InputError for a name that is not in the
/// table.
[[nodiscard]] DispersionDamping damping_of(const std::string& functional, double s9);

/// How far pairs and triples reach, and the numbers of neighbours that C6 depends on. Defaults are those of
/// the authors' program.
struct DispersionReach {
  double pairs = 60 * 0.529177210903;         ///< (angstrom)
  double triples = 40 * 0.529177210903;       ///< each side of a triangle (angstrom)
  double coordination = 40 * 0.529177210903;  ///< (angstrom)
  /// Pairs and triples fade to nothing over this distance before their cutoff; 0: they end there (angstrom).
  double switch_width = 0;
};

}  // namespace quintet
