#include "surrogates/potential/training/typed_trainer.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "surrogates/potential/evaluation/forces.hpp"
#include "surrogates/training/flat_checkpoint.hpp"

// The gradient of the loss without a graph (typed_trainer.hpp has the equations, S = ge E + Edot).
//
//   gradient(), after refresh() has given the networks the parameters of now, for each frame:
//     1. predict()         energies, forces and virial, type by type:
//          fill_batches()    neighbours -> rows R -> T, with the moments kept
//          forwards          T -> descriptor D -> fitting net: E and dE/dD
//          backwards         dE/dD -> dE/dT -> dE/dR; add_forces()
//     2. compare()         deviations from the labels, and the loss's derivatives: ge, gF, gV (Adjoint)
//     3. differentiate()   type by type, along displacements -gF and strain -gV:
//          tangents          tangent(): Rdot; then Tdot, Ddot
//          fitting net       its gradient of S, and D_bar
//          backwards         D_bar -> T_bar, to which Tdot and dE/dD add; add_gradient(): samples of G
//   then collect() and share_gradient(): samples of G, and weights of tied inputs -> the flat gradient
//
//   update(): the sum over ranks, and a step of Adam
namespace quintet::potential {

namespace {

/// Largest error of the samples' polynomials relative to the largest |G|: below the arithmetic's own.
template <class Real>
constexpr double tolerance = sizeof(Real) == 8 ? 1e-13 : 1e-7;

template <class Real>
void grow(AlignedVector<Real>& array, std::size_t size) {
  if (array.size() < size) array.resize(size, Real(0));
}

}  // namespace

template <class Real>
TypedTrainer<Real>::TypedTrainer(const Model& start, SelRule rule, const OptimiserOptions& adam,
                                 const Comm& comm, const ParallelOptions& parallel,
                                 const OffloadOptions& offload)
    : comm_(comm),
      start_(start),
      places_(start),
      parameters_(comm, one_block("networks", places_.size), parameters_of(start, places_), adam, parallel,
                  offload),
      environment_(start, rule),
      descriptor_(start.n_channels(), start.axis_neuron, pack_width<Real>),
      groups_(start.n_types()) {
  for (int t = 0; t < start.n_types(); ++t) {
    fitting_.push_back(fitting_chain<Real>(start.fitting[t], places_.fitting[t], descriptor_));
    QUINTET_CHECK(!fitting_.back().output_has_timestep(),
                  "the fitting network of {} has a time step at its output: it can be evaluated, not trained",
                  start.type_names[t]);
  }
}

template <class Real>
void TypedTrainer<Real>::choose_intervals() {
  const Model now = model();
  embedding_ = std::make_unique<TrainableEmbedding<Real>>(
      now, places_, choose_layout(now, pack_width<Real>, tolerance<Real>, covered_));
  embedding_->refresh(parameters_.values(0).data());
  allowed_ = std::max(10 * tolerance<Real>, 4 * embedding_->unresolved());
  if (const double error = embedding_->layout().error; error > 100 * tolerance<Real> && !warned_) {
    warned_ = true;
    log::warning(
        "the embedding networks are sampled with a relative error of {:.1e} only (activations with kinks, or "
        "large weights)",
        error);
  }
}

/// Give the networks the parameters of now; choose the embedding's intervals anew where they no longer serve.
template <class Real>
void TypedTrainer<Real>::refresh(std::span<const TrainingFrame* const> frames) {
  for (const TrainingFrame* frame : frames) cover(frame->least_distance);
  if (!stale_ && embedding_) return;
  if (embedding_) embedding_->refresh(parameters_.values(0).data());
  if (!embedding_ || embedding_->unresolved() > allowed_) choose_intervals();
  if (stale_)
    for (auto& fitting : fitting_) fitting.refresh(parameters_.values(0).data());
  stale_ = false;
}

template <class Real>
void TypedTrainer<Real>::cover(double closest) {
  if (0.98 * closest >= covered_) return;
  covered_ = 0.98 * closest;
  embedding_.reset();
}

template <class Real>
void TypedTrainer<Real>::fill_batches(const TrainingFrame& frame, Group& group) {
  const std::size_t n_batches = (group.atoms.size() + batch_atoms - 1) / batch_atoms;
  if (group.batches.size() < n_batches) {
    group.batches.resize(n_batches);
    group.records.resize(n_batches);
  }
  const int type = static_cast<int>(&group - groups_.data());
  for (std::size_t k = 0; k < n_batches; ++k) {
    auto& batch = group.batches[k];
    if (batch.t.empty())
      batch.reserve(batch_atoms, std::min(start_.n_slots(), 128), start_.n_types(), start_.n_channels());
    batch.centre = type;
    batch.n_atoms = 0;
    for (std::size_t at = k * batch_atoms; at < std::min((k + 1) * batch_atoms, group.atoms.size()); ++at)
      environment_.append(group.atoms[at], frame.position.data(), frame.type.data(), frame.offset.data(),
                          frame.neighbour.data(), batch, environment_scratch_);
    embedding_->record(batch, group.records[k]);
  }
}

/// Values and adjoint: energies and forces of the atoms of one type.
template <class Real>
void TypedTrainer<Real>::predict(const TrainingFrame& frame, int type, Group& group) {
  const std::size_t n = group.atoms.size(), d_stride = descriptor_.stride();
  const int stride = padded(start_.n_channels(), pack_width<Real>);
  const std::size_t t_size = 4 * static_cast<std::size_t>(stride);
  for (auto* array : {&group.d, &group.d_dot, &group.d_bar, &group.d_dot_bar}) grow(*array, n * d_stride);
  for (auto* array : {&group.t_bar, &group.t_dot, &group.t_dot_bar})
    grow(*array, n * t_size + pack_width<Real>);  // the descriptor reads whole packs from any channel on
  grow(work_, static_cast<std::size_t>(start_.axis_neuron) * stride);
  fill_batches(frame, group);
  const auto describe = [&](int first, int some) {
    for (std::size_t i = first; i < static_cast<std::size_t>(first + some); ++i)
      descriptor_.forward(group.batches[i / batch_atoms].t.data() + i % batch_atoms * t_size, stride,
                          group.d.data() + i * d_stride);
  };
  const auto back = [&](int first, int some) {
    for (std::size_t i = first; i < static_cast<std::size_t>(first + some); ++i) {
      auto& batch = group.batches[i / batch_atoms];
      const int b = static_cast<int>(i % batch_atoms);
      Real* dt = group.t_dot_bar.data() + i * t_size;
      descriptor_.backward(batch.t.data() + b * t_size, stride, group.d_dot_bar.data() + i * d_stride, dt,
                           work_.data());
      std::copy_n(dt, t_size, batch.dt.data());
      embedding_->backward(batch, b, group.records[i / batch_atoms].scratch);
      add_forces_of(
          batch, b, start_.deviation[type], [&](int image) { return frame.owner[image]; },
          prediction_.force.data(), prediction_.virial);
      prediction_.energy += group.tape.sum[i];
    }
  };
  fitting_[type].forward_and_adjoint({group.d.data(), descriptor_.stride()}, static_cast<int>(n),
                                     networks::Keep::tangent, {group.d_dot_bar.data(), descriptor_.stride()},
                                     group.tape, describe, back);
}

template <class Real>
void TypedTrainer<Real>::Prediction::sum_over(const Comm& comm) {
  if (comm.size() == 1) return;
  force.push_back(energy);
  force.insert(force.end(), virial.begin(), virial.end());
  comm.reduce(std::span<double>(force), Comm::Reduction::sum);
  std::copy(force.end() - 9, force.end(), virial.begin());
  energy = *(force.end() - 10);
  force.resize(force.size() - 10);
}

/// Energy, forces and virial of a frame whose atoms `sharing` divides.
template <class Real>
void TypedTrainer<Real>::predict(const TrainingFrame& frame, const Comm& sharing) {
  constexpr int block = 8;  // atoms: a tile of the matrix products
  prediction_.energy = 0;
  prediction_.force.assign(3 * static_cast<std::size_t>(frame.n_atoms), 0.0);
  prediction_.virial = {};
  std::vector<int> count(start_.n_types(), 0);
  for (auto& group : groups_) group.atoms.clear();
  for (int i = 0; i < frame.n_atoms; ++i) {
    const int type = frame.type[i];
    if (count[type]++ / block % sharing.size() != sharing.rank() || start_.excluded_atoms[type]) continue;
    prediction_.energy += start_.output_bias[type];
    if (start_.excluded_fitting[type]) continue;
    prediction_.energy += start_.atom_bias[type];
    groups_[type].atoms.push_back(i);
  }
  for (int type = 0; type < start_.n_types(); ++type)
    if (!groups_[type].atoms.empty()) predict(frame, type, groups_[type]);
  prediction_.sum_over(sharing);
}

/// Deviations of the prediction from the labels; if asked, the derivatives of 1/batch_size times the loss.
template <class Real>
Deviations TypedTrainer<Real>::compare(const TrainingFrame& frame, const LossPrefactors& prefactors,
                                       int batch_size, Adjoint* adjoint) const {
  Deviations result;
  result.frames = 1;
  const double n = frame.n_atoms, per_atoms = prefactors.intensive ? 1 / (n * n) : 1 / n;
  if (frame.energy) {
    const double difference = prediction_.energy - *frame.energy;
    result.with_energy = 1;
    result.energy = difference * difference / (n * n);
    result.loss += prefactors.energy * difference * difference * per_atoms;
    if (adjoint) adjoint->energy = 2 * prefactors.energy * difference * per_atoms / batch_size;
  }
  if (adjoint) adjoint->force.assign(prediction_.force.size(), 0.0);
  if (!frame.force.empty()) {
    double sum = 0;
    for (std::size_t i = 0; i < frame.force.size(); ++i) {
      const double difference = prediction_.force[i] - frame.force[i];
      sum += difference * difference;
      if (adjoint) adjoint->force[i] = 2 * prefactors.force * difference / (3 * n) / batch_size;
    }
    result.with_force = 1;
    result.force = sum / (3 * n);
    result.loss += prefactors.force * result.force;
  }
  if (frame.virial) {
    double sum = 0;
    for (int k = 0; k < 9; ++k) {
      const double difference = prediction_.virial[k] - (*frame.virial)[k];
      sum += difference * difference;
      if (adjoint) adjoint->virial[k] = 2 * prefactors.virial * difference * per_atoms / 9 / batch_size;
    }
    result.with_virial = 1;
    result.virial = sum / 9 / (n * n);
    result.loss += prefactors.virial * sum / 9 * per_atoms;
  }
  return result;
}

/// Tangents Rdot of a batch's rows for displacements -dL/dF and strain -dL/dV.
template <class Real>
void TypedTrainer<Real>::tangent(const TrainingFrame& frame, const Adjoint& adjoint,
                                 const Batch<Real>& batch) {
  const int n_types = start_.n_types();
  const auto& deviation = start_.deviation[batch.centre];
  const double scale[3] = {1 / deviation[1], 1 / deviation[2], 1 / deviation[3]};
  const double* v = adjoint.force.data();
  grow(row_dot_, 4 * batch.neighbour.size());
  for (int b = 0; b < batch.n_atoms; ++b) {
    const double* own = v + 3 * static_cast<std::size_t>(batch.atom[b]);
    for (int r = batch.first[b * n_types]; r < batch.first[(b + 1) * n_types]; ++r) {
      const double d[3] = {batch.dx[r], batch.dy[r], batch.dz[r]};
      const double* other = v + 3 * static_cast<std::size_t>(frame.owner[batch.neighbour[r]]);
      double d_dot[3], along = 0;
      for (int k = 0; k < 3; ++k) {
        d_dot[k] = own[k] - other[k];
        for (int l = 0; l < 3; ++l) d_dot[k] -= adjoint.virial[3 * k + l] * d[l];
        along += d[k] * d_dot[k];
      }
      Real* row_dot = row_dot_.data() + 4 * static_cast<std::size_t>(r);
      row_dot[0] = static_cast<Real>(batch.slope[r] * along);
      for (int k = 0; k < 3; ++k)
        row_dot[k + 1] = static_cast<Real>((batch.q[r] * d_dot[k] + batch.dq[r] * along * d[k]) * scale[k]);
    }
  }
}

/// Tangent and gradient of the atoms of one type.
template <class Real>
void TypedTrainer<Real>::differentiate(const TrainingFrame& frame, const Adjoint& adjoint, int type,
                                       Group& group) {
  const std::size_t n = group.atoms.size(), d_stride = descriptor_.stride();
  const int stride = padded(start_.n_channels(), pack_width<Real>);
  const std::size_t t_size = 4 * static_cast<std::size_t>(stride);
  for (std::size_t k = 0; k * batch_atoms < n; ++k) {
    tangent(frame, adjoint, group.batches[k]);
    embedding_->tangent(group.batches[k], row_dot_.data(), group.records[k],
                        group.t_dot.data() + k * batch_atoms * t_size);
  }
  const auto t_of = [&](std::size_t i) {
    return group.batches[i / batch_atoms].t.data() + i % batch_atoms * t_size;
  };
  const auto describe = [&](int first, int some) {
    for (std::size_t i = first; i < static_cast<std::size_t>(first + some); ++i)
      descriptor_.tangent(t_of(i), group.t_dot.data() + i * t_size, stride,
                          group.d_dot.data() + i * d_stride);
  };
  // D is bilinear in T: T_bar = D_bar through T, and Ddot_bar through Tdot.
  AlignedVector<Real> through_t_dot(t_size);
  const auto back = [&](int first, int some) {
    for (std::size_t i = first; i < static_cast<std::size_t>(first + some); ++i) {
      Real* t_bar = group.t_bar.data() + i * t_size;
      descriptor_.backward(t_of(i), stride, group.d_bar.data() + i * d_stride, t_bar, work_.data());
      descriptor_.backward(group.t_dot.data() + i * t_size, stride, group.d_dot_bar.data() + i * d_stride,
                           through_t_dot.data(), work_.data());
      for (std::size_t k = 0; k < t_size; ++k) t_bar[k] += through_t_dot[k];
    }
  };
  const int row = descriptor_.stride();
  fitting_[type].differentiate({group.d.data(), row}, {group.d_dot.data(), row},
                               static_cast<Real>(adjoint.energy), {group.d_bar.data(), row}, group.tape,
                               parameters_.gradient(0).data(), describe, back);
  for (std::size_t k = 0; k * batch_atoms < n; ++k)
    embedding_->add_gradient(group.batches[k], group.records[k],
                             group.t_bar.data() + k * batch_atoms * t_size,
                             group.t_dot_bar.data() + k * batch_atoms * t_size);
}

template <class Real>
Deviations TypedTrainer<Real>::gradient(std::span<const TrainingFrame* const> frames,
                                        const LossPrefactors& prefactors, int batch_size, Sharing sharing) {
  Deviations result;
  if (frames.empty()) return result;
  refresh(frames);
  environment_scratch_.overflowing = 0;
  const Comm sharers = sharing == Sharing::atoms ? comm_ : Comm::self();
  Adjoint adjoint;
  for (const TrainingFrame* frame : frames) {
    predict(*frame, sharers);
    adjoint.energy = 0;
    adjoint.virial = {};
    const Deviations deviations = compare(*frame, prefactors, batch_size, &adjoint);
    if (sharers.is_root()) result += deviations;  // counted once
    for (int type = 0; type < start_.n_types(); ++type)
      if (!groups_[type].atoms.empty()) differentiate(*frame, adjoint, type, groups_[type]);
  }
  Real* sum = parameters_.gradient(0).data();
  embedding_->collect(sum);
  for (const auto& fitting : fitting_) fitting.share_gradient(sum);
  result.overflowing = environment_scratch_.overflowing;
  return result;
}

template <class Real>
Deviations TypedTrainer<Real>::evaluate(std::span<const TrainingFrame* const> frames,
                                        const LossPrefactors& prefactors) {
  Deviations result;
  if (frames.empty()) return result;
  refresh(frames);
  environment_scratch_.overflowing = 0;
  for (const TrainingFrame* frame : frames) {
    predict(*frame, Comm::self());
    result += compare(*frame, prefactors, 1, nullptr);
  }
  result.overflowing = environment_scratch_.overflowing;
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
  const auto values = parameters_.values(0);
  return {values.begin(), values.end()};
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
  // The intervals on which the networks are sampled have a history: without them a restart would differ in
  // the last bits.
  group.set_attribute("covered_distance", covered_);
  group.set_attribute("unresolved_allowed", allowed_);
  if (!embedding_) return;
  const auto& layout = embedding_->layout();
  group.set_attribute(
      "embedding_intervals",
      std::vector<double>{static_cast<double>(layout.order), layout.width, layout.lower,
                          static_cast<double>(layout.n_intervals), layout.error, layout.slope_error});
}

template <class Real>
void TypedTrainer<Real>::load(hdf5::Group& group) {
  quintet::restore(group, parameters_);
  step_ = group.integer_attribute("adam_step");
  covered_ = group.number_attribute("covered_distance").at(0);
  allowed_ = group.number_attribute("unresolved_allowed").at(0);
  stale_ = true;
  if (!group.has_attribute("embedding_intervals")) return;
  const auto v = group.number_attribute("embedding_intervals");
  QUINTET_CHECK(v.size() == 6, "the checkpoint's embedding_intervals has {} numbers, not 6", v.size());
  embedding_ = std::make_unique<TrainableEmbedding<Real>>(
      model(), places_,
      SpectralLayout{static_cast<int>(v[0]), v[1], v[2], static_cast<int>(v[3]), v[4], v[5]});
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
double root_mean(double sum, std::int64_t n) { return n > 0 ? std::sqrt(sum / static_cast<double>(n)) : 0.0; }
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
                                         const OffloadOptions& offload) {
  QUINTET_CHECK(parallel.zero_stage() < 3, "parallel.stage: 3 {}; choose 1 or 2", trainer_traits.no_stage_3);
  if (start.single_precision)
    return std::make_unique<TypedTrainer<float>>(start, rule, adam, comm, parallel, offload);
  return std::make_unique<TypedTrainer<double>>(start, rule, adam, comm, parallel, offload);
}

}  // namespace quintet::potential
