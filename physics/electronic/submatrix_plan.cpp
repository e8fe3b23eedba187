#include "physics/electronic/submatrix_plan.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "io/log/error.hpp"
#include "physics/electronic/column_store.hpp"
#include "physics/kernels/pack.hpp"

namespace quintet::electronic {

namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

/// All block columns of the groups that this rank has a part in.
std::vector<std::int32_t> columns_of_groups(const BlockMatrix& a, int together) {
  std::vector<std::int32_t> columns;
  if (a.n_columns() == 0) return columns;
  const int end = std::min(a.blocking->n_blocks(), (a.last - 1) / together * together + together);
  for (int c = a.first / together * together; c < end; ++c) columns.push_back(c);
  return columns;
}

double memory_of_a_rank(const Comm& comm) {
  return static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)) /
         comm.node_size();
}

/// The eigen and Newton-Schulz kernels hold three dense matrices, the polynomial one its upper triangle.
double bytes_of(const Submatrix& s, bool dense) {
  const double n = s.n;
  return 8 * (dense ? 3 * n * n : 0.5 * n * n) + 8.0 * 4 * n * std::max(s.n_own, pack_width<double>);
}

}  // namespace

std::vector<Submatrix> plan_submatrices(const BlockMatrix& a, int together) {
  const auto columns = columns_of_groups(a, together);
  const ColumnStore store(a, columns);
  const Blocking& blocks = *a.blocking;
  std::vector<Submatrix> work;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] % together == 0) work.emplace_back();
    Submatrix& s = work.back();
    if (columns[i] % together == 0) s.first = std::max(columns[i], a.first);
    s.last = std::min(columns[i] + 1, a.last);
    const auto rows = store[columns[i]].row;
    s.rows.insert(s.rows.end(), rows.begin(), rows.end());
  }
  for (Submatrix& s : work) {
    std::sort(s.rows.begin(), s.rows.end());
    s.rows.erase(std::unique(s.rows.begin(), s.rows.end()), s.rows.end());
    for (const auto row : s.rows) s.n += blocks.size(row);
    s.n_own = blocks.begin[at(s.last)] - blocks.begin[at(s.first)];
  }
  return work;
}

int columns_that_fill_a_pack(const Blocking& blocking) {
  const double size = static_cast<double>(blocking.n_rows()) / std::max(1, blocking.n_blocks());
  return std::max(1, static_cast<int>(std::lround(0.75 * pack_width<double> / std::max(size, 1.0))));
}

PredictedSeconds predict(const Submatrix& s, double fill, int degree) {
  // measured on one core with 512-bit packs: 5.5e9 multiply-adds of a pack a second; dsyevd of OpenBLAS
  constexpr double packs_per_second = 5.5e9;
  const double n = s.n, packs = padded(s.n_own, pack_width<double>) / pack_width<double>;
  return {(degree * packs * fill * n * n + 3 * fill * n * n) / packs_per_second + 4e-9 * n * degree * packs +
              2e-5,
          1.8e-10 * n * n * n + 3.5e-8 * n * n + 1e-5};
}

std::vector<double> predicted_costs(const BlockMatrix& a, const SubmatrixOptions& options) {
  constexpr double fill = 0.5;
  constexpr int degree = 40;
  BlockMatrix filtered = a;
  filter(filtered, options.threshold);
  std::vector<double> costs;
  for (const Submatrix& s : plan_submatrices(filtered, 1)) {
    const auto seconds = predict(s, fill, degree);
    const bool eigen =
        options.kernel == SubmatrixKernel::eigen || options.kernel == SubmatrixKernel::newton_schulz;
    costs.push_back(eigen ? seconds.eigen : seconds.polynomial);
  }
  return a.comm.all_gather(std::span<const double>(costs));
}

void check_memory(const BlockMatrix& a, const std::vector<Submatrix>& work, bool dense, double memory_bytes) {
  const double limit = memory_bytes > 0 ? memory_bytes : memory_of_a_rank(a.comm);
  const Submatrix none;
  const Submatrix* largest = &none;
  for (const Submatrix& s : work)
    if (s.n > largest->n) largest = &s;
  const double over = a.comm.maximum(bytes_of(*largest, dense) / limit);
  if (over <= 1) return;
  const bool here = bytes_of(*largest, dense) / limit == over;
  const int rank = a.comm.minimum(here ? a.comm.rank() : a.comm.size());
  throw InputError(
      a.comm.broadcast(fmt::format("the submatrix of block column {} has {} rows ({} blocks) and needs "
                                   "{:.3g} MB; a rank may use {:.3g} MB: "
                                   "raise the threshold, use fewer ranks a node or smaller blocks",
                                   largest->first + 1, largest->n, largest->rows.size(),
                                   1e-6 * bytes_of(*largest, dense), 1e-6 * limit),
                       rank));
}

}  // namespace quintet::electronic
