#pragma once

#include "surrogates/potential/evaluation/embedding.hpp"
#include "surrogates/potential/evaluation/quintic_rows.hpp"

namespace quintet::potential {

/// G(s_j) and G'(s_j) neighbour by neighbour, from the networks themselves or from the file's quintic table.
///
/// The network is evaluated for all neighbours of an atom of one type at once with its tangent: each layer is
/// one product for [values; tangents] stacked, so that G' costs as much as G. Gates are part of both: G_s (1
/// + c w) has the slope G_s' (1 + c w) + G_s c dw/ds.
template <class Real>
class PointwiseEmbedding : public Embedding<Real> {
 public:
  using Scratch = typename Embedding<Real>::Scratch;
  PointwiseEmbedding(const DescriptorModel& model, bool use_tables);
  void forward(Batch<Real>& batch, Scratch& scratch) const override;
  void backward(Batch<Real>& batch, int b, Scratch& scratch) const override;
  [[nodiscard]] std::string description() const override;

 protected:
  /// G and G' of all rows of a batch, into scratch.value and scratch.slope [rows, stride].
  void evaluate_all(const Batch<Real>& batch, Scratch& scratch) const;

  EmptySlots<Real> empty_;
  int n_types_, n_channels_, stride_;

 private:
  void evaluate(int network, const Batch<Real>& batch, int begin, int end, Scratch& scratch) const;
  void look_up(const QuinticRows<Real>& table, const Batch<Real>& batch, int begin, int end,
               Scratch& scratch) const;
  void run_network(const networks::Chain<Real>& network, const Batch<Real>& batch, int begin, int end,
                   Scratch& scratch) const;
  void apply_gates(const Real* gates, const Batch<Real>& batch, int begin, int end, Scratch& scratch) const;

  std::vector<int> index_;  ///< [centre, neighbour] network
  std::vector<networks::Chain<Real>> networks_;
  std::vector<QuinticRows<Real>> tables_;  ///< instead of the networks, if not empty
  AlignedVector<Real> gates_;              ///< [centre, neighbour, stride] c; empty: none
  bool smooth_gates_;
};

}  // namespace quintet::potential
