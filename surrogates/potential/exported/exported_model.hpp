#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace quintet::potential {

/// What a model file says of itself.
struct ExportedFacts {
  std::string origin;  ///< who made it, in words: "DeePMD-kit (PyTorch)"
  double cutoff = 0;   ///< of a row of neighbours (angstrom)
  std::vector<std::string> type_names;
  std::vector<int> atomic_numbers;  ///< of the types, where the file has no names
  /// Most neighbours of each type, or of all together where it has one entry; empty: any number.
  std::vector<int> sel;
  bool counts_together = false;  ///< whether sel, summed up, is of all types together
  /// Whether atoms learn of their neighbours' neighbours, so that ghosts need features of their owners.
  bool passes_messages = false;
  int layers = 1;  ///< how many rows a message has to go at most
  /// Whether ghosts may have rows of their own: where owners are elsewhere, ghosts up to `layers` cutoffs
  /// away stand for them.
  bool takes_rows_of_ghosts = false;
  bool gives_atom_virials = true;
};

/// Atoms and their neighbours as a model takes them: first the centres, whose energies count, then others
/// that have a row, then those who stand in rows.
struct ExportedSystem {
  int n_centres = 0, n_rows = 0;
  std::vector<double> position;         ///< [n_atoms, 3] (angstrom)
  std::vector<std::int64_t> type;       ///< [n_atoms]
  int width = 0;                        ///< places of a row
  std::vector<std::int64_t> neighbour;  ///< [n_rows, width] atoms, nearest first; -1: nobody
  /// [n_atoms] the centre that an atom is, or is an image of; empty where ghosts are atoms of
  /// their own.
  std::vector<std::int64_t> owner;
  [[nodiscard]] int n_atoms() const { return type.size(); }
};

/// Energies of the centres and their derivatives.
struct ExportedResult {
  double energy = 0;                ///< of all centres (eV)
  std::array<double, 9> virial{};   ///< as Energetics::virial (eV)
  std::vector<double> force;        ///< [n_atoms, 3] (eV/angstrom)
  std::vector<double> atom_energy;  ///< [n_centres] (eV)
  std::vector<double> atom_virial;  ///< [n_atoms, 9] as ByAtom::virial (eV), where asked for
  void resize(std::size_t n_centres, std::size_t n_atoms, bool with_virials) {
    atom_energy.resize(n_centres);
    force.resize(3 * n_atoms);
    atom_virial.resize(with_virials ? 9 * n_atoms : 0);
  }
};

/// A model in LibTorch's hands.
class ExportedModel {
 public:
  virtual ~ExportedModel() = default;
  [[nodiscard]] virtual const ExportedFacts& facts() const = 0;
  /// Errors: InputError for what the file cannot do, named; NumericalError where LibTorch's algebra fails,
  /// ResourceError where memory ends.
  virtual void evaluate(const ExportedSystem& system, bool with_virials, ExportedResult& result) = 0;
  /// Evaluate it without virials by atom and return what LibTorch holds at most meanwhile (bytes). Errors: as
  /// above.
  [[nodiscard]] virtual double bytes_of(const ExportedSystem& system) = 0;
};

}  // namespace quintet::potential
