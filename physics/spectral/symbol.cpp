#include "physics/spectral/symbol.hpp"

#include <algorithm>
#include <cmath>

namespace quintet::spectral {

Symbol Symbol::number(double c) {
  Symbol made;
  made.add(Monomial{}, c);
  return made;
}

void Symbol::add(const Monomial& monomial, std::complex<double> coefficient) {
  const auto sum = terms_[monomial] += coefficient;
  if (sum == 0.0) terms_.erase(monomial);
}

void Symbol::add(const Symbol& other) {
  for (const auto& [monomial, coefficient] : other.terms_) add(monomial, coefficient);
}

Symbol Symbol::scaled(double c) const {
  Symbol made;
  for (const auto& [monomial, coefficient] : terms_) made.add(monomial, c * coefficient);
  return made;
}

Symbol Symbol::derivative(int x, int y) const {
  Symbol made;
  for (const auto& [m, coefficient] : terms_)
    made.add({m.x + x, m.y + y, m.laplacian, true}, std::complex<double>(0, 1) * coefficient);
  return made;
}

Symbol Symbol::with_laplacian(int power) const {
  Symbol made;
  for (const auto& [m, coefficient] : terms_) made.add({m.x, m.y, m.laplacian + power, true}, -coefficient);
  return made;
}

std::complex<double> Symbol::at(double k_x, double k_y) const {
  const double square = k_x * k_x + k_y * k_y;
  std::complex<double> sum = 0;
  for (const auto& [m, coefficient] : terms_) {
    if (m.no_mean && square == 0) continue;
    sum += coefficient * (std::pow(k_x, m.x) * std::pow(k_y, m.y) * std::pow(square, m.laplacian));
  }
  return sum;
}

bool operator<(const Symbol& a, const Symbol& b) {
  const auto less = [](const auto& one, const auto& other) {
    if (one.first != other.first) return one.first < other.first;
    if (one.second.real() != other.second.real()) return one.second.real() < other.second.real();
    return one.second.imag() < other.second.imag();
  };
  return std::lexicographical_compare(a.terms_.begin(), a.terms_.end(), b.terms_.begin(), b.terms_.end(),
                                      less);
}

}  // namespace quintet::spectral
