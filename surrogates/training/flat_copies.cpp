#include <algorithm>
#include <utility>

#include "io/log/error.hpp"
#include "surrogates/training/flat_parameters.hpp"
#include "surrogates/training/gathered_slices.hpp"
#include "surrogates/training/split_bf16.hpp"

// What FlatParameters hand out, for checkpoints above all, and take: arrays without padding.
namespace quintet {

template <class Real>
template <class Copy>
std::vector<Real> FlatParameters<Real>::gather_slices(const Copy& copy) const {
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
std::vector<Real> FlatParameters<Real>::all_values() const {
  if (resident_) return resident_->all_values();
  if (rank_.stage == 3 || splits_)
    return gather_slices([&](std::size_t unit, std::size_t place, std::span<Real> slice) {
      states_.read_values(place, values_.slice(unit), slice);
    });
  std::vector<Real> all;
  if (!rank_.all.is_root()) return all;
  all.reserve(size());
  for (std::size_t u = 0; u < layout_.units().size(); ++u) {
    const auto whole = values_.whole(u);
    const auto* const first = reinterpret_cast<const Real*>(whole.data());
    all.insert(all.end(), first, first + whole.size() / sizeof(Real));
  }
  return layout_.to_file_order(std::move(all));
}

template <class Real>
std::vector<Real> FlatParameters<Real>::all_computed_values() const {
  std::vector<Real> all = all_values();
  if (splits_)
    for (Real& value : all) value = as_bf16(static_cast<float>(value));
  return all;
}

template <class Real>
std::vector<Real> FlatParameters<Real>::copied_values(int block) const {
  if (resident_) return resident_->copied_values(block);
  const auto here = values(block);
  return {here.begin(), here.end()};
}

template <class Real>
std::vector<Real> FlatParameters<Real>::all_states(int state) const {
  if (resident_) return resident_->all_states(state);
  return gather_slices(
      [&](std::size_t, std::size_t place, std::span<Real> slice) { states_.read(state, place, slice); });
}

template <class Real>
typename FlatParameters<Real>::Pending FlatParameters<Real>::pending() const {
  if (pending_t_ == 0) return {};
  return {pending_t_, pending_rate_,
          gather_slices([&](std::size_t, std::size_t place, std::span<Real> slice) {
            std::copy_n(pending_.data() + place, slice.size(), slice.data());
          })};
}

template <class Real>
std::vector<double> FlatParameters<Real>::total_gradient() {
  if (resident_) return resident_->total_gradient();
  finish_reduction();
  std::vector<double> total(size());
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
void FlatParameters<Real>::assign_values(std::span<const Real> in_files) {
  if (resident_) return resident_->assign_values(in_files);
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
void FlatParameters<Real>::assign_state(int state, std::span<const Real> in_files) {
  if (resident_) return resident_->assign_state(state, in_files);
  std::vector<Real> room;
  const auto values = layout_.from_file_order(in_files, room);
  std::size_t place = 0;
  for (const Unit& unit : layout_.units()) {
    states_.write(state, place, updated_of(unit, values));
    place += rank_.updated_size(unit);
  }
}

template <class Real>
void FlatParameters<Real>::assign_pending(const Pending& pending) {
  QUINTET_CHECK(
      pending.t == 0 || offload_.delayed_update,
      "the checkpoint holds a gradient that waits for its update; expected offload.delayed_update as "
      "in the run that wrote it");
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

template std::vector<float> FlatParameters<float>::all_values() const;
template std::vector<float> FlatParameters<float>::all_computed_values() const;
template std::vector<float> FlatParameters<float>::copied_values(int) const;
template std::vector<float> FlatParameters<float>::all_states(int) const;
template FlatParameters<float>::Pending FlatParameters<float>::pending() const;
template std::vector<double> FlatParameters<float>::total_gradient();
template void FlatParameters<float>::assign_values(std::span<const float>);
template void FlatParameters<float>::assign_state(int, std::span<const float>);
template void FlatParameters<float>::assign_pending(const Pending&);

template std::vector<double> FlatParameters<double>::all_values() const;
template std::vector<double> FlatParameters<double>::all_computed_values() const;
template std::vector<double> FlatParameters<double>::copied_values(int) const;
template std::vector<double> FlatParameters<double>::all_states(int) const;
template FlatParameters<double>::Pending FlatParameters<double>::pending() const;
template std::vector<double> FlatParameters<double>::total_gradient();
template void FlatParameters<double>::assign_values(std::span<const double>);
template void FlatParameters<double>::assign_state(int, std::span<const double>);
template void FlatParameters<double>::assign_pending(const Pending&);

}  // namespace quintet
