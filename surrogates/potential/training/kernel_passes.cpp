#include "surrogates/potential/training/kernel_passes.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/tiers/huge_pages.hpp"
#include "surrogates/potential/evaluation/forces.hpp"

// For each frame (typed_trainer.hpp has the equations, S = ge E + Edot), type by type:
//
//   predict()         energies, forces and virial
//     fill_batches()    neighbours -> rows R -> T, with the moments kept
//     forwards          T -> descriptor D -> fitting net: E and dE/dD
//     backwards         dE/dD -> dE/dT -> dE/dR; add_forces()
//   differentiate()   along displacements -gF and strain -gV
//     tangents          tangent(): Rdot; then Tdot, Ddot
//     fitting net       its gradient of S, and D_bar
//     backwards         D_bar -> T_bar, to which Tdot and dE/dD add; add_gradient(): samples of G
//
// then collect(): samples of G, and weights of tied inputs -> the flat gradient
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
KernelPasses<Real>::KernelPasses(const Model& start, const ParameterLayout& places, SelRule rule)
    : start_(start),
      places_(places),
      environment_(start, rule),
      inputs_(start, pack_width<Real>),
      groups_(start.n_types()) {
  for (int t = 0; t < start.n_types(); ++t)
    fitting_.push_back(fitting_chain<Real>(start.fitting[t], places_.fitting[t], inputs_));
}

template <class Real>
void KernelPasses<Real>::choose_intervals(const Real* parameters) {
  Model now = start_;
  const std::vector<double> values(parameters, parameters + places_.size);
  set_parameters(now, places_, values.data());
  embedding_ = trained_embedding<Real>(now, places_, tolerance<Real>, covered_);
  embedding_->refresh(parameters);
  allowed_ = std::max(10 * tolerance<Real>, 4 * embedding_->unresolved());
  if (const double error = embedding_->error(); error > 100 * tolerance<Real> && !warned_) {
    warned_ = true;
    log::warning(
        "the embedding networks are sampled with a relative error of {:.1e} only (activations with kinks, or "
        "large weights)",
        error);
  }
}

/// Give the networks the parameters of now; choose the embedding's intervals anew where they no longer serve.
template <class Real>
void KernelPasses<Real>::refresh(std::span<const TrainingFrame* const> frames, const Real* parameters,
                                 bool changed) {
  for (const TrainingFrame* frame : frames) cover(frame->least_distance);
  if (!changed && embedding_) return;
  if (embedding_) embedding_->refresh(parameters);
  if (!embedding_ || embedding_->unresolved() > allowed_) choose_intervals(parameters);
  if (changed)
    for (auto& fitting : fitting_) fitting.refresh(parameters);
}

template <class Real>
void KernelPasses<Real>::cover(double closest) {
  if (0.98 * closest >= covered_) return;
  covered_ = 0.98 * closest;
  embedding_.reset();
}

