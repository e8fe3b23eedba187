#pragma once

#include <cstdint>
#include <vector>

#include "physics/electronic/submatrix/submatrix.hpp"
#include "physics/electronic/submatrix/submatrix_columns.hpp"
#include "physics/kernels/pack.hpp"

namespace quintet::electronic {

/// A submatrix and the block columns that are taken from it: a cluster, some of which other ranks may own.
struct Submatrix {
  struct Column {
    std::int32_t column;
    BlockRows rows;  ///< blocks of the pattern in it
  };
  std::vector<Column> columns;  ///< ascending
  BlockRows rows;               ///< those of all columns
  int n = 0, n_own = 0;         ///< rows and wanted columns, in orbitals
};

/// Predicted seconds of a kernel on one submatrix, from measurements on a core of 2020s' servers.
struct CostModel {
  double fill = 0.5;                              ///< kept part of a submatrix
  int degree = 40;                                ///< of the polynomial
  int lanes = pack_width<double>;                 ///< of the polynomial's registers
  bool may_polynomial = true, may_eigen = false;  ///< kernels to choose from

  [[nodiscard]] double polynomial(double n, double n_own) const;
  [[nodiscard]] static double eigen(double n, double n_own);
  /// Whether the eigen kernel is the cheapest to choose from.
  [[nodiscard]] bool by_eigen(double n, double n_own) const;
  /// Predicted seconds of the cheapest kernel.
  [[nodiscard]] double operator()(double n, double n_own) const;
};

/// Rule for block columns that may share a submatrix.
struct Clustering {
  int most = 0;  ///< block columns; 1: none share, 0: as many as make it cheaper, else as many as this
  CostModel cost;
  bool dense = false;       ///< the kernel makes the submatrix dense
  double memory_bytes = 0;  ///< that a shared submatrix may take
};

/// The submatrices of this rank: clusters of block columns, each with the rows of all its columns.
///
/// Greedy, within each window of 64 block columns (the same windows on any number of ranks): the two clusters
/// whose union saves most predicted time become one, as long as that saves 2 % (5 % of a polynomial's), or,
/// for a fixed number, as long as there is room. The ranks that own columns of a window share its clusters by
/// predicted cost. So a cluster may have columns of other ranks; their patterns are fetched.
/// Collective.
[[nodiscard]] std::vector<Submatrix> plan_submatrices(const BlockMatrix& a, const Clustering& clustering);

/// Cost model before the spectrum is known: that of an insulator.
[[nodiscard]] CostModel first_cost(const SubmatrixOptions& options);

/// Needs of one of several ranks, which need not exist: for plans.
struct SubmatrixNeeds {
  double seconds = 0;     ///< predicted, of its submatrices
  double bytes_sent = 0;  ///< in gather(), of the blocks that all of them need
};
/// Needs of each share of the block columns of A. A has been filtered and is whole on this rank. Not
/// collective.
[[nodiscard]] std::vector<SubmatrixNeeds> submatrix_needs(const BlockMatrix& a,
                                                          const SubmatrixOptions& options,
                                                          const std::vector<int>& rank_begin);

/// Predicted seconds of these submatrices, and of the same columns with a submatrix each.
struct PredictedWork {
  double together = 0, alone = 0;
};
[[nodiscard]] PredictedWork predicted_work(const Blocking& blocks, const std::vector<Submatrix>& work,
                                           const CostModel& cost);

/// Memory that a rank may use for a submatrix: `memory_bytes`, or where that is 0 its part of this node's, or
/// of its control group's limit. It is of limits, not of what is free: a restart finds the same. Collective.
[[nodiscard]] double memory_of_a_rank(const Comm& comm, double memory_bytes);
/// Throw InputError on all ranks if a rank's largest submatrix does not fit into `memory_bytes`: names its
/// block column, rows and bytes. Collective.
void check_memory(const BlockMatrix& a, const std::vector<Submatrix>& work, bool dense, double memory_bytes);

}  // namespace quintet::electronic
