#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "physics/kernels/random.hpp"
#include "physics/particles/device/fixed.hpp"
#include "physics/particles/device/ghost_plan.hpp"
#include "physics/particles/device/resident_atoms.hpp"

/// Kernels of steps whose atoms stay on a device: those of dynamics_kernels.hpp, domain.cpp and ghosts.cpp.
namespace quintet::device {

/// v += f dt / m.
struct Kick {
  double* v;
  const Fixed* force;
  const int* type;
  const double* mass;
  double dt;  ///< times eV/angstrom/amu in angstrom/ps^2
  KOKKOS_INLINE_FUNCTION void operator()(const int i) const {
    const double s = dt / mass[type[i]];
    for (std::size_t at = 3 * std::int64_t{i}, end = at + 3; at < end; ++at)
      v[at] += s * from_fixed(force[at]);
  }
};

/// x += v dt, by component.
struct Drift {
  double* x;
  const double* v;
  double dt;
  KOKKOS_INLINE_FUNCTION void operator()(const int at) const { x[at] += dt * v[at]; }
};

/// row = row m.
struct TransformRow {
  double* rows;
  double m[9];
  KOKKOS_INLINE_FUNCTION void operator()(const int i) const {
    double* const own = rows + 3 * std::int64_t{i};
    const double a = own[0], b = own[1], c = own[2];
    for (int l = 0; l < 3; ++l) own[l] = a * m[l] + b * m[3 + l] + c * m[6 + l];
  }
};

/// row += shift.
struct ShiftRow {
  double* rows;
  double shift[3];
  KOKKOS_INLINE_FUNCTION void operator()(const int i) const {
    for (int l = 0; l < 3; ++l) rows[3 * std::int64_t{i} + l] += shift[l];
  }
};

/// v = (1 - mixing) v + mixing ratio f, by component.
struct MixVelocities {
  double* v;
  const Fixed* force;
  double mixing, ratio;
  KOKKOS_INLINE_FUNCTION void operator()(const int at) const {
    v[at] = (1 - mixing) * v[at] + mixing * ratio * from_fixed(force[at]);
  }
};

/// v = c v + sqrt((1 - c^2) kT/m) xi.
struct Noise {
  double* v;
  const int* type;
  const std::int64_t* id;
  const double* mass;
  double c, variance;
  std::uint64_t seed;
  std::uint32_t stream;
  std::int64_t step;
  KOKKOS_INLINE_FUNCTION void operator()(const int i) const {
    const double sigma = ::sqrt(variance / mass[type[i]]);
    double xi[4];
    for (int pair = 0; pair < 2; ++pair)
      normal_pair(seed, stream, id[i], 2 * step + pair, xi[2 * pair], xi[2 * pair + 1]);
    for (int l = 0; l < 3; ++l) {
      double& own = v[3 * std::int64_t{i} + l];
      own = c * own + sigma * xi[l];
    }
  }
};

/// Marks the local atoms that are frozen: those whose id is among n sorted ones.
struct MarkFrozen {
  const std::int64_t *id, *frozen;
  int n;
  char* mark;
  KOKKOS_INLINE_FUNCTION void operator()(const int i) const {
    int low = 0, high = n;
    while (low < high) {
      const int middle = (low + high) / 2;
      if (frozen[middle] < id[i])
        low = middle + 1;
      else
        high = middle;
    }
    mark[i] = low < n && frozen[low] == id[i] ? 1 : 0;
  }
};

template <class T>
struct HoldRow {
  const char* mark;
  T* rows;
  KOKKOS_INLINE_FUNCTION void operator()(const int i) const {
    if (mark[i] == 0) return;
    for (int l = 0; l < 3; ++l) rows[3 * std::int64_t{i} + l] = 0;
  }
};

/// sum_i m_i v_i^2 / 2.
struct Kinetic {
  const double* v;
  const int* type;
  const double* mass;
  KOKKOS_INLINE_FUNCTION void operator()(const int i, double& sum) const {
    const double* own = v + 3 * std::int64_t{i};
    sum += 0.5 * mass[type[i]] * (own[0] * own[0] + own[1] * own[1] + own[2] * own[2]);
  }
};

/// sum_i m_i v_ik v_il / 2: xx yy zz xy xz yz.
struct KineticTensor {
  using value_type = double[];
  unsigned value_count = 6;
  const double* v;
  const int* type;
  const double* mass;
  KOKKOS_INLINE_FUNCTION void operator()(const int i, double* sum) const {
    const double* own = v + 3 * std::int64_t{i};
    const double half = 0.5 * mass[type[i]];
    for (int k = 0; k < 3; ++k) sum[k] += half * own[k] * own[k];
    sum[3] += half * own[0] * own[1];
    sum[4] += half * own[0] * own[2];
    sum[5] += half * own[1] * own[2];
  }
};

/// sum_i m_i v_i and sum_i m_i.
struct Momentum {
  using value_type = double[];
  unsigned value_count = 4;
  const double* v;
  const int* type;
  const double* mass;
  KOKKOS_INLINE_FUNCTION void operator()(const int i, double* sum) const {
    const double m = mass[type[i]];
    for (int l = 0; l < 3; ++l) sum[l] += m * v[3 * std::int64_t{i} + l];
    sum[3] += m;
  }
};

/// F.v, v.v and F.F, by component.
struct ForceVelocityProducts {
  using value_type = double[];
  unsigned value_count = 3;
  const double* v;
  const Fixed* force;
  KOKKOS_INLINE_FUNCTION void operator()(const int at, double* sum) const {
    const double f = from_fixed(force[at]), own = v[at];
    sum[0] += f * own;
    sum[1] += own * own;
    sum[2] += f * f;
  }
};

KOKKOS_INLINE_FUNCTION double as_real(double value) { return value; }
KOKKOS_INLINE_FUNCTION double as_real(Fixed value) { return from_fixed(value); }

/// Largest |row|^2.
template <class T>
struct LargestSquared {
  const T* rows;
  KOKKOS_INLINE_FUNCTION void operator()(const int i, double& most) const {
    double squared = 0;
    for (int l = 0; l < 3; ++l) {
      const double own = as_real(rows[3 * std::int64_t{i} + l]);
      squared += own * own;
    }
    if (squared > most) most = squared;
  }
};

/// Largest |x - (to + (x0 - from) map)|^2.
struct Displacement {
  const double *x, *x0;
  double from[3], to[3], map[9];
  KOKKOS_INLINE_FUNCTION void operator()(const int i, double& most) const {
    const std::size_t at = 3 * std::int64_t{i};
    double squared = 0;
    for (int l = 0; l < 3; ++l) {
      double expected = to[l];
      for (int k = 0; k < 3; ++k) expected += (x0[at + k] - from[k]) * map[3 * k + l];
      squared += (x[at + l] - expected) * (x[at + l] - expected);
    }
    // Not a number compares false, so that it comes out as infinitely far.
    if (!(squared <= most)) most = squared < 1e300 ? squared : HUGE_VAL;
  }
};

/// A cell and how far its images reach.
struct ImageCell {
  double rows[9], inverse[9], origin[3], margin[3];  ///< margin: fractional, of the ghosts
  bool periodic[3];
  KOKKOS_INLINE_FUNCTION double fractional(int k, const double* x) const {
    return (x[0] - origin[0]) * inverse[k] + (x[1] - origin[1]) * inverse[3 + k] +
           (x[2] - origin[2]) * inverse[6 + k];
  }
};

inline ImageCell image_cell_of(const CellOfAtoms& cell) {
  ImageCell c{};
  for (int k = 0; k < 9; ++k) {
    c.rows[k] = cell.rows[k];
    c.inverse[k] = cell.inverse[k];
  }
  for (int k = 0; k < 3; ++k) {
    c.origin[k] = cell.origin[k];
    c.periodic[k] = cell.periodic[k];
    // 1/width of direction k is the length of the gradient of s_k.
    double squared = 0;
    for (int l = 0; l < 3; ++l) squared += c.inverse[3 * l + k] * c.inverse[3 * l + k];
    c.margin[k] = cell.range * std::sqrt(squared) * (1 + 1e-9);
  }
  return c;
}

/// Local atoms back into the cell. See wrap() of the domain.
struct Wrap {
  ImageCell cell;
  double* x;
  int* image;
  KOKKOS_INLINE_FUNCTION void operator()(const int i) const {
    double* own = x + 3 * std::int64_t{i};
    double crossings[3];
    for (int k = 0; k < 3; ++k) crossings[k] = ::floor(cell.fractional(k, own));
    for (int k = 0; k < 3; ++k) {
      if (!cell.periodic[k] || crossings[k] == 0) continue;
      for (int l = 0; l < 3; ++l) own[l] -= crossings[k] * cell.rows[3 * k + l];
      image[3 * std::int64_t{i} + k] += static_cast<int>(crossings[k]);
    }
  }
};

/// Images of an atom within the margins of the cell: counted (owner == nullptr) or written after the locals.
struct MakeGhosts {
  ImageCell cell;
  int n_local;
  const double* x;
  int *owner, *shift;
  KOKKOS_INLINE_FUNCTION void operator()(const int i, int& sum, const bool last) const {
    const double* own = x + 3 * std::int64_t{i};
    int low[3], high[3];
    for (int k = 0; k < 3; ++k) {
      const double s = cell.fractional(k, own);
      // s + c in [-margin, 1 + margin]
      low[k] = cell.periodic[k] ? static_cast<int>(::ceil(-cell.margin[k] - s)) : 0;
      high[k] = cell.periodic[k] ? static_cast<int>(::floor(1 + cell.margin[k] - s)) : 0;
    }
    for (int a = low[0]; a <= high[0]; ++a)
      for (int b = low[1]; b <= high[1]; ++b)
        for (int c = low[2]; c <= high[2]; ++c) {
          if (a == 0 && b == 0 && c == 0) continue;
          if (last && owner) {
            owner[n_local + sum] = i;
            shift[n_local + sum] = shift_code(a, b, c);
          }
          ++sum;
        }
  }
};

/// Rows that are nobody's images.
struct OwnSelf {
  int *owner, *shift;
  KOKKOS_INLINE_FUNCTION void operator()(const int i) const {
    owner[i] = i;
    shift[i] = shift_code(0, 0, 0);
  }
};

/// Ghosts that are images to where their owners are (and of their owners' types, where `type` is given).
struct PlaceImages {
  int first;
  const int *owner, *shift;  ///< [n_all]
  double cell[9];
  double* x;
  int* type;
  KOKKOS_INLINE_FUNCTION void operator()(const int g) const {
    const int row = first + g, from = owner[row];
    const int n[3] = {shift_along(shift[row], 0), shift_along(shift[row], 1), shift_along(shift[row], 2)};
    for (int l = 0; l < 3; ++l)
      x[3 * std::int64_t{row} + l] =
          x[3 * std::int64_t{from} + l] + n[0] * cell[l] + n[1] * cell[3 + l] + n[2] * cell[6 + l];
    if (type) type[row] = type[from];
  }
};

/// id[g] = id[owner[g]] of images.
struct NameImages {
  int first;
  const int* owner;
  std::int64_t* id;
  KOKKOS_INLINE_FUNCTION void operator()(const int g) const { id[first + g] = id[owner[first + g]]; }
};

/// out[p] = x[rows[p]] + shift.
struct PackPositions {
  const double* x;
  const int* rows;
  double shift[3];
  double* out;
  KOKKOS_INLINE_FUNCTION void operator()(const int p) const {
    for (int l = 0; l < 3; ++l) out[3 * std::int64_t{p} + l] = x[3 * std::int64_t{rows[p]} + l] + shift[l];
  }
};

/// force[owner[rows[p]]] += in[p]: of rows that were sent, two may have one owner.
struct AddForces {
  const Fixed* in;
  const int *rows, *owner;
  Fixed* force;
  KOKKOS_INLINE_FUNCTION void operator()(const int p) const {
    for (int l = 0; l < 3; ++l)
      Kokkos::atomic_add(force + 3 * std::int64_t{owner[rows[p]]} + l, in[3 * std::int64_t{p} + l]);
  }
};

struct FixedToDouble {
  const Fixed* in;
  double* out;
  KOKKOS_INLINE_FUNCTION void operator()(const int i) const { out[i] = from_fixed(in[i]); }
};

}  // namespace quintet::device
