#include <algorithm>
#include <cstring>

#include "physics/kernels/gemm.hpp"
#include "physics/kernels/pack_lanes.hpp"

namespace quintet {

template <class T>
PackedMatrix<T>::PackedMatrix(const double* b, int k, int n, bool transposed) : k_(k), n_(n) {
  const int panels = (n + panel - 1) / panel;
  data_.assign(std::int64_t{panels} * k * panel, T(0));
  for (int j = 0; j < n; ++j) {
    T* column = data_.data() + std::int64_t{j / panel} * k * panel + j % panel;
    for (int i = 0; i < k; ++i) {
      const std::size_t from = transposed ? std::int64_t{j} * k + i : std::int64_t{i} * n + j;
      column[std::int64_t{i} * panel] = static_cast<T>(b[from]);
    }
  }
}

template <class T>
void PackedMatrix<T>::resize(int k, int n) {
  if (k == k_ && n == n_) return;
  data_.assign(std::int64_t{(n + panel - 1) / panel} * k * panel, T(0));
  k_ = k;
  n_ = n;
}

template <class T>
void PackedMatrix<T>::assign(const T* b, int k, int n, bool transposed) {
  resize(k, n);
  if (transposed) return transpose_rows([=](int j) { return b + std::int64_t{j} * k; }, 0, n, 0, k);
  for (int i = 0; i < k; ++i) set_row(i, b + std::int64_t{i} * n);
}

template <class T>
void PackedMatrix<T>::set_row(int i, const T* row) {
  const int whole = n_ / panel, rest = n_ % panel;
  T* to = data_.data() + std::int64_t{i} * panel;
  for (int p = 0; p < whole; ++p, row += panel, to += std::int64_t{k_} * panel) {
    for (int j = 0; j < panel; j += detail::cache_line<T>)
      __builtin_prefetch(to + detail::rows_ahead * panel + j, 1);
    std::memcpy(to, row, panel * sizeof(T));
  }
  if (rest > 0) std::copy_n(row, rest, to);
}

/// Columns begin ... end from rows of the transpose: row(j)[i] becomes B[first + i, j], i < k; blocks of
/// whole packs turn over in registers. `begin` is a multiple of the panel.
template <class T>
template <class Row>
void PackedMatrix<T>::transpose_rows(const Row& row, int begin, int end, int first, int k) {
  constexpr int w = pack_width<T>;
  for (; begin < end; begin += panel) {
    T* const to_panel = data_.data() + (std::int64_t{begin / panel} * k_ + first) * panel;
    for (int i = 0; i < k; i += w)
      for (int j = begin; j < std::min(end, begin + panel); j += w) {
        T* to = to_panel + i * panel + (j - begin);
        if (j + w <= end && i + w <= k) {
          Pack<T> block[w];
#pragma GCC unroll 16
          for (int l = 0; l < w; ++l) __builtin_prefetch(to + (l + 2 * w) * panel, 1);
#pragma GCC unroll 16
          for (int l = 0; l < w; ++l) block[l] = load<T>(row(j + l) + i);
          transpose<T, w>(block);
#pragma GCC unroll 16
          for (int l = 0; l < w; ++l) store<T>(to + l * panel, block[l]);
          continue;
        }
        for (int column = j; column < std::min(end, j + w); ++column, ++to)
          for (int l = 0; l < std::min(w, k - i); ++l) to[l * panel] = row(column)[i + l];
      }
  }
}

template <class T>
void PackedMatrix<T>::assign_both(const std::vector<const T*>& rows, int n, PackedMatrix& b,
                                  PackedMatrix& transposed) {
  const int k = rows.size();
  b.resize(k, n);
  transposed.resize(n, k);
  for (int begin = 0; begin < k; begin += panel) {
    const int end = std::min(k, begin + panel);
    for (int i = begin; i < end; ++i) {
      const T* later = rows[std::min(i + detail::rows_ahead, k - 1)];
      for (int j = 0; j < n; j += detail::cache_line<T>) __builtin_prefetch(later + j);
      b.set_row(i, rows[i]);
    }
    for (int p = 0; p * panel < n; ++p)
      transposed.transpose_rows([&](int i) { return b.panel_data(p) + std::int64_t{i} * panel; }, begin, end,
                                p * panel, std::min(panel, n - p * panel));
  }
}

template <class T>
void PackedMatrix<T>::unpack(T* b) const {
  for (int i = 0; i < k_; ++i)
    for (int j = 0; j < n_; ++j) *b++ = panel_data(j / panel)[std::int64_t{i} * panel + j % panel];
}

template class PackedMatrix<float>;
template class PackedMatrix<double>;

}  // namespace quintet
