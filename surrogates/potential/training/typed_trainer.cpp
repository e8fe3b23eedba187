#include "surrogates/potential/training/typed_trainer.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "physics/kernels/aligned.hpp"
#include "surrogates/potential/training/torch/torch_passes.hpp"
#include "surrogates/resident/late/late_parameters.hpp"
#include "surrogates/training/flat_checkpoint.hpp"

// The gradient of the loss without a graph (typed_trainer.hpp has the equations, S = ge E + Edot).
//
//   gradient(), after refresh() has given the networks the parameters of now, for each frame:
//     1. predict()         energies, forces and virial (Passes)
//     2. compare()         deviations from the labels, and the loss's derivatives: ge, gF, gV (Adjoint)
//     3. differentiate()   the gradient of S along displacements -gF and strain -gV (Passes)
//   then collect(): what was gathered for all frames -> the flat gradient
//
//   update(): the sum over ranks, and a step of Adam
//
// Of a training on a device parameters and gradient are there, where Passes know their places.
namespace quintet::potential {

namespace {

template <class Real>
std::unique_ptr<Passes<Real>> make_passes(const Model& start, const ParameterLayout& places, SelRule rule,
                                          const TrainingDevice& device, FlatParameters<Real>& parameters) {
  for (std::size_t t = 0; t < places.fitting.size(); ++t)
    QUINTET_CHECK(!places.fitting[t].empty() && !places.fitting[t].back().has_timestep,
                  "the fitting network of {} has a time step at its output: it can be evaluated, not trained",
                  start.type_names[t]);
  QUINTET_CHECK(device.session.is_cpu() || start.kind == DescriptorKind::se_e2_a,
                "device: models with the descriptor {} are trained on the cores; expected cpu",
                name_of(start.kind));
  QUINTET_CHECK(
      device.session.is_cpu() || start.atom_parameters.count() == 0,
      "device: models that read parameters of atoms (aparam) are trained on the cores; expected cpu");
  if (device.session.is_cpu()) return make_kernel_passes<Real>(start, places, rule);
  if (!parameters.is_resident()) return make_torch_passes<Real>(start, places, rule, device);
  return make_torch_passes<Real>(start, places, rule, device, parameters.values(0).data(),
                                 parameters.gradient(0).data());
}

}  // namespace

template <class Real>
TypedTrainer<Real>::TypedTrainer(const Model& start, SelRule rule, const OptimiserOptions& adam,
                                 const Comm& comm, const ParallelOptions& parallel,
                                 const OffloadOptions& offload, const TrainingDevice& device)
    : comm_(comm),
      start_(start),
      rule_(rule),
      on_device_(!device.session.is_cpu()),
      places_(start),
      parameters_(comm, one_block("networks", places_.size), parameters_of(start, places_), adam, parallel,
                  offload, {}, late_device_parameters<Real>(device.session)),
      passes_(make_passes<Real>(start, places_, rule, device, parameters_)) {}

/// Sum of all sharers' predictions. Collective.
template <class Real>
void TypedTrainer<Real>::sum_predictions(const Comm& sharers, std::size_t n) {
  if (sharers.size() == 1) return;
  for (auto& prediction : std::span(predictions_).first(n)) {
    auto& numbers = prediction.force;
    numbers.push_back(prediction.energy);
    numbers.insert(numbers.end(), prediction.virial.begin(), prediction.virial.end());
    sharers.reduce(std::span<double>(numbers), Comm::Reduction::sum);
    std::copy(numbers.end() - 9, numbers.end(), prediction.virial.begin());
    prediction.energy = *(numbers.end() - 10);
    numbers.resize(numbers.size() - 10);
  }
}

namespace {

/// Term of a number's deviation in the loss, and its derivative.
struct Term {
  double value, slope;
};

/// h(x) of a Huber width (LossPrefactors).
Term huber(double x, double width) {
  if (std::abs(x) <= width) return {x * x / 2, x};
  return {width * (std::abs(x) - width / 2), std::copysign(width, x)};
}

/// Term of a deviation d: share d^2, or, with a Huber width, of per_atom d.
/// @param share of d^2 in the loss @param share_of_huber of h
Term term_of(double d, double share, double width, double per_atom, double share_of_huber) {
  if (width == 0) return {share * d * d, 2 * share * d};
  const Term h = huber(per_atom * d, width);
  return {share_of_huber * h.value, share_of_huber * per_atom * h.slope};
}

}  // namespace

/// Deviations of the prediction from the labels; if asked, the derivatives of 1/batch_size times the loss.
template <class Real>
Deviations TypedTrainer<Real>::compare(const TrainingFrame& frame, const Prediction& prediction,
                                       const LossPrefactors& prefactors, int batch_size, Adjoint* adjoint) {
  Deviations result;
  result.frames = 1;
  if (adjoint) *adjoint = {0, std::vector<double>(prediction.force.size(), 0.0), {}};
  const double n = frame.n_atoms, per_atoms = prefactors.intensive ? 1 / (n * n) : 1 / n;
  if (frame.energy) {
    const double difference = prediction.energy - *frame.energy;
    const Term term =
        term_of(difference, prefactors.energy * per_atoms, prefactors.energy_huber, 1 / n, prefactors.energy);
    result.with_energy = 1;
    result.energy = difference * difference / (n * n);
    result.loss += term.value;
    if (adjoint) adjoint->energy = term.slope / batch_size;
  }
  if (!frame.force.empty()) {
    double sum = 0, loss = 0;
    const double share = prefactors.force / (3 * n);
    for (std::size_t i = 0; i < frame.force.size(); ++i) {
      const double difference = prediction.force[i] - frame.force[i];
      const Term term = term_of(difference, share, prefactors.force_huber, 1, share);
      sum += difference * difference;
      loss += term.value;
      if (adjoint) adjoint->force[i] = term.slope / batch_size;
    }
    result.with_force = 1;
    result.force = sum / (3 * n);
    result.loss += loss;
  }
  if (frame.virial) {
    double sum = 0;
    for (int k = 0; k < 9; ++k) {
      const double difference = prediction.virial[k] - (*frame.virial)[k];
      const Term term = term_of(difference, prefactors.virial * per_atoms / 9, prefactors.virial_huber, 1 / n,
                                prefactors.virial / 9);
      sum += difference * difference;
      result.loss += term.value;
      if (adjoint) adjoint->virial[k] = term.slope / batch_size;
    }
    result.with_virial = 1;
    result.virial = sum / 9 / (n * n);
  }
  return result;
}

/// Call body(frames) for frames that have just been predicted together, until all have been.
template <class Real>
template <class Body>
void TypedTrainer<Real>::each_chunk(const Real* parameters, std::span<const TrainingFrame* const> frames,
                                    const Comm& sharers, bool is_differentiated, Body&& body) {
  passes_->refresh(frames, parameters, std::exchange(stale_, false));
  while (!frames.empty()) {
    const auto chunk = frames.first(passes_->frames_at_once(frames));
    predictions_.resize(std::max(predictions_.size(), chunk.size()));
    passes_->predict(chunk, {sharers.rank(), sharers.size()}, std::span(predictions_).first(chunk.size()),
                     is_differentiated);
    sum_predictions(sharers, chunk.size());
    body(chunk);
    frames = frames.subspan(chunk.size());
  }
}

template <class Real>
Deviations TypedTrainer<Real>::gradient(std::span<const TrainingFrame* const> frames,
                                        const LossPrefactors& prefactors, int batch_size, Sharing sharing) {
  Deviations result;
  if (frames.empty()) return result;
  const Comm sharers = sharing == Sharing::atoms ? comm_ : Comm::self();
  Real* sum = parameters_.gradient(0).data();
  each_chunk(parameters_.values(0).data(), frames, sharers, true, [&](auto chunk) {
    adjoints_.resize(chunk.size());
    for (std::size_t i = 0; i < chunk.size(); ++i) {
      const Deviations deviations =
          compare(*chunk[i], predictions_[i], prefactors, batch_size, &adjoints_[i]);
      if (sharers.is_root()) result += deviations;  // counted once
    }
    passes_->differentiate(chunk, adjoints_, sum);
  });
  passes_->collect(sum);
  result.overflowing = passes_->take_overflowing();
  return result;
}

template <class Real>
void TypedTrainer<Real>::cover(double closest) {
  closest_ = closest;
  passes_->cover(closest);
}

template <class Real>
Deviations TypedTrainer<Real>::evaluate(std::span<const TrainingFrame* const> frames,
                                        const LossPrefactors& prefactors) {
  return deviations(parameters_.values(0).data(), frames, prefactors);
}

/// On the cores by passes of their own: the intervals on which networks are sampled have a history, which
/// decides the last bits of a training.
template <class Real>
Deviations TypedTrainer<Real>::evaluate_at(std::span<const double> parameters,
                                           std::span<const TrainingFrame* const> frames,
                                           const LossPrefactors& prefactors) {
  if (on_device_) {
    const auto now = this->parameters();
    set_parameters(parameters);
    const Deviations result = evaluate(frames, prefactors);
    set_parameters(now);
    return result;
  }
  const AlignedVector<Real> typed(parameters.begin(), parameters.end());
  std::unique_ptr<Passes<Real>> usual = make_kernel_passes<Real>(start_, places_, rule_);
  if (closest_ > 0) usual->cover(closest_);
  passes_.swap(usual);
  const bool was_stale = std::exchange(stale_, true);
  const Deviations result = deviations(typed.data(), frames, prefactors);
  passes_.swap(usual);
  stale_ = was_stale;
  return result;
}

template <class Real>
Deviations TypedTrainer<Real>::deviations(const Real* parameters,
                                          std::span<const TrainingFrame* const> frames,
                                          const LossPrefactors& prefactors) {
  Deviations result;
  if (frames.empty()) return result;
  each_chunk(parameters, frames, Comm::self(), false, [&](auto chunk) {
    for (std::size_t i = 0; i < chunk.size(); ++i)
      result += compare(*chunk[i], predictions_[i], prefactors, 1, nullptr);
  });
  result.overflowing = passes_->take_overflowing();
  return result;
}

template <class Real>
void TypedTrainer<Real>::update(double learning_rate) {
  parameters_.finish(0);
  parameters_.step(step_ + 1, learning_rate);
  ++step_;
  stale_ = true;
}

template <class Real>
Model TypedTrainer<Real>::model() const {
  Model now = start_;
  now.tables.clear();
  now.version = 2;
  const auto values = parameters();
  potential::set_parameters(now, places_, values.data());
  return now;
}

template <class Real>
std::vector<double> TypedTrainer<Real>::gradient_values() {
  return parameters_.total_gradient();
}

template <class Real>
std::vector<double> TypedTrainer<Real>::parameters() const {
  const auto values = parameters_.copied_values(0);
  return {values.begin(), values.end()};
}

template <class Real>
void TypedTrainer<Real>::add_to(WeightAverage& average) const {
  if (parameters_.is_resident())
    average.add<Real>(parameters_.copied_values(0));
  else
    average.add<Real>(parameters_.values(0));
}

template <class Real>
void TypedTrainer<Real>::set_parameters(std::span<const double> values) {
  QUINTET_ASSERT(values.size() == parameters_.size(), "{} values for {} parameters", values.size(),
                 parameters_.size());
  const AlignedVector<Real> typed(values.begin(), values.end());
  parameters_.assign_values(typed);
  stale_ = true;
}

template <class Real>
void TypedTrainer<Real>::save(hdf5::Group& group) const {
  quintet::save(group, parameters_, "weights, biases and time steps");
  group.set_attribute("adam_step", step_);
  passes_->save(group);
}

template <class Real>
void TypedTrainer<Real>::load(hdf5::Group& group) {
  quintet::restore(group, parameters_);
  step_ = group.integer_attribute("adam_step");
  stale_ = true;
  passes_->load(group, model());
}

template class TypedTrainer<float>;
template class TypedTrainer<double>;

Deviations& Deviations::operator+=(const Deviations& other) {
  frames += other.frames;
  with_energy += other.with_energy;
  with_force += other.with_force;
  with_virial += other.with_virial;
  loss += other.loss;
  energy += other.energy;
  force += other.force;
  virial += other.virial;
  overflowing += other.overflowing;
  return *this;
}

namespace {
double root_mean(double sum, std::int64_t n) { return n > 0 ? std::sqrt(sum / n) : 0.0; }
}  // namespace

double Deviations::rmse_energy() const { return root_mean(energy, with_energy); }
double Deviations::rmse_force() const { return root_mean(force, with_force); }
double Deviations::rmse_virial() const { return root_mean(virial, with_virial); }

Deviations sum(const Comm& comm, Deviations part) {
  std::array<std::int64_t, 5> counts{part.frames, part.with_energy, part.with_force, part.with_virial,
                                     part.overflowing};
  std::array<double, 4> sums{part.loss, part.energy, part.force, part.virial};
  comm.reduce(std::span<std::int64_t>(counts), Comm::Reduction::sum);
  comm.reduce(std::span<double>(sums), Comm::Reduction::sum);
  return {counts[0], counts[1], counts[2], counts[3], sums[0], sums[1], sums[2], sums[3], counts[4]};
}

std::unique_ptr<Trainer> Trainer::create(const Model& start, SelRule rule, const OptimiserOptions& adam,
                                         const Comm& comm, const ParallelOptions& parallel,
                                         const OffloadOptions& offload, const TrainingDevice& device) {
  QUINTET_CHECK(parallel.zero_stage() < 3, "parallel.stage: 3 {}; choose 1 or 2", trainer_traits.no_stage_3);
  if (start.single_precision)
    return std::make_unique<TypedTrainer<float>>(start, rule, adam, comm, parallel, offload, device);
  return std::make_unique<TypedTrainer<double>>(start, rule, adam, comm, parallel, offload, device);
}

}  // namespace quintet::potential
