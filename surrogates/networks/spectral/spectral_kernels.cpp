#include "surrogates/networks/spectral/spectral_kernels.hpp"

#include <complex>
#include <cstddef>

namespace quintet::networks {

SpectralKernels spectral_kernels(FrameTransform& transform) {
  SpectralKernels kernels{transform.width(), transform.size(), 0, {}};
  const auto width = static_cast<std::size_t>(kernels.width),
             lines = static_cast<std::size_t>(kernels.n_lines);
  kernels.parameters.resize(2 * width * lines);
  std::vector<double> pulse(width);
  std::vector<std::complex<double>> of_pulse(lines);
  for (std::size_t j = 0; j < width; ++j) {
    pulse[j] = 1;
    transform.transform(pulse.data(), 1, 1, of_pulse.data());
    pulse[j] = 0;
    for (std::size_t k = 0; k < lines; ++k) {
      kernels.parameters[j * lines + k] = of_pulse[k].real();
      kernels.parameters[(width + j) * lines + k] = of_pulse[k].imag();
    }
  }
  return kernels;
}

SpectralKernels spectral_kernels(const MelBands& transform, double rate) {
  ShortTimeFourier fourier(transform.width(), rate);
  SpectralKernels kernels = spectral_kernels(fourier);
  kernels.n_bands = transform.size();
  const auto bands = static_cast<std::size_t>(kernels.n_bands), first = kernels.parameters.size();
  kernels.parameters.resize(first + static_cast<std::size_t>(kernels.n_lines) * bands);
  for (std::size_t b = 0; b < bands; ++b) {
    const auto& [line, weights] = transform.bands()[b];
    for (std::size_t k = 0; k < weights.size(); ++k)
      kernels.parameters[first + (line + k) * bands + b] = weights[k];
  }
  return kernels;
}

}  // namespace quintet::networks
