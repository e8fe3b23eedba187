#pragma once

#include <string>
#include <vector>

namespace quintet::potential {

/// Where the repulsion of nuclei acts: whole below `inner`, not at all beyond `outer`.
struct RepulsionOptions {
  double inner = 0.6;  ///< (angstrom)
  double outer = 1.0;  ///< (angstrom)
};

/// Parameters of the repulsion of two types of atoms (repulsion_kernels.hpp has the formulas).
struct NuclearPair {
  double charge = 0;            ///< Z_i Z_j e^2/(4 pi eps_0) (eV angstrom)
  double inverse_length = 0;    ///< 1/a (1/angstrom)
  double inner = 0, outer = 0;  ///< (angstrom)
};

/// The pair of two atomic numbers: a = 0.46850/(Z_i^0.23 + Z_j^0.23) angstrom.
[[nodiscard]] NuclearPair nuclear_pair(int z_i, int z_j, const RepulsionOptions& options);
/// Parameters of all pairs of types, `[n_types * n_types]`. Throws InputError if a type's name is not an
/// element symbol, or `outer` is beyond the model's cutoff (angstrom).
[[nodiscard]] std::vector<NuclearPair> nuclear_pairs(const std::vector<std::string>& type_names,
                                                     double cutoff, const RepulsionOptions& options);
/// For the log.
[[nodiscard]] std::string in_words(const RepulsionOptions& options);

}  // namespace quintet::potential
