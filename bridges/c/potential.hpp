#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bridges/c/evaluator.hpp"
#include "bridges/c/neighbours.hpp"
#include "physics/particles/forces/force_field.hpp"

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
  /// @param device as Evaluator takes it
  Potential(const std::vector<std::string>& files, const std::string& precision, const std::string& device);

  [[nodiscard]] int n_models() const { return models_.size(); }
  [[nodiscard]] int n_types() const { return type_names().size(); }
  [[nodiscard]] const std::vector<std::string>& type_names() const { return models_.front()->type_names(); }
  [[nodiscard]] double cutoff() const;
  /// Atoms of the caller's list, without and with ghosts; 0 before the first.
  [[nodiscard]] int n_owned() const { return atoms_.n_local; }
  [[nodiscard]] int n_listed() const { return atoms_.n_all(); }
  /// What evaluates, in a line.
  [[nodiscard]] const std::string& device() const { return evaluator_->description(); }
  [[nodiscard]] const std::string& warning() const { return warning_; }

  /// Numbers of each atom that the models read (aparam); 0: none.
  [[nodiscard]] int n_parameters() const { return n_parameters_; }
  /// values: [n_atoms, n]. Forgotten when a list is set.
  void set_atom_parameters(int n_atoms, int n, const double* values);
  /// values: [n_types, n], or nullptr: none any more.
  void set_type_parameters(int n_types, int n, const double* values);

  /// type: [n], position: [n, 3], cell: [3, 3] or nullptr.
  void compute(int model, int n, const int* type, const double* position, const double* cell,
               const Results& results);
  void set_neighbours(int n_owned, int n_ghosts, const int* type, const HostList& list);
  void check_neighbours(const double* position);
  void compute_neighbours(int model, const double* position, const Results& results);
  /// by_atom: [n] or nullptr; summary: [7].
  void deviation(int n, const int* type, const double* position, const double* cell, double* by_atom,
                 double* summary);

 private:
  /// Atoms and ghosts of types, those of type -1 left out.
  struct Typed {
    Atoms atoms;
    NeighbourList list;  ///< without rows where a device finds neighbours
    std::vector<int>
        caller;  ///< [n_local + n_ghost] the caller's index of each, of an image that of its atom
  };
  /// The model of an index, for this number of the caller's atoms. Throws InputError where it lacks their
  /// parameters.
  ForceField& model(int index, int n_atoms);
  [[nodiscard]] std::unique_ptr<ForceField> made(potential::Model model) const;
  /// Throws InputError unless they are as many as the models read, and finite. @param row "atom" or "type"
  void check_parameters(int n_rows, int n, const double* values, const char* row) const;
  void check_types(int n, const int* type) const;
  void list_neighbours(Typed& typed) const;
  [[nodiscard]] Typed with_images_of(int n, const int* type, const double* position,
                                     const double* cell) const;
  [[nodiscard]] Typed of_callers_list(const double* position) const;
  Energetics evaluate(ForceField& model, Atoms& atoms, const NeighbourList& list, const ByAtom& by_atom);
  /// Sums over images, and zeros for atoms of type -1. n_owned: rows of energies; n_all: of all else.
  void evaluate_typed(ForceField& model, Typed& typed, int n_owned, int n_all, const Results& results);

  std::optional<Evaluator> evaluator_;
  potential::DeepPotentialOptions options_;
  std::vector<std::unique_ptr<ForceField>> models_;
  std::vector<std::optional<potential::Model>> readers_;  ///< of those that read parameters of atoms
  int n_parameters_ = 0;
  bool has_type_parameters_ = false;
  std::vector<double> parameters_;  ///< [n_given_, n_parameters_] of the caller's atoms
  int n_given_ = -1;                ///< -1: none were given
  Atoms atoms_;                     ///< of the caller's list
  NeighbourList list_;              ///< in our form
  std::vector<int> type_;
  bool has_list_ = false, is_list_checked_ = false;
  std::string warning_;
};

}  // namespace quintet::bridges
