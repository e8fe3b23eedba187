#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bridges/c/neighbours.hpp"
#include "physics/particles/forces/force_field.hpp"
#include "surrogates/potential/evaluation/deep_potential.hpp"

namespace quintet::bridges {

/// Where results of an evaluation go; nullptr: not wanted. Shapes and units: quintet.h.
struct Results {
  double *energy = nullptr, *forces = nullptr, *virial = nullptr, *atomic_energies = nullptr,
         *atomic_virials = nullptr;
};

/// Models of the same types, evaluated for atoms that a host program holds. What quintet.h documents, in C++:
/// throws Error.
class Potential {
 public:
  Potential(const std::vector<std::string>& files, const std::string& precision);

  [[nodiscard]] int n_models() const { return static_cast<int>(models_.size()); }
  [[nodiscard]] int n_types() const { return static_cast<int>(type_names().size()); }
  [[nodiscard]] const std::vector<std::string>& type_names() const { return models_.front()->type_names(); }
  [[nodiscard]] double cutoff() const;
  [[nodiscard]] const std::string& warning() const { return warning_; }

  /// type: [n], position: [n, 3], cell: [3, 3] or nullptr.
  void compute(int model, int n, const int* type, const double* position, const double* cell,
               const Results& results);
  void set_neighbours(int n_owned, int n_ghosts, const int* type, const HostList& list);
  void check_neighbours(const double* position) const;
  void compute_neighbours(int model, const double* position, const Results& results);
  /// by_atom: [n] or nullptr; summary: [7].
  void deviation(int n, const int* type, const double* position, const double* cell, double* by_atom,
                 double* summary);

 private:
  /// Atoms of a configuration with their images, those of type -1 left out.
  struct Whole {
    Atoms atoms;
    NeighbourList list;
    std::vector<int> kept;   ///< [n_local] the caller's index of each
    std::vector<int> owner;  ///< [n_ghost] local index
  };
  potential::DeepPotential& model(int index);
  void check_types(int n, const int* type) const;
  Whole assemble(int n, const int* type, const double* position, const double* cell) const;
  Energetics evaluate(potential::DeepPotential& model, Atoms& atoms, const NeighbourList& list,
                      const ByAtom& by_atom);

  std::vector<std::unique_ptr<potential::DeepPotential>> models_;
  Atoms atoms_;         ///< of the caller's list
  NeighbourList list_;  ///< in our form
  std::vector<int> type_;
  bool has_list_ = false;
  std::string warning_;
};

}  // namespace quintet::bridges
