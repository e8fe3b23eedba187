#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bridges/density/csc.hpp"
#include "io/parallel/comm.hpp"
#include "physics/electronic/density/orthogonalise.hpp"
#include "physics/electronic/matrix/block_matrix.hpp"

namespace quintet::bridges {

/// What quintet_density.h offers, in C++. Throws InputError and others; collective over its communicator.
class Density {
 public:
  explicit Density(Comm comm);

  void set(const std::string& name, double value);
  void set_blocks(std::vector<int> rows);
  void set_pattern(int n_rows, int nnz, int n_columns, const int* row_ind, const int* col_ptr);
  /// D on the pattern to dm; returns Tr(D K) (hartree). s: nullptr for S = 1.
  double compute(const double* k, const double* s, double* dm);
  /// W of the last result on the pattern.
  void energy_weighted(double* edm) const;

  [[nodiscard]] double number(const std::string& name) const;
  [[nodiscard]] const std::string& warning() const { return warning_; }

 private:
  struct Settings {
    double electrons = -1, temperature = 0, threshold = 1e-5, spin_degeneracy = 2, rows_per_block = 40,
           dense = 0, estimate_error = 1;
  };
  /// Blocks and shares of ranks, of one pattern.
  struct Plan {
    std::shared_ptr<const electronic::Blocking> blocking;
    std::vector<int> shares;
  };
  /// S^-1/2 of the last S.
  struct Root {
    electronic::BlockMatrix s;
    std::optional<electronic::BlockMatrix> local;  ///< basis of the blocks' orthogonal functions
    electronic::InverseSqrt made;
    double threshold;
  };
  /// D of one spin on the blocks of K and S, and how to make W on them.
  struct Found {
    electronic::BlockMatrix d;
    std::function<electronic::BlockMatrix()> energy_weighted;
  };

  [[nodiscard]] double n_pairs() const { return settings_.electrons / settings_.spin_degeneracy; }
  void check_settings() const;
  [[nodiscard]] electronic::BlockMatrix assembled(const Plan& plan,
                                                  const std::vector<electronic::Triplet>& elements,
                                                  const char* name) const;
  void make_plan(const std::vector<electronic::Triplet>& k_elements);
  /// Whether S^-1/2 was there already.
  bool make_root(const electronic::BlockMatrix& s);
  [[nodiscard]] Found by_submatrices(const electronic::BlockMatrix& k, const electronic::BlockMatrix& s);
  [[nodiscard]] Found densely(const electronic::BlockMatrix& k, const electronic::BlockMatrix& s);
  [[nodiscard]] double compute_anew(const double* k, const double* s, double* dm);
  [[nodiscard]] Found by_any(const electronic::BlockMatrix& k, const electronic::BlockMatrix& s);

  Comm comm_;
  Settings settings_;
  std::vector<int> block_rows_;
  std::optional<CscPattern> pattern_;
  std::optional<Plan> plan_;
  std::optional<Root> root_;
  std::function<electronic::BlockMatrix()> energy_weighted_;
  std::map<std::string, double> numbers_;
  std::string warning_;
};

}  // namespace quintet::bridges
