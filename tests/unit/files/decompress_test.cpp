#include "io/files/decompress.hpp"

#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "io/log/error.hpp"

namespace {

using quintet::Codec;
using quintet::decompressed;

/// 256 doubles, 32 of each of 0, 0.5, ... 3.5.
std::string stairs() {
  std::string bytes(256 * sizeof(double), '\0');
  for (int i = 0; i < 256; ++i) {
    const double value = 0.5 * (i / 32);
    std::memcpy(bytes.data() + i * sizeof(double), &value, sizeof(value));
  }
  return bytes;
}

std::string bytes_of(const std::string& digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16)));
  return bytes;
}

/// What numcodecs 0.15.2 makes of stairs(): Zlib(9), GZip(9), Zstd(9), LZ4(), Blosc(codec, 9, shuffle).
struct Packed {
  const char* name;
  Codec codec;
  const char* digits;
};
constexpr Packed packed[] = {
    {"zlib", Codec::zlib, "78da636018050c0c0fec4736fd6184d33f4638cde030b26996114e738c709a67c4d200c11693a1"},
    {"gzip", Codec::zlib,
     "1f8b0800a6ff0a6b02ff636018050c0c0fec4736fd6184d33f4638cde030b26996114e738c709a67c4d20056ac975500"
     "080000"},
    {"zstd", Codec::zstd,
     "28b52ffd6000072d0100580000e03ff0f8004004080c08a010a00fc0d301768a4fe553f6297c0a5fea7ea901aad801"},
    {"lz4", Codec::lz4,
     "000800001f000100f222e03f07010f0800e513f000010f0800e513f800010f0800e522004000030f0800e5130400010f"
     "0800e5130800010f0800e5130c00010f0800da500000000c40"},
    {"blosc of lz4, shuffled", Codec::blosc,
     "020121080008000000080000b9000000140000000b0000001f000100e75000000000000b0000001f000100e750000000"
     "00000b0000001f000100e75000000000000b0000001f000100e75000000000000b0000001f000100e75000000000000b"
     "0000001f000100e75000000000002e0000001f0001000c1fe001000c1ff001000c1ff801000c0f7f000c2f000401000c"
     "1f0801000c1f0c010007500c0c0c0c0c150000001f0001000c1f3f01004c1f40010067504040404040"},
    {"blosc of zstd, bits shuffled", Codec::blosc,
     "02019408000800000008000047000000140000002f00000028b52ffd6000072d010042810206e00f00604c0a80871708"
     "004d6582a738ca184a055b1d6326c33b67786382f20757"},
    {"blosc of zlib", Codec::blosc,
     "020160080008000000080000b6000000140000000c00000078da636018d90000010000011100000078da6360008107f6"
     "0c23940600a25f23e11100000078da636000810ff60c239406009e6e25e11100000078da636000811ff60c239406001c"
     "7d26e11000000078da636000030786114a0300e92d08011100000078da63600001160786114a0300283c088111000000"
     "78da636000010e0786114a0300673c09011100000078da636000011e0786114a0300a63c0981"},
};
constexpr Packed unknown = {
    "blosclz", Codec::blosc,
    "020101080008000000080000cd000000140000000c0000002300000000e0f003020000000c0000002300000000e0f003"
    "020000000c0000002300000000e0f003020000000c0000002300000000e0f003020000000c0000002300000000e0f003"
    "020000000c0000002300000000e0f00302000000390000002300000000e012030100e0e0150001e0f0e0150001f0f8e0"
    "150000f8e0127b05000000000004e01500010408e0150001080ce01300020c0c0c180000002300000000e0120301003f"
    "e05500013f40e0730002404040"};

std::string refusal(Codec codec, const std::string& bytes, std::uint64_t n) {
  try {
    (void)decompressed(codec, bytes, n, "chunk 0.0");
  } catch (const quintet::InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Decompress, what_numcodecs_packed_is_unpacked) {
  for (const auto& one : packed)
    EXPECT_EQ(decompressed(one.codec, bytes_of(one.digits), 2048, one.name), stairs()) << one.name;
}

TEST(Decompress, another_size_and_what_is_cut_are_refused) {
  for (const auto& one : packed) {
    const auto bytes = bytes_of(one.digits);
    for (const std::uint64_t n : {0, 2047, 2049})
      EXPECT_NE(refusal(one.codec, bytes, n), "") << one.name << n;
    for (std::size_t kept = 0; kept < bytes.size(); kept += 5)
      EXPECT_NE(refusal(one.codec, bytes.substr(0, kept), 2048), "") << one.name << kept;
  }
}

TEST(Decompress, a_codec_within_blosc_that_is_not_known_is_named) {
  EXPECT_NE(refusal(unknown.codec, bytes_of(unknown.digits), 2048)
                .find("chunk 0.0: blosc packed it by blosclz, which is not read; store the data with zstd"),
            std::string::npos);
}

TEST(Decompress, damage_is_refused_or_gives_as_many_bytes) {
  for (const auto& one : packed)
    for (std::size_t i = 0; i < bytes_of(one.digits).size(); ++i) {
      auto bytes = bytes_of(one.digits);
      bytes[i] = static_cast<char>(bytes[i] ^ 1 << i % 8);
      try {
        EXPECT_EQ(decompressed(one.codec, bytes, 2048, "x").size(), 2048u);
      } catch (const quintet::InputError&) {
      }
    }
}

}  // namespace
