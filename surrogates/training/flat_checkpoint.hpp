#pragma once

#include <string>

#include "io/hdf5/file.hpp"
#include "surrogates/training/flat_parameters.hpp"

namespace quintet {

/// Parameters, the optimiser's states and a gradient that waits for its update, bit for bit and without
/// padding: they go on at any stage, number of ranks and place of the states. Collective.
/// @param what the parameters are, in the file's words
template <class Real>
void save(hdf5::Group& group, const FlatParameters<Real>& parameters, const std::string& what);

/// Collective. Throws InputError for arrays of another size or optimiser, and for a gradient that waits where
/// nothing is delayed.
template <class Real>
void restore(const hdf5::Group& group, FlatParameters<Real>& parameters);

}  // namespace quintet
