#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "io/hdf5/file.hpp"
#include "io/parallel/comm_fwd.hpp"

/// The seal at the end of a checkpoint, a model or what a finished run has written: proof that all bytes
/// before it are as they were.
namespace quintet::hdf5 {

inline constexpr std::uint64_t seal_bytes = 24;

/// Append the seal and bring the file to the disk. Collective. Throws ResourceError.
void seal(const Comm& comm, const std::string& path);
/// True if the file ends with a seal, whether or not it is that of these bytes. Collective.
[[nodiscard]] bool is_sealed(const Comm& comm, const std::string& path);

/// Throws InputError where a file ends with a seal that is not that of its bytes. One without a seal passes
/// (an earlier version wrote it, or another program changed it), as do files within a registry, which has
/// their checksums. Collective.
void verify_if_sealed(const Comm& comm, const std::string& path);
/// File::open() of a file that verify_if_sealed() has looked at. Collective.
[[nodiscard]] File open_verified(const Comm& comm, const std::string& path);

/// Take the seal, if there is one, from a file that is to be changed. Returns what verify_if_sealed() would
/// have thrown. Collective.
std::optional<std::string> unseal(const Comm& comm, const std::string& path);

}  // namespace quintet::hdf5
