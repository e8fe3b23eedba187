#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "io/parallel/comm.hpp"
#include "physics/kernels/aligned.hpp"
#include "physics/sparse/layout.hpp"
#include "physics/sparse/spmm.hpp"

namespace quintet {

/// Z = A H over ranks, in any layout, with the next part under way while one is multiplied.
///
/// The constructor hands elements of A to those who hold them in this layout, and tells once where nonzeros
/// stand that come from others; a product moves numbers alone, exactly those that count_traffic() counts. A
/// rank has the same part of Z as of H (part()); copies of a part (1.5D) are bitwise equal. Sums of a row go
/// in an order that depends on layout and rank. Construction and products are collective.
/// @tparam Real float or double: the numbers of H and Z, and those of A as products read them
template <class Real>
class SparseProduct {
 public:
  /// @param a this rank's rows; in float64, in 1D layouts of blocks, its values are not copied and must
  /// outlive this. Throws InputError on all ranks if pattern and shares do not fit each other, the shares not
  /// the ranks, or the layout not the shares.
  SparseProduct(const Comm& comm, const SparseRows& a, const SpmmLayout& layout);

  [[nodiscard]] const PanelPart& part() const { return part_; }
  [[nodiscard]] const SpmmLayout& layout() const { return layout_; }
  /// Rows of H that come from other ranks in a product.
  [[nodiscard]] int n_foreign() const { return n_foreign_; }
  /// Traffic that the last product received.
  [[nodiscard]] const SpmmTraffic& received() const { return received_; }
  /// Bytes of this rank's parts of A, and of what products have left of H and of sums.
  [[nodiscard]] std::size_t bytes() const;

  /// @param x, z [part().n_rows(), part().n_columns(f)], row-major. Throws InputError if x does not match.
  void operator()(const AlignedVector<Real>& x, AlignedVector<Real>& z, int f);

 private:
  /// Some of A, its values elsewhere, ready for the kernel.
  struct Part {
    CsrPattern scalars;  ///< where all units are single rows
    BlockRows blocks;    ///< else
    std::size_t n_values = 0;
  };
  /// Numbers of A, or rows of H, that go to a rank or come from it.
  struct Message {
    int rank = 0;
    std::size_t first = 0, n = 0;
  };
  struct Stage {
    Part part;
    bool own_values = true, own_rows = false;  ///< of A and H, else they come
    std::size_t value = 0;                     ///< first of values_
    int row = 0, n_rows = 0;                   ///< of H
    Message receive_a;
    std::vector<Message> receive_h;
    std::vector<Message> send_a, send_h;  ///< to those who want them in their stage of this number
  };
  struct UnderWay;

  void check(const SparseRows& a) const;
  void plan_sparse_1d(const SparseRows& a);
  void plan_stages(const SparseRows& a);
  /// Use the caller's values where they are of the same type.
  void borrow(const SparseRows& a) {
    if constexpr (std::is_same_v<Real, double>) borrowed_ = a.value;
  }
  void add_block(Part& part, int row, int inner_place, int column, std::int64_t offset) const;
  void close_row(Part& part, int row) const;
  void start(std::size_t s, const AlignedVector<Real>& x, int columns, UnderWay& to);
  void receive(std::span<Real> numbers, int rank, int tag, UnderWay& to, std::int64_t& words);
  void send(std::span<const Real> numbers, int rank, int tag, UnderWay& to);
  void multiply(std::size_t s, const Real* x, Real* z, int f, bool add, UnderWay& beside) const;
  void add_up(AlignedVector<Real>& z, int columns);

  Comm comm_;
  RowShares shares_;
  SpmmLayout layout_;
  PanelPart part_;
  int first_ = 0, last_ = 0;               ///< unit rows of Z that this rank adds to
  bool scalars_ = false;                   ///< all units are single rows
  int n_foreign_ = 0;                      ///< rows of H that come
  const Real* borrowed_ = nullptr;         ///< values, where they are the caller's
  AlignedVector<Real> values_;             ///< else, by stages
  std::vector<Stage> stages_;              ///< as many as any rank has that this one sends to
  std::vector<int> slice_;                 ///< first row of each slice that one layer adds up
  std::vector<std::int32_t> packed_rows_;  ///< sparse-aware: own rows that others need, by ranks
  AlignedVector<Real> packed_, buffer_h_[2], buffer_a_[2], sum_, slices_;
  SpmmTraffic received_;
};

}  // namespace quintet
