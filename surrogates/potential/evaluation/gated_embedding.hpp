#pragma once

#include <vector>

#include "surrogates/potential/evaluation/spectral/spectral_embedding.hpp"

namespace quintet::potential {

/// SpectralEmbedding of networks with gates, G = G_s (1 + c w) (DescriptorModel::gates).
///
/// G_s is the same for all types, and c does not depend on the distance, so that with smooth gates
///
///     T = 1/n sum_p sum_k g_pk (M_pk + sum_t c_t N^t_pk),   N^t_pka = sum_{j in p, of type t} x_j^k w_j R_ja
///
/// with the coefficients g of G_s and the moments M of all neighbours. Without smoothing w = 1, and T is the
/// sum over types of 1 + c_t times theirs.
template <class Real>
class GatedEmbedding final : public SpectralEmbedding<Real> {
 public:
  using Scratch = typename Embedding<Real>::Scratch;
  GatedEmbedding(const DescriptorModel& model, const SpectralLayout& layout);
  void forward(Batch<Real>& batch, Scratch& scratch) const override;
  void backward(Batch<Real>& batch, int b, Scratch& scratch) const override;
  [[nodiscard]] std::string description() const override;

 private:
  [[nodiscard]] const Real* factor(int centre, int type) const {
    return factors_.data() + (std::int64_t{centre} * this->n_types_ + type) * this->stride_;
  }

  bool smooth_;
  AlignedVector<Real> factors_;  ///< [centre, neighbour, stride] c, or 1 + c where gates are not smooth
};

}  // namespace quintet::potential
