#include "physics/kinetics/basis/complex_roots.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "io/log/error.hpp"

namespace quintet::kinetics {
namespace {

using Complex = std::complex<double>;

struct Point {
  Complex z, f;
};

bool finite(Complex z) { return std::isfinite(z.real()) && std::isfinite(z.imag()); }
bool usable(Complex f) { return finite(f) && f != 0.0; }

/// Change of arg f from a to b along a straight line.
double turn(const ComplexFunction& f, const Point& a, const Point& b, int depth) {
  const double change = std::arg(b.f / a.f);
  if (std::abs(change) < 0.7 && std::abs(b.f) < 4 * std::abs(a.f) && std::abs(a.f) < 4 * std::abs(b.f))
    return change;
  const Point middle{0.5 * (a.z + b.z), f(0.5 * (a.z + b.z))};
  if (depth == 0 || !usable(middle.f))
    throw NumericalError(fmt::format("cannot count zeros: the edge passes a zero or a pole at {} + {} i",
                                     middle.z.real(), middle.z.imag()));
  return turn(f, a, middle, depth - 1) + turn(f, middle, b, depth - 1);
}

double turn_along(const ComplexFunction& f, Complex from, Complex to, double step) {
  const int n = std::clamp(std::ceil(std::abs(to - from) / step), 8.0, 1e6);
  double sum = 0;
  Point a{from, f(from)};
  for (int i = 1; i <= n; ++i) {
    const Complex z = from + (to - from) * (static_cast<double>(i) / n);
    const Point b{z, f(z)};
    if (!usable(a.f) || !usable(b.f))
      throw NumericalError(
          fmt::format("cannot count zeros: no finite value other than 0 at {} + {} i", z.real(), z.imag()));
    sum += turn(f, a, b, 40);
    a = b;
  }
  return sum;
}

/// The two parts of a rectangle, across its longer side and a little off its middle, where roots of symmetric
/// problems lie.
std::array<Rectangle, 2> halves(const Rectangle& r, double fraction) {
  const Complex size = r.upper_right - r.lower_left;
  if (size.real() > size.imag()) {
    const double x = r.lower_left.real() + fraction * size.real();
    return {Rectangle{r.lower_left, {x, r.upper_right.imag()}},
            Rectangle{{x, r.lower_left.imag()}, r.upper_right}};
  }
  const double y = r.lower_left.imag() + fraction * size.imag();
  return {Rectangle{r.lower_left, {r.upper_right.real(), y}},
          Rectangle{{r.lower_left.real(), y}, r.upper_right}};
}

/// Counts of both parts; moves the cut if it meets a zero.
std::array<int, 2> split(const ComplexFunction& f, const Rectangle& whole, int n, double step,
                         std::array<Rectangle, 2>& parts) {
  for (const double fraction : {0.5183, 0.4637, 0.5529, 0.4211}) {
    parts = halves(whole, fraction);
    try {
      const int first = count_zeros(f, parts[0], step);
      return {first, n - first};
    } catch (const NumericalError&) {
      continue;
    }
  }
  throw NumericalError("cannot separate the zeros of a dispersion relation: every cut meets one");
}

void collect(const ComplexFunction& f, const Rectangle& r, int n, double step, std::vector<Complex>& roots) {
  const double size = std::abs(r.upper_right - r.lower_left);
  const bool tiny = size < 1e-7 * (std::abs(r.lower_left) + step);
  if (n == 1 || tiny) {
    try {
      const Complex root = refine_root(f, 0.5 * (r.lower_left + r.upper_right), size);
      if (r.contains(root) || tiny) return roots.push_back(root);
    } catch (const NumericalError&) {
      if (tiny) throw;
    }
  }
  std::array<Rectangle, 2> parts;
  const auto counts = split(f, r, n, std::min(step, 0.1 * size), parts);
  for (std::size_t i = 0; i < 2; ++i)
    if (counts[i] > 0) collect(f, parts[i], counts[i], step, roots);
}

/// The point a step away, or as much nearer as brings |f| down.
Point downhill(const ComplexFunction& f, const Point& from, Complex step) {
  Point to{from.z + step, f(from.z + step)};
  for (int i = 0; i < 20; ++i) {
    if (finite(to.f) && (std::abs(to.f) < std::abs(from.f) || std::abs(step) < 1e-10 * std::abs(from.z)))
      break;
    step *= 0.5;
    to = {from.z + step, f(from.z + step)};
  }
  return to;
}

}  // namespace

bool Rectangle::contains(Complex z) const {
  return z.real() >= lower_left.real() && z.real() <= upper_right.real() && z.imag() >= lower_left.imag() &&
         z.imag() <= upper_right.imag();
}

Complex refine_root(const ComplexFunction& f, Complex guess, double scale) {
  Point last{guess + 1e-4 * scale * Complex(1, 0.5), 0}, current{guess, f(guess)};
  last.f = f(last.z);
  for (int iteration = 0; iteration < 100; ++iteration) {
    if (current.f == 0.0) return current.z;
    const Complex step = -current.f * (current.z - last.z) / (current.f - last.f);
    if (!finite(step)) break;
    const double size = std::abs(step), before = std::abs(current.z - last.z), z = std::abs(current.z);
    if (size <= 1e-14 * z || (size <= 1e-10 * z && size >= before)) return current.z + step;
    last = current;
    current = downhill(f, last, step);
  }
  throw NumericalError(
      fmt::format("no zero of the dispersion relation found from {} + {} i: the secant "
                  "method stands at {} + {} i after its last step",
                  guess.real(), guess.imag(), current.z.real(), current.z.imag()));
}

int count_zeros(const ComplexFunction& f, const Rectangle& r, double step) {
  const Complex a = r.lower_left, c = r.upper_right, b{c.real(), a.imag()}, d{a.real(), c.imag()};
  const double angle = turn_along(f, a, b, step) + turn_along(f, b, c, step) + turn_along(f, c, d, step) +
                       turn_along(f, d, a, step);
  return std::lround(angle / (2 * std::numbers::pi));
}

Complex highest_root(const ComplexFunction& f, const Rectangle& rectangle, double step) {
  std::vector<Complex> roots;
  collect(f, rectangle, count_zeros(f, rectangle, step), step, roots);
  if (roots.empty()) throw NumericalError("no zero of the dispersion relation where one was looked for");
  double top = roots.front().imag();
  for (const Complex root : roots) top = std::max(top, root.imag());
  Complex best{-1e300, top};
  for (const Complex root : roots)
    if (root.imag() >= top - 1e-9 * step && root.real() > best.real()) best = root;
  return best;
}

}  // namespace quintet::kinetics
