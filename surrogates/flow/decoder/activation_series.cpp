#include "surrogates/flow/decoder/activation_series.hpp"

#include <algorithm>
#include <cmath>

namespace quintet::flow {

std::array<double, most_derivatives + 1> largest_derivatives(Activation activation) {
  constexpr int reach = 2000, lattice = 100;  // beyond x = 20 derivatives are 0 or constant
  std::array<double, most_derivatives + 1> largest{};
  for (int i = -reach; i <= reach; ++i) {
    double derivatives[most_derivatives + 1];
    activation_derivatives<double, 1>(activation, static_cast<double>(i) / lattice, most_derivatives,
                                      derivatives);
    for (int n = 0; n <= most_derivatives; ++n) largest[n] = std::max(largest[n], std::abs(derivatives[n]));
  }
  return largest;
}

}  // namespace quintet::flow
