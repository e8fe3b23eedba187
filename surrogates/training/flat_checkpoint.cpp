#include "surrogates/training/flat_checkpoint.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "io/log/error.hpp"
#include "surrogates/training/split_bf16.hpp"

// What FlatParameters hand out and take, arrays without padding, and what a checkpoint holds of it.
namespace quintet {

namespace {

/// @param state state(s) gives an array at a time: all of them need not fit beside each other
template <class Real, class State, class Pending>
void write(hdf5::Group& group, const OptimiserOptions& optimiser, std::size_t size, const std::string& what,
           const std::vector<Real>& values, const State& state, const Pending& pending) {
  const auto write = [&](const std::string& name, const std::vector<Real>& numbers, const std::string& text) {
    group.write(name, std::span<const Real>(numbers), {size}, {"1", {"parameter"}, text});
  };
  write("parameters", values, what);
  const auto& row = optimiser_row(optimiser.kind);
  for (int s = 0; s < n_states(optimiser); ++s) {
    const auto number = static_cast<std::size_t>(s);
    write(row.state_names[number], state(s), row.state_docs[number]);
  }
  if (pending.t == 0) return;
  write("pending_gradient", pending.gradient, "formed, and not applied yet");
  const std::vector<double> formed{static_cast<double>(pending.t), pending.learning_rate};
  group.write("pending_step", std::span<const double>(formed), {formed.size()},
              {"1", {"value"}, "step that formed it, from 1, and its learning rate"});
}

/// @param take take(s, array) is given one state after the other, then the values
template <class Real, class TakeState, class TakeValues>
void read(const hdf5::Group& group, const OptimiserOptions& optimiser, std::size_t size,
          const TakeState& take_state, const TakeValues& take_values) {
  const hdf5::Shape shape{size};
  auto values = group.read<Real>("parameters", shape);
  const auto& row = optimiser_row(optimiser.kind);
  for (int s = 0; s < n_states(optimiser); ++s) {
    const char* const name = row.state_names[s];
    QUINTET_CHECK(group.has(name),
                  "the checkpoint holds no '{}', which optimiser.kind {} needs: it was written with another "
                  "optimiser",
                  name, row.name);
    take_state(s, group.read<Real>(name, shape));
  }
  take_values(std::move(values));
}

/// The gradient that waits, into a struct of its step, rate and numbers.
template <class Real, class Pending>
void read_pending(const hdf5::Group& group, std::size_t size, Pending& pending) {
  if (!group.has("pending_step")) return;
  const auto formed = group.read<double>("pending_step", {2});
  pending = {static_cast<std::int64_t>(formed[0]), formed[1],
             group.read<Real>("pending_gradient", hdf5::Shape{size})};
}

template <class To, class From>
std::vector<To> as(const std::vector<From>& numbers) {
  std::vector<To> result(numbers.size());
  std::transform(numbers.begin(), numbers.end(), result.begin(),
                 [](From number) { return static_cast<To>(number); });
  return result;
}

}  // namespace

SlicePart slice_part(const FlatLayout::Unit& unit, int slice) {
  const std::size_t first = std::min(unit.size, static_cast<std::size_t>(slice) * unit.slice);
  return {first, std::min(unit.slice, unit.size - first)};
}

template <class Real>
std::vector<Real> gathered_slices(const Comm& comm, const FlatLayout& layout, int slice,
                                  std::span<const Real> own) {
  const auto slice_of = comm.gather(std::span<const int>(&slice, 1));
  const auto gathered = comm.gather(own);
  if (!comm.is_root()) return {};
  std::vector<Real> all(layout.n_parameters());
  const Real* from = gathered.data();
  for (const int number : slice_of)
    for (const auto& unit : layout.units()) {
      const SlicePart part = slice_part(unit, number);
      std::copy_n(from, part.n, all.data() + unit.first + part.first);
      from += unit.slice;
    }
  return all;
}

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

template <class Real>
FlatState flat_state(const FlatParameters<Real>& parameters) {
  FlatState state{as<double>(parameters.all_values()), {}, {}};
  for (int s = 0; s < n_states(parameters.optimiser()); ++s)
    state.states[s] = as<double>(parameters.all_states(s));
  const auto pending = parameters.pending();
  state.pending = {pending.t, pending.learning_rate, as<double>(pending.gradient)};
  return state;
}

template <class Real>
void assign(FlatParameters<Real>& parameters, const FlatState& state) {
  const auto check = [&](const std::vector<double>& numbers) {
    QUINTET_CHECK(numbers.size() == parameters.size(),
                  "a training of {} parameters cannot go on as one of {}", numbers.size(), parameters.size());
  };
  check(state.values);
  for (int s = 0; s < n_states(parameters.optimiser()); ++s) {
    check(state.states[s]);
    parameters.assign_state(s, as<Real>(state.states[s]));
  }
  parameters.assign_values(as<Real>(state.values));
  if (state.pending.t > 0) check(state.pending.gradient);
  parameters.assign_pending({state.pending.t, state.pending.learning_rate, as<Real>(state.pending.gradient)});
}

template <class Real>
void save(hdf5::Group& group, const FlatParameters<Real>& parameters, const std::string& what) {
  write(
      group, parameters.optimiser(), parameters.size(), what, parameters.all_values(),
      [&](int s) { return parameters.all_states(s); }, parameters.pending());
}

void save(hdf5::Group& group, const FlatState& state, const OptimiserOptions& optimiser, std::size_t size,
          const std::string& what) {
  write(
      group, optimiser, size, what, state.values,
      [&](int s) -> const std::vector<double>& { return state.states[s]; }, state.pending);
}

template <class Real>
void restore(const hdf5::Group& group, FlatParameters<Real>& parameters) {
  read<Real>(
      group, parameters.optimiser(), parameters.size(),
      [&](int s, const std::vector<Real>& numbers) { parameters.assign_state(s, numbers); },
      [&](const std::vector<Real>& values) { parameters.assign_values(values); });
  typename FlatParameters<Real>::Pending pending;
  read_pending<Real>(group, parameters.size(), pending);
  parameters.assign_pending(pending);
}

FlatState read_flat_state(const hdf5::Group& group, const OptimiserOptions& optimiser, std::size_t size) {
  FlatState state;
  read<double>(
      group, optimiser, size,
      [&](int s, std::vector<double> numbers) { state.states[s] = std::move(numbers); },
      [&](std::vector<double> values) { state.values = std::move(values); });
  read_pending<double>(group, size, state.pending);
  return state;
}

template FlatState flat_state(const FlatParameters<float>&);
template FlatState flat_state(const FlatParameters<double>&);
template void assign(FlatParameters<float>&, const FlatState&);
template void assign(FlatParameters<double>&, const FlatState&);
template void save(hdf5::Group&, const FlatParameters<float>&, const std::string&);
template void save(hdf5::Group&, const FlatParameters<double>&, const std::string&);
template void restore(const hdf5::Group&, FlatParameters<float>&);
template void restore(const hdf5::Group&, FlatParameters<double>&);

template std::vector<float> gathered_slices(const Comm&, const FlatLayout&, int, std::span<const float>);
template std::vector<double> gathered_slices(const Comm&, const FlatLayout&, int, std::span<const double>);
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
