#pragma once

#include <complex>
#include <string>

#include "apps/vlasov/setup/setup.hpp"

namespace quintet::vlasov {

/// (2/V) int F exp(-i k.x) dx of the field F of setup.wave: the signed amplitude of a wave exp(i k.x). 0
/// without one. Collective.
[[nodiscard]] std::complex<double> wave_amplitude(const Setup& setup, kinetics::VlasovSystem& system);

/// "wave_ex_k0.5": how the history names it, "_real" and "_imag" after it.
[[nodiscard]] std::string wave_name(const WaveSignal& wave);

}  // namespace quintet::vlasov
