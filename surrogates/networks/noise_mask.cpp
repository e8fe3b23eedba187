#include "surrogates/networks/noise_mask.hpp"

#include <algorithm>
#include <cstddef>

#include "surrogates/networks/noise_mask_kernels.hpp"

namespace quintet::networks {

namespace {

/// `n` numbers of a row, x = 0 ... n - 1: a loop without branches, for the processor's lanes.
template <class Real>
void fill_row(const NoiseMask& mask, std::uint32_t channel, std::uint32_t z, std::uint32_t y, int n,
              Real* values) {
  for (int x = 0; x < n; ++x)
    values[x] = static_cast<Real>(mask.level * noise_value(mask.seed, mask.layer, channel, z, y, x));
}

}  // namespace

template <class Real>
void fill_noise_mask(const NoiseMask& mask, int n_channels, const std::array<int, 3>& shape, Real* values) {
  const auto [n_z, n_y, n_x] = shape;
  const auto [p_z, p_y, p_x] = mask.period;
  const std::size_t row = n_x, plane = row * n_y, volume = plane * n_z;
  for (int c = 0; c < n_channels; ++c)
    for (int z = 0; z < n_z; ++z)
      for (int y = 0; y < n_y; ++y) {
        Real* const here = values + c * volume + z * plane + y * row;
        if (z >= p_z || y >= p_y) {
          const Real* const same = values + c * volume + (z % p_z) * plane + (y % p_y) * row;
          std::copy_n(same, n_x, here);
          continue;
        }
        fill_row(mask, static_cast<std::uint32_t>(c), static_cast<std::uint32_t>(z),
                 static_cast<std::uint32_t>(y), std::min(n_x, p_x), here);
        for (int x = p_x; x < n_x; ++x) here[x] = here[x - p_x];
      }
}

template void fill_noise_mask(const NoiseMask&, int, const std::array<int, 3>&, float*);
template void fill_noise_mask(const NoiseMask&, int, const std::array<int, 3>&, double*);

}  // namespace quintet::networks
