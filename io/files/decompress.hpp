#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace quintet {

/// Format of packed bytes.
enum class Codec {
  zlib,   ///< RFC 1950 or 1952 (gzip), told by their first bytes
  zstd,   ///< frames of Zstandard; libzstd is loaded when it is needed
  lz4,    ///< as numcodecs has it: the size (4 bytes, little-endian), then a block; liblz4 likewise
  blosc,  ///< a chunk of c-blosc, version 1: zlib, zstd or lz4 within, shuffled by bytes, bits or not
};

/// Unpack bytes that are `n` long when unpacked.
///
/// Errors (`what` in front): InputError for damaged bytes, another size, a codec within blosc that is not
/// known; ResourceError where a library is not on this machine. Sources: RFC 1950, RFC 1952, and c-blosc's
/// README_CHUNK_FORMAT.rst.
[[nodiscard]] std::string decompressed(Codec codec, std::string_view bytes, std::uint64_t n,
                                       const std::string& what);

/// Pack bytes as a zlib stream (RFC 1950).
///
/// Errors: ResourceError without memory, or for more bytes than zlib counts (4 GB).
[[nodiscard]] std::string packed_by_zlib(std::string_view bytes);

/// The CRC-32 of bytes (ISO 3309, as in gzip, zip and PNG).
[[nodiscard]] std::uint32_t crc32_of(std::string_view bytes);

/// Undo the filter that brings together byte 0 of all elements, then byte 1, and so on; what is left over at
/// the end stays. (HDF5, blosc and numcodecs have it alike.)
[[nodiscard]] std::string unshuffled(std::string_view bytes, std::uint64_t element_size);

}  // namespace quintet
