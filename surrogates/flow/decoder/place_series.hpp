#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "physics/kernels/gemm_bf16.hpp"
#include "surrogates/flow/decoder/activation_series.hpp"
#include "surrogates/flow/decoder/decoder_layer.hpp"
#include "surrogates/flow/decoder/jet_plan.hpp"

namespace quintet::flow {

/// A box of places in a cell, in r (AxisCell) along each axis.
struct PlaceBox {
  std::array<double, n_axes> centre{}, half_width{};
  /// Enclose places [point][axis].
  static PlaceBox around(std::span<const std::array<double, n_axes>> places);
};

/// The second layer's product W_h h of all channels at many points of a cell, by Taylor's series.
///
/// About the centre of a box of places, units of the first layer are h_k(xi) = phi(a_k + w_k . (xi -
/// centre)), so that the product is a polynomial of u_i = (xi_i - centre_i)/s_i whose coefficients all points
/// share:
///
///     sum_k W_ko h_k = sum_alpha u^alpha C_alpha,o,
///     C_alpha,o = sum_k W_ko phi^(|alpha|)(a_k) prod_i (s_i w_ki)^alpha_i / alpha_i!,  |alpha| <= degree,
///
/// and an operator applied to it is that operator applied to u^alpha. Corners of a cell differ in C alone. A
/// point so costs as many multiply-adds as there are alpha, not as there are units.
///
/// The degree is the least whose remainder is at most `tolerance` of each derivative that the channels take:
/// with n = degree + 1, R_k = sum_i |w_ki| half_width_i, g_k = sum_i |w_ki| and order j = 0, 1, 2,
///
///     max|phi^(n)| / (n - j)! sum_k |W_k| g_k^j R_k^(n - j) <= tolerance max|phi^(j)| sum_k |W_k| g_k^j
///
/// (1 stands for max|phi|; |W_k| is the length of W_k). Products are in bfloat16, sums and all else in float.
class PlaceSeries {
 public:
  /// Half a unit in the last place of bfloat16: what products round anyway.
  static constexpr double tolerance = 0x1p-9;

  /// Layers that it may stand for; without use where the activation has no series.
  PlaceSeries(const DecoderLayer<float>& first, const DecoderLayer<float>& second, const JetPlan& plan);

  /// Choose a degree for so many points of a cell in a box. False where no degree is enough, or the series
  /// would cost more than the product.
  bool choose(const PlaceBox& box, int n_points);
  /// Form C for the cell. @param node_products of the first layer, a row for each corner
  void form(std::span<const float* const> node_products);
  /// W_h h, [channel][row][stride of the second layer], for rows of the chosen cell.
  void multiply(const RowBlock<float>& rows, float* product);

  [[nodiscard]] int degree() const { return degree_; }

 private:
  using Powers = std::array<int, n_axes>;
  [[nodiscard]] bool is_enough(int degree) const;
  void list_powers();
  void form_scales();
  void fill_point(const RowBlock<float>& rows, int point, int n_points);

  const DecoderLayer<float>&first_, &second_;
  const JetPlan& plan_;
  std::array<double, most_derivatives + 1> largest_{};  ///< [order] of derivatives of phi, 1 for order 0
  std::vector<double> strength_, slope_, reach_;        ///< [unit] |W_k|, g_k and R_k
  int order_ = 0;                                       ///< of derivatives that the channels take
  std::array<int, n_axes> most_power_if_flat_{};        ///< powers whose derivatives at u = 0 are not all 0

  PlaceBox box_;
  int degree_ = 0;
  std::vector<Powers> powers_;    ///< [alpha]
  AlignedVector<float> scales_;   ///< [alpha][unit] prod_i (s_i w_ki)^alpha_i / alpha_i!
  AlignedVector<float> modes_;    ///< [alpha][corner][unit]
  AlignedVector<float> sums_;     ///< [alpha][corner][stride of the second layer]: C
  PackedBf16 packed_;             ///< C without alpha = 0 as [alpha, corner and column]
  AlignedVector<float> columns_;  ///< [channel][point][alpha without 0]
};

}  // namespace quintet::flow
