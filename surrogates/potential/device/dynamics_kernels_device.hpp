#pragma once

#include <cstdint>

#include "physics/kernels/random.hpp"
#include "surrogates/potential/device/environment_kernels.hpp"

/// The kernels of a step whose atoms stay on the device.
namespace quintet::potential {

/// A cell and how far its images reach.
struct ImageCell {
  double rows[9], inverse[9], origin[3], margin[3];  ///< margin: fractional, of the ghosts
  bool periodic[3];
  KOKKOS_INLINE_FUNCTION double fractional(int k, const double* x) const {
    return (x[0] - origin[0]) * inverse[k] + (x[1] - origin[1]) * inverse[3 + k] +
           (x[2] - origin[2]) * inverse[6 + k];
  }
};

/// v += f dt / (2 m) (and x += v dt / 2, noise, x += v dt / 2 in the first half of a step).
struct HalfStep {
  double *x, *v;
  const Fixed* force;
  const int* type;
  const double* acceleration;  ///< [n_types] 1/m in angstrom/ps^2 per eV/angstrom
  double dt;
  bool first;
  KOKKOS_INLINE_FUNCTION void operator()(const int i) const {
    const double s = 0.5 * dt * acceleration[type[i]];
    for (int l = 0; l < 3; ++l) {
      const std::size_t at = 3 * static_cast<std::size_t>(i) + l;
      v[at] += s * from_fixed(force[at]);
      if (first) x[at] += 0.5 * dt * v[at];
    }
  }
};

/// v = c v + sqrt((1 - c^2) kT/m) xi. The heat m (v'^2 - v^2)/2 (amu (angstrom/ps)^2) is summed.
struct Noise {
  double* v;
  const int* type;
  const std::int64_t* id;
  const double* mass;
  double c, variance;
  std::uint64_t seed;
  std::uint32_t stream;
  std::int64_t step;
  KOKKOS_INLINE_FUNCTION void operator()(const int i, double& heat) const {
    const double m = mass[type[i]], sigma = ::sqrt(variance / m);
    double xi[4];
    for (int pair = 0; pair < 2; ++pair)
      normal_pair(seed, stream, id[i], 2 * step + pair, xi[2 * pair], xi[2 * pair + 1]);
    for (int l = 0; l < 3; ++l) {
      double& own = v[3 * static_cast<std::size_t>(i) + l];
      const double before = own;
      own = c * own + sigma * xi[l];
      heat += 0.5 * m * (own * own - before * before);
    }
  }
};

struct Drift {
  double* x;
  const double* v;
  double dt;
  KOKKOS_INLINE_FUNCTION void operator()(const int at) const { x[at] += dt * v[at]; }
};

struct Moved {
  const double *x, *built;
  KOKKOS_INLINE_FUNCTION void operator()(const int i, double& most) const {
    double sum = 0;
    for (int l = 0; l < 3; ++l) {
      const double d = x[3 * static_cast<std::size_t>(i) + l] - built[3 * static_cast<std::size_t>(i) + l];
      sum += d * d;
    }
    if (!(sum <= most)) most = sum < 1e300 ? sum : 1e300;  // not a number: infinitely far
  }
};

struct Kinetic {
  const double* v;
  const int* type;
  const double* mass;
  KOKKOS_INLINE_FUNCTION void operator()(const int i, double& sum) const {
    const double* own = v + 3 * static_cast<std::size_t>(i);
    sum += 0.5 * mass[type[i]] * (own[0] * own[0] + own[1] * own[1] + own[2] * own[2]);
  }
};

/// Local atoms back into the cell. See wrap() of the domain.
struct Wrap {
  ImageCell cell;
  double* x;
  int* image;
  KOKKOS_INLINE_FUNCTION void operator()(const int i) const {
    double* own = x + 3 * static_cast<std::size_t>(i);
    double crossings[3];
    for (int k = 0; k < 3; ++k) crossings[k] = ::floor(cell.fractional(k, own));
    for (int k = 0; k < 3; ++k) {
      if (!cell.periodic[k] || crossings[k] == 0) continue;
      for (int l = 0; l < 3; ++l) own[l] -= crossings[k] * cell.rows[3 * k + l];
      image[3 * static_cast<std::size_t>(i) + k] += static_cast<int>(crossings[k]);
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
    const double* own = x + 3 * static_cast<std::size_t>(i);
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
            shift[sum] = (a + 64) << 16 | (b + 64) << 8 | (c + 64);
          }
          ++sum;
        }
  }
};

struct OwnSelf {
  int* owner;
  KOKKOS_INLINE_FUNCTION void operator()(const int i) const { owner[i] = i; }
};

/// Ghosts to where their owners are.
struct PlaceGhosts {
  ImageCell cell;
  int n_local;
  const int *owner, *shift;
  double* x;
  int* type;
  KOKKOS_INLINE_FUNCTION void operator()(const int g) const {
    const int from = owner[n_local + g], code = shift[g];
    const int n[3] = {(code >> 16) - 64, (code >> 8 & 255) - 64, (code & 255) - 64};
    for (int l = 0; l < 3; ++l)
      x[3 * static_cast<std::size_t>(n_local + g) + l] = x[3 * static_cast<std::size_t>(from) + l] +
                                                         n[0] * cell.rows[l] + n[1] * cell.rows[3 + l] +
                                                         n[2] * cell.rows[6 + l];
    if (type) type[n_local + g] = type[from];
  }
};

}  // namespace quintet::potential
