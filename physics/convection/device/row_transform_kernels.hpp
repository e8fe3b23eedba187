#pragma once

#include <Kokkos_Core.hpp>

#include "physics/transforms/line_basis.hpp"

/// RowTransform and LineModes by teams of any execution space.
namespace quintet::convection::device {

/// How rows of an unknown are transformed: tables on the device.
struct RowPlan {
  static constexpr int most_stages = 24, most_radix = 13;
  LineBasis basis;
  int n, length;       ///< of a row, of its Fourier transform
  double first, norm;  ///< of the constant's coefficient, (1/n)^1/2, and of others, (2/n)^1/2
  int n_stages;
  int radix[most_stages];
  const double *cosine, *sine;            ///< [length] of 2 pi j/length
  const double *half_cosine, *half_sine;  ///< [n] of pi k/(2 n)
  const double *forward, *backward;       ///< [n, n] of a dense basis, or null
};

/// Two complex arrays of `length` numbers in the fast memory of a team.
struct Complexes {
  double *re, *im;
};

/// One butterfly of radix R of Stockham's algorithm: numbers e, e + stride, ... of `from` become numbers
/// to, to + s, ... of `out`; k-th result times exp(-2 pi i p k s/length). Source: Van Loan 1992, section 1.7.
template <int R>
KOKKOS_INLINE_FUNCTION void butterfly(const RowPlan& plan, const Complexes& from, const Complexes& out, int e,
                                      int stride, int to, int s, int p) {
  double re[R], im[R];
  for (int t = 0; t < R; ++t) {
    re[t] = from.re[e + stride * t];
    im[t] = from.im[e + stride * t];
  }
  const int root = plan.length / R;
  for (int k = 0; k < R; ++k) {
    double x = re[0], y = im[0];
    for (int t = 1; t < R; ++t) {
      const int j = (t * k) % R * root;
      const double c = plan.cosine[j], d = plan.sine[j];  // exp(-i angle) = c - i d
      x += re[t] * c + im[t] * d;
      y += im[t] * c - re[t] * d;
    }
    const int j = p * k * s;
    const double c = plan.cosine[j], d = plan.sine[j];
    out.re[to + s * k] = x * c + y * d;
    out.im[to + s * k] = y * c - x * d;
  }
}

/// Compute butterfly<4> without products by 1 and i.
KOKKOS_INLINE_FUNCTION void butterfly_of_four(const RowPlan& plan, const Complexes& from,
                                              const Complexes& out, int e, int stride, int to, int s, int p) {
  const double a = from.re[e], b = from.re[e + stride], c = from.re[e + 2 * stride],
               d = from.re[e + 3 * stride];
  const double f = from.im[e], g = from.im[e + stride], h = from.im[e + 2 * stride],
               l = from.im[e + 3 * stride];
  const double re[4] = {(a + c) + (b + d), (a - c) + (g - l), (a + c) - (b + d), (a - c) - (g - l)};
  const double im[4] = {(f + h) + (g + l), (f - h) - (b - d), (f + h) - (g + l), (f - h) + (b - d)};
  for (int k = 0; k < 4; ++k) {
    const int j = p * k * s;
    const double x = plan.cosine[j], y = plan.sine[j];
    out.re[to + s * k] = re[k] * x + im[k] * y;
    out.im[to + s * k] = im[k] * x - re[k] * y;
  }
}

/// Discrete Fourier transform, in place; `other` is work space.
template <class Team>
KOKKOS_INLINE_FUNCTION void fourier(const Team& team, const RowPlan& plan, Complexes& values,
                                    Complexes& other) {
  int left = plan.length, s = 1;
  for (int stage = 0; stage < plan.n_stages; ++stage) {
    const int r = plan.radix[stage], m = left / r, stride = plan.length / r;
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, stride), [&](int e) {
      const int p = e / s, q = e - p * s, to = q + s * r * p;
      switch (r) {
        case 2:
          return butterfly<2>(plan, values, other, e, stride, to, s, p);
        case 3:
          return butterfly<3>(plan, values, other, e, stride, to, s, p);
        case 4:
          return butterfly_of_four(plan, values, other, e, stride, to, s, p);
        case 5:
          return butterfly<5>(plan, values, other, e, stride, to, s, p);
        case 7:
          return butterfly<7>(plan, values, other, e, stride, to, s, p);
        case 11:
          return butterfly<11>(plan, values, other, e, stride, to, s, p);
        default:
          return butterfly<13>(plan, values, other, e, stride, to, s, p);
      }
    });
    team.team_barrier();
    const Complexes swap = values;
    values = other;
    other = swap;
    left = m;
    s *= r;
  }
}

/// Where value d of what is transformed comes from in a row: even places forwards, odd ones backwards.
struct Taken {
  int place;
  double factor;
};
KOKKOS_INLINE_FUNCTION Taken taken(const RowPlan& plan, int d) {
  switch (plan.basis) {
    case LineBasis::periodic:
      return {d, 1.0};
    case LineBasis::sine_faces:  // odd about both ends
      return d == 0 || d == plan.n ? Taken{0, 0.0} : d < plan.n ? Taken{d, 1.0} : Taken{2 * plan.n - d, -1.0};
    case LineBasis::cosine:
    case LineBasis::sine_centres:
      break;
  }
  if (2 * d < plan.n) return {2 * d, 1.0};
  return {2 * (plan.n - 1 - d) + 1, plan.basis == LineBasis::sine_centres ? -1.0 : 1.0};
}

