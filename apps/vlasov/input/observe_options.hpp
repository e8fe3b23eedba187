#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "io/config/schema.hpp"

namespace quintet::vlasov {

/// Section `observe.spectrogram`: frequencies of the field at a point, as time goes on.
struct SpectrogramOptions {
  enum class Transform { fourier, constant_q };
  int component = 0;            ///< of the field: ex ... bz
  std::vector<FormulaText> at;  ///< [cdim] (length)
  std::int64_t every = 1;       ///< steps
  Transform transform = Transform::fourier;
  int window = 512;  ///< samples
  int hop = 64;      ///< samples
  std::optional<FormulaText> lowest;
  int bins = 48, bins_per_octave = 12;
};
void describe(Schema& schema, SpectrogramOptions& options);

/// Section `observe`; absent: off.
struct ObserveOptions {
  std::optional<SpectrogramOptions> spectrogram;
};
void describe(Schema& schema, ObserveOptions& options);

}  // namespace quintet::vlasov
