#pragma once

#include <complex>
#include <map>

namespace quintet::spectral {

/// Factor that a linear operator with constant coefficients is of the wave exp(i (k_x x + k_y y)):
///
///     S(k) = sum of c k_x^a k_y^b (k_x^2 + k_y^2)^n,  n of either sign
///
/// A monomial that came out of a derivative or of the inverse Laplacian is 0 at k = 0: it has no mean.
class Symbol {
 public:
  Symbol() = default;  ///< 0
  /// The factor c of every wave.
  static Symbol number(double c);

  [[nodiscard]] Symbol dx() const { return derivative(1, 0); }
  [[nodiscard]] Symbol dy() const { return derivative(0, 1); }
  [[nodiscard]] Symbol laplacian() const { return with_laplacian(1); }
  /// Division by -k^2; the mean of the result is 0.
  [[nodiscard]] Symbol inverse_laplacian() const { return with_laplacian(-1); }
  [[nodiscard]] Symbol scaled(double c) const;
  void add(const Symbol& other);

  [[nodiscard]] bool is_zero() const { return terms_.empty(); }
  [[nodiscard]] std::complex<double> at(double k_x, double k_y) const;
  friend bool operator==(const Symbol&, const Symbol&) = default;
  friend bool operator<(const Symbol& a, const Symbol& b);

 private:
  struct Monomial {
    int x = 0, y = 0, laplacian = 0;
    bool no_mean = false;
    friend auto operator<=>(const Monomial&, const Monomial&) = default;
  };
  [[nodiscard]] Symbol derivative(int x, int y) const;
  [[nodiscard]] Symbol with_laplacian(int power) const;
  void add(const Monomial& monomial, std::complex<double> coefficient);

  std::map<Monomial, std::complex<double>> terms_;
};

}  // namespace quintet::spectral
