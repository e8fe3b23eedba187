#pragma once

#include <cstdint>
#include <vector>

#include "physics/spectral/wave_grid.hpp"

namespace quintet::spectral {

/// A random field: waves whose number hypot(j, l) is in [least, most] have independent normal amplitudes of
/// equal variance, so that the mean square of the field is on average rms^2.
struct Noise {
  double rms = 0;
  double least = 1, most = 4;
};
/// Add it to waves. The same field of (seed, stream) on every grid that has these waves, and on any ranks.
void add_noise(const WaveGrid& grid, const Noise& noise, std::uint64_t seed, std::uint32_t stream,
               const Modes& modes);
/// The number of waves of a noise, complex conjugates included, that a box of so many waves has.
[[nodiscard]] std::int64_t n_waves_of(const Noise& noise, int waves_x, int waves_y);

/// Spectrum by wavenumber: share s of sum over waves |F|^2 with |k| in [(s - 1/2) k_1, (s + 1/2) k_1), k_1 =
/// 2 pi over the longer side. All shares add up to <f^2> (Parseval).
[[nodiscard]] std::vector<double> shell_spectrum(const WaveGrid& grid, const Modes& modes);
/// Width k_1 of a shell.
[[nodiscard]] double shell_width(const WaveGrid& grid);

/// The part of the variance <f^2> - <f>^2 in waves beyond two thirds of the highest along x or y: near 0 for
/// a field that the grid resolves. 0 for a constant. NaN for a field that is not finite. Collective.
[[nodiscard]] double tail_share(const WaveGrid& grid, const Modes& modes);

}  // namespace quintet::spectral
