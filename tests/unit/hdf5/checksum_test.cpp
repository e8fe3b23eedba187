#include "io/hdf5/checksum.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "io/config/tree.hpp"

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

TEST(Checksum, is_the_same_in_pieces) {
  std::vector<std::byte> bytes(1000);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::byte(i * i % 251);
  for (const std::size_t n : {0, 31, 32, 64, 96, 999, 1000})
    for (const std::size_t piece : {32, 96}) {
      Xxh64 sum(7);
      for (std::size_t at = 0; at < n; at += piece)
        sum.add(std::span(bytes).subspan(at, std::min(piece, n - at)));
      EXPECT_EQ(sum.value(), xxh64(std::span(bytes).first(n), 7)) << n << " bytes in pieces of " << piece;
    }
}

TEST(RowChecksum, adds_up_from_parts_in_any_order) {
  const std::vector<double> values{1, -2.5, 0, 3e300};
  RowChecksum whole, parts;
  whole.add<double>("x", values);
  parts.add<double>("x", std::span(values).subspan(3), 3);
  parts.add<double>("x", std::span(values).first(3));
  EXPECT_EQ(whole.value(), parts.value());
}

TEST(RowChecksum, every_flipped_bit_another_place_and_another_dataset_change_it) {
  const auto of = [](const std::string& name, std::uint64_t bits, std::uint64_t place) {
    RowChecksum sum;
    sum.add<double>(name, std::vector<double>{std::bit_cast<double>(bits)}, place);
    return sum.value();
  };
  for (const std::uint64_t bits : {std::uint64_t{0}, std::bit_cast<std::uint64_t>(1.5)}) {
    const auto whole = of("x", bits, 0);
    for (int bit = 0; bit < 64; ++bit) EXPECT_NE(of("x", bits ^ std::uint64_t{1} << bit, 0), whole) << bit;
    EXPECT_NE(of("x", bits, 1), whole);
    EXPECT_NE(of("y", bits, 0), whole);
  }
}

}  // namespace
}  // namespace quintet::hdf5
