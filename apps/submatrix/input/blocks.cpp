#include "apps/submatrix/input/blocks.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <sstream>

#include "io/files/input_file.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/together.hpp"
#include "physics/particles/formats/extended_xyz.hpp"

namespace quintet::submatrix {

using electronic::Blocking;

namespace {

/// Orbitals of each atom of a cell and, where named, the molecule it belongs to (from 0).
struct Atoms {
  std::vector<int> orbitals, molecule;
  [[nodiscard]] std::int64_t n_rows() const {
    return std::accumulate(orbitals.begin(), orbitals.end(), std::int64_t{0});
  }
};

Atoms read_atoms(const std::string& path) {
  auto file = open_input_file(path);
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
  for (const int molecule : atoms.molecule)
    QUINTET_CHECK(molecule < std::ssize(atoms.molecule), "{}: molecule {} of {}", path, molecule + 1,
                  counted(atoms.molecule.size(), "atom"));
  return atoms;
}

/// Basis functions of each element.
std::map<std::string, int> functions_of(const BlocksOptions& options) {
  std::map<std::string, int> functions;
  for (const auto& [element, formula] : options.functions) {
    const std::string& text = formula.text;
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    QUINTET_CHECK(error == std::errc() && end == text.data() + text.size() && number > 0 && number <= 100000,
                  "blocks.functions.{}: '{}' is no number of basis functions; expected 1 to 100000", element,
                  text);
    functions[element] = number;
  }
  return functions;
}

/// Distance of two atoms or their images (angstrom; in a skewed cell at most a little too large).
double distance(const Configuration& atoms, std::size_t i, std::size_t j) {
  const Vec3 a = atoms.box.to_fractional(atoms.positions[i]), b = atoms.box.to_fractional(atoms.positions[j]);
  Vec3 s;
  for (std::size_t x = 0; x < 3; ++x) {
    s[x] = b[x] - a[x];
    if (atoms.box.periodic()[x]) s[x] -= std::round(s[x]);
  }
  const Vec3 d = atoms.box.to_cartesian(s), origin = atoms.box.to_cartesian({0, 0, 0});
  return std::hypot(d[0] - origin[0], d[1] - origin[1], d[2] - origin[2]);
}

/// Smallest distance of an atom of [first, last) to another one of them, of the atom where it is largest
/// (angstrom).
double loneliest(const Configuration& atoms, std::size_t first, std::size_t last) {
  double largest = 0;
  for (std::size_t i = first; i < last && last - first > 1; ++i) {
    double nearest = std::numeric_limits<double>::infinity();
    for (std::size_t j = first; j < last; ++j)
      if (j != i) nearest = std::min(nearest, distance(atoms, i, j));
    largest = std::max(largest, nearest);
  }
  return largest;
}

/// Blocks of `atoms_per_block` atoms that follow each other; `orbitals` are those of a block.
Atoms read_xyz_blocks(const BlocksOptions& options) {
  const std::string& path = *options.xyz;
  const auto functions = functions_of(options);
  const Configuration atoms = read_extended_xyz(path).at(0);
  const auto n_atoms = atoms.n_atoms(),
             together = static_cast<std::size_t>(options.atoms_per_block.value_or(1));
  QUINTET_CHECK(n_atoms % together == 0, "{}: {} atoms are no whole number of blocks of {} (atoms_per_block)",
                path, n_atoms, together);
  Atoms blocks;
  double farthest = 0;
  for (std::size_t first = 0; first < n_atoms; first += together) {
    std::int64_t orbitals = 0;
    for (std::size_t i = first; i < first + together; ++i) {
      const std::string& element = atoms.type_names.at(atoms.types[i]);
      const auto found = functions.find(element);
      QUINTET_CHECK(found != functions.end(), "{}: atom {} is {}, of which blocks.functions says nothing",
                    path, i + 1, element);
      orbitals += found->second;
    }
    QUINTET_CHECK(orbitals <= std::numeric_limits<int>::max(),
                  "{}: {} basis functions in a block of {} atoms are more than a matrix has rows", path,
                  orbitals, together);
    blocks.orbitals.push_back(orbitals);
    farthest = std::max(farthest, loneliest(atoms, first, first + together));
  }
  constexpr double bond = 4;  // angstrom, longer than those of metals
  if (farthest > bond)
    log::warning(
        "{}: {} atoms that follow each other are no molecule: one is {:.3g} angstrom from the others of its "
        "block. Results hold, but submatrices are larger than need be; atoms_per_block: 1 with "
        "rows_per_block "
        "finds blocks",
        path, together, farthest);
  return blocks;
}

/// The cell's atoms as often as it takes to fill n_rows.
Atoms repeated(const Atoms& cell, int n_rows, const std::string& what) {
  const std::int64_t rows = cell.n_rows();
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
    const std::size_t molecule = atoms.molecule[i];
    QUINTET_CHECK(molecule < atoms.molecule.size(), "{}: molecule {} of {}", path, molecule + 1,
                  counted(atoms.molecule.size(), "atom"));
    molecules.resize(std::max(molecules.size(), molecule + 1));
    molecules[molecule].push_back(i);
  }
  for (std::size_t m = 0; m < molecules.size(); ++m)
    QUINTET_CHECK(!molecules[m].empty(), "{}: molecule {} has no atom", path, m + 1);
  return electronic::molecule_blocking(n_rows, atoms.orbitals, molecules);
}

/// Where nothing is said of blocks.
constexpr int default_rows_per_block = 40;
constexpr int most_units_of_graph = 100'000;  ///< of orbitals: more would not fit on one rank

/// Atoms in all blocks of so many each, which cannot be more than the orbitals. Throws InputError.
std::int64_t atoms_in(const Blocking& blocking, std::int64_t atoms_per_block) {
  const std::int64_t n_blocks = blocking.n_blocks(), n_rows = blocking.n_rows();
  QUINTET_CHECK(
      n_blocks * atoms_per_block <= n_rows,
      "blocks.atoms_per_block: {} blocks of {} atoms each are more atoms than the {} orbitals; give "
      "the number of this size of blocks, or none",
      n_blocks, atoms_per_block, n_rows);
  return n_blocks * atoms_per_block;
}

/// Blocks of at most the default number of rows that follow each other.
Blocking blocks_in_order(int n_rows) {
  const int n_blocks = (n_rows + default_rows_per_block - 1) / default_rows_per_block;
  std::vector<int> sizes;
  for (std::int64_t b = 0; b < n_blocks; ++b)
    sizes.push_back((b + 1) * n_rows / n_blocks - b * n_rows / n_blocks);
  return electronic::blocking_of_sizes(n_rows, sizes);
}

}  // namespace

