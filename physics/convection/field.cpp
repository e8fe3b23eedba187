#include "physics/convection/field.hpp"

#include <algorithm>
#include <span>

namespace quintet::convection {

namespace {

constexpr int tag_up = 81, tag_down = 82;

/// Neighbours at both ends of row j.
void close_row(const Grid& grid, const Field& field, Place place, int j) {
  double* const row = field.row(j);
  const int n = field.n;
  if (grid.x.periodic) {
    row[-1] = row[n - 1];
    row[n] = row[0];
  } else if (place == Place::left_face) {
    row[0] = row[n] = 0;
    row[-1] = -row[1];
  } else {
    row[-1] = row[0];
    row[n] = row[n - 1];
  }
}

}  // namespace

void exchange(const Grid& grid, const Field& field, Place place) {
  const int rows = field.rows, me = grid.comm.rank();
  if (place == Place::bottom_face && grid.at_bottom()) std::fill_n(field.row(0) - 1, field.n + 2, 0.0);
  for (int j = 0; j < rows; ++j) close_row(grid, field, place, j);
  const auto size = static_cast<std::size_t>(field.n) + 2;
  const auto span_of = [&](int j) { return std::span<double>(field.row(j) - 1, size); };
  if (grid.comm.size() > 1) {
    const int below = grid.at_bottom() ? -1 : me - 1, above = grid.at_top() ? -1 : me + 1;
    auto up = grid.comm.start_exchange(std::span<const double>(span_of(rows - 1)), above, span_of(-1), below,
                                       tag_up);
    auto down =
        grid.comm.start_exchange(std::span<const double>(span_of(0)), below, span_of(rows), above, tag_down);
    up.wait();
    down.wait();
  }
  const auto repeat = [&](int from, int to) { std::copy_n(field.row(from) - 1, size, field.row(to) - 1); };
  if (grid.at_bottom()) {
    if (place == Place::bottom_face)
      std::transform(field.row(1) - 1, field.row(1) - 1 + size, field.row(-1) - 1,
                     [](double w) { return -w; });
    else
      repeat(0, -1);
  }
  if (grid.at_top()) {
    if (place == Place::bottom_face)
      std::fill_n(field.row(rows) - 1, size, 0.0);
    else
      repeat(rows - 1, rows);
  }
}

}  // namespace quintet::convection
