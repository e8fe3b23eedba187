#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/config/tree.hpp"
#include "io/files/decompress.hpp"
#include "io/files/npy_header.hpp"

namespace quintet::netcdf {

/// One step of how the bytes of a chunk were made.
struct ZarrStep {
  enum class Kind { packed, shuffle, checksum } kind = Kind::packed;
  Codec codec = Codec::zlib;       ///< of `packed`
  std::uint64_t element_size = 1;  ///< of `shuffle` (bytes)
};

/// An array of a zarr folder, version 2 or 3: what its metadata say of its chunks.
struct ZarrArray {
  std::string folder;  ///< where its chunks lie
  std::vector<std::uint64_t> shape, chunk;
  NpyHeader element;               ///< type and byte order of the elements; empty: no numbers
  std::vector<std::size_t> order;  ///< axes of the array in the order of the chunk's, slowest first
  std::vector<ZarrStep> steps;     ///< from the bytes of the elements to those of the file
  double fill = 0;                 ///< elements of a chunk that is not there
  bool has_fill = false;
  std::string prefix, separator = ".";  ///< of a chunk's name: "c/0/1", "0.1"
  std::string refusal;                  ///< why its numbers cannot be read; "": they can
  std::vector<std::string> dimensions;  ///< their names; empty: the array says none
  Tree attributes;                      ///< a map
  std::string where;                    ///< "a.zarr: b", for messages

  /// Numbers as they are stored, row-major. Throws InputError.
  [[nodiscard]] std::vector<double> read(const std::vector<std::uint64_t>& start,
                                         const std::vector<std::uint64_t>& count) const;
  /// How many chunks are not there as files.
  [[nodiscard]] std::uint64_t n_absent() const;
  [[nodiscard]] std::uint64_t n_chunks() const;

 private:
  [[nodiscard]] std::string file_of(const std::vector<std::uint64_t>& index) const;
  /// Elements of a chunk as stored in its file; empty if the file does not exist.
  [[nodiscard]] const std::vector<double>& chunk_at(const std::vector<std::uint64_t>& index) const;
  [[nodiscard]] std::vector<double> chunk_in(const std::string& file) const;

  mutable std::string last_file_;  ///< the chunk that was read last: a frame after another may lie in it
  mutable std::vector<double> last_;
};

/// Whether a path is a folder of zarr: .zgroup, .zmetadata, zarr.json or .zarray in it.
[[nodiscard]] bool is_zarr(const std::string& path);
/// The arrays of a zarr group, those of groups within left out (`left`). Throws InputError: metadata that are
/// damaged, a folder that is one array.
[[nodiscard]] std::vector<ZarrArray> read_zarr_group(const std::string& path, std::vector<std::string>& left);

}  // namespace quintet::netcdf
