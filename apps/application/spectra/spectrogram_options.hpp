#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "io/config/schema.hpp"

namespace quintet {

/// How a signal is sampled, cut into frames, and what is taken of each.
struct SpectrogramOptions {
  enum class Transform { fourier, constant_q, mel };
  std::int64_t every = 1;  ///< steps
  Transform transform = Transform::fourier;
  int window = 512;  ///< samples
  int hop = 64;      ///< samples
  int bins = 48, bins_per_octave = 12;
  bool keeps_frames = true;  ///< section observe.spectrogram; observe.spectrum: their mean alone

  [[nodiscard]] const char* group() const { return keeps_frames ? "spectrogram" : "spectrum"; }
  /// "observe.spectrogram", or with a key behind it.
  [[nodiscard]] std::string key(const char* name = "") const;
};

/// The keys of sections `observe.spectrogram` and `observe.spectrum` that all applications share. What is
/// sampled, where, and the frequencies `lowest` and `corner` are theirs: numbers, quantities or formulas.
void describe(Schema& schema, SpectrogramOptions& options);

/// Error message if the transform needs `lowest` or `corner` and it is not given; else nothing.
[[nodiscard]] std::optional<std::string> misses_frequency(const SpectrogramOptions& options, bool has_lowest,
                                                          bool has_corner);

/// Descriptions of the keys `lowest` and `corner`.
inline constexpr const char* lowest_text = "constant_q: angular frequency of the first bin";
inline constexpr const char* corner_text =
    "mel: angular frequency below which bands are about evenly wide, above which they widen with frequency";

/// Sections `spectrogram` and `spectrum` of an application's `observe`.
template <class Section>
void describe_spectra(Schema& schema, std::optional<Section>& spectrogram, std::optional<Section>& spectrum,
                      const std::string& of_what) {
  schema.section("spectrogram", spectrogram,
                 "Frequencies of " + of_what +
                     " over time, in group spectrogram of run.h5, with their mean, the spectrum");
  schema.section("spectrum", spectrum,
                 "The mean spectrum of " + of_what + " by itself, in group spectrum of run.h5");
  schema.check([&spectrogram, &spectrum]() -> std::optional<std::string> {
    if (spectrogram && spectrum)
      return "spectrum: a spectrogram has its mean spectrum, too; give one of the two";
    return std::nullopt;
  });
}

/// The one that is there, if any; its frames know which.
template <class Section>
[[nodiscard]] std::optional<Section> section_given(const std::optional<Section>& spectrogram,
                                                   const std::optional<Section>& spectrum) {
  auto given = spectrogram ? spectrogram : spectrum;
  if (given) given->frames.keeps_frames = spectrogram.has_value();
  return given;
}

}  // namespace quintet
