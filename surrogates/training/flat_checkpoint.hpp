#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/hdf5/file_fwd.hpp"
#include "surrogates/training/flat_parameters.hpp"

namespace quintet {

/// Content of FlatParameters in a checkpoint as plain data, without padding: for parameters that no longer
/// exist, or not yet. Numbers of float are held exactly.
struct FlatState {
  std::vector<double> values;
  std::array<std::vector<double>, 2> states;  ///< those that the optimiser has
  struct Pending {
    std::int64_t t = 0;  ///< step that formed it, from 1; 0: absent
    double learning_rate = 0;
    std::vector<double> gradient;
  } pending;
};
/// On rank 0 (arrays are empty elsewhere). Collective.
template <class Real>
[[nodiscard]] FlatState flat_state(const FlatParameters<Real>& parameters);
/// Go on from a state, the same on all ranks. Collective. Throws InputError for another size, and for a
/// gradient that waits where nothing is delayed.
template <class Real>
void assign(FlatParameters<Real>& parameters, const FlatState& state);

/// Parameters, the optimiser's states and a gradient that waits for its update, bit for bit and without
/// padding: they go on at any stage, number of ranks and place of the states. Collective.
/// @param what the parameters are, in the file's words
template <class Real>
void save(hdf5::Group& group, const FlatParameters<Real>& parameters, const std::string& what);
/// Save a state of `size` numbers that rank 0 holds as plain data.
void save(hdf5::Group& group, const FlatState& state, const OptimiserOptions& optimiser, std::size_t size,
          const std::string& what);

/// Collective. Throws InputError for arrays of another size or optimiser, and for a gradient that waits where
/// nothing is delayed.
template <class Real>
void restore(const hdf5::Group& group, FlatParameters<Real>& parameters);
/// Read a state as plain data of `size` numbers, on all ranks. Errors as for restore().
[[nodiscard]] FlatState read_flat_state(const hdf5::Group& group, const OptimiserOptions& optimiser,
                                        std::size_t size);

}  // namespace quintet
