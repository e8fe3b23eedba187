#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/hdf5/file_fwd.hpp"

/// Files within a file: a registry keeps models as the bytes of their own files. "registry.h5:ID" is the name
/// of such a file, and File::open() takes it wherever it takes a file.
namespace quintet::hdf5 {

inline constexpr const char* registry_schema = "quintet.registry";
inline constexpr int registry_version = 1;

struct EmbeddedName {
  std::string file, id;
};
/// The parts of "FILE:ID" where FILE is there and nothing has the whole name; nothing for other names.
[[nodiscard]] std::optional<EmbeddedName> embedded_name(const std::string& path);
/// Throws InputError unless `id` can name an expert: letters, digits, '_', '-', '.', '+', no more than 100.
void check_embedded_id(const std::string& id);

/// Throws InputError that names the experts where a registry stands in place of one of them.
void refuse_registry(const File& file);

/// Where the bytes of an embedded file lie.
struct EmbeddedPlace {
  std::string name;  ///< "registry.h5:ID", for messages
  std::string file;
  std::uint64_t offset = 0, bytes = 0;
  std::uint64_t checksum = 0;  ///< XXH64 of them
};
/// Place of the dataset /experts/ID/parameters. On this rank alone. Throws InputError if the file is not a
/// registry, lacks the ID (names those it has), or if the dataset has another shape or is not whole in the
/// file.
[[nodiscard]] EmbeddedPlace place_of(const EmbeddedName& name);
/// Read the bytes of an embedded file without HDF5: may be called from any thread. Throws InputError where
/// they cannot be read or their checksum is another.
void read_embedded(const EmbeddedPlace& place, std::span<std::byte> to);

/// Makes File::open() of `name` open these bytes instead of a file, as long as this lives. One at a time.
class Mounted {
 public:
  Mounted(std::string name, std::span<const std::byte> bytes);
  ~Mounted();
  Mounted(const Mounted&) = delete;
  Mounted& operator=(const Mounted&) = delete;
};

/// Put bytes into a registry as /experts/ID/parameters: contiguous, beginning at a multiple of 4 KiB, with
/// their checksum as an attribute of /experts/ID. On this rank alone. Throws ResourceError.
void embed(const std::string& file, const std::string& id, std::span<const std::byte> bytes);
/// Take /experts/ID out of a registry; its space stays until the file is repacked. On this rank alone.
void take_out(const std::string& file, const std::string& id);

/// A dataset whose numbers lie in one piece of an HDF5 file.
struct LaidOut {
  std::string name;          ///< "/variable_0003"
  std::uint64_t offset = 0;  ///< of its first byte
  std::vector<std::uint64_t> shape;
  std::string type;  ///< "float32", ...
};
/// Layout of the datasets of an HDF5 file whose content is `bytes`. Throws InputError if it is not an HDF5
/// file.
[[nodiscard]] std::vector<LaidOut> layout_of(std::span<const std::byte> bytes, const std::string& name);

}  // namespace quintet::hdf5
