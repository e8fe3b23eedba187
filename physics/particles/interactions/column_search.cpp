#include "physics/particles/interactions/column_search.hpp"

#include <algorithm>
#include <cmath>

namespace quintet {

void ColumnSearch::build(const Vectors& position, const Array<int>& type, int n_types, int n_all,
                         double range) {
  n_types_ = n_types;
  Vec3 upper{};
  lower_ = {};
  for (int k = 0; k < 3 && n_all > 0; ++k) {
    lower_[k] = upper[k] = position(0, k);
    for (int i = 1; i < n_all; ++i) {
      lower_[k] = std::min(lower_[k], position(i, k));
      upper[k] = std::max(upper[k], position(i, k));
    }
  }
  // Columns so thin that few atoms in them are beyond the range, cells along z where runs begin and end.
  Vec3 cells;
  for (int k = 0; k < 3; ++k)
    cells[k] = std::max(1.0, std::floor((upper[k] - lower_[k]) / range * (k < 2 ? 8 : 32)));
  const double most = 64 + 8.0 * n_all / std::max(1, n_types);
  while (cells[0] * cells[1] * cells[2] > most) {
    double& largest = *std::max_element(cells.begin(), cells.end());
    largest = std::max(1.0, std::floor(largest / 2));
  }
  for (int k = 0; k < 3; ++k) {
    n_[k] = cells[k];
    length_[k] = (upper[k] - lower_[k]) / n_[k];
    per_length_[k] = n_[k] > 1 ? 1 / length_[k] : 0;
  }
  n_cells_ = n_[0] * n_[1] * n_[2];

  cell_.resize(n_all);
  start_.assign(std::size_t(n_types) * n_cells_ + 1, 0);
  for (int i = 0; i < n_all; ++i) {
    int c[3];
    for (int k = 0; k < 3; ++k) c[k] = index(k, position(i, k) - lower_[k]);
    cell_[i] = type(i) * n_cells_ + (c[0] * n_[1] + c[1]) * n_[2] + c[2];
    ++start_[cell_[i] + 1];
  }
  for (std::size_t b = 1; b < start_.size(); ++b) start_[b] += start_[b - 1];
  order_.assign(std::size_t(n_all) + padding, 0);
  place_.resize(n_all);
  for (int i = 0; i < n_all; ++i) {
    place_[i] = start_[cell_[i]]++;
    order_[place_[i]] = i;
  }
  // Each start has moved to its cell's end, which is the next one's start.
  for (std::size_t b = start_.size() - 1; b > 0; --b) start_[b] = start_[b - 1];
  start_[0] = 0;
}

}  // namespace quintet