/// Coefficient i of the rows a and b from the transform of a + i b.
KOKKOS_INLINE_FUNCTION void untangle(const RowPlan& plan, const Complexes& z, int i, double& a, double& b) {
  int k = i;
  if (plan.basis == LineBasis::periodic) k = (i + 1) / 2;
  if (plan.basis == LineBasis::sine_centres) k = plan.n - 1 - i;
  if (plan.basis == LineBasis::sine_faces) {
    a = i == 0 ? 0.0 : -0.5 * plan.norm * z.im[k];
    b = i == 0 ? 0.0 : 0.5 * plan.norm * z.re[k];
    return;
  }
  const int back = k == 0 ? 0 : plan.length - k;
  const double a_re = 0.5 * (z.re[k] + z.re[back]), a_im = 0.5 * (z.im[k] - z.im[back]);
  const double b_re = 0.5 * (z.im[k] + z.im[back]), b_im = 0.5 * (z.re[back] - z.re[k]);
  if (plan.basis == LineBasis::periodic) {
    const double scale = k == 0 || 2 * k == plan.n ? plan.first : plan.norm;
    const bool cosine = i == 0 || i % 2 == 1;
    a = scale * (cosine ? a_re : a_im);
    b = scale * (cosine ? b_re : b_im);
    return;
  }
  const double scale = k == 0 ? plan.first : plan.norm, c = plan.half_cosine[k], s = plan.half_sine[k];
  a = scale * (c * a_re + s * a_im);
  b = scale * (c * b_re + s * b_im);
}

/// Number d of the transform of a row from its coefficients: what untangle() took apart.
KOKKOS_INLINE_FUNCTION void spread(const RowPlan& plan, const double* row, int d, double& re, double& im) {
  const int n = plan.n;
  const double norm = 0.5 * plan.norm;
  im = 0;
  if (plan.basis == LineBasis::periodic) {
    const int k = 2 * d <= n ? d : n - d;
    if (k == 0 || 2 * k == n) {
      re = plan.first * row[k == 0 ? 0 : n - 1];
      return;
    }
    re = norm * row[2 * k - 1];
    im = (d == k ? norm : -norm) * row[2 * k];
    return;
  }
  const bool cosine = plan.basis == LineBasis::cosine;
  if (d == 0) {
    re = plan.first * row[cosine ? 0 : n - 1];
    return;
  }
  // exp(i pi d/2n) (C_d - i C_{n-d})
  const double x = norm * row[cosine ? d : n - 1 - d], y = -norm * row[cosine ? n - d : d - 1];
  const double c = plan.half_cosine[d], s = plan.half_sine[d];
  re = c * x - s * y;
  im = s * x + c * y;
}

/// Rows a and b (b may be null) become their coefficients, or values again, in place.
/// @param memory 4 length doubles of the team's fast memory
template <bool Forward, class Team>
KOKKOS_INLINE_FUNCTION void transform_rows(const Team& team, const RowPlan& plan, double* a, double* b,
                                           double* memory) {
  const int n = plan.n, length = plan.length;
  Complexes z{memory, memory + length}, other{memory + 2 * length, memory + 3 * length};
  const double* const matrix = Forward ? plan.forward : plan.backward;
  if (matrix != nullptr) {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n), [&](int i) {
      z.re[i] = a[i];
      z.im[i] = b == nullptr ? 0.0 : b[i];
    });
    team.team_barrier();
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n), [&](int i) {
      double x = 0, y = 0;
      for (int k = 0; k < n; ++k) {  // matrices lie column by column: threads read neighbours
        const double c = matrix[std::int64_t{k} * n + i];
        x += c * z.re[k];
        y += c * z.im[k];
      }
      a[i] = x;
      if (b != nullptr) b[i] = y;
    });
    team.team_barrier();
    return;
  }
  if (Forward || plan.basis == LineBasis::sine_faces) {  // which is its own inverse
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, length), [&](int d) {
      const Taken from = taken(plan, d);
      z.re[d] = from.factor * a[from.place];
      z.im[d] = b == nullptr ? 0.0 : from.factor * b[from.place];
    });
    team.team_barrier();
    fourier(team, plan, z, other);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n), [&](int i) {
      double x, y;
      untangle(plan, z, i, x, y);
      a[i] = x;
      if (b != nullptr) b[i] = y;
    });
  } else {
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n), [&](int d) {
      double re, im, more_re = 0, more_im = 0;
      spread(plan, a, d, re, im);
      if (b != nullptr) spread(plan, b, d, more_re, more_im);
      z.re[d] = re - more_im;
      z.im[d] = im + more_re;
    });
    team.team_barrier();
    // Real and imaginary parts change places: the transform the other way round.
    Complexes turned{z.im, z.re}, other_turned{other.im, other.re};
    fourier(team, plan, turned, other_turned);
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, n), [&](int d) {
      const Taken to = taken(plan, d);
      a[to.place] = to.factor * turned.im[d];
      if (b != nullptr) b[to.place] = to.factor * turned.re[d];
    });
  }
  team.team_barrier();
}

}  // namespace quintet::convection::device
