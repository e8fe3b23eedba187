#pragma once

#include <complex>
#include <functional>

namespace quintet::kinetics {

using ComplexFunction = std::function<std::complex<double>(std::complex<double>)>;

/// A rectangle of the complex plane, by two opposite corners.
struct Rectangle {
  std::complex<double> lower_left, upper_right;
  [[nodiscard]] bool contains(std::complex<double> z) const;
};

/// A zero of an analytic function near `guess`, by the secant method, with shorter steps where |f| would
/// grow: z_{n+1} = z_n - f_n (z_n - z_{n-1})/(f_n - f_{n-1}), until a step is below 1e-14 |z| or round-off
/// ends the progress. `scale` > 0: a typical distance over which f changes. Throws NumericalError if 100
/// steps do not suffice.
[[nodiscard]] std::complex<double> refine_root(const ComplexFunction& f, std::complex<double> guess,
                                               double scale);

/// Zeros minus poles of f inside a rectangle, with multiplicity, by the argument principle: (1/2 pi) times
/// the change of arg f along the edge.
///
/// step: a distance on the edge over which f does not change much; where arg f turns by more than 0.7 over a
/// step, the step is halved. Throws NumericalError if f is zero or not finite on the edge.
[[nodiscard]] int count_zeros(const ComplexFunction& f, const Rectangle& rectangle, double step);

/// The highest zero (greatest imaginary part; of several within 1e-9 `step` the one with the greatest real
/// part) of a function without poles, in a rectangle with count_zeros() > 0. The rectangle is halved and the
/// zeros of each half are counted, so that none above the result is missed.
[[nodiscard]] std::complex<double> highest_root(const ComplexFunction& f, const Rectangle& rectangle,
                                                double step);

}  // namespace quintet::kinetics
