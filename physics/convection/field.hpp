#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "physics/convection/grid.hpp"
#include "physics/kernels/execution.hpp"
#include "physics/kernels/pack.hpp"

namespace quintet::convection {

/// Where a number of a cell lies. Cell (j, i) has faces u(j, i) at its left, w(j, i) at its bottom.
enum class Place { centre, left_face, bottom_face };

/// One number for each cell of this rank's rows, with a row of neighbours below and above and a cell of them
/// at both ends of each row. Row 0 is the first of this rank.
struct Field {
  static constexpr int margin = 8;  ///< doubles before cell 0 of a row: rows begin at a cache line

  Field() = default;
  Field(const char* label, const Grid& grid)
      : rows(grid.rows_here()),
        n(grid.x.n()),
        stride(padded(grid.x.n() + 1, margin) + margin),
        values(std::string(label), std::int64_t{rows + 2} * stride) {}

  /// Cell 0 of row j = -1 ... rows; cells -1 and n are neighbours.
  [[nodiscard]] double* row(int j) const { return values.data() + std::int64_t{j + 1} * stride + margin; }

  int rows = 0, n = 0, stride = 0;
  Array<double> values;
};

/// Row j of a field, 0 ... rows - 1, with the rows below and above it.
struct RowsAbout {
  RowsAbout(const Field& field, int j)
      : below(field.row(j - 1)), here(field.row(j)), above(field.row(j + 1)) {}
  const double* __restrict below, * __restrict here, * __restrict above;

  /// The field about cell i: value(rows above, cells to the right).
  [[nodiscard]] auto about(int i) const {
    return [this, i](int rows_above, int cells_right) {
      return (rows_above < 0 ? below : rows_above == 0 ? here : above)[i + cells_right];
    };
  }
};

/// Velocity, buoyancy and pressure of one flow.
struct BoussinesqState {
  BoussinesqState() = default;
  explicit BoussinesqState(const Grid& grid) : u("u", grid), w("w", grid), b("b", grid), p("p", grid) {}
  Field u, w, b, p;
};

/// Fill the neighbours of the rows of one or several fields, whose messages travel at the same time, from
/// other ranks and those in a row: round the ring, or beyond walls with what makes the value on a wall right:
/// u and w are 0 on their own walls; beyond others the nearest value is repeated (no formula uses it but
/// through differences that vanish there). Collective.
struct Placed {
  const Field& field;
  Place place;
};
void exchange(const Grid& grid, std::initializer_list<Placed> fields);
inline void exchange(const Grid& grid, const Field& field, Place place) { exchange(grid, {{field, place}}); }

}  // namespace quintet::convection