template <class Real>
void KernelPasses<Real>::fill_batches(const TrainingFrame& frame, Group& group) {
  const std::size_t n_batches = (group.atoms.size() + batch_atoms - 1) / batch_atoms;
  if (group.batches.size() < n_batches) {
    group.batches.resize(n_batches);
    group.records.resize(n_batches);
  }
  const int type = &group - groups_.data();
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
void KernelPasses<Real>::predict(const TrainingFrame& frame, int type, Group& group, Prediction& prediction) {
  const std::size_t n = group.atoms.size(), d_stride = inputs_.stride();
  const Descriptor& descriptor = inputs_.descriptors.front();
  const int stride = padded(start_.n_channels(), pack_width<Real>);
  const std::size_t t_size = 4 * std::int64_t{stride};
  grown_ = grown_ || group.d.size() < n * d_stride;
  for (auto* array : {&group.d, &group.d_dot, &group.d_bar, &group.d_dot_bar}) grow(*array, n * d_stride);
  for (auto* array : {&group.t_bar, &group.t_dot, &group.t_dot_bar})
    grow(*array, n * t_size + pack_width<Real>);  // the descriptor reads whole packs from any channel on
  grow(work_, std::int64_t{start_.axis_neuron} * stride);
  fill_batches(frame, group);
  const auto describe = [&](int first, int some) {
    for (std::size_t i = first; i < static_cast<std::size_t>(first + some); ++i) {
      Real* d = group.d.data() + i * d_stride;
      descriptor.forward(group.batches[i / batch_atoms].t.data() + i % batch_atoms * t_size, stride, d);
      inputs_.put_parameters(start_.atom_parameters,
                             frame.parameters.data() + group.atoms[i] * std::int64_t{inputs_.n_parameters},
                             d);
    }
  };
  const auto back = [&](int first, int some) {
    for (std::size_t i = first; i < static_cast<std::size_t>(first + some); ++i) {
      auto& batch = group.batches[i / batch_atoms];
      const int b = i % batch_atoms;
      Real* dt = group.t_dot_bar.data() + i * t_size;
      descriptor.backward(batch.t.data() + b * t_size, stride, group.d_dot_bar.data() + i * d_stride, dt,
                          work_.data());
      std::copy_n(dt, t_size, batch.dt.data());
      embedding_->backward(batch, b, group.records[i / batch_atoms].scratch);
      add_forces_of(
          batch, b, start_.deviation[type], [&](int image) { return frame.owner[image]; },
          prediction.force.data(), prediction.virial);
      prediction.energy += group.tape.sum[i];
    }
  };
  fitting_[type].forward_and_adjoint({group.d.data(), inputs_.stride()}, static_cast<int>(n),
                                     networks::Keep::tangent, {group.d_dot_bar.data(), inputs_.stride()},
                                     group.tape, describe, back);
}

template <class Real>
void KernelPasses<Real>::predict(std::span<const TrainingFrame* const> frames, Sharer sharer,
                                 std::span<Prediction> predictions, bool /*is_differentiated*/) {
  const TrainingFrame& frame = *frames.front();
  Prediction& prediction = predictions.front();
  AtomShare share = share_of(frame, start_, sharer);
  prediction.energy = share.energy;
  prediction.force.assign(3 * std::int64_t{frame.n_atoms}, 0.0);
  prediction.virial = {};
  for (int type = 0; type < start_.n_types(); ++type) {
    groups_[type].atoms = std::move(share.atoms[type]);
    if (!groups_[type].atoms.empty()) predict(frame, type, groups_[type], prediction);
  }
}

/// Tangents Rdot of a batch's rows for displacements -dL/dF and strain -dL/dV.
template <class Real>
void KernelPasses<Real>::tangent(const TrainingFrame& frame, const Adjoint& adjoint,
                                 const Batch<Real>& batch) {
  const int n_types = start_.n_types();
  const auto& deviation = start_.deviation[batch.centre];
  const double scale[3] = {1 / deviation[1], 1 / deviation[2], 1 / deviation[3]};
  const double* v = adjoint.force.data();
  grow(row_dot_, 4 * batch.neighbour.size());
  for (int b = 0; b < batch.n_atoms; ++b) {
    const double* own = v + 3 * std::int64_t{batch.atom[b]};
    for (int r = batch.first[b * n_types]; r < batch.first[(b + 1) * n_types]; ++r) {
      const double d[3] = {batch.dx[r], batch.dy[r], batch.dz[r]};
      const double* other = v + 3 * std::int64_t{frame.owner[batch.neighbour[r]]};
      double d_dot[3], along = 0;
      for (int k = 0; k < 3; ++k) {
        d_dot[k] = own[k] - other[k];
        for (int l = 0; l < 3; ++l) d_dot[k] -= adjoint.virial[3 * k + l] * d[l];
        along += d[k] * d_dot[k];
      }
      Real* row_dot = row_dot_.data() + 4 * std::int64_t{r};
      row_dot[0] = static_cast<Real>(batch.slope[r] * along);
      for (int k = 0; k < 3; ++k)
        row_dot[k + 1] = static_cast<Real>((batch.q[r] * d_dot[k] + batch.dq[r] * along * d[k]) * scale[k]);
    }
  }
}

/// Tangent and gradient of the atoms of one type.
template <class Real>
void KernelPasses<Real>::differentiate(const TrainingFrame& frame, const Adjoint& adjoint, int type,
                                       Group& group, Real* gradient) {
  const std::size_t n = group.atoms.size(), d_stride = inputs_.stride();
  const Descriptor& descriptor = inputs_.descriptors.front();
  const int stride = padded(start_.n_channels(), pack_width<Real>);
  const std::size_t t_size = 4 * std::int64_t{stride};
  for (std::size_t k = 0; k * batch_atoms < n; ++k) {
    tangent(frame, adjoint, group.batches[k]);
    embedding_->tangent(group.batches[k], row_dot_.data(), group.records[k],
                        group.t_dot.data() + k * batch_atoms * t_size);
  }
  const auto t_of = [&](std::size_t i) {
    return group.batches[i / batch_atoms].t.data() + i % batch_atoms * t_size;
  };
  const auto describe = [&](int first, int some) {
    for (std::size_t i = first; i < static_cast<std::size_t>(first + some); ++i) {
      Real* d_dot = group.d_dot.data() + i * d_stride;
      descriptor.tangent(t_of(i), group.t_dot.data() + i * t_size, stride, d_dot);
      std::fill_n(d_dot + inputs_.size - inputs_.n_parameters, inputs_.n_parameters, Real(0));
    }
  };
  // D is bilinear in T: T_bar = D_bar through T, and Ddot_bar through Tdot. That of distances alone is
  // linear.
  AlignedVector<Real> through_t_dot(t_size);
  const auto back = [&](int first, int some) {
    for (std::size_t i = first; i < static_cast<std::size_t>(first + some); ++i) {
      Real* t_bar = group.t_bar.data() + i * t_size;
      descriptor.backward(t_of(i), stride, group.d_bar.data() + i * d_stride, t_bar, work_.data());
      if (descriptor.axis_neuron() == 0) continue;
      descriptor.backward(group.t_dot.data() + i * t_size, stride, group.d_dot_bar.data() + i * d_stride,
                          through_t_dot.data(), work_.data());
      for (std::size_t k = 0; k < t_size; ++k) t_bar[k] += through_t_dot[k];
    }
  };
  const int row = inputs_.stride();
  fitting_[type].differentiate({group.d.data(), row}, {group.d_dot.data(), row},
                               static_cast<Real>(adjoint.energy), {group.d_bar.data(), row}, group.tape,
                               gradient, describe, back);
  for (std::size_t k = 0; k * batch_atoms < n; ++k)
    embedding_->add_gradient(group.batches[k], group.records[k],
                             group.t_bar.data() + k * batch_atoms * t_size,
                             group.t_dot_bar.data() + k * batch_atoms * t_size);
}

template <class Real>
void KernelPasses<Real>::differentiate(std::span<const TrainingFrame* const> frames,
                                       std::span<const Adjoint> adjoints, Real* gradient) {
  for (int type = 0; type < start_.n_types(); ++type)
    if (!groups_[type].atoms.empty())
      differentiate(*frames.front(), adjoints.front(), type, groups_[type], gradient);
}

template <class Real>
void KernelPasses<Real>::gather_arrays() const {
  const auto gather = [](const AlignedVector<Real>& array) {
    gather_in_huge_pages(array.data(), array.size() * sizeof(Real));
  };
  for (std::size_t t = 0; t < groups_.size(); ++t) {
    const Group& group = groups_[t];
    fitting_[t].visit_arrays(group.tape, gather_in_huge_pages);
    for (const auto* array : {&group.t_bar, &group.t_dot, &group.t_dot_bar, &group.d, &group.d_dot,
                              &group.d_bar, &group.d_dot_bar})
      gather(*array);
    for (const auto& record : group.records) {
      gather(record.moments);
      gather(record.tangent);
    }
  }
}

template <class Real>
void KernelPasses<Real>::collect(Real* gradient) {
  if (std::exchange(grown_, false)) gather_arrays();
  embedding_->collect(gradient);
  for (const auto& fitting : fitting_) fitting.share_gradient(gradient);
}

template <class Real>
int KernelPasses<Real>::take_overflowing() {
  return std::exchange(environment_scratch_.overflowing, 0);
}

template <class Real>
void KernelPasses<Real>::save(hdf5::Group& group) const {
  // The intervals on which the networks are sampled have a history: without them a restart would differ in
  // the last bits.
  group.set_attribute("covered_distance", covered_);
  group.set_attribute("unresolved_allowed", allowed_);
  if (embedding_) group.set_attribute("embedding_intervals", embedding_->intervals());
}

template <class Real>
void KernelPasses<Real>::load(hdf5::Group& group, const Model& now) {
  embedding_.reset();  // a training on a device leaves none
  if (group.has_attribute("covered_distance")) covered_ = group.number_attribute("covered_distance").at(0);
  if (group.has_attribute("unresolved_allowed"))
    allowed_ = group.number_attribute("unresolved_allowed").at(0);
  if (!group.has_attribute("embedding_intervals")) return;
  embedding_ = restored_embedding<Real>(now, places_, group.number_attribute("embedding_intervals"));
}

template class KernelPasses<float>;
template class KernelPasses<double>;

}  // namespace quintet::potential