Blocks make_blocks(const Comm& comm, const BlocksOptions& options, int n_rows,
                   const std::optional<Blocking>& of_file, std::span<const electronic::Triplet> elements) {
  Blocks result;
  together(comm, [&] {
    if (options.size) {
      result.blocking = electronic::uniform_blocking(n_rows, *options.size);
    } else if (!options.sizes.empty()) {
      const Atoms cell{{options.sizes.begin(), options.sizes.end()}, {}};
      result.blocking =
          electronic::blocking_of_sizes(n_rows, repeated(cell, n_rows, "blocks.sizes").orbitals);
    } else if (options.file) {
      const Atoms atoms = repeated(read_atoms(*options.file), n_rows, *options.file);
      result = {blocking_of(atoms, n_rows, *options.file), std::ssize(atoms.orbitals)};
    } else if (options.xyz) {
      const Atoms blocks =
          repeated(read_xyz_blocks(options), n_rows, fmt::format("{} with blocks.functions", *options.xyz));
      result.blocking = electronic::blocking_of_sizes(n_rows, blocks.orbitals);
    } else if (of_file) {
      result.blocking = *of_file;
    } else {
      result.blocking = electronic::uniform_blocking(n_rows, 1);
    }
  });
  const bool nothing_said = options.says_nothing() && !of_file;
  // Blocks of `size`, of the file and single orbitals are whole atoms only where the user says so.
  if (result.n_atoms == 0 && (options.xyz || options.atoms_per_block))
    result.n_atoms = atoms_in(result.blocking, options.atoms_per_block.value_or(1));
  if (nothing_said && n_rows > most_units_of_graph) {
    result.blocking = blocks_in_order(n_rows);
  } else if (options.rows_per_block || nothing_said) {
    result.blocking = electronic::graph_blocking(comm, result.blocking, elements,
                                                 options.rows_per_block.value_or(default_rows_per_block));
  }
  if (nothing_said)
    log::info(
        "Neither the file nor `blocks` says how orbitals belong together: {} blocks of at most {} orbitals, "
        "{}",
        result.blocking.n_blocks(), default_rows_per_block,
        n_rows > most_units_of_graph ? "in the matrix's order" : "parts of the graph of K");
  return result;
}

}  // namespace quintet::submatrix
