#include "physics/electronic/submatrix/submatrix_spins.hpp"

#include <cmath>
#include <cstddef>
#include <memory>
#include <numbers>

#include "io/log/error.hpp"

namespace quintet::electronic {

namespace {

/// Append local column c of `from`; `row_of` numbers its block rows.
template <class RowOf>
void append_column(const BlockMatrix& from, int c, BlockMatrix& to, const RowOf& row_of) {
  for (auto p = from.column_begin[c]; p < from.column_begin[c + 1]; ++p) {
    const auto size = from.blocking->size(from.row[p]) * from.blocking->size(from.first + c);
    const double* block = from.value.data() + from.offset[p];
    to.row.push_back(row_of(from.row[p]));
    to.offset.push_back(to.value.size());
    to.value.insert(to.value.end(), block, block + size);
  }
  to.column_begin.push_back(to.row.size());
}

SubmatrixResult spin_of(const SubmatrixResult& both, const BlockMatrix& like, bool down) {
  SubmatrixResult one(part_of(both.p, like, down));
  one.n_pairs = trace(one.p);
  one.mu = both.mu;
  one.homo = both.homo;
  one.lumo = both.lumo;
  one.n_mean = both.n_mean;
  one.n_max = both.n_max;
  one.clustering_gain = both.clustering_gain;
  one.kernel = both.kernel;
  one.degree = both.degree;
  one.error = both.error;  // of the mean of both spins: half of that of their sum each
  one.error.energy = 0.5 * both.error.energy;
  one.error.n_pairs *= 0.5;
  one.error.p /= std::numbers::sqrt2;
  one.error.p_inside /= std::numbers::sqrt2;
  one.error.seconds *= 0.5;
  one.holds_pairs = both.holds_pairs;
  one.temperature = both.temperature;
  one.asymmetry = both.asymmetry / std::numbers::sqrt2;
  for (auto number :
       {&SubmatrixResult::entropy, &SubmatrixResult::flops, &SubmatrixResult::seconds,
        &SubmatrixResult::kernel_seconds, &SubmatrixResult::predicted_seconds, &SubmatrixResult::n_pairs_put})
    one.*number = 0.5 * (both.*number);
  for (auto count : {&SubmatrixResult::n_submatrices, &SubmatrixResult::n_polynomial,
                     &SubmatrixResult::n_eigen, &SubmatrixResult::n_in_gap})
    one.*count = down ? 0 : both.*count;
  return one;
}

}  // namespace

BlockMatrix interleaved(const BlockMatrix& up, const BlockMatrix& down) {
  QUINTET_CHECK(*up.blocking == *down.blocking,
                "the matrices of the two spins have different blocks; give their sizes");
  QUINTET_CHECK(up.rank_begin == down.rank_begin,
                "the matrices of the two spins are shared out over the ranks differently");
  Blocking blocking;
  for (int b = 0; b < up.blocking->n_blocks(); ++b)
    for (int spin = 0; spin < 2; ++spin)
      blocking.begin.push_back(blocking.begin.back() + up.blocking->size(b));
  BlockMatrix both(up.comm);
  both.blocking = std::make_shared<const Blocking>(std::move(blocking));
  both.first = 2 * up.first;
  both.last = 2 * up.last;
  for (const int begin : up.rank_begin) both.rank_begin.push_back(2 * begin);
  for (int c = 0; c < up.n_columns(); ++c) {
    append_column(up, c, both, [](std::int32_t row) { return 2 * row; });
    append_column(down, c, both, [](std::int32_t row) { return 2 * row + 1; });
  }
  return both;
}

BlockMatrix part_of(const BlockMatrix& both, const BlockMatrix& like, bool down) {
  BlockMatrix part(like.comm);
  part.blocking = like.blocking;
  part.first = like.first;
  part.last = like.last;
  part.rank_begin = like.rank_begin;
  for (int c = 0; c < part.n_columns(); ++c)
    append_column(both, 2 * c + (down ? 1 : 0), part, [](std::int32_t row) { return row / 2; });
  return part;
}

std::pair<SubmatrixResult, SubmatrixResult> evaluate_spins(const BlockMatrix& up, const BlockMatrix& down,
                                                           const SubmatrixOptions& options) {
  const SubmatrixResult both = evaluate_submatrices(interleaved(up, down), options);
  return {spin_of(both, up, false), spin_of(both, down, true)};
}

}  // namespace quintet::electronic
