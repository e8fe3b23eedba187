#pragma once

#include <string>
#include <vector>

namespace quintet {

/// What to do without a table, for messages.
inline constexpr const char* dispersion_table_cure =
    "the tables of D3 come with the Python package torch-dftd: 'python3 -m pip download --no-deps torch-dftd "
    "&& "
    "python3 -m zipfile -e torch_dftd-*.whl .', then dispersion.table: torch_dftd/nn/params/dftd3_params.npz";

/// What D3 dispersion knows of the elements of some types, from Grimme's tables.
///
/// An element has references, molecules in which it has a certain number of neighbours; a pair of references
/// has a C6. All in atomic units.
struct DispersionTable {
  int n_types = 0;
  int most_references = 0;              ///< M
  std::vector<int> n_references;        ///< [n_types]
  std::vector<double> covalent_radius;  ///< [n_types], 4/3 of Pyykkoe and Atsumi's (bohr)
  std::vector<double> moment_ratio;     ///< [n_types] q, C8 = 3 q_i q_j C6 (bohr)
  std::vector<double> triple_radius;    ///< [n_types, n_types], where triples are damped (bohr)
  std::vector<double> coordination;     ///< [n_types, M] numbers of neighbours of the references
  std::vector<double> c6;               ///< [n_types, n_types, M, M] (hartree bohr^6)
  std::vector<std::string> of_2010;     ///< elements from francium on: others have newer references
};

/// Read the tables of types, which are named after elements, from an archive of NumPy arrays.
///
/// `c6ab` [Z, Z, M, M, 3] holds C6 and both numbers of neighbours (-1: no reference), `rcov` [Z], `r2r4` [Z]
/// and `r0ab` [Z, Z], in atomic units; row 0 is not used. Such an archive comes with torch-dftd. Radii and
/// moments are taken as published, with 2 digits of angstrom, 4 of angstrom and 4 of <r^4>/<r^2>, where
/// the archive's numbers are these to 10^-6. Throws InputError for a file that is none, is damaged, or lacks
/// an element.
[[nodiscard]] DispersionTable read_dispersion_table(const std::string& path,
                                                    const std::vector<std::string>& type_names);

}  // namespace quintet
