#include "io/hdf5/checksum.hpp"

#include <bit>
#include <cstring>

namespace quintet::hdf5 {
namespace {

constexpr std::uint64_t p1 = 0x9E3779B185EBCA87ULL, p2 = 0xC2B2AE3D27D4EB4FULL, p3 = 0x165667B19E3779F9ULL,
                        p4 = 0x85EBCA77C2B2AE63ULL, p5 = 0x27D4EB2F165667C5ULL;

/// The next bytes as a little-endian number.
template <class T>
std::uint64_t take(const std::byte*& at) {
  static_assert(std::endian::native == std::endian::little);
  T value;
  std::memcpy(&value, at, sizeof(T));
  at += sizeof(T);
  return value;
}

std::uint64_t round(std::uint64_t lane, std::uint64_t input) { return std::rotl(lane + input * p2, 31) * p1; }
std::uint64_t merge(std::uint64_t hash, std::uint64_t lane) { return (hash ^ round(0, lane)) * p1 + p4; }

/// The four lanes over all whole stripes of 32 bytes.
std::uint64_t stripes(const std::byte*& at, const std::byte* end, std::uint64_t seed) {
  std::uint64_t a = seed + p1 + p2, b = seed + p2, c = seed, d = seed - p1;
  while (end - at >= 32) {
    a = round(a, take<std::uint64_t>(at));
    b = round(b, take<std::uint64_t>(at));
    c = round(c, take<std::uint64_t>(at));
    d = round(d, take<std::uint64_t>(at));
  }
  const std::uint64_t hash = std::rotl(a, 1) + std::rotl(b, 7) + std::rotl(c, 12) + std::rotl(d, 18);
  return merge(merge(merge(merge(hash, a), b), c), d);
}

}  // namespace

std::uint64_t xxh64(std::span<const std::byte> bytes, std::uint64_t seed) {
  const std::byte* at = bytes.data();
  const std::byte* end = at + bytes.size();
  std::uint64_t hash = (bytes.size() >= 32 ? stripes(at, end, seed) : seed + p5) + bytes.size();
  while (end - at >= 8) hash = std::rotl(hash ^ round(0, take<std::uint64_t>(at)), 27) * p1 + p4;
  if (end - at >= 4) hash = std::rotl(hash ^ (take<std::uint32_t>(at) * p1), 23) * p2 + p3;
  while (at < end) hash = std::rotl(hash ^ (take<std::uint8_t>(at) * p5), 11) * p1;
  hash = (hash ^ (hash >> 33)) * p2;
  hash = (hash ^ (hash >> 29)) * p3;
  return hash ^ (hash >> 32);
}

}  // namespace quintet::hdf5
