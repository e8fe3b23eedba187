#pragma once

#include <memory>
#include <vector>

#include "surrogates/potential/model/parameters.hpp"
#include "surrogates/potential/training/passes.hpp"
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
               const ParallelOptions& parallel, const OffloadOptions& offload, const TrainingDevice& device);
  [[nodiscard]] std::size_t n_parameters() const override { return places_.size; }
  Deviations gradient(std::span<const TrainingFrame* const> frames, const LossPrefactors& prefactors,
                      int batch_size, Sharing sharing) override;
  Deviations evaluate(std::span<const TrainingFrame* const> frames,
                      const LossPrefactors& prefactors) override;
  Deviations evaluate_at(std::span<const double> parameters, std::span<const TrainingFrame* const> frames,
                         const LossPrefactors& prefactors) override;
  void cover(double closest) override;
  void update(double learning_rate) override;
  void begin_update() override { parameters_.begin_step(); }
  void settle() override { parameters_.settle(); }
  [[nodiscard]] Model model() const override;
  [[nodiscard]] FlatAccount account() const override { return parameters_.account(); }
  [[nodiscard]] std::vector<double> gradient_values() override;
  [[nodiscard]] std::vector<double> parameters() const override;
  void add_to(WeightAverage& average) const override;
  void set_parameters(std::span<const double> values) override;
  void save(hdf5::Group& group) const override;
  void load(hdf5::Group& group) override;

 private:
  template <class Body>
  void each_chunk(const Real* parameters, std::span<const TrainingFrame* const> frames, const Comm& sharers,
                  bool is_differentiated, Body&& body);
  Deviations deviations(const Real* parameters, std::span<const TrainingFrame* const> frames,
                        const LossPrefactors& prefactors);
  void sum_predictions(const Comm& sharers, std::size_t n);
  static Deviations compare(const TrainingFrame& frame, const Prediction& prediction,
                            const LossPrefactors& prefactors, int batch_size, Adjoint* adjoint);

  Comm comm_;
  Model start_;
  SelRule rule_;
  bool on_device_;
  double closest_ = 0;  ///< neighbours that cover() has named; 0: none
  ParameterLayout places_;
  FlatParameters<Real> parameters_;  ///< one block: a frame's gradient reaches all networks
  std::int64_t step_ = 0;
  bool stale_ = true;  ///< the networks do not have the parameters of now
  std::unique_ptr<Passes<Real>> passes_;
  std::vector<Prediction> predictions_;  ///< of the frames that are together at the moment
  std::vector<Adjoint> adjoints_;
};

}  // namespace quintet::potential
