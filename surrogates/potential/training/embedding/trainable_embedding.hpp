#pragma once

#include <vector>

#include "surrogates/potential/evaluation/spectral/spectral_embedding.hpp"
#include "surrogates/potential/model/chains.hpp"
#include "surrogates/potential/training/embedding/interval_samples.hpp"
#include "surrogates/potential/training/embedding/trained_embedding.hpp"

namespace quintet::potential {

/// The spectral embedding with networks that change: T = 1/n sum_p sum_k c_pk M_pk with c = C G(nodes). The
/// samples get
///
///     c_bar_pkm = 1/n sum_atoms sum_a (M_pka T_bar_am + Mdot_pka Tdot_bar_am),  G_bar(nodes) = C^T c_bar,
///
/// and the parameters the gradient of the plain networks at a few hundred nodes.
///
/// With gates (dpa1) each centre and group of neighbours has coefficients of its own, f c: f = 1 + gate of a
/// type, or with smooth gates its gate for moments weighted with w and 1 for those of all neighbours. Then
///
///     f_bar_m = sum_pk c_pkm c_bar^group_pkm,   c_bar = sum_groups f c_bar^group.
template <class Real>
class TrainableEmbedding final : public SpectralEmbedding<Real>, public TrainedEmbedding<Real> {
 public:
  using Scratch = typename Embedding<Real>::Scratch;
  using Record = typename TrainedEmbedding<Real>::Record;
  TrainableEmbedding(const Model& model, const ParameterLayout& parameters, const SpectralLayout& layout);

  void refresh(const Real* parameters) override;
  [[nodiscard]] double unresolved() const override { return unresolved_; }
  [[nodiscard]] double error() const override { return this->layout_.error; }
  [[nodiscard]] std::vector<double> intervals() const override;
  void record(Batch<Real>& batch, Record& record) const override;
  void tangent(const Batch<Real>& batch, const Real* row_dot, Record& record, Real* t_dot) const override;
  void add_gradient(const Batch<Real>& batch, const Record& record, const Real* t_bar,
                    const Real* t_dot_bar) override;
  void backward(Batch<Real>& batch, int b, Scratch& scratch) const override;
  void collect(Real* gradient) override;

 private:
  [[nodiscard]] std::size_t atom_size() const {
    return std::int64_t{this->n_groups_} * this->layout_.n_intervals * 4 * this->layout_.order;
  }
  [[nodiscard]] bool is_gated() const { return !gate_places_.empty(); }
  /// f of a centre's group of neighbours, [n_channels].
  [[nodiscard]] std::vector<double> factor(int centre, int group, const Real* parameters) const;
  void set_gated_tables(const Real* parameters);
  [[nodiscard]] std::vector<double> gathered(int network, Real* gradient) const;
  void keep(int b, AlignedVector<Real>& moments, Record& record) const;
  void clear_moments(Scratch& scratch) const;
  template <bool smooth>
  void accumulate_tangent(const Batch<Real>& batch, int b, const Real* row_dot, Scratch& scratch) const;

  IntervalSamples samples_;
  std::vector<networks::Chain<double>> networks_;  ///< in float64: a few hundred samples cost next to nothing
  std::vector<networks::Tape<double>> tapes_;      ///< of their samples
  std::vector<std::vector<double>> nodes_;         ///< [network] intervals' nodes, then empty slots' inputs
  std::vector<int> empty_node_;                    ///< [centre, neighbour] index into nodes_ of its network
  std::vector<AlignedVector<Real>> c_bar_;         ///< [table][intervals, order, stride]
  std::vector<int> network_of_;                    ///< [centre, neighbour]
  bool smooth_;                                    ///< gates w(r)
  std::vector<std::size_t> gate_places_;        ///< [centre, neighbour] among the parameters; no gates: none
  std::vector<std::vector<double>> factors_;    ///< [table][n_channels] f of now, with gates
  std::vector<double> coefficients_;            ///< [intervals, order, n_channels] c of now, with gates
  std::vector<AlignedVector<Real>> empty_bar_;  ///< [centre, neighbour][stride]
  double unresolved_ = 0;
};

}  // namespace quintet::potential
