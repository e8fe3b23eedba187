#pragma once

#include <optional>
#include <vector>

#include "apps/application/spectra/spectrogram_options.hpp"

namespace quintet::vlasov {

/// Sections `observe.spectrogram` and `observe.spectrum`: frequencies of the field at a point, as time goes
/// on.
struct FieldSpectrogramOptions {
  int component = 0;            ///< of the field: ex ... bz
  std::vector<FormulaText> at;  ///< [cdim] (length)
  SpectrogramOptions frames;
  std::optional<FormulaText> lowest, corner;
};
void describe(Schema& schema, FieldSpectrogramOptions& options);

/// Section `observe`; absent: off.
struct ObserveOptions {
  std::optional<FieldSpectrogramOptions> spectrogram, spectrum;  ///< one of them
};
void describe(Schema& schema, ObserveOptions& options);

}  // namespace quintet::vlasov
