#pragma once

#include <vector>

#include "io/log/error.hpp"
#include "physics/kinetics/basis/basis.hpp"
#include "physics/kinetics/basis/recovery.hpp"
#include "physics/kinetics/space/distribution.hpp"

/// Formulas of the Lenard-Bernstein operator in one velocity cell, for the lanes of a pack.
namespace quintet::kinetics::lenard_bernstein {

inline constexpr int lanes = PhaseBlock::lanes;
using Value = Pack<double>;

/// Functions of equal degrees in all directions but d, and some of their configuration modes.
struct Line {
  int offset[max_degree + 1]{};   ///< of the mode with degree k in d and configuration mode `first`
  int scratch[max_degree + 1]{};  ///< the same in scratch arrays, [n_groups, n_conf_modes]
  int first = 0, count = 0;       ///< configuration modes
  int n_in = 0;                   ///< degrees that f has
  int n_out = 0;                  ///< degrees of the test functions that products with fields in x reach
};

/// The lines of direction d: together all modes of f.
[[nodiscard]] std::vector<Line> make_lines(const PhaseBasis& basis, int d);

/// Recovery at the lower (side 0) or upper face of a global cell from n coefficients a cell, the slope in its
/// own xi. At an end of velocity space r is the own trace and dr/dxi 0.
[[nodiscard]] FaceRecovery face_recovery(const PhaseGrid& grid, int axis, int cell, int side, int n);

/// One face, lane by lane: f* = left f^- + right f^+; v f* + penalty = v_left f^- + v_right f^+.
struct Face {
  Value left, right, v_left, v_right;
  Value inner;  ///< 1; 0 at an end of velocity space
};

/// Weights of the recovery at the faces of a cell whose neighbours differ in width, of n coefficients each:
/// r = sum_k value[0][k] f_k below the face + value[1][k] f_k above it, likewise dr/dxi with the own cell's
/// xi. At an end of velocity space r is the own trace and dr/dxi 0.
struct CellRecovery {
  struct Side {
    Value value[2][max_degree + 1]{}, slope[2][max_degree + 1]{};
  };
  Side lower[max_degree + 1], upper[max_degree + 1];  ///< [n - 1]
};

/// A cell and its surroundings in direction d.
struct Cell {
  const double *below, *own, *above;  ///< f of the lower neighbour, the cell, the upper neighbour
  Face lower, upper;
  bool at_end;                       ///< a lane has a face at an end of velocity space
  Value centre, half, inverse_half;  ///< half the cell's width
  const CellRecovery* recovery;      ///< none where all cells are equal

