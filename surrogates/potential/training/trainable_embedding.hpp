#pragma once

#include <vector>

#include "surrogates/potential/evaluation/spectral_embedding.hpp"
#include "surrogates/potential/model/chains.hpp"

namespace quintet::potential {

/// The spectral embedding with networks that change, and the gradient of their parameters.
///
/// T is linear in the networks' samples: T = 1/n sum_p sum_k c_pk M_pk with c = C G(nodes), so that no
/// network is ever evaluated at a neighbour, and no second derivative of it is needed. Of S = ge E + Edot
/// (see TypedTrainer) the samples get
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
class TrainableEmbedding final : public SpectralEmbedding<Real> {
 public:
  using Scratch = typename Embedding<Real>::Scratch;
  TrainableEmbedding(const Model& model, const ParameterLayout& parameters, const SpectralLayout& layout);

  /// Take the parameters of now: sample the networks, make the tables.
  void refresh(const Real* parameters);
  /// Size of the last two Chebyshev coefficients beside the largest |G|: what the intervals leave unresolved.
  [[nodiscard]] double unresolved() const { return unresolved_; }
  [[nodiscard]] const SpectralLayout& layout() const { return this->layout_; }

  /// Record of a batch that is kept between the passes.
  struct Record {
    Scratch scratch;
    AlignedVector<Real> moments, tangent;  ///< [n_atoms, n_groups, intervals, order, 4] M and Mdot
    std::vector<int> occupied, count;      ///< [n_atoms] of Scratch
  };
  /// forward(), keeping the moments.
  void record(Batch<Real>& batch, Record& record) const;
  /// Tdot [n_atoms, 4, stride] of tangents of the rows, row_dot [rows, 4]; keeps their moments.
  void tangent(const Batch<Real>& batch, const Real* row_dot, Record& record, Real* t_dot) const;
  /// Add to c_bar and to the samples at empty slots, of T_bar and Tdot_bar [n_atoms, 4, stride].
  void add_gradient(const Batch<Real>& batch, const Record& record, const Real* t_bar, const Real* t_dot_bar);
  void backward(Batch<Real>& batch, int b, Scratch& scratch) const override;
  /// Add what was gathered to the gradient of the parameters, and start anew.
  void collect(Real* gradient);

 private:
  [[nodiscard]] std::size_t atom_size() const {
    return std::int64_t{this->n_groups_} * this->layout_.n_intervals * 4 * this->layout_.order;
  }
  [[nodiscard]] bool is_gated() const { return !gate_places_.empty(); }
  /// f of a centre's group of neighbours, [n_channels].
  [[nodiscard]] std::vector<double> factor(int centre, int group, const Real* parameters) const;
  void transform(int network, const double* samples, int stride);
  void set_gated_tables(const Real* parameters);
  [[nodiscard]] std::vector<double> gathered(int network, Real* gradient) const;
  void keep(int b, AlignedVector<Real>& moments, Record& record) const;
  void clear_moments(Scratch& scratch) const;
  template <bool smooth>
  void accumulate_tangent(const Batch<Real>& batch, int b, const Real* row_dot, Scratch& scratch) const;

  std::vector<networks::Chain<double>> networks_;  ///< in float64: a few hundred samples cost next to nothing
  std::vector<networks::Tape<double>> tapes_;      ///< of their samples
  std::vector<std::vector<double>> nodes_;         ///< [network] intervals' nodes, then empty slots' inputs
  std::vector<int> empty_node_;                    ///< [centre, neighbour] index into nodes_ of its network
  std::vector<double> chebyshev_;                  ///< [order, order] samples -> Chebyshev coefficients
  std::vector<double> power_;                      ///< [order, order] row k: powers' coefficients of T_k
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
