#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "apps/application/spectra/spectrogram_options.hpp"

namespace quintet::dpmd {

/// Signal of a spectrum.
enum class MdSignal {
  temperature,
  pressure,
  pressure_xx,
  pressure_yy,
  pressure_zz,
  pressure_xy,
  pressure_xz,
  pressure_yz,
  volume,
  potential,
  velocity,  ///< of an atom, or of atoms of a type
  current    ///< sum of charge times velocity: the derivative of the dipole moment of fixed charges
};

/// A signal by its name in input files and results.
struct MdSignalRow {
  MdSignal value;
  const char* name;
};
[[nodiscard]] std::span<const MdSignalRow> md_signals();

/// Sections `observe.spectrogram` and `observe.spectrum`: frequencies of a number of the run.
struct MdSpectrogramOptions {
  MdSignal signal = MdSignal::velocity;
  std::optional<std::string> type;  ///< of velocity
  std::int64_t atoms = 16;          ///< of the type
  std::optional<std::int64_t> atom;
  std::vector<std::pair<std::string, double>> charges;  ///< of current: by type (e)
  int component = 0;
  SpectrogramOptions frames;
  std::optional<double> lowest, corner;  ///< (THz)
};
void describe(Schema& schema, MdSpectrogramOptions& options);

/// Section `observe`; absent: off.
struct ObserveOptions {
  std::optional<MdSpectrogramOptions> spectrogram, spectrum;  ///< one of them
};
void describe(Schema& schema, ObserveOptions& options);

}  // namespace quintet::dpmd
