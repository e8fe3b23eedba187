#pragma once

#include <vector>

#include "physics/particles/atoms/atoms.hpp"
#include "surrogates/potential/model/batch.hpp"
#include "surrogates/potential/model/model.hpp"

namespace quintet::potential {

/// Rule for the neighbours that stay when there are more than sel holds.
enum class SelRule {
  per_type,   ///< the nearest sel[t] of each type (TensorFlow, C++, LAMMPS); dpa1: the nearest of all types
  two_stage,  ///< the nearest sum(sel) of all types, then the nearest sel[t] of each (dpmodel, PyTorch)
};

/// The environment matrix: R = w(r) (1/(r+p), x/(r+p)^2, y/(r+p)^2, z/(r+p)^2), normalised.
///
/// w = 1 - 10 u^3 + 15 u^4 - 6 u^5, u = clip((r - rcut_smooth)/(rcut - rcut_smooth), 0, 1).
class Environment {
 public:
  Environment(const DescriptorModel& model, SelRule rule);

  /// Work space of one worker.
  struct Scratch {
    std::vector<double> distance2;  ///< [rows] squared distances of the atom at hand
    std::vector<int> order;
    std::vector<char> keep;
    std::vector<int> count;  ///< [n_types]
    AlignedVector<double> s;
    int overflowing = 0;  ///< atoms that had more neighbours than sel holds
    int most = 0;         ///< neighbours of one of these
  };
  [[nodiscard]] int n_slots() const { return n_slots_; }
  /// Most rows that one atom may need while its neighbours are being gathered.
  [[nodiscard]] static int rows_needed(const NeighbourList& list, int n_local);

  /// Whether append() finds the same neighbours as that of another one, in the same order.
  [[nodiscard]] bool finds_neighbours_of(const Environment& other) const;
  /// Whether it makes the same rows of the same neighbours, to the bit.
  [[nodiscard]] bool normalises_like(const Environment& other) const;
  /// The rows that append() would have made, of a batch that another environment has filled which finds the
  /// same neighbours. The batch must keep distances.
  template <class Real>
  void normalise_anew(Batch<Real>& batch, Scratch& scratch) const;

  /// Append local atom i with its neighbours within rcut to the batch.
  template <class Real>
  void append(int i, const double* position, const int* type, const std::size_t* offset, const int* list,
              Batch<Real>& batch, Scratch& scratch) const;

 private:
  template <class Real>
  int gather(int i, const double* position, const std::size_t* offset, const int* list, int begin,
             Batch<Real>& batch, Scratch& scratch) const;
  template <class Real>
  int select(const int* type, int begin, int n, Batch<Real>& batch, Scratch& scratch) const;
  template <class Real>
  void fill(int centre, int begin, int n, Batch<Real>& batch, Scratch& scratch) const;

  int n_types_, n_slots_;
  bool counts_together_;  ///< sel is of all types together
  bool gated_;
  std::vector<int> sel_;
  SelRule rule_;
  double rcut_, rcut_smooth_, protection_;
  std::vector<std::array<double, 4>> mean_, inverse_deviation_;
  std::vector<bool> dropped_,
      emptied_;  ///< [centre, neighbour] rows that become 0; neighbours that become empty slots
  bool excludes_ = false;
};

}  // namespace quintet::potential
