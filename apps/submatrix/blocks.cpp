#include "apps/submatrix/blocks.hpp"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <sstream>

#include "io/log/error.hpp"
#include "physics/electronic/collective.hpp"

namespace quintet::submatrix {

using electronic::Blocking;

namespace {

/// Orbitals of each atom of a cell and, where named, the molecule it belongs to (from 0).
struct Atoms {
  std::vector<int> orbitals, molecule;
  [[nodiscard]] int n_rows() const { return std::accumulate(orbitals.begin(), orbitals.end(), 0); }
};

Atoms read_atoms(const std::string& path) {
  std::ifstream file(path);
  Atoms atoms;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    int orbitals = 0, molecule = 0;
    if (words >> std::ws; words.eof()) continue;
    const bool named = words >> orbitals && !(words >> std::ws).eof();
    if (named) words >> molecule;
    QUINTET_CHECK(!words.fail() && (words >> std::ws).eof() && orbitals > 0 && (!named || molecule > 0),
                  "{}:{}: '{}' is not the number of orbitals of an atom and perhaps of its molecule", path,
                  number, line);
    QUINTET_CHECK(named == (atoms.molecule.size() == atoms.orbitals.size()),
                  "{}:{}: name the molecule of all atoms or of none", path, number);
    atoms.orbitals.push_back(orbitals);
    if (named) atoms.molecule.push_back(molecule - 1);
  }
  QUINTET_CHECK(!atoms.orbitals.empty(), "{}: names no atom", path);
  return atoms;
}

/// The cell's atoms as often as it takes to fill n_rows.
Atoms repeated(const Atoms& cell, int n_rows, const std::string& what) {
  const int rows = cell.n_rows();
  QUINTET_CHECK(rows > 0 && n_rows % rows == 0,
                "{} take {} rows, which does not divide the {} rows of the matrix", what, rows, n_rows);
  int n_molecules = 0;
  for (const int molecule : cell.molecule) n_molecules = std::max(n_molecules, molecule + 1);
  Atoms all;
  for (int copy = 0; copy < n_rows / rows; ++copy) {
    all.orbitals.insert(all.orbitals.end(), cell.orbitals.begin(), cell.orbitals.end());
    for (const int molecule : cell.molecule) all.molecule.push_back(molecule + copy * n_molecules);
  }
  return all;
}

Blocking blocking_of(const Atoms& atoms, int n_rows, const std::string& path) {
  if (atoms.molecule.empty()) return electronic::atom_blocking(n_rows, atoms.orbitals);
  std::vector<std::vector<int>> molecules;
  for (std::size_t i = 0; i < atoms.molecule.size(); ++i) {
    const auto molecule = static_cast<std::size_t>(atoms.molecule[i]);
    QUINTET_CHECK(molecule < atoms.molecule.size(), "{}: molecule {} of {} atoms", path, molecule + 1,
                  atoms.molecule.size());
    molecules.resize(std::max(molecules.size(), molecule + 1));
    molecules[molecule].push_back(static_cast<int>(i));
  }
  for (std::size_t m = 0; m < molecules.size(); ++m)
    QUINTET_CHECK(!molecules[m].empty(), "{}: molecule {} has no atom", path, m + 1);
  return electronic::molecule_blocking(n_rows, atoms.orbitals, molecules);
}

}  // namespace

Blocks make_blocks(const Comm& comm, const BlocksOptions& options, int n_rows,
                   const std::optional<Blocking>& of_file, std::span<const electronic::Triplet> elements) {
  Blocks result;
  electronic::together(comm, [&] {
    if (options.size) {
      result.blocking = electronic::uniform_blocking(n_rows, static_cast<int>(*options.size));
    } else if (!options.sizes.empty()) {
      const Atoms cell{{options.sizes.begin(), options.sizes.end()}, {}};
      result.blocking =
          electronic::blocking_of_sizes(n_rows, repeated(cell, n_rows, "blocks.sizes").orbitals);
    } else if (options.file) {
      const Atoms atoms = repeated(read_atoms(*options.file), n_rows, *options.file);
      result = {blocking_of(atoms, n_rows, *options.file), static_cast<std::int64_t>(atoms.orbitals.size())};
    } else if (of_file) {
      result.blocking = *of_file;
    } else {
      QUINTET_CHECK(options.rows_per_block,
                    "the matrix file names no blocks: give blocks.size, sizes, file or rows_per_block");
      result.blocking = electronic::uniform_blocking(n_rows, 1);
    }
  });
  if (result.n_atoms == 0) result.n_atoms = result.blocking.n_blocks() * options.atoms_per_block;
  if (options.rows_per_block)
    result.blocking = electronic::graph_blocking(comm, result.blocking, elements,
                                                 static_cast<int>(*options.rows_per_block));
  return result;
}

}  // namespace quintet::submatrix
