#pragma once

#include "surrogates/potential/evaluation/pointwise_embedding.hpp"

namespace quintet::potential {

/// The embedding of se_e2_r, of distances alone: T_0m = 1/(5 n) sum_j G_m(s_j), empty slots included.
///
/// Its networks, or a compressed file's tables, are evaluated at every neighbour. Source: DeePMD-kit,
/// descriptor se_r, with its factor 1/5.
template <class Real>
class RadialEmbedding final : public PointwiseEmbedding<Real> {
 public:
  using Scratch = typename Embedding<Real>::Scratch;
  RadialEmbedding(const DescriptorModel& model, bool use_tables)
      : PointwiseEmbedding<Real>(model, use_tables), scale_(0.2 / model.n_slots()) {}
  void forward(Batch<Real>& batch, Scratch& scratch) const override;
  void backward(Batch<Real>& batch, int b, Scratch& scratch) const override;

 private:
  Real scale_;  ///< 1/(5 n)
};

}  // namespace quintet::potential
