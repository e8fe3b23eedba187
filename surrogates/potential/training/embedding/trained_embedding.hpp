#pragma once

#include <memory>
#include <vector>

#include "surrogates/potential/evaluation/embedding.hpp"
#include "surrogates/potential/model/parameters.hpp"

namespace quintet::potential {

/// An embedding whose networks change, and the gradient of their parameters.
///
/// T is linear in samples of the networks at the nodes of intervals, through moments M of the neighbours. So
/// no network is evaluated at a neighbour, and no second derivative is needed. Of S = ge E + Edot
/// (TypedTrainer) samples get what M T_bar + Mdot Tdot_bar gives their coefficients.
template <class Real>
class TrainedEmbedding {
 public:
  using Scratch = typename Embedding<Real>::Scratch;
  virtual ~TrainedEmbedding() = default;

  /// Take the parameters of now: sample the networks, make the tables.
  virtual void refresh(const Real* parameters) = 0;
  /// Size of the last two Chebyshev coefficients beside the largest |G|: what the intervals leave unresolved.
  [[nodiscard]] virtual double unresolved() const = 0;
  /// Relative error of the intervals' polynomials when they were chosen.
  [[nodiscard]] virtual double error() const = 0;
  /// The intervals as numbers, for restored_embedding().
  [[nodiscard]] virtual std::vector<double> intervals() const = 0;

  /// Record of a batch that is kept between the passes.
  struct Record {
    Scratch scratch;
    AlignedVector<Real> moments, tangent;  ///< M and Mdot, [n_atoms, n_groups, intervals, order, 4] (of
                                           ///< triplets those of occupied intervals, [order])
    std::vector<int> occupied, count;      ///< [n_atoms] of Scratch
  };
  /// Fill batch.t, keeping the moments.
  virtual void record(Batch<Real>& batch, Record& record) const = 0;
  /// Rows of batch.gradient of atom b from batch.dt: as Embedding::backward().
  virtual void backward(Batch<Real>& batch, int b, Scratch& scratch) const = 0;
  /// Tdot [n_atoms, 4, stride] of tangents of the rows, row_dot [rows, 4]; keeps their moments.
  virtual void tangent(const Batch<Real>& batch, const Real* row_dot, Record& record, Real* t_dot) const = 0;
  /// Gather what samples get of T_bar and Tdot_bar [n_atoms, 4, stride].
  virtual void add_gradient(const Batch<Real>& batch, const Record& record, const Real* t_bar,
                            const Real* t_dot_bar) = 0;
  /// Add what was gathered to the gradient of the parameters, and start anew.
  virtual void collect(Real* gradient) = 0;
};

/// That of a model, on the coarsest intervals that reach `tolerance` and neighbours at `closest` (angstrom).
template <class Real>
[[nodiscard]] std::unique_ptr<TrainedEmbedding<Real>> trained_embedding(const Model& model,
                                                                        const ParameterLayout& places,
                                                                        double tolerance, double closest);
/// That on the intervals of a checkpoint. Throws InputError where they are not of the model's descriptor.
template <class Real>
[[nodiscard]] std::unique_ptr<TrainedEmbedding<Real>> restored_embedding(
    const Model& model, const ParameterLayout& places, const std::vector<double>& intervals);

}  // namespace quintet::potential
