#include "io/hdf5/checksum.hpp"

#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace quintet::hdf5 {
namespace {

std::uint64_t sum_of(std::string_view text, std::uint64_t seed = 0) {
  return xxh64(std::as_bytes(std::span(text.data(), text.size())), seed);
}

TEST(Checksum, agrees_with_the_values_of_other_implementations) {
  EXPECT_EQ(sum_of(""), 0xEF46DB3751D8E999ULL);
  EXPECT_EQ(sum_of("a"), 0xD24EC4F1A98C6E5BULL);
  EXPECT_EQ(sum_of("abc"), 0x44BC2CF5AD770999ULL);
  EXPECT_EQ(sum_of("Nobody inspects the spammish repetition"), 0xFBCEA83C8A378BF1ULL);
}

TEST(Checksum, every_flipped_bit_of_any_length_changes_it) {
  for (const std::size_t n : {1, 4, 8, 31, 32, 33, 71}) {
    std::vector<std::byte> bytes(n, std::byte{0x5a});
    const auto whole = xxh64(bytes);
    for (std::size_t bit = 0; bit < 8 * n; ++bit) {
      bytes[bit / 8] ^= std::byte(1 << bit % 8);
      EXPECT_NE(xxh64(bytes), whole) << n << " bytes, bit " << bit;
      bytes[bit / 8] ^= std::byte(1 << bit % 8);
    }
  }
}

}  // namespace
}  // namespace quintet::hdf5
