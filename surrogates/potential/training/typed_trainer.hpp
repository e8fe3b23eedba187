#pragma once

#include <vector>

#include "surrogates/potential/model/chains.hpp"
#include "surrogates/potential/training/trainable_embedding.hpp"
#include "surrogates/potential/training/trainer.hpp"

namespace quintet::potential {

/// Trainer in one precision.
///
/// The gradient needs no graph. dL = ge dE + sum_j gF_j dF_j + gV : dV for the changes that new parameters
/// make, and F = -dE/dx, V = -dE/d(strain), so that with displacements v_j = -gF_j and strain gamma = -gV
///
///     dL/dtheta = dS/dtheta,  S = ge E + Edot,
///
/// Edot the derivative of E along (v, gamma): one tangent pass gives Edot, one adjoint pass its gradient. The
/// adjoint of what carries the tangent is the adjoint that gave the forces, and is kept from there.
template <class Real>
class TypedTrainer final : public Trainer {
 public:
  TypedTrainer(const Model& start, SelRule rule, const OptimiserOptions& adam, const Comm& comm,
               const ParallelOptions& parallel, const OffloadOptions& offload);
  [[nodiscard]] std::size_t n_parameters() const override { return places_.size; }
  Deviations gradient(std::span<const TrainingFrame* const> frames, const LossPrefactors& prefactors,
                      int batch_size, Sharing sharing) override;
  Deviations evaluate(std::span<const TrainingFrame* const> frames,
                      const LossPrefactors& prefactors) override;
  void cover(double closest) override;
  void update(double learning_rate) override;
  void begin_update() override { parameters_.begin_step(); }
  void settle() override { parameters_.settle(); }
  [[nodiscard]] Model model() const override;
  [[nodiscard]] FlatAccount account() const override { return parameters_.account(); }
  [[nodiscard]] std::vector<double> gradient_values() override;
  [[nodiscard]] std::vector<double> parameters() const override;
  void set_parameters(std::span<const double> values) override;
  void save(hdf5::Group& group) const override;
  void load(hdf5::Group& group) override;

 private:
  /// Atoms that share a batch of neighbours.
  static constexpr int batch_atoms = 32;
  /// The atoms of one type of the frame at hand, and all that the passes leave for each other.
  struct Group {
    std::vector<int> atoms;
    std::vector<Batch<Real>> batches;
    std::vector<typename TrainableEmbedding<Real>::Record> records;
    AlignedVector<Real> t_bar, t_dot, t_dot_bar;     ///< [n_atoms, 4, stride]; t_dot_bar = dE/dT
    AlignedVector<Real> d, d_dot, d_bar, d_dot_bar;  ///< [n_atoms, d_stride]; d_dot_bar = dE/dD
    networks::Tape<Real> tape;
  };
  struct Prediction {
    double energy = 0;
    std::vector<double> force;  ///< [n_atoms, 3]
    Mat3 virial{};
    void sum_over(const Comm& comm);  ///< collective
  };
  /// What the loss says of a frame: its terms, and its derivatives by the prediction.
  struct Adjoint {
    double energy = 0;
    std::vector<double> force;
    Mat3 virial{};
  };

  void refresh(std::span<const TrainingFrame* const> frames);
  void choose_intervals();
  void fill_batches(const TrainingFrame& frame, Group& group);
  void predict(const TrainingFrame& frame, const Comm& sharing);
  void predict(const TrainingFrame& frame, int type, Group& group);
  void tangent(const TrainingFrame& frame, const Adjoint& adjoint, const Batch<Real>& batch);
  void differentiate(const TrainingFrame& frame, const Adjoint& adjoint, int type, Group& group);
  Deviations compare(const TrainingFrame& frame, const LossPrefactors& prefactors, int batch_size,
                     Adjoint* adjoint) const;

  Comm comm_;
  Model start_;
  ParameterLayout places_;
  FlatParameters<Real> parameters_;  ///< one block: a frame's gradient reaches all networks
  std::int64_t step_ = 0;
  bool warned_ = false;
  bool stale_ = true;     ///< the networks do not have the parameters of now
  double allowed_ = 0;    ///< unresolved part of G from which on the intervals are chosen anew
  double covered_ = 1.0;  ///< closest distance of neighbours that the intervals reach (angstrom)
  Environment environment_;
  Environment::Scratch environment_scratch_;
  Descriptor descriptor_;
  std::unique_ptr<TrainableEmbedding<Real>> embedding_;
  std::vector<networks::Chain<Real>> fitting_;
  std::vector<Group> groups_;
  Prediction prediction_;
  AlignedVector<Real> row_dot_, work_;
};

}  // namespace quintet::potential
