#pragma once

#include "surrogates/potential/evaluation/embedding.hpp"

namespace quintet::potential {

/// G(s_j) and G'(s_j) neighbour by neighbour, from the networks themselves or from the file's quintic table.
///
/// The network is evaluated for all neighbours of an atom of one type at once with its tangent: each layer is
/// one product for [values; tangents] stacked, so that G' costs as much as G.
template <class Real>
class PointwiseEmbedding final : public Embedding<Real> {
 public:
  using Scratch = typename Embedding<Real>::Scratch;
  PointwiseEmbedding(const Model& model, bool use_tables);
  void forward(Batch<Real>& batch, Scratch& scratch) const override;
  void backward(Batch<Real>& batch, int b, Scratch& scratch) const override;
  [[nodiscard]] std::string description() const override;

 private:
  void evaluate(int network, const Batch<Real>& batch, int begin, int end, Scratch& scratch) const;
  void run_network(const networks::Chain<Real>& network, const Batch<Real>& batch, int begin, int end,
                   Scratch& scratch) const;

  EmptySlots<Real> empty_;
  int n_types_, n_channels_, stride_;
  std::vector<int> index_;  ///< [centre, neighbour] network
  std::vector<networks::Chain<Real>> networks_;
  std::vector<QuinticTable> tables_;  ///< instead of the networks, if not empty
};

}  // namespace quintet::potential
