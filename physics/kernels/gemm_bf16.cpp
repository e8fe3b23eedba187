#include "physics/kernels/gemm_bf16.hpp"

#include <algorithm>
#include <utility>

#include "io/log/error.hpp"
#include "physics/kernels/bf16_units.hpp"
#include "physics/kernels/bf16_words.hpp"
#include "physics/kernels/pack.hpp"
#include "physics/kernels/pack_lanes.hpp"

namespace quintet {

namespace {

using namespace bf16;
constexpr int w = pack_width<float>;

/// The first of n numbers, at most a pack of them, and 0.
Floats numbers(const float* from, int n) {
  if (n >= w) return load<float>(from);
  Floats values{};
  if (n > 0) std::memcpy(&values, from, n * sizeof(float));
  return values;
}
Words words_of(const float* from, int n) {
  return row_words(numbers(from, n), n > w ? numbers(from + w, n - w) : Floats{});
}

/// Rows of A [m, k] as words [m, stride], 0 beyond k.
void round_rows(std::initializer_list<Bf16Columns> parts, int m, std::uint32_t* to, int stride) {
  static thread_local AlignedVector<float> together;
  if (together.size() < 2 * static_cast<std::size_t>(stride)) together.resize(2 * std::size_t(stride));
  for (int row = 0; row < m; ++row, to += stride) {
    int k = 0;
    const float* from = together.data();
    for (const Bf16Columns& part : parts) {
      const bool none = part.a == nullptr || row < part.delay;
      const float* own = none ? nullptr : part.a + (row - part.delay) * part.lda;
      if (parts.size() == 1 && !none)
        from = own;
      else if (none)
        std::fill_n(together.begin() + k, part.k, 0.0F);
      else
        std::copy_n(own, part.k, together.begin() + k);
      k += part.k;
    }
    round_row(k, to, stride, [&](int i) { return numbers(from + i, k - i); });
  }
}

/// A^T as words (row 2 i, row 2 i + 1) of A: [k, stride], 0 beyond the rows; writes whole packs of k.
void round_columns(const Bf16Columns& from, int rows, std::uint32_t* to, int stride) {
  for (int pair = 0; pair < stride; pair += w)
    for (int begin = 0; begin < from.k; begin += w) {
      Words words[w];
      for (int i = 0; i < w; ++i) {
        const auto part = [&](int row) {
          return from.a == nullptr || row < from.delay || row >= rows
                     ? Floats{}
                     : numbers(from.a + (row - from.delay) * from.lda + begin, from.k - begin);
        };
        words[i] = pair_words(part(2 * (pair + i)), part(2 * (pair + i) + 1));
      }
      transpose<std::uint32_t, w>(words);
      for (int j = 0; j < std::min(w, from.k - begin); ++j)
        store<std::uint32_t, w>(to + std::ptrdiff_t{begin + j} * stride + pair, words[j]);
    }
}

constexpr int tile_rows = 4;

/// C[rows, packs W] = start + A[rows, pairs] B[pairs, packs W] in float.
template <int rows, int packs>
void tile(const std::uint32_t* __restrict a, std::ptrdiff_t lda, int pairs, const std::uint32_t* __restrict b,
          float* c, std::ptrdiff_t ldc, Bf16Start start) {
  Floats sum[rows][packs] = {};
  if (start.rows)
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
      for (int q = 0; q < packs; ++q) sum[r][q] = load<float>(start.rows + r * start.stride + q * w);
  for (int i = 0; i < pairs; ++i, b += PackedBf16::panel) {
    Floats first[packs], second[packs];
#pragma GCC unroll 8
    for (int q = 0; q < packs; ++q) {
      const Words words = load<std::uint32_t, w>(b + q * w);
      first[q] = as<Floats>(words & 0xffff0000U);
      second[q] = as<Floats>(words << 16);
    }
#pragma GCC unroll 8
    for (int r = 0; r < rows; ++r) {
      const std::uint32_t word = a[r * lda + i];
      const auto left = broadcast<float>(from_bf16(word >> 16));
      const auto right = broadcast<float>(from_bf16(word));
#pragma GCC unroll 8
      for (int q = 0; q < packs; ++q) {
        sum[r][q] += left * first[q];
        sum[r][q] += right * second[q];
      }
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
    for (int q = 0; q < packs; ++q) store<float>(c + r * ldc + q * w, sum[r][q]);
}

template <int packs>
void tile_of(int rows, const std::uint32_t* a, std::ptrdiff_t lda, int pairs, const std::uint32_t* b,
             float* c, std::ptrdiff_t ldc, Bf16Start start) {
  if (rows == 4) return tile<4, packs>(a, lda, pairs, b, c, ldc, start);
  if (rows == 3) return tile<3, packs>(a, lda, pairs, b, c, ldc, start);
  if (rows == 2) return tile<2, packs>(a, lda, pairs, b, c, ldc, start);
  return tile<1, packs>(a, lda, pairs, b, c, ldc, start);
}

void multiply_in_floats(const detail::Bf16Product& p) {
  constexpr int width = PackedBf16::panel % (2 * w) == 0 ? 2 : 1;  // packs of a tile
  const std::ptrdiff_t lda = p.b->stride();
  for (int column = 0; column < p.columns; column += width * w) {
    const std::uint32_t* right = p.b->panel_data(column / PackedBf16::panel) + column % PackedBf16::panel;
    for (int row = 0; row < p.m; row += tile_rows) {
      const int rows = std::min(tile_rows, p.m - row);
      const std::uint32_t* left = p.a + row * lda;
      float* out = p.c + row * p.ldc + column;
      const Bf16Start start = p.start.at(row, column);
      if (p.columns - column >= width * w)
        tile_of<width>(rows, left, lda, p.b->pairs(), right, out, p.ldc, start);
      else
        tile_of<1>(rows, left, lda, p.b->pairs(), right, out, p.ldc, start);
    }
  }
}

struct UnitRow {
  Bf16Unit unit;
  const char* doc;
  void (*multiply)(const detail::Bf16Product&);
};
/// The fastest first.
constexpr UnitRow units[] = {
    {Bf16Unit::tiles, "by the processor's tiles (AMX)", detail::multiply_by_tiles},
    {Bf16Unit::pairs, "by the processor's products of pairs (AVX512_BF16)", detail::multiply_by_pairs},
    {Bf16Unit::floats, "in float: this processor has neither AMX nor AVX512_BF16", multiply_in_floats}};

const UnitRow& row_of(Bf16Unit unit) {
  for (const auto& row : units)
    if (row.unit == unit) return row;
  throw InternalError("a bf16 unit without a kind");
}

/// Memory of the thread, kept, for words of A: whole tiles of rows.
std::uint32_t* words_for(int rows, int stride) {
  static thread_local AlignedVector<std::uint32_t> words;
  if (words.size() < rounded_words(rows, stride)) words.resize(rounded_words(rows, stride));
  return words.data();
}

}  // namespace

bool has_unit(Bf16Unit unit) { return detail::processor_has(unit); }

Bf16Unit bf16_unit() {
  static const Bf16Unit fastest = std::find_if(std::begin(units), std::end(units), [](const UnitRow& row) {
                                    return has_unit(row.unit);
                                  })->unit;
  return fastest;
}

const char* doc_of(Bf16Unit unit) { return row_of(unit).doc; }

void PackedBf16::assign(const float* b, std::ptrdiff_t ldb, int k, int n, bool transposed) {
  k_ = k;
  n_ = n;
  const int panels = (n + panel - 1) / panel;
  const std::size_t needed = std::int64_t{panels} * stride() * panel;
  if (data_.size() < needed) data_.resize(needed);
  for (int first = 0; first < panels * panel; first += panel) {
    std::uint32_t* to = data_.data() + std::int64_t{first} * stride();
    for (int i = 0; !transposed && i < stride(); ++i)
      for (int column = first; column < first + panel; column += w, to += w) {
        const float* at = b + 2 * i * ldb + column;
        store<std::uint32_t, w>(to, pair_words(2 * i < k ? numbers(at, n - column) : Floats{},
                                               2 * i + 1 < k ? numbers(at + ldb, n - column) : Floats{}));
      }
    for (int column = first; transposed && column < first + panel; column += w, to += w)
      for (int begin = 0; begin < stride(); begin += w) {
        Words words[w];
        for (int j = 0; j < w; ++j)
          words[j] = column + j < n ? words_of(b + (column + j) * ldb + 2 * begin, k - 2 * begin) : Words{};
        transpose<std::uint32_t, w>(words);
        for (int i = 0; i < w; ++i) store<std::uint32_t, w>(to + std::ptrdiff_t{begin + i} * panel, words[i]);
      }
  }
}

void multiply_bf16(std::initializer_list<Bf16Columns> a, int m, const PackedBf16& b, float* c,
                   std::ptrdiff_t ldc, bool add, Bf16Unit unit) {
  std::uint32_t* words = words_for(m, b.stride());
  round_rows(a, m, words, b.stride());
  multiply_bf16(words, m, b, c, ldc, add ? Bf16Start{c, ldc} : Bf16Start{}, unit);
}

void multiply_bf16(const std::uint32_t* a, int m, const PackedBf16& b, float* c, std::ptrdiff_t ldc,
                   Bf16Start start, Bf16Unit unit) {
  row_of(unit).multiply({a, m, &b, c, ldc, padded(b.n(), w), start});
}

void multiply_bf16(const float* a, std::ptrdiff_t lda, int m, const PackedBf16& b, float* c,
                   std::ptrdiff_t ldc, bool add, Bf16Unit unit) {
  multiply_bf16({{a, lda, b.k()}}, m, b, c, ldc, add, unit);
}

void add_transposed_products_bf16(std::initializer_list<Bf16Columns> a, const float* b, std::ptrdiff_t ldb,
                                  int rows, int n, float* c, std::ptrdiff_t ldc, Bf16Unit unit) {
  static thread_local PackedBf16 right;
  right.assign(b, ldb, rows, n);
  int k = 0;
  for (const Bf16Columns& columns : a) k += columns.k;
  std::uint32_t* const words = words_for(k, right.stride());
  k = 0;
  for (const Bf16Columns& columns : a) {
    round_columns(columns, rows, words + std::ptrdiff_t{k} * right.stride(), right.stride());
    k += columns.k;
  }
  multiply_bf16(words, k, right, c, ldc, {c, ldc}, unit);
}

}  // namespace quintet