  /// To the next pack of a row.
  void advance(int pack_size) {
    below += pack_size;
    own += pack_size;
    above += pack_size;
  }
};

/// Integrals of 1-D Legendre polynomials that the operator takes.
struct LineTables {
  static constexpr int n = max_degree + 1;
  double end[n]{}, slope[n]{};  ///< phi_k(1), phi_k'(1)
  double derivative[n][n]{};    ///< int phi_k' phi_l
  double weighted[n][n]{};      ///< int xi phi_k' phi_l
  double second[n][n]{};        ///< int phi_k'' phi_l
};
[[nodiscard]] constexpr LineTables make_line_tables() {
  LineTables t;
  detail::Polynomial xi{};
  xi.c[1] = 1;
  for (int k = 0; k < t.n; ++k) {
    t.end[k] = legendre_end(k, 1);
    t.slope[k] = legendre_end_slope(k, 1);
    const auto p = detail::legendre_polynomial(k);
    for (int l = 0; l < t.n; ++l) {
      t.derivative[k][l] = integral_derivative(k, l);
      t.second[k][l] = integral_second_derivative(k, l);
      t.weighted[k][l] =
          (xi * p.derivative() * detail::legendre_polynomial(l)).integral() * detail::normalisation(k, l);
    }
  }
  return t;
}
inline constexpr LineTables line_tables = make_line_tables();

/// A function's linear functionals at a cell's faces, split by parity: upper face even + odd, lower face
/// even - odd.
struct Functionals {
  Value trace_even{}, trace_odd{}, value_even{}, value_odd{}, slope_even{}, slope_odd{};
};
template <int N>
[[gnu::always_inline]] inline Functionals functionals(const Value* f) {
  constexpr Recovery r = recoveries[N];
  Functionals result;
  for (int k = 0; k < N; k += 2) {
    result.trace_even += line_tables.end[k] * f[k];
    result.value_even += r.value[k] * f[k];
    result.slope_even += r.slope[k] * f[k];
  }
  for (int k = 1; k < N; k += 2) {
    result.trace_odd += line_tables.end[k] * f[k];
    result.value_odd += r.value[k] * f[k];
    result.slope_odd += r.slope[k] * f[k];
  }
  return result;
}

/// Sum and difference of what stands at the upper and at the lower face.
struct FacePair {
  Value sum, difference;
};
[[gnu::always_inline]] inline FacePair face_pair(Value lower, Value upper) {
  return {upper + lower, upper - lower};
}
/// phi_k(1) upper - phi_k(-1) lower, over phi_k(1).
[[gnu::always_inline]] inline Value outflow(const FacePair& pair, int k) {
  return k % 2 == 0 ? pair.difference : pair.sum;
}

/// Faces of one line: upwinded f*, v f* with its penalty, recovered value r and slope s (per half cell).
struct LineFaces {
  FacePair star, v_star, value, slope;
};
/// From the traces and what is recovered at the lower and the upper face.
[[gnu::always_inline]] inline LineFaces line_faces(const Cell& cell, const Value* trace,
                                                   const FacePair& value, const FacePair& slope) {
  const Face &lower = cell.lower, &upper = cell.upper;
  return {face_pair(lower.left * trace[0] + lower.right * trace[1],
                    upper.left * trace[2] + upper.right * trace[3]),
          face_pair(lower.v_left * trace[0] + lower.v_right * trace[1],
                    upper.v_left * trace[2] + upper.v_right * trace[3]),
          value, slope};
}
/// Where all cells are equal.
template <int N>
[[gnu::always_inline]] inline LineFaces equal_faces(const Cell& cell, const Value* below, const Value* own,
                                                    const Value* above) {
  const Functionals b = functionals<N>(below), o = functionals<N>(own), a = functionals<N>(above);
  const Value own_lower = o.trace_even - o.trace_odd, own_upper = o.trace_even + o.trace_odd;
  const Value trace[] = {b.trace_even + b.trace_odd, own_lower, own_upper, a.trace_even - a.trace_odd};
  Value value_lower = (b.value_even + b.value_odd) + (o.value_even - o.value_odd);
  Value value_upper = (o.value_even + o.value_odd) + (a.value_even - a.value_odd);
  Value slope_lower = (b.slope_even + b.slope_odd) - (o.slope_even - o.slope_odd);
  Value slope_upper = (o.slope_even + o.slope_odd) - (a.slope_even - a.slope_odd);
  if (cell.at_end) {
    value_lower = own_lower + cell.lower.inner * (value_lower - own_lower);
    value_upper = own_upper + cell.upper.inner * (value_upper - own_upper);
    slope_lower *= cell.lower.inner;
    slope_upper *= cell.upper.inner;
  }
  return line_faces(cell, trace, face_pair(value_lower, value_upper), face_pair(slope_lower, slope_upper));
}
/// Where they differ.
template <int N>
[[gnu::always_inline]] inline LineFaces unequal_faces(const Cell& cell, const Value* below, const Value* own,
                                                      const Value* above) {
  const CellRecovery::Side &lower = cell.recovery->lower[N - 1], &upper = cell.recovery->upper[N - 1];
  Value trace[4]{}, own_even{}, own_odd{};
  Value value_lower{}, value_upper{}, slope_lower{}, slope_upper{};
  for (int k = 0; k < N; ++k) {
    const double end = line_tables.end[k];
    trace[0] += end * below[k];
    (k % 2 == 0 ? own_even : own_odd) += end * own[k];
    trace[3] += (k % 2 == 0 ? end : -end) * above[k];
    value_lower += lower.value[0][k] * below[k] + lower.value[1][k] * own[k];
    value_upper += upper.value[0][k] * own[k] + upper.value[1][k] * above[k];
    slope_lower += lower.slope[0][k] * below[k] + lower.slope[1][k] * own[k];
    slope_upper += upper.slope[0][k] * own[k] + upper.slope[1][k] * above[k];
  }
  trace[1] = own_even - own_odd;
  trace[2] = own_even + own_odd;
  return line_faces(cell, trace, face_pair(value_lower, value_upper), face_pair(slope_lower, slope_upper));
}

/// Results of the operator before the products with A, B and D: C_k = A drag_v + B drag + D diffusion.
struct Scratch {
  Value *drag_v, *drag, *diffusion;  ///< [n_groups, n_conf_modes]
  Value drag_v_factor;               ///< drag_v is multiplied by it (A where it is uniform)
};

/// Add one line to `scratch` (drag: overwrite).
template <int NIn, int NOut, bool Equal>
KOKKOS_INLINE_FUNCTION void add_line(const Line& line, const Cell& cell, const Scratch& scratch) {
  constexpr const LineTables& t = line_tables;
  const Value g = cell.inverse_half, g2 = g * g;
  for (int a = 0; a < line.count; ++a) {
    Value below[NIn], own[NIn], above[NIn];
    for (int k = 0; k < NIn; ++k) {
      const int m = (line.offset[k] + a) * lanes;
      below[k] = load(cell.below + m);
      own[k] = load(cell.own + m);
      above[k] = load(cell.above + m);
    }
    const LineFaces faces =
        Equal ? equal_faces<NIn>(cell, below, own, above) : unequal_faces<NIn>(cell, below, own, above);
    for (int k = 0; k < NOut; ++k) {
      Value volume{}, weighted{}, second{};
      for (int l = 0; l < NIn; ++l) {
        if (l < k && (k - l) % 2 == 1) volume += t.derivative[k][l] * own[l];
        if (k > 0 && l <= k && (k - l) % 2 == 0) weighted += t.weighted[k][l] * own[l];
        if (l + 1 < k && (k - l) % 2 == 0) second += t.second[k][l] * own[l];
      }
      const Value drag = volume - t.end[k] * outflow(faces.star, k);
      const Value drag_v = t.end[k] * outflow(faces.v_star, k) - cell.centre * volume - cell.half * weighted;
      // phi_k'(-1) = -(-1)^k phi_k'(1)
      const Value diffusion = t.end[k] * outflow(faces.slope, k) -
                              t.slope[k] * (k % 2 == 0 ? faces.value.sum : faces.value.difference) + second;
      const int i = line.scratch[k] + a;
      scratch.drag[i] = g * drag;
      scratch.drag_v[i] += scratch.drag_v_factor * (g * drag_v);
      scratch.diffusion[i] += g2 * diffusion;
    }
  }
}

template <bool Equal>
inline void add_line_of(const Line& line, const Cell& cell, const Scratch& scratch) {
  switch (10 * line.n_in + line.n_out) {
    case 22:
      return add_line<2, 2, Equal>(line, cell, scratch);
    case 23:
      return add_line<2, 3, Equal>(line, cell, scratch);
    case 24:
      return add_line<2, 4, Equal>(line, cell, scratch);
    case 33:
      return add_line<3, 3, Equal>(line, cell, scratch);
    case 44:
      return add_line<4, 4, Equal>(line, cell, scratch);
    case 11:
      return add_line<1, 1, Equal>(line, cell, scratch);
    default:
      throw InternalError("no Lenard-Bernstein kernel for lines of this many degrees");
  }
}
/// Add one line, whichever degrees it has.
inline void add_line(const Line& line, const Cell& cell, const Scratch& scratch) {
  return cell.recovery == nullptr ? add_line_of<true>(line, cell, scratch)
                                  : add_line_of<false>(line, cell, scratch);
}

/// sum[g, l] += sum_m matrix[l, m] values[g, m] for all groups; rows l that a group lacks are left out.
template <int N>
KOKKOS_INLINE_FUNCTION void add_product(const double* matrix, const Value* values, int n_groups, int n_full,
                                        int n_lin, Value* sum) {
  for (int q = 0; q < n_groups; ++q) {
    Value v[N];
    for (int m = 0; m < N; ++m) v[m] = values[q * N + m];
    const int rows = q < n_full ? N : n_lin;
    for (int l = 0; l < rows; ++l) {
      Value s = sum[q * N + l];
      for (int m = 0; m < N; ++m) s += matrix[l * N + m] * v[m];
      sum[q * N + l] = s;
    }
  }
}

}  // namespace quintet::kinetics::lenard_bernstein
