#include <algorithm>
#include <utility>

#include "surrogates/training/stores/gathered_slices.hpp"
#include "surrogates/training/stores/host_store.hpp"

// What a HostStore hands out and takes: arrays without padding, in the order of files.
namespace quintet {

template <class Real>
template <class Copy>
std::vector<Real> HostStore<Real>::gather_slices(const Copy& copy) const {
  std::vector<Real> own(layout_.slices());
  std::size_t place = 0, to = 0;
  for (std::size_t u = 0; u < layout_.units().size(); ++u) {
    const Unit& unit = layout_.units()[u];
    copy(u, place + (rank_.slice(unit) - rank_.updated(unit)), std::span(own).subspan(to, unit.slice));
    place += rank_.updated_size(unit);
    to += unit.slice;
  }
  const int slice = rank_.holder.rank() * rank_.across.size() + rank_.across.rank();
  return layout_.to_file_order(gathered_slices(rank_.all, layout_, slice, std::span<const Real>(own)));
}

template <class Real>
std::vector<Real> HostStore<Real>::all_values() const {
  if (rank_.stage == 3 || splits_)
    return gather_slices([&](std::size_t unit, std::size_t place, std::span<Real> slice) {
      states_.read_values(place, values_.slice(unit), slice);
    });
  std::vector<Real> all;
  if (!rank_.all.is_root()) return all;
  all.reserve(layout_.n_parameters());
  for (std::size_t u = 0; u < layout_.units().size(); ++u) {
    const auto whole = values_.whole(u);
    const auto* const first = reinterpret_cast<const Real*>(whole.data());
    all.insert(all.end(), first, first + whole.size() / sizeof(Real));
  }
  return layout_.to_file_order(std::move(all));
}

template <class Real>
std::vector<Real> HostStore<Real>::copied_values(int block) const {
  const auto here = values_.of(block);
  return {here.begin(), here.end()};
}

template <class Real>
std::vector<Real> HostStore<Real>::all_states(int state) const {
  return gather_slices(
      [&](std::size_t, std::size_t place, std::span<Real> slice) { states_.read(state, place, slice); });
}

template <class Real>
PendingGradient<Real> HostStore<Real>::pending() const {
  if (pending_t_ == 0) return {};
  return {pending_t_, pending_rate_,
          gather_slices([&](std::size_t, std::size_t place, std::span<Real> slice) {
            std::copy_n(pending_.data() + place, slice.size(), slice.data());
          })};
}

template <class Real>
std::vector<double> HostStore<Real>::total_gradient() {
  finish_reduction();
  std::vector<double> total(layout_.n_parameters());
  std::size_t place = 0;
  for (const Unit& unit : layout_.units()) {
    const std::size_t first = rank_.stage < 2 ? 0 : std::min(unit.size, rank_.slice(unit));
    const std::size_t n = rank_.stage < 2 ? unit.size : std::min(unit.slice, unit.size - first);
    const Real* const from =
        rank_.stage < 2 ? gradient_.part(rank_.holder.rank()) + unit.offset : slices_.data() + place;
    std::copy_n(from, n, total.data() + unit.first + first);
    place += unit.slice;
  }
  rank_.all.reduce(std::span<double>(total), Comm::Reduction::sum);
  return layout_.to_file_order(std::move(total));
}

template <class Real>
void HostStore<Real>::assign_values(std::span<const Real> in_files) {
  std::vector<Real> room;
  const auto values = layout_.from_file_order(in_files, room);
  std::size_t place = 0;
  for (const Unit& unit : layout_.units()) {
    if (splits_) states_.write_low(place, updated_of(unit, values));
    place += rank_.updated_size(unit);
  }
  values_.assign(values);
}

template <class Real>
void HostStore<Real>::assign_state(int state, std::span<const Real> in_files) {
  std::vector<Real> room;
  const auto values = layout_.from_file_order(in_files, room);
  std::size_t place = 0;
  for (const Unit& unit : layout_.units()) {
    states_.write(state, place, updated_of(unit, values));
    place += rank_.updated_size(unit);
  }
}

template <class Real>
void HostStore<Real>::assign_pending(const PendingGradient<Real>& pending) {
  pending_t_ = pending.t;
  pending_rate_ = pending.learning_rate;
  if (pending_t_ == 0) return;
  std::vector<Real> room;
  const auto gradient = layout_.from_file_order(std::span<const Real>(pending.gradient), room);
  std::size_t place = 0;
  for (const Unit& unit : layout_.units()) {
    const auto own = updated_of(unit, gradient);
    std::copy(own.begin(), own.end(), pending_.data() + place);
    place += rank_.updated_size(unit);
  }
}

template std::vector<float> HostStore<float>::all_values() const;
template std::vector<float> HostStore<float>::copied_values(int) const;
template std::vector<float> HostStore<float>::all_states(int) const;
template PendingGradient<float> HostStore<float>::pending() const;
template std::vector<double> HostStore<float>::total_gradient();
template void HostStore<float>::assign_values(std::span<const float>);
template void HostStore<float>::assign_state(int, std::span<const float>);
template void HostStore<float>::assign_pending(const PendingGradient<float>&);

template std::vector<double> HostStore<double>::all_values() const;
template std::vector<double> HostStore<double>::copied_values(int) const;
template std::vector<double> HostStore<double>::all_states(int) const;
template PendingGradient<double> HostStore<double>::pending() const;
template std::vector<double> HostStore<double>::total_gradient();
template void HostStore<double>::assign_values(std::span<const double>);
template void HostStore<double>::assign_state(int, std::span<const double>);
template void HostStore<double>::assign_pending(const PendingGradient<double>&);

}  // namespace quintet
