#pragma once

#include <string>

#include "io/parallel/comm.hpp"

/// The seal at the end of a checkpoint: proof that all bytes before it are as they were written.
namespace quintet::hdf5 {

/// Append the seal and bring the file to the disk. Collective. Throws ResourceError.
void seal(const Comm& comm, const std::string& path);
/// True if the file ends with a seal, whether or not it is that of these bytes. Collective.
[[nodiscard]] bool is_sealed(const Comm& comm, const std::string& path);

}  // namespace quintet::hdf5
