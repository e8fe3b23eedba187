#include "physics/convection/field.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <vector>

#include "io/parallel/comm.hpp"

namespace quintet::convection {

namespace {

constexpr int first_tag = 81;

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

/// Rows of numbers with their neighbours in the row: what travels.
std::span<double> whole_row(const Field& field, int j) {
  return {field.row(j) - 1, static_cast<std::size_t>(field.n) + 2};
}

/// Fill the values beyond a wall.
void close_ends(const Grid& grid, const Field& field, Place place) {
  const int rows = field.rows;
  const auto fill = [&](int j, double value) { std::ranges::fill(whole_row(field, j), value); };
  const auto repeat = [&](int from, int to) {
    std::ranges::copy(whole_row(field, from), whole_row(field, to).begin());
  };
  if (grid.at_bottom()) {
    if (place == Place::bottom_face)
      std::ranges::transform(whole_row(field, 1), whole_row(field, -1).begin(), std::negate());
    else
      repeat(0, -1);
  }
  if (grid.at_top()) {
    if (place == Place::bottom_face)
      fill(rows, 0.0);
    else
      repeat(rows - 1, rows);
  }
}

}  // namespace

void exchange(const Grid& grid, std::initializer_list<Placed> fields) {
  const int self = grid.comm().rank();
  for (const auto& [field, place] : fields) {
    if (place == Place::bottom_face && grid.at_bottom()) std::ranges::fill(whole_row(field, 0), 0.0);
    for (int j = 0; j < field.rows; ++j) close_row(grid, field, place, j);
  }
  if (grid.comm().size() > 1) {
    const int below = grid.at_bottom() ? -1 : self - 1, above = grid.at_top() ? -1 : self + 1;
    std::vector<Comm::Pending> pending;
    pending.reserve(2 * fields.size());
    int tag = first_tag;
    for (const auto& [field, place] : fields) {
      const auto send = [&, &field = field](int j, int to, int neighbour, int from) {  // clang 14 asks for it
        pending.push_back(grid.comm().start_exchange(std::span<const double>(whole_row(field, j)), to,
                                                     whole_row(field, neighbour), from, tag++));
      };
      send(field.rows - 1, above, -1, below);
      send(0, below, field.rows, above);
    }
    for (auto& message : pending) message.wait();
  }
  for (const auto& [field, place] : fields) close_ends(grid, field, place);
}

}  // namespace quintet::convection
