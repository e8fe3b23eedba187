#pragma once

#include <concepts>
#include <cstdint>

#include "io/hdf5/file_fwd.hpp"

namespace quintet {

/// State that a run advances one step at a time: atoms, a plasma, the weights of a model, a search.
///
/// - `advance()`: do one step. Throws NumericalError, on all ranks together, when the result is not physical;
///   what save() writes must then still be whole, for it goes to the folder `emergency`.
/// - `step()`: steps done since the run began, those before a restart included. advance() adds one.
/// - `last_step()`: number of the step after which the run is finished; a guess where the run ends otherwise
///   (at a time, when converged). The progress line counts to it.
/// - `finished()`: no step is left.
/// - `save(root)`: write all that a restart needs to go on as if nothing had happened (to the last bit on the
///   same number of ranks).
///
/// All are called on all ranks together and give the same on each.
template <class T>
concept Stepper = requires(T& stepper, const T& state, hdf5::Group& root) {
  stepper.advance();
  { state.step() } -> std::same_as<std::int64_t>;
  { state.last_step() } -> std::same_as<std::int64_t>;
  { state.finished() } -> std::same_as<bool>;
  state.save(root);
};

/// A stepper with a simulated time, by which observers may be scheduled: `time()`, of the present state.
template <class T>
concept TimedStepper = Stepper<T> && requires(const T& state) {
  { state.time() } -> std::same_as<double>;
};

}  // namespace quintet
