#include "physics/codes/code_tables.hpp"

#include <algorithm>
#include <cstring>

#include "io/log/error.hpp"
#include "physics/kernels/pack.hpp"

namespace quintet {

namespace {

constexpr int lanes = PackedCodes::rows_of_block;

/// T[s] = sum of +-x of 4 numbers, bit j of s the sign of number j.
void fill_table(const float* x, float* table) {
  for (int s = 0; s < lanes; ++s) {
    const auto signed_of = [&](int j) { return (s >> j & 1) != 0 ? x[j] : -x[j]; };
    table[s] = signed_of(0) + signed_of(1) + signed_of(2) + signed_of(3);
  }
}

/// Tables [key][vector][16] of some vectors; numbers beyond a group's columns are 0.
void fill_tables(const float* x, std::ptrdiff_t ldx, int n, const PackedCodes& codes, float* tables) {
  constexpr int columns = PackedCodes::columns_of_key;
  for (int v = 0; v < n; ++v, x += ldx) {
    float* table = tables + v * lanes;
    int c = 0;
    for (; c + columns <= codes.columns(); c += columns, table += n * lanes) fill_table(x + c, table);
    if (c == codes.columns()) continue;
    float rest[columns] = {};
    std::copy_n(x + c, codes.columns() - c, rest);
    fill_table(rest, table);
  }
}

/// Look up as look_up_in_registers() does, a plane at a time.
void look_up_portably(const detail::LookUp& task) {
  constexpr int half = lanes / 2;
  using Floats = Pack<float, half>;
  using Words = Pack<std::int32_t, half>;
  const auto look = [](const float* table, Words key) {
    const Floats low = load<float, half>(table), high = load<float, half>(table + half);
#if defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
    return key << 28 < 0 ? __builtin_shuffle(high, key) : __builtin_shuffle(low, key);  // takes 3 bits
#else
    Floats sums;
    for (int l = 0; l < half; ++l) sums[l] = table[key[l] & (lanes - 1)];
    (void)low, (void)high;
    return sums;
#endif
  };
  const int stride = task.planes * lanes;
  for (int p = 0; p < task.planes; ++p) {
    const int row = p / task.bits * lanes, some = std::clamp(task.rows - row, 0, lanes);
    if (some == 0) continue;
    for (int v = 0; v < task.n; ++v) {
      const std::uint32_t* words = task.words + p * lanes;
      const float *scales = task.scales + p * lanes, *table = task.tables + v * lanes;
      float* y = task.y + v * task.ldy + row;
      for (int g = 0; g < task.groups; ++g, scales += stride) {
        Floats sum[2] = {};
        for (int keys = task.keys_of_group(g); keys > 0; keys -= PackedCodes::keys_of_word, words += stride) {
          Words word[2];
          std::memcpy(word, words, sizeof word);
          for (int k = 0; k < std::min(keys, PackedCodes::keys_of_word); ++k, table += task.n * lanes)
            for (int h = 0; h < 2; ++h) {
              sum[h] += look(table, word[h]);
              word[h] >>= PackedCodes::columns_of_key;  // signs of the last key come in from above: unseen
            }
        }
        float sums[lanes];
        std::memcpy(sums, sum, sizeof sums);
        for (int l = 0; l < some; ++l) y[l] += scales[l] * sums[l];
      }
    }
  }
}

}  // namespace

bool has_unit(TableUnit unit) { return unit == TableUnit::portable || detail::has_look_up_in_registers(); }
TableUnit table_unit() { return has_unit(TableUnit::registers) ? TableUnit::registers : TableUnit::portable; }
const char* doc_of(TableUnit unit) {
  return unit == TableUnit::registers ? "in registers (AVX-512)" : "in packs of 8";
}

int PackedCodes::n_tiles() const {
  const int rows = blocks_of_tile_ * rows_of_block;
  return (rows_ + rows - 1) / rows;
}
int PackedCodes::keys_of_group(int g) const {
  return (std::min(group_, columns_ - g * group_) + columns_of_key - 1) / columns_of_key;
}
int PackedCodes::keys_of_row() const { return (columns_ + columns_of_key - 1) / columns_of_key; }

PackedCodes::PackedCodes(const BinaryCodes& codes)
    : rows_(codes.rows), columns_(codes.columns), bits_(codes.bits), group_(codes.group) {
  constexpr int planes_at_a_time = 8;
  check_codes(codes, "binary codes");
  const int blocks = (rows_ + rows_of_block - 1) / rows_of_block;
  blocks_of_tile_ = std::min(blocks, std::max(1, planes_at_a_time / bits_));
  int words_of_row = 0;
  for (int g = 0; g < groups(); ++g) words_of_row += (keys_of_group(g) + keys_of_word - 1) / keys_of_word;
  words_of_tile_ = std::int64_t{words_of_row} * tile() * rows_of_block;
  words_.assign(words_of_tile_ * n_tiles(), 0);
  scales_.assign(std::int64_t{n_tiles()} * groups() * tile() * rows_of_block, 0.0F);
  const auto key_of = [&](int plane, int row, int column) {
    const auto at = (std::int64_t{plane} * rows_ + row) * codes.bytes_of_row() + column / 8;
    return static_cast<std::uint32_t>(codes.keys[at] >> (column % 8) & 15);
  };
  for (int row = 0; row < rows_; ++row)
    for (int i = 0; i < bits_; ++i) {
      const int block = row / rows_of_block, of_rows = block / blocks_of_tile_;
      const int lane = (block % blocks_of_tile_ * bits_ + i) * rows_of_block + row % rows_of_block;
      std::uint32_t* word = words_.data() + of_rows * words_of_tile_ + lane;
      float* scale = scales_.data() + std::int64_t{of_rows} * groups() * tile() * rows_of_block + lane;
      for (int g = 0; g < groups(); ++g, scale += tile() * rows_of_block) {
        *scale = codes.scale(i, row, g);
        for (int k = 0; k < keys_of_group(g); ++k) {
          const int shift = k % keys_of_word * columns_of_key;
          *word |= key_of(i, row, g * group_ + k * columns_of_key) << shift;
          if (shift == 32 - columns_of_key || k + 1 == keys_of_group(g)) word += tile() * rows_of_block;
        }
      }
    }
}

void multiply_codes(const float* x, std::ptrdiff_t ldx, int n, const PackedCodes& codes, float* y,
                    std::ptrdiff_t ldy, bool add, TableUnit unit) {
  const int most = codes.bits() <= 4 ? 4 : 2;  // vectors at a time
  static thread_local AlignedVector<float> tables;
  const std::size_t needed = std::int64_t{codes.keys_of_row()} * most * lanes;
  if (tables.size() < needed) tables.resize(needed);
  const int columns = padded(codes.rows(), pack_width<float>), rows = codes.blocks_of_tile() * lanes;
  for (int some = 0; n > 0; n -= some, x += some * ldx, y += some * ldy) {
    some = n >= most ? most : n >= 2 ? 2 : 1;
    fill_tables(x, ldx, some, codes, tables.data());
    if (!add)
      for (int v = 0; v < some; ++v) std::fill_n(y + v * ldy, columns, 0.0F);
    for (int t = 0; t < codes.n_tiles(); ++t) {
      const detail::LookUp task{.words = codes.words(t),
                                .scales = codes.scales(t),
                                .planes = codes.tile(),
                                .bits = codes.bits(),
                                .groups = codes.groups(),
                                .keys = codes.keys_of_group(0),
                                .last_keys = codes.keys_of_group(codes.groups() - 1),
                                .tables = tables.data(),
                                .n = some,
                                .y = y + t * rows,
                                .ldy = ldy,
                                .rows = std::min(rows, codes.rows() - t * rows)};
      if (unit == TableUnit::registers)
        detail::look_up_in_registers(task);
      else
        look_up_portably(task);
    }
  }
}

}  // namespace quintet
