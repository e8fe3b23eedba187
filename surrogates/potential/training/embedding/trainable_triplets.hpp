#pragma once

#include "surrogates/potential/evaluation/triplets/triplet_embedding.hpp"
#include "surrogates/potential/training/embedding/interval_samples.hpp"
#include "surrogates/potential/training/embedding/trained_embedding.hpp"

namespace quintet::potential {

/// The embedding of se_e3 with networks that change. Of two types of neighbours T_0m = f sum_pk c_pkm M_pk,
/// f = 1/(sel_t sel_u), and
///
///     Mdot_pk = sum_jk thetadot x^k + theta k x^(k-1) xdot,  thetadot_jk = Rdot_j . R_k + R_j . Rdot_k,
///     c_bar_pkm = f sum_atoms M_pk T_bar_0m + Mdot_pk Tdot_bar_0m,  G_bar(nodes) = C^T c_bar.
template <class Real>
class TrainableTriplets final : public TripletEmbedding<Real>, public TrainedEmbedding<Real> {
 public:
  using Scratch = typename Embedding<Real>::Scratch;
  using Record = typename TrainedEmbedding<Real>::Record;
  TrainableTriplets(const Model& model, const ParameterLayout& parameters, const TripletLayout& layout);
  void refresh(const Real* parameters) override;
  [[nodiscard]] double unresolved() const override { return unresolved_; }
  [[nodiscard]] double error() const override { return this->layout_->error; }
  [[nodiscard]] std::vector<double> intervals() const override;
  void record(Batch<Real>& batch, Record& record) const override;
  void backward(Batch<Real>& batch, int b, Scratch& scratch) const override {
    TripletEmbedding<Real>::backward(batch, b, scratch);
  }
  void tangent(const Batch<Real>& batch, const Real* row_dot, Record& record, Real* t_dot) const override;
  void add_gradient(const Batch<Real>& batch, const Record& record, const Real* t_bar,
                    const Real* t_dot_bar) override;
  void collect(Real* gradient) override;

 private:
  using TypePair = typename TripletEmbedding<Real>::TypePair;
  void keep(const Scratch& scratch, AlignedVector<Real>& moments) const;
  void gather_tangents(const Batch<Real>& batch, int b, const Real* row_dot, Scratch& scratch) const;
  void accumulate_tangent(const TypePair& types, Scratch& scratch) const;

  IntervalSamples samples_;
  std::vector<double> nodes_;                      ///< of all intervals
  std::vector<networks::Chain<double>> networks_;  ///< in float64, of pairs of types
  std::vector<networks::Tape<double>> tapes_;
  std::vector<AlignedVector<Real>> c_bar_;  ///< [pair of types][intervals, order, stride], without f
  double unresolved_ = 0;
};

}  // namespace quintet::potential
