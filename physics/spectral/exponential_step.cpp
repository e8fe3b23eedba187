#include "physics/spectral/exponential_step.hpp"

#include <cmath>

namespace quintet::spectral {

Phi phi_functions(std::complex<double> z) {
  constexpr int n_terms = 20;  // 1/22! is beyond a double's digits at |z| = 1
  if (std::norm(z) < 1) {
    std::complex<double> sum = 0;
    double factorial = 1;
    for (int j = 2; j < n_terms + 3; ++j) factorial *= j;
    for (int j = n_terms - 1; j >= 0; --j) {  // Horner: sum of z^j/(j + 3)!
      sum = sum * z + 1 / factorial;
      factorial /= j + 3;
    }
    const auto phi_2 = 0.5 + z * sum;
    return {1.0 + z * phi_2, phi_2, sum};
  }
  const auto phi_1 = (std::exp(z) - 1.0) / z, phi_2 = (phi_1 - 1.0) / z;
  return {phi_1, phi_2, (phi_2 - 0.5) / z};
}

StepFactors::StepFactors(std::size_t n)
    : decay("decay", n),
      half("half", n),
      weight("weight", n),
      first("first", n),
      middle("middle", n),
      last("last", n) {}

void StepFactors::set(const std::vector<std::complex<double>>& rates, double h) {
  const std::int64_t n = rates.size();
  const StepFactors to = *this;
  const std::complex<double>* const rate = rates.data();
  Kokkos::parallel_for("factors of a step", Kokkos::RangePolicy<Exec>(0, n), [=](std::int64_t i) {
    using Complex = Kokkos::complex<double>;
    const auto z = h * rate[i];
    const Phi phi = phi_functions(z);
    to.decay(i) = Complex(std::exp(z));
    to.half(i) = Complex(std::exp(0.5 * z));
    to.weight(i) = Complex(0.5 * h * phi_functions(0.5 * z).phi_1);
    to.first(i) = Complex(h * (phi.phi_1 - 3.0 * phi.phi_2 + 4.0 * phi.phi_3));
    to.middle(i) = Complex(h * (2.0 * phi.phi_2 - 4.0 * phi.phi_3));
    to.last(i) = Complex(h * (4.0 * phi.phi_3 - phi.phi_2));
  });
}

}  // namespace quintet::spectral
