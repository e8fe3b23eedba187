#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "io/parallel/comm.hpp"
#include "physics/kernels/aligned.hpp"
#include "physics/sparse/layout.hpp"

namespace quintet {

/// All columns of a rank's rows, one rank's part after the other: H W = sum_j H_ij W_j for rows of H [n, f]
/// that layouts in tiles (2D, 3D) cut, without memory for whole rows.
///
/// A part comes straight from the rank that has it, and the next is under way while one is visited. Two of
/// them are in memory beside the rank's own. Other layouts have one part, and nothing travels.
/// Source: Tripathy, Yelick and Buluc 2020 (SC), the products with W of their 2D and 3D algorithms.
/// @tparam Real float or double
template <class Real>
class RowParts {
 public:
  /// @param part what this rank has (panel_part())
  RowParts(const Comm& comm, const SpmmLayout& layout, const PanelPart& part)
      : comm_(comm), layout_(layout), part_(part) {}

  /// Whether other ranks have parts of this rank's rows.
  [[nodiscard]] bool are_cut() const { return part_.groups > 1; }
  /// Call visit(j, part [rows, columns of group j]) for all groups of columns, from this rank's on. Parts
  /// without columns are left out. Collective over the ranks of the same rows.
  /// @param own [part.n_rows(), part.n_columns(f)], row-major, not to change before this returns
  void visit(std::span<const Real> own, int f, const std::function<void(int group, const Real* part)>& visit);
  /// Traffic that the last visit received: what count_row_parts() counts.
  [[nodiscard]] const SpmmTraffic& received() const { return received_; }
  [[nodiscard]] std::size_t bytes() const {
    return (buffer_[0].capacity() + buffer_[1].capacity()) * sizeof(Real);
  }

 private:
  Comm comm_;
  SpmmLayout layout_;
  PanelPart part_;
  AlignedVector<Real> buffer_[2];
  SpmmTraffic received_;
};

}  // namespace quintet
