#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "physics/kernels/pack.hpp"

namespace quintet {

/// Options of Adam; the defaults are everybody's.
struct AdamOptions {
  double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double clip = 0;  ///< components of the gradient are cut to +-clip; 0: they are not
};

/// One step of Adam on flat arrays, everything in one sweep; clears the gradient.
///
///     m = b1 m + (1 - b1) g,  v = b2 v + (1 - b2) g^2,
///     theta -= lr mhat/(sqrt(vhat) + epsilon),  mhat = m/(1 - b1^t),  vhat = v/(1 - b2^t).
///
/// g cut to +-clip where the options say so. Source: Kingma and Ba 2015 (ICLR), algorithm 1.
/// @param t number of this step, from 1
template <class Real>
void adam_step(const AdamOptions& options, std::int64_t t, double learning_rate, std::span<Real> theta,
               std::span<Real> gradient, std::span<Real> moment1, std::span<Real> moment2) {
  constexpr int w = pack_width<Real>;
  const auto steps = static_cast<double>(t);
  const auto b1 = static_cast<Real>(options.beta1), b2 = static_cast<Real>(options.beta2);
  const auto c1 = static_cast<Real>(1 - options.beta1), c2 = static_cast<Real>(1 - options.beta2);
  const auto rate = static_cast<Real>(learning_rate / (1 - std::pow(options.beta1, steps)));
  const auto root = static_cast<Real>(1 / std::sqrt(1 - std::pow(options.beta2, steps)));
  const auto epsilon = static_cast<Real>(options.epsilon);
  const std::size_t n = theta.size(), whole = n / w * w;
  if (options.clip > 0) {
    const auto clip = static_cast<Real>(options.clip);
    for (Real& g : gradient) g = g > clip ? clip : (g < -clip ? -clip : g);
  }
  for (std::size_t i = 0; i < whole; i += w) {
    const Pack<Real> g = load<Real>(&gradient[i]);
    const Pack<Real> m = b1 * load<Real>(&moment1[i]) + c1 * g;
    const Pack<Real> v = b2 * load<Real>(&moment2[i]) + c2 * g * g;
    store<Real>(&moment1[i], m);
    store<Real>(&moment2[i], v);
    Pack<Real> size = v;
    if constexpr (w > 1)
      for (int lane = 0; lane < w; ++lane) size[lane] = std::sqrt(v[lane]);
    else
      size = std::sqrt(v);
    store<Real>(&theta[i], load<Real>(&theta[i]) - rate * m / (size * root + epsilon));
    store<Real>(&gradient[i], Pack<Real>{});
  }
  for (std::size_t i = whole; i < n; ++i) {
    const Real g = gradient[i];
    moment1[i] = b1 * moment1[i] + c1 * g;
    moment2[i] = b2 * moment2[i] + c2 * g * g;
    theta[i] -= rate * moment1[i] / (std::sqrt(moment2[i]) * root + epsilon);
    gradient[i] = 0;
  }
}

}  // namespace quintet
