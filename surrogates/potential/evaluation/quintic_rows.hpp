#pragma once

#include "physics/kernels/aligned.hpp"
#include "physics/kernels/pack.hpp"
#include "surrogates/potential/model/model.hpp"

namespace quintet::potential {

/// A compressed file's quintic table in the arithmetic and the packs of a run.
template <class Real>
class QuinticRows {
 public:
  /// @param stride of the channels, whole packs
  QuinticRows(const QuinticTable& table, int stride) : ranges_(table), stride_(stride) {
    const std::int64_t n = table.n_channels, rows = n > 0 ? std::ssize(table.coefficients) / (6 * n) : 0;
    rows_.assign(rows * 6 * stride, Real(0));
    for (std::int64_t i = 0; i < rows * 6 * n; ++i)
      rows_[(i / (6 * n) * 6 + i % 6) * stride + i / 6 % n] = static_cast<Real>(table.coefficients[i]);
  }

  /// Whether there is no table: of a network that no pair of types uses.
  [[nodiscard]] bool empty() const { return rows_.empty(); }

  /// G and G' at s: visit(m, pack of G, pack of G') of the channels from m on.
  template <class Visit>
  void evaluate(Real s, Visit&& visit) const {
    constexpr int w = pack_width<Real>;
    const auto place = ranges_.place(s);
    const Real x = static_cast<Real>(place.x), beyond = static_cast<Real>(place.beyond);
    const Real* row = rows_.data() + place.row * 6 * stride_;
    for (int m = 0; m < stride_; m += w) {
      Pack<Real> g = load<Real>(row + 5 * stride_ + m), dg{};
      for (int k = 4; k >= 0; --k) {  // Horner, of the polynomial and its derivative
        dg = dg * x + g;
        g = g * x + load<Real>(row + std::int64_t{k} * stride_ + m);
      }
      visit(m, g + beyond * dg, dg);
    }
  }

 private:
  QuinticRanges ranges_;
  int stride_;
  AlignedVector<Real> rows_;  ///< [rows, 6, stride]
};

}  // namespace quintet::potential
