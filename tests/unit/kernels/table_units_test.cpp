#include <array>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "physics/kernels/aligned.hpp"
#include "physics/kernels/table_units.hpp"

using namespace quintet;

namespace {

/// Words, scales and tables of random numbers, and their task.
struct Case {
  AlignedVector<std::uint32_t> words;
  AlignedVector<float> scales, tables;
  std::vector<float> y;
  detail::LookUp task{};

  Case(int blocks, int bits, int groups, int keys, int last_keys, int n, int rows) {
    constexpr int lanes = detail::rows_of_block;
    const auto words_of = [](int k) { return (k + detail::keys_of_word - 1) / detail::keys_of_word; };
    const int planes = blocks * bits, all_keys = (groups - 1) * keys + last_keys;
    const int n_words = (groups - 1) * words_of(keys) + words_of(last_keys);
    std::mt19937 random(17);
    std::uniform_real_distribution<float> number(-1, 1);
    words.resize(std::size_t(n_words) * planes * lanes);
    scales.resize(std::size_t(groups) * planes * lanes);
    tables.resize(std::size_t(all_keys) * n * lanes);
    for (auto& word : words) word = random();
    for (auto& scale : scales) scale = number(random);
    for (auto& sum : tables) sum = number(random);
    const int ldy = rows + 3;
    for (int i = 0; i < n * ldy; ++i) y.push_back(number(random));
    task = {words.data(), scales.data(), planes, bits,     groups, keys,
            last_keys,    tables.data(), n,      y.data(), ldy,    rows};
  }
};

/// y += scale * sum over keys of table[4 bits of the word], by plain loops in the order of the units.
std::vector<float> plain(const Case& c) {
  constexpr int lanes = detail::rows_of_block;
  const auto& t = c.task;
  std::vector<float> y = c.y;
  int word = 0, key = 0;
  for (int g = 0; g < t.groups; ++g) {
    const int keys = t.keys_of_group(g);
    for (int p = 0; p < t.planes; ++p)
      for (int lane = 0; lane < lanes; ++lane) {
        const int row = p / t.bits * lanes + lane;
        if (row >= t.rows) continue;
        for (int v = 0; v < t.n; ++v) {
          float sum = 0;
          for (int k = 0; k < keys; ++k) {
            const auto bits = t.words[((word + k / detail::keys_of_word) * t.planes + p) * lanes + lane];
            const int sign = bits >> (k % detail::keys_of_word * detail::columns_of_key) & 15;
            sum += t.tables[((key + k) * t.n + v) * lanes + sign];
          }
          float& to = y[v * t.ldy + row];
          to = std::fma(t.scales[(g * t.planes + p) * lanes + lane], sum, to);
        }
      }
    word += (keys + detail::keys_of_word - 1) / detail::keys_of_word;
    key += keys;
  }
  return y;
}

}  // namespace

/// Bitwise, as every sum has one order: one block and several, groups that end within a word, last rows that
/// are cut off, all numbers of vectors, more planes than registers hold.
TEST(TableUnits, look_ups_are_those_of_plain_loops) {
  if (!detail::has_look_up_in_registers()) GTEST_SKIP() << "this processor has no AVX-512";
  for (const int n : {1, 2, 4})
    for (const int bits : {1, 2, 3, 4})
      for (const int blocks : {1, 2, 5})
        for (const int cut : {0, 7})
          for (const auto& [groups, keys, last] : {std::array{1, 8, 8}, {1, 8, 3}, {3, 16, 5}}) {
            Case c(blocks, bits, groups, keys, last, n, blocks * detail::rows_of_block - cut);
            const auto expected = plain(c);
            detail::look_up_in_registers(c.task);
            EXPECT_EQ(c.y, expected) << n << " vectors, " << bits << " bits, " << blocks << " blocks, "
                                     << groups << " groups, rows cut: " << cut;
          }
}
