#include "physics/electronic/functions/occupation.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace quintet::electronic {

namespace {

constexpr int order = 5;

/// 1/(1 + exp(y)), without overflow.
double fermi(double y) { return y > 0 ? std::exp(-y) / (1 + std::exp(-y)) : 1 / (1 + std::exp(y)); }

/// T^k/k! of the k-th derivative of f by mu as a polynomial in f: p_{k+1} = p_k' f (1 - f)/(k + 1).
std::vector<std::vector<double>> taylor_polynomials() {
  std::vector<std::vector<double>> p{{0.0, 1.0}};
  for (int k = 0; k < order; ++k) {
    std::vector<double> next(p.back().size() + 1, 0.0);
    for (std::size_t j = 1; j < p.back().size(); ++j) {
      const double slope = j * p.back()[j] / (k + 1);
      next[j] += slope;
      next[j + 1] -= slope;
    }
    p.push_back(next);
  }
  return p;
}

double horner(std::span<const double> c, double x) {
  double sum = 0;
  for (std::size_t k = c.size(); k-- > 0;) sum = sum * x + c[k];
  return sum;
}

}  // namespace

double Occupation::operator()(double x) const {
  if (temperature == 0) return x < mu ? 1.0 : 0.0;
  return fermi((x - mu) / temperature);
}

double Occupation::entropy(double x) const {
  const double f = (*this)(x), g = temperature == 0 ? 1 - f : fermi((mu - x) / temperature);
  return (f > 0 ? -f * std::log(f) : 0) + (g > 0 ? -g * std::log(g) : 0);
}

std::vector<std::function<double(double)>> Occupation::functions(bool varied) const {
  const Occupation f = *this;
  std::vector<std::function<double(double)>> list{f};
  if (!varied) return list;
  if (temperature == 0) {
    list.emplace_back([f](double x) { return std::exp(-(x - f.mu) * (x - f.mu) / (f.gap * f.gap)); });
    return list;
  }
  const auto p = taylor_polynomials();
  for (int k = 1; k <= order; ++k)
    list.emplace_back(
        [f, k, p_k = p[k]](double x) { return horner(p_k, f(x)) / std::pow(f.temperature, k); });
  return list;
}

std::optional<double> Occupation::variation(std::span<const double> traces, double n) const {
  const double reach = temperature == 0 ? 0.25 : 0.3 * temperature;
  double lower = -reach, upper = reach;
  if (!(horner(traces, lower) <= n && n <= horner(traces, upper))) return std::nullopt;
  for (int i = 0; i < 200 && lower < upper; ++i) {
    const double middle = 0.5 * (lower + upper);
    if (middle == lower || middle == upper) break;
    (horner(traces, middle) < n ? lower : upper) = middle;
  }
  return 0.5 * (lower + upper);
}

}  // namespace quintet::electronic
