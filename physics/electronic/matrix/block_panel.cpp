#include "physics/electronic/matrix/block_panel.hpp"

#include "physics/kernels/random.hpp"

namespace quintet::electronic {

SparseRows sparse_rows(const BlockMatrix& a) {
  return {{a.blocking->begin, a.rank_begin}, a.column_begin, a.row, a.offset, a.value.data()};
}

AlignedVector<double> random_sign_panel(const PanelPart& part, std::uint64_t seed, int first, int f) {
  const int begin = part.first_column(f), end = part.last_column(f);
  AlignedVector<double> x;
  x.reserve(std::int64_t{part.n_rows()} * (end - begin));
  for (int i = part.first; i < part.last; ++i)
    for (int c = begin; c < end; ++c) {
      std::uint32_t word[4] = {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(first + c), 0, 0};
      philox4x32(word, seed, seed >> 32);
      x.push_back((word[0] >> 31) != 0 ? -1.0 : 1.0);
    }
  return x;
}

}  // namespace quintet::electronic
