#include "surrogates/resident/divided_parameters.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <utility>

#include <ATen/core/grad_mode.h>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "surrogates/bridge/operators.hpp"
#include "surrogates/resident/device_numbers.hpp"
#include "surrogates/training/stores/gathered_slices.hpp"
#include "surrogates/training/stores/parameter_store.hpp"

namespace quintet {

template <class Real>
DividedParameters<Real>::DividedParameters(const TorchDevice& device, const StoreRequest& request)
    : comm_(request.comm.split(0, request.comm.rank())),  // what travels meets no message of the blocks'
      device_(device),
      layout_(request.layout),
      overlaps_(request.parallel.progress == Progress::blocks),
      gradient_(zeros_at<Real>(device.place(), comm_.size() * layout_.largest_slice())),
      sums_(zeros_at<Real>(device.place(), static_cast<std::int64_t>(layout_.slices()))),
      optimiser_(device, request, static_cast<std::int64_t>(layout_.slices())),
      messages_(comm_, device, static_cast<std::int64_t>(layout_.largest_slice()), true) {
  if (request.stage() == 3)
    at_hand_.emplace(comm_, device, layout_, overlaps_);
  else
    values_ = zeros_at<Real>(device.place(), static_cast<std::int64_t>(layout_.padded()));
}

template <class Real>
at::Tensor DividedParameters<Real>::whole(const at::Tensor& all, const Unit& unit) const {
  return all.narrow(0, unit.offset, comm_.size() * unit.slice);
}

template <class Real>
at::Tensor DividedParameters<Real>::updated(int number) const {
  if (at_hand_) return at_hand_->slice(number);
  const Unit& unit = layout_.units()[number];
  const std::int64_t slice = unit.slice;
  return whole(values_, unit).narrow(0, comm_.rank() * slice, slice);
}

template <class Real>
Real* DividedParameters<Real>::values(int block) const {
  if (at_hand_) return at_hand_->values(block);
  return values_.data_ptr<Real>() + layout_.blocks()[block].offset;
}

template <class Real>
Real* DividedParameters<Real>::gradient(int block) {
  in_device_arrays([&] { finish_reduction(); });
  const auto& it = layout_.blocks()[block];
  return gradient_.data_ptr<Real>() + (it.offset - layout_.units()[it.unit].offset);
}

template <class Real>
void DividedParameters<Real>::enter(int block, PassWay way) {
  messages_.progress();
  if (at_hand_)
    in_device_arrays([&] {
      const at::NoGradGuard no_graph;
      at_hand_->enter(block, way);
    });
}

template <class Real>
void DividedParameters<Real>::leave() {
  if (at_hand_) in_device_arrays([&] { at_hand_->leave(); });
}

template <class Real>
void DividedParameters<Real>::finish(int block) {
  if (at_hand_) at_hand_->progress();
  messages_.progress();
  const int unit = layout_.blocks()[block].unit;
  if (block != layout_.units()[unit].first_block) return;
  in_device_arrays([&] {
    finish_reduction();
    start_reduction(unit);
    if (!overlaps_) finish_reduction();
  });
}

template <class Real>
void DividedParameters<Real>::start_reduction(int number) {
  const Unit& unit = layout_.units()[number];
  messages_.start_sum(gradient_.narrow(0, 0, comm_.size() * unit.slice));
  reduced_ = number;
}

template <class Real>
void DividedParameters<Real>::finish_reduction() {
  if (reduced_ < 0) return;
  const at::NoGradGuard no_graph;
  const Unit& unit = layout_.units()[std::exchange(reduced_, -1)];
  messages_.finish_sum(sums_.narrow(0, place_of(unit), static_cast<std::int64_t>(unit.slice)));
  gradient_.narrow(0, 0, comm_.size() * unit.slice).zero_();
}

template <class Real>
void DividedParameters<Real>::refuse_bad_gradient(std::int64_t t) {
  int first = INT_MAX;                                                           // unit
  if (!std::isfinite(at::linalg_vector_norm(sums_, INFINITY).item<double>())) {  // largest |g|, in one sweep
    const auto place = at::isfinite(sums_).logical_not().nonzero()[0].item<std::int64_t>();
    first = 0;
    for (const Unit& unit : layout_.units())
      if (place >= place_of(unit) + static_cast<std::int64_t>(unit.slice)) ++first;
  }
  first = comm_.minimum(first);
  if (first == INT_MAX) return;
  clear_gradient();
  const std::size_t block = layout_.units()[first].first_block;
  throw NumericalError(bad_gradient_text(t, layout_.blocks()[block].name));
}

template <class Real>
void DividedParameters<Real>::step(std::int64_t t, double learning_rate) {
  in_device_arrays([&] {
    const at::NoGradGuard no_graph;
    finish_reduction();
    if (at_hand_) at_hand_->leave();  // values of before
    refuse_bad_gradient(t);
    const auto& units = layout_.units();
    for (std::size_t u = 0; u < units.size(); ++u) {
      const SlicePart part = slice_part(units[u], comm_.rank());
      const std::int64_t n = part.n;
      if (n == 0) continue;
      const std::int64_t place = place_of(units[u]);
      optimiser_.update(t, learning_rate, static_cast<std::int64_t>(units[u].first + part.first), place,
                        updated(u).narrow(0, 0, n), sums_.narrow(0, place, n));
    }
    optimiser_.finish(t);
    if (!at_hand_)
      for (const Unit& unit : units) messages_.gather(whole(values_, unit));
    sums_.zero_();
  });
}

template <class Real>
void DividedParameters<Real>::copy_here(const at::Tensor& from, std::span<Real> to) const {
  on_host(to).copy_(from);
  bytes_copied_ += from.nbytes();
}

template <class Real>
std::vector<double> DividedParameters<Real>::total_gradient() {
  std::vector<Real> own(layout_.slices());
  in_device_arrays([&] {
    finish_reduction();
    copy_here(sums_, own);
  });
  std::vector<double> total(layout_.n_parameters());
  for (const Unit& unit : layout_.units()) {
    const SlicePart part = slice_part(unit, comm_.rank());
    std::copy_n(own.begin() + place_of(unit), part.n, total.begin() + (unit.first + part.first));
  }
  comm_.reduce(std::span<double>(total), Comm::Reduction::sum);
  return total;
}

template <class Real>
void DividedParameters<Real>::clear_gradient() {
  in_device_arrays([&] {
    finish_reduction();
    gradient_.zero_();
    sums_.zero_();
  });
}

template <class Real>
std::vector<Real> DividedParameters<Real>::copied_values(int block) const {
  const std::int64_t n = layout_.blocks()[block].size;
  std::vector<Real> here(n);
  in_device_arrays([&] { copy_here(at::from_blob(values(block), {n}, sums_.options()), here); });
  return here;
}

template <class Real>
std::vector<Real> DividedParameters<Real>::all_values() const {
  if (at_hand_) {
    std::vector<Real> own(layout_.slices());
    in_device_arrays([&] { copy_here(at_hand_->slices(), own); });
    return gathered_slices(comm_, layout_, comm_.rank(), std::span<const Real>(own));
  }
  std::vector<Real> all;
  if (!comm_.is_root()) return all;
  all.resize(layout_.n_parameters());
  in_device_arrays([&] {
    for (const Unit& unit : layout_.units())
      copy_here(values_.narrow(0, unit.offset, unit.size), std::span(all).subspan(unit.first, unit.size));
  });
  return all;
}

template <class Real>
std::vector<Real> DividedParameters<Real>::all_states(int state) const {
  std::vector<Real> own(layout_.slices());
  in_device_arrays([&] { optimiser_.read(state, 0, own); });
  return gathered_slices(comm_, layout_, comm_.rank(), std::span<const Real>(own));
}

template <class Real>
void DividedParameters<Real>::assign_values(std::span<const Real> values) {
  in_device_arrays([&] {
    const at::NoGradGuard no_graph;
    if (at_hand_) at_hand_->leave();
    const auto& units = layout_.units();
    for (std::size_t u = 0; u < units.size(); ++u) {
      const Unit& unit = units[u];
      const SlicePart part = at_hand_ ? slice_part(unit, comm_.rank()) : SlicePart{0, unit.size};
      const at::Tensor to = at_hand_ ? at_hand_->slice(static_cast<int>(u)) : whole(values_, unit);
      to.narrow(0, 0, part.n).copy_(on_host(values.subspan(unit.first + part.first, part.n)));
      bytes_copied_ += part.n * sizeof(Real);
    }
  });
}

template <class Real>
void DividedParameters<Real>::assign_state(int state, std::span<const Real> values) {
  in_device_arrays([&] {
    for (const Unit& unit : layout_.units()) {
      const SlicePart part = slice_part(unit, comm_.rank());
      optimiser_.write(state, place_of(unit), values.subspan(unit.first + part.first, part.n));
    }
  });
}

template <class Real>
HeldBytes DividedParameters<Real>::bytes() const {
  HeldBytes held;
  held.values = at_hand_ ? bytes_of(at_hand_->slices()) : bytes_of(values_);
  held.gradients = bytes_of(sums_);
  held.live = bytes_of(gradient_) + (at_hand_ ? at_hand_->at_hand_bytes() : 0);
  held.optimiser = optimiser_.device_bytes();
  held.workspace = messages_.device_bytes();
  return held;
}

template <class Real>
HeldBytes DividedParameters<Real>::host_bytes() const {
  HeldBytes held = optimiser_.host_bytes();
  held.workspace += messages_.host_bytes() + (at_hand_ ? at_hand_->messages().host_bytes() : 0);
  if (device_.place().is_cpu()) held += bytes();
  return held;
}

template <class Real>
std::int64_t DividedParameters<Real>::bytes_sent() const {
  return messages_.bytes_sent() + (at_hand_ ? at_hand_->messages().bytes_sent() : 0);
}

template <class Real>
std::int64_t DividedParameters<Real>::bytes_copied() const {
  return bytes_copied_ + messages_.bytes_copied() + optimiser_.bytes_copied() +
         (at_hand_ ? at_hand_->messages().bytes_copied() : 0);
}

template class DividedParameters<float>;
template class DividedParameters<double>;

}  // namespace quintet
