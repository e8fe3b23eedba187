#include "surrogates/training/flat_checkpoint.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"

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
    const std::size_t number = s;
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

}  // namespace quintet
