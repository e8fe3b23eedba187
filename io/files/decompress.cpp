#include "io/files/decompress.hpp"

#include <algorithm>
#include <memory>

#include <dlfcn.h>
#include <zlib.h>

#include <fmt/format.h>

#include "io/log/error.hpp"

namespace quintet {
namespace {

/// Largest chunk that is unpacked; c-blosc's and LZ4's own limit.
constexpr std::uint64_t most_bytes = (std::uint64_t{1} << 31) - 1;

/// A function of a library of the system, loaded when it is needed first.
void* function_of(const char* library, const char* name, const std::string& what) {
  void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  void* const function = handle != nullptr ? dlsym(handle, name) : nullptr;
  if (function == nullptr)
    throw ResourceError(
        fmt::format("{}: needs {}, which this machine does not have: install it, or store the data "
                    "with zlib or gzip",
                    what, library));
  return function;
}

void require_size(std::uint64_t found, std::uint64_t n, const std::string& what) {
  QUINTET_CHECK(found == n, "{}: unpacks to {} bytes; expected {}: it is damaged", what, found, n);
}

/// A function of a library that does better what another one does as well; nullptr where it is not there.
template <class Function>
Function optional_function(const char* library, const char* name) {
  void* const handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<Function>(handle != nullptr ? dlsym(handle, name) : nullptr);
}

/// Unpack a stream of RFC 1950 by libdeflate, which takes well below half of zlib's time. Returns false where
/// it is not on this machine, or cannot unpack the bytes to this size: zlib then says why.
bool unpacked_by_libdeflate(std::string_view bytes, std::string& result) {
  using Make = void* (*)();
  using Free = void (*)(void*);
  using Decompress = int (*)(void*, const void*, std::size_t, void*, std::size_t, std::size_t*);
  constexpr const char* library = "libdeflate.so.0";
  static const auto make = optional_function<Make>(library, "libdeflate_alloc_decompressor");
  static const auto free = optional_function<Free>(library, "libdeflate_free_decompressor");
  static const auto decompress = optional_function<Decompress>(library, "libdeflate_zlib_decompress");
  if (make == nullptr || free == nullptr || decompress == nullptr) return false;
  thread_local const std::unique_ptr<void, Free> state(make(), free);
  return state != nullptr &&
         decompress(state.get(), bytes.data(), bytes.size(), result.data(), result.size(), nullptr) == 0;
}

std::string from_zlib(std::string_view bytes, std::uint64_t n, const std::string& what) {
  std::string result(n, '\0');
  if (unpacked_by_libdeflate(bytes, result)) return result;
  z_stream stream{};
  constexpr int either_header = 32;
  if (inflateInit2(&stream, MAX_WBITS + either_header) != Z_OK)
    throw ResourceError("zlib cannot start: out of memory");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  char beyond = 0;  // room for one byte too many, and for nothing at all
  stream.next_out = reinterpret_cast<Bytef*>(n > 0 ? result.data() : &beyond);
  stream.avail_out = static_cast<uInt>(n > 0 ? n : 1);
  int state = inflate(&stream, Z_FINISH);
  if (state == Z_BUF_ERROR && stream.avail_out == 0 && n > 0) {
    stream.next_out = reinterpret_cast<Bytef*>(&beyond);
    stream.avail_out = 1;
    state = inflate(&stream, Z_FINISH);
  }
  const std::uint64_t found = stream.total_out;
  inflateEnd(&stream);
  QUINTET_CHECK(state == Z_STREAM_END || found > n, "{}: is damaged: zlib cannot unpack it", what);
  require_size(found, n, what);
  return result;
}

std::string from_zstd(std::string_view bytes, std::uint64_t n, const std::string& what) {
  using Decompress = std::size_t (*)(void*, std::size_t, const void*, std::size_t);
  using IsError = unsigned (*)(std::size_t);
  static const auto decompress =
      reinterpret_cast<Decompress>(function_of("libzstd.so.1", "ZSTD_decompress", what));
  static const auto is_error = reinterpret_cast<IsError>(function_of("libzstd.so.1", "ZSTD_isError", what));
  std::string result(n, '\0');
  const std::size_t found = decompress(result.data(), n, bytes.data(), bytes.size());
  QUINTET_CHECK(is_error(found) == 0, "{}: is damaged, or larger than {} bytes: Zstandard cannot unpack it",
                what, n);
  require_size(found, n, what);
  return result;
}

std::string from_lz4_block(std::string_view bytes, std::uint64_t n, const std::string& what) {
  using Decompress = int (*)(const char*, char*, int, int);
  static const auto decompress =
      reinterpret_cast<Decompress>(function_of("liblz4.so.1", "LZ4_decompress_safe", what));
  std::string result(n, '\0');
  const int found =
      decompress(bytes.data(), result.data(), static_cast<int>(bytes.size()), static_cast<int>(n));
  QUINTET_CHECK(found >= 0, "{}: is damaged, or larger than {} bytes: LZ4 cannot unpack it", what, n);
  require_size(found, n, what);
  return result;
}

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t number = 0;
  for (int i = 3; i >= 0; --i) number = number << 8U | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

std::string from_lz4(std::string_view bytes, std::uint64_t n, const std::string& what) {
  QUINTET_CHECK(bytes.size() >= 4, "{}: is damaged: {} bytes are no LZ4 block with its size", what,
                bytes.size());
  require_size(number_at(bytes, 0), n, what);
  return from_lz4_block(bytes.substr(4), n, what);
}

/// Undo the shuffle of bits: bit b of byte k of elements 8 i ... 8 i + 7 is byte (8 k + b) n/8 + i. What is
/// left over stays, and a number of elements that 8 does not divide was not shuffled.
std::string unshuffled_bits(std::string_view bytes, std::uint64_t element_size) {
  const std::uint64_t n = bytes.size() / element_size, row = n / 8;
  std::string result(bytes);
  if (n % 8 != 0) return result;
  std::fill(result.begin(), result.begin() + n * element_size, '\0');
  for (std::uint64_t bit = 0; bit < 8 * element_size; ++bit)
    for (std::uint64_t i = 0; i < row; ++i) {
      const unsigned char byte = bytes[bit * row + i];
      for (std::uint64_t k = 0; k < 8; ++k)
        if ((byte >> k & 1U) != 0) {
          char& to = result[(8 * i + k) * element_size + bit / 8];
          to = static_cast<char>(static_cast<unsigned char>(to) | 1U << bit % 8);
        }
    }
  return result;
}

/// The header of a chunk of c-blosc.
struct BloscHeader {
  bool shuffled = false, stored = false, bits = false, whole = false;
  int codec = 0;
  std::uint64_t element_size = 0, n = 0, block = 0, packed = 0;
};

BloscHeader blosc_header(std::string_view bytes, std::uint64_t n, const std::string& what) {
  constexpr std::size_t header_bytes = 16;
  QUINTET_CHECK(bytes.size() >= header_bytes && (bytes[0] == 1 || bytes[0] == 2), "{}: is no chunk of blosc",
                what);
  const unsigned char flags = bytes[2];
  BloscHeader header;
  header.shuffled = (flags & 1U) != 0;
  header.stored = (flags & 2U) != 0;
  header.bits = (flags & 4U) != 0;
  header.whole = (flags & 16U) != 0;
  header.codec = flags >> 5U;
  header.element_size = std::max<unsigned char>(static_cast<unsigned char>(bytes[3]), 1);
  header.n = number_at(bytes, 4);
  header.block = number_at(bytes, 8);
  header.packed = number_at(bytes, 12);
  require_size(header.n, n, what);
  QUINTET_CHECK(header.packed <= bytes.size() && header.packed >= header_bytes,
                "{}: is truncated: {} bytes of blosc, of which {} are there", what, header.packed,
                bytes.size());
  QUINTET_CHECK(n == 0 || header.block > 0, "{}: is damaged: blocks of no bytes", what);
  return header;
}

std::string from_blosc_codec(int codec, std::string_view bytes, std::uint64_t n, const std::string& what) {
  constexpr const char* names[] = {"blosclz", "lz4", "snappy", "zlib", "zstd"};
  if (codec == 1) return from_lz4_block(bytes, n, what);
  if (codec == 3) return from_zlib(bytes, n, what);
  if (codec == 4) return from_zstd(bytes, n, what);
  throw InputError(
      fmt::format("{}: blosc packed it by {}, which is not read; store the data with zstd, lz4 or zlib", what,
                  codec >= 0 && codec < 5 ? names[codec] : "an unknown codec"));
}

/// A block: one stream, or one for each byte of the elements.
std::string blosc_block(const BloscHeader& header, std::string_view bytes, std::uint64_t at, std::uint64_t n,
                        const std::string& what) {
  constexpr std::uint64_t most_streams = 16, least_stream = 128;
  const bool split = !header.whole && n == header.block && header.element_size <= most_streams &&
                     n / header.element_size >= least_stream && n % header.element_size == 0;
  const std::uint64_t n_streams = split ? header.element_size : 1, each = n / n_streams;
  std::string block;
  for (std::uint64_t s = 0; s < n_streams; ++s) {
    QUINTET_CHECK(at + 4 <= header.packed, "{}: is damaged: a block begins beyond its end", what);
    const std::uint64_t packed = number_at(bytes, at);
    at += 4;
    QUINTET_CHECK(packed <= header.packed - at, "{}: is damaged: a block ends beyond its end", what);
    const auto stream = bytes.substr(at, packed);
    block += packed == each ? std::string(stream) : from_blosc_codec(header.codec, stream, each, what);
    at += packed;
  }
  if (header.shuffled && header.element_size > 1) return unshuffled(block, header.element_size);
  return header.bits ? unshuffled_bits(block, header.element_size) : block;
}

std::string from_blosc(std::string_view bytes, std::uint64_t n, const std::string& what) {
  const auto header = blosc_header(bytes, n, what);
  constexpr std::uint64_t begin = 16;
  if (header.stored) {
    QUINTET_CHECK(header.packed == begin + n, "{}: is damaged: {} bytes of blosc hold {}", what,
                  header.packed, n);
    return std::string(bytes.substr(begin, n));
  }
  std::string result;
  const std::uint64_t n_blocks = n == 0 ? 0 : (n - 1) / header.block + 1;
  QUINTET_CHECK(n_blocks <= (header.packed - begin) / 4, "{}: is damaged: {} blocks in {} bytes", what,
                n_blocks, header.packed);
  for (std::uint64_t b = 0; b < n_blocks; ++b)
    result += blosc_block(header, bytes, number_at(bytes, begin + 4 * b),
                          std::min(header.block, n - b * header.block), what);
  return result;
}

}  // namespace

std::string packed_by_zlib(std::string_view bytes) {
  uLongf size = compressBound(bytes.size());
  std::string packed(size, '\0');
  const int state = compress2(reinterpret_cast<Bytef*>(packed.data()), &size,
                              reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(), Z_BEST_COMPRESSION);
  if (state != Z_OK)
    throw ResourceError(fmt::format("zlib cannot pack {} bytes: out of memory", bytes.size()));
  packed.resize(size);
  return packed;
}

std::uint32_t crc32_of(std::string_view bytes) {
  return crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
}

std::string decompressed(Codec codec, std::string_view bytes, std::uint64_t n, const std::string& what) {
  QUINTET_CHECK(n <= most_bytes && bytes.size() <= most_bytes,
                "{}: is larger than 2 GiB, which is not unpacked", what);
  switch (codec) {
    case Codec::zlib:
      return from_zlib(bytes, n, what);
    case Codec::zstd:
      return from_zstd(bytes, n, what);
    case Codec::lz4:
      return from_lz4(bytes, n, what);
    case Codec::blosc:
      return from_blosc(bytes, n, what);
  }
  throw InternalError("a codec without a function");
}

namespace {

/// Byte k of element i from place k n + i. With the size known to the compiler, by whole registers.
template <std::uint64_t fixed_size = 0>
void bring_back(const char* __restrict from, std::uint64_t n, std::uint64_t size, char* __restrict to) {
  const std::uint64_t m = fixed_size > 0 ? fixed_size : size;
  for (std::uint64_t i = 0; i < n; ++i)
    for (std::uint64_t k = 0; k < m; ++k) to[i * m + k] = from[k * n + i];
}

}  // namespace

std::string unshuffled(std::string_view bytes, std::uint64_t element_size) {
  const std::uint64_t n = element_size == 0 ? 0 : bytes.size() / element_size;
  std::string result(bytes);
  const auto bring = element_size == 2   ? bring_back<2>
                     : element_size == 4 ? bring_back<4>
                     : element_size == 8 ? bring_back<8>
                                         : bring_back<>;
  bring(bytes.data(), n, element_size, result.data());
  return result;
}

}  // namespace quintet
