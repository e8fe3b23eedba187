#include "apps/submatrix/report/pictures.hpp"
#include "io/log/counted.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include <fmt/format.h>

namespace quintet::submatrix {

using electronic::BlockMatrix;

namespace {

/// Call visit(column, row, Frobenius norm) for each block of this rank.
template <class Visit>
void for_each_norm(const BlockMatrix& a, const Visit& visit) {
  for (int c = 0; c < a.n_columns(); ++c)
    for (auto p = a.column_begin[c]; p < a.column_begin[c + 1]; ++p) {
      const int row = a.row[p], size = a.blocking->size(row) * a.blocking->size(a.first + c);
      double sum = 0;
      for (int i = 0; i < size; ++i) sum += std::pow(a.value[a.offset[p] + i], 2);
      visit(a.first + c, row, std::sqrt(sum));
    }
}

}  // namespace

Heatmap norm_picture(const BlockMatrix& a, double threshold, int most_points) {
  const int n = a.blocking->n_blocks(), points = std::min(n, most_points);
  const auto pixel = [&](int block) { return static_cast<int>(std::int64_t{block} * points / n); };
  std::vector<double> largest(std::int64_t{points} * points);
  for_each_norm(a, [&](int column, int row, double norm) {
    if (norm < threshold && row != column) return;
    auto& value = largest[std::int64_t{points - 1 - pixel(row)} * points + pixel(column)];
    value = std::max(value, norm);
  });
  a.comm.reduce(std::span<double>(largest), Comm::Reduction::maximum);
  for (double& value : largest)
    value = value > 0 ? std::log10(value) : std::numeric_limits<double>::quiet_NaN();
  Heatmap map{"Blocks of S^-1/2 K S^-1/2",
              "block column",
              "block row, from the last one up",
              "log10 of the norm (hartree)",
              std::move(largest),
              points,
              points,
              0,
              double(n),
              0,
              double(n),
              ""};
  map.caption = fmt::format(
      "Blank: no block of Frobenius norm above the filter threshold {:.0e}. A submatrix is made of the rows "
      "and columns that one column of this picture shows.",
      threshold);
  return map;
}

std::vector<double> blocks_above(const BlockMatrix& a, const std::vector<double>& thresholds) {
  std::vector<double> counts(thresholds.size());
  for_each_norm(a, [&](int column, int row, double norm) {
    for (std::size_t i = 0; i < thresholds.size(); ++i)
      counts[i] += norm >= thresholds[i] || row == column ? 1 : 0;
  });
  a.comm.reduce(std::span<double>(counts), Comm::Reduction::sum);
  for (double& count : counts) count /= a.blocking->n_blocks();
  return counts;
}

std::vector<int> submatrix_sizes(const BlockMatrix& a, double threshold) {
  std::vector<int> sizes(a.n_columns());
  for_each_norm(a, [&](int column, int row, double norm) {
    if (norm >= threshold || row == column) sizes[column - a.first] += a.blocking->size(row);
  });
  return a.comm.all_gather(std::span<const int>(sizes));
}

std::vector<Bar> size_histogram(const std::vector<int>& sizes) {
  if (sizes.empty()) return {};
  const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
  const int width = (*most - *least) / 10 + 1, n_bars = (*most - *least) / width + 1;
  std::vector<int> count(n_bars);
  for (const int size : sizes) ++count[(size - *least) / width];
  const int highest = *std::max_element(count.begin(), count.end());
  std::vector<Bar> bars;
  for (int i = 0; i < n_bars; ++i) {
    const int from = *least + i * width, to = from + width - 1;
    bars.push_back({width == 1 ? counted(from, "row") : fmt::format("{} to {} rows", from, to), 0,
                    static_cast<double>(count[i]) / highest, fmt::format("{}", count[i])});
  }
  return bars;
}

}  // namespace quintet::submatrix
