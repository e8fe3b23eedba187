#include "surrogates/resident/units_at_hand.hpp"

#include <utility>

#include "surrogates/bridge/operators.hpp"
#include "surrogates/resident/device_numbers.hpp"

namespace quintet {

template <class Real>
UnitsAtHand<Real>::UnitsAtHand(const Comm& comm, const TorchDevice& device, const FlatLayout& layout,
                               bool overlaps)
    : comm_(comm),
      layout_(layout),
      slices_(zeros_at<Real>(device.place(), static_cast<std::int64_t>(layout.slices()))),
      messages_(comm_, device, static_cast<std::int64_t>(layout.largest_slice()), false) {
  const std::int64_t largest = comm.size() * layout.largest_slice();
  arrays_[0] = zeros_at<Real>(device.place(), largest);
  if (overlaps && layout.units().size() > 1) arrays_[1] = zeros_at<Real>(device.place(), largest);
}

template <class Real>
at::Tensor UnitsAtHand<Real>::slice(int number) const {
  const std::size_t place = unit(number).offset / static_cast<std::size_t>(comm_.size());
  return slices_.narrow(0, place, static_cast<std::int64_t>(unit(number).slice));
}

template <class Real>
Real* UnitsAtHand<Real>::values(int block) const {
  const auto& it = layout_.blocks()[block];
  return arrays_[current_].template data_ptr<Real>() + (it.offset - unit(it.unit).offset);
}

template <class Real>
void UnitsAtHand<Real>::start_gather(int number, std::size_t array) {
  const std::int64_t slice_size = unit(number).slice;
  const at::Tensor all = arrays_[array].narrow(0, 0, comm_.size() * slice_size);
  all.narrow(0, comm_.rank() * slice_size, slice_size).copy_(slice(number));
  messages_.start_gather(all);
}

template <class Real>
void UnitsAtHand<Real>::enter(int block, PassWay way) {
  progress();
  const int number = layout_.blocks()[block].unit;
  if (number == here_) return;
  const int came = std::exchange(coming_, -1);
  if (came >= 0) messages_.finish_gather();
  if (came == number) {
    current_ = 1 - current_;
  } else {
    start_gather(number, current_);
    messages_.finish_gather();
  }
  here_ = number;
  const int next = unit(number).next[static_cast<std::size_t>(way)];
  if (!arrays_[1].defined() || next < 0) return;
  start_gather(next, 1 - current_);
  coming_ = next;
}

template <class Real>
void UnitsAtHand<Real>::leave() {
  if (std::exchange(coming_, -1) >= 0) messages_.finish_gather();
  here_ = -1;
}

template <class Real>
std::size_t UnitsAtHand<Real>::at_hand_bytes() const {
  return bytes_of(arrays_[0]) + bytes_of(arrays_[1]);
}

template class UnitsAtHand<float>;
template class UnitsAtHand<double>;

}  // namespace quintet
