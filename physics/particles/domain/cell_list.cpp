#include "physics/particles/domain/cell_list.hpp"

#include <algorithm>

namespace quintet {
namespace {

/// Least and largest fractional coordinates of atoms.
struct Bounds {
  Vec3 lower, upper;
};

Bounds bounds_along(const Exec& exec, const Atoms& atoms) {
  Bounds bounds{};
  const Box box = atoms.box;
  const Vectors x = atoms.position;
  const Kokkos::RangePolicy<Exec> all(exec, 0, atoms.n_all());
  for (int k = 0; k < 3; ++k) {
    Kokkos::parallel_reduce(
        "particles::lower_bound", all,
        KOKKOS_LAMBDA(const int i, double& least) {
          const double s = box.fractional(k, x(i, 0), x(i, 1), x(i, 2));
          if (s < least) least = s;
        },
        Kokkos::Min<double>(bounds.lower[k]));
    Kokkos::parallel_reduce(
        "particles::upper_bound", all,
        KOKKOS_LAMBDA(const int i, double& most) {
          const double s = box.fractional(k, x(i, 0), x(i, 1), x(i, 2));
          if (s > most) most = s;
        },
        Kokkos::Max<double>(bounds.upper[k]));
  }
  return bounds;
}

/// Atoms that left an open box by far must not stretch the grid: they are binned in its rim.
void limit_to_box(Bounds& bounds, const Box& box, double range) {
  for (int k = 0; k < 3; ++k) {
    const double r = range / box.width(k);
    if (bounds.upper[k] < -r || bounds.lower[k] > 1 + r) continue;  // all outside: keep what there is
    bounds.lower[k] = std::max(bounds.lower[k], -r);
    bounds.upper[k] = std::min(bounds.upper[k], 1 + r);
  }
}

template <class T>
void grow(Array<T>& array, const char* label, std::size_t n) {
  if (array.extent(0) < n) array = make_view<Array<T>>(label, n + n / 4);
}

/// Turn counts into the start of each bin and hand out places in order (a stable counting sort).
void counting_sort(const int* key, int n, int* start, int n_bins, int* order) {
  std::fill(start, start + n_bins + 1, 0);
  for (int i = 0; i < n; ++i) ++start[key[i] + 1];
  for (int b = 0; b < n_bins; ++b) start[b + 1] += start[b];
  for (int i = 0; i < n; ++i) order[start[key[i]]++] = i;
  // Each start has moved to its bin's end, which is the next one's start.
  for (int b = n_bins; b > 0; --b) start[b] = start[b - 1];
  start[0] = 0;
}

}  // namespace

CellGrid make_cell_grid(const Box& box, const Vec3& lower, const Vec3& upper, double size, int most_cells) {
  CellGrid grid;
  grid.lower = lower;
  Vec3 n{};
  for (int k = 0; k < 3; ++k) n[k] = std::max(1.0, std::floor((upper[k] - lower[k]) * box.width(k) / size));
  while (n[0] * n[1] * n[2] > std::max(most_cells, 1)) {
    double& largest = *std::max_element(n.begin(), n.end());
    largest = std::max(1.0, std::floor(largest / 2));
  }
  for (int k = 0; k < 3; ++k) {
    grid.n[k] = n[k];
    // With one cell the factor is not needed, and over a denormal range it would be infinite.
    grid.per_unit[k] = n[k] > 1 ? n[k] / (upper[k] - lower[k]) : 0.0;
  }
  return grid;
}

void CellList::build(const Exec& exec, const Atoms& atoms, double range) {
  const int n = atoms.n_all();
  n_types_ = atoms.type_names.size();
  Bounds bounds{};
  if (n > 0) bounds = bounds_along(exec, atoms);
  limit_to_box(bounds, atoms.box, range);
  // Half the range: a column of five cells holds long runs, and few candidates lie outside the sphere.
  grid_ =
      make_cell_grid(atoms.box, bounds.lower, bounds.upper, range / 2, 64 + n / std::max(1, n_types_) * 2);
  const int n_cells = grid_.size(), n_bins = n_types_ * n_cells;
  grow(key_, "particles::cell_key", n);
  grow(start_, "particles::cell_start", n_bins + 1);
  grow(order_, "particles::cell_order", n + padding);
  grow(place_, "particles::cell_place", n);
  for (auto& x : coordinates_) grow(x, "particles::cell_coordinates", n + padding);

  const auto grid = grid_;
  const Box box = atoms.box;
  const auto position = atoms.position;
  const auto type = atoms.type;
  const auto key = key_, order = order_, place = place_;
  Kokkos::parallel_for(
      "particles::cell_key", Kokkos::RangePolicy<Exec>(exec, 0, n), KOKKOS_LAMBDA(const int i) {
        int c[3];
        for (int k = 0; k < 3; ++k)
          c[k] = grid.index(k, box.fractional(k, position(i, 0), position(i, 1), position(i, 2)));
        key(i) = type(i) * n_cells + (c[0] * grid.n[1] + c[1]) * grid.n[2] + c[2];
      });
  exec.fence();
  counting_sort(key_.data(), n, start_.data(), n_bins, order_.data());
  const auto x = coordinates_[0], y = coordinates_[1], z = coordinates_[2];
  Kokkos::parallel_for(
      "particles::cell_coordinates", Kokkos::RangePolicy<Exec>(exec, 0, n + padding),
      KOKKOS_LAMBDA(const int p) {
        if (p >= n) order(p) = 0;
        const int i = order(p);
        if (p < n) place(i) = p;
        x(p) = n > 0 ? position(i, 0) : 0.0;
        y(p) = n > 0 ? position(i, 1) : 0.0;
        z(p) = n > 0 ? position(i, 2) : 0.0;
      });
}

}  // namespace quintet
