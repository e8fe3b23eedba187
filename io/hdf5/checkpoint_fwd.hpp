#pragma once

/// Declarations alone, for headers that name these classes by reference; the whole: checkpoint.hpp.
namespace quintet::hdf5 {

class CheckpointStore;

}  // namespace quintet::hdf5
