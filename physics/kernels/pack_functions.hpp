#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "physics/kernels/activation.hpp"
#include "physics/kernels/pack.hpp"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

/// Elementary functions of packs of doubles, on the host.
namespace quintet {

/// sqrt(x) of each lane.
inline Pack<double> square_root(Pack<double> x) {
#ifdef __AVX512F__
  return (Pack<double>)_mm512_maskz_sqrt_pd(0xff, (__m512d)x);
#else
  double lanes[pack_width<double>];
  store<double>(lanes, x);
  for (int l = 0; l < pack_width<double>; ++l) lanes[l] = std::sqrt(lanes[l]);
  return load<double>(lanes);
#endif
}

/// exp(x) of each lane for x <= 0; 0 below the smallest number.
inline Pack<double> exponential(Pack<double> x) {
  const Pack<double> limit = broadcast(-708.0);
  const auto in = x > limit;
  Pack<double> scale, p;
  detail::split_exp<double, pack_width<double>>(in ? x : limit, scale, p);
  return in ? scale * p + scale : Pack<double>{};
}

/// x^(-1/3) of each lane for normal x > 0: a guess from the exponent, good to 4 %, then Newton's steps, each
/// of which squares the error.
inline Pack<double> inverse_cube_root(Pack<double> x) {
  Pack<std::int64_t, pack_width<double>> bits;
  std::memcpy(&bits, &x, sizeof(bits));
  const Pack<double> third = __builtin_convertvector(bits, Pack<double>) * (1.0 / 3);
  bits = 0x553ef0ff289dd796 - __builtin_convertvector(third, Pack<std::int64_t, pack_width<double>>);
  Pack<double> y;
  std::memcpy(&y, &bits, sizeof(y));
  x = x * (1.0 / 3);
  for (int step = 0; step < 5; ++step) y = y * (4.0 / 3 - x * y * y * y);
  return y;
}

}  // namespace quintet
