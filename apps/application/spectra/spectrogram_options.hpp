#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "io/config/schema.hpp"

namespace quintet {

/// How a signal is sampled, cut into frames, and what is taken of each.
struct SpectrogramOptions {
  enum class Transform { fourier, constant_q };
  std::int64_t every = 1;  ///< steps
  Transform transform = Transform::fourier;
  int window = 512;  ///< samples
  int hop = 64;      ///< samples
  int bins = 48, bins_per_octave = 12;
};

/// The keys of a section `observe.spectrogram` that all applications share. What is sampled, where, and
/// `lowest`, the angular frequency of a constant-Q transform's first bin, are theirs: a number or a formula.
void describe(Schema& schema, SpectrogramOptions& options);

/// What is wrong with `lowest` being given or not, if anything.
[[nodiscard]] std::optional<std::string> misses_lowest(const SpectrogramOptions& options, bool has_lowest);

/// Of the key `lowest`.
inline constexpr const char* lowest_text = "constant_q: angular frequency of the first bin";

}  // namespace quintet
