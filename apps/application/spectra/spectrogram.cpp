#include "apps/application/spectra/spectrogram.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "io/log/error.hpp"
#include "io/log/log.hpp"

namespace quintet {

namespace {

constexpr std::size_t most_columns = 512;  // of the picture
// Values that are held back: a write to HDF5 takes as long as hundreds of small steps.
constexpr std::size_t most_held = std::size_t{1} << 14;

bool is_logarithmic(const SpectrogramOptions& options) {
  return options.transform == SpectrogramOptions::Transform::constant_q;
}

std::shared_ptr<FrameTransform> make_transform(const SpectrogramOptions& options,
                                               const SampledSignal& signal) {
  const double rate = 1 / signal.sample_time;
  if (!is_logarithmic(options)) return std::make_shared<ShortTimeFourier>(options.window, rate);
  const double highest = signal.lowest * std::exp2(double(options.bins - 1) / options.bins_per_octave);
  QUINTET_CHECK(
      highest < M_PI * rate,
      "observe.spectrogram: the highest of {} bins, {:.6g}, is not below the Nyquist frequency {:.6g} "
      "(angular): take fewer bins, or sample more often (every)",
      options.bins, highest, M_PI * rate);
  return std::make_shared<ConstantQ>(ConstantQOptions{.rate = rate,
                                                      .lowest = signal.lowest / (2 * M_PI),
                                                      .n_bins = options.bins,
                                                      .bins_per_octave = options.bins_per_octave});
}

std::vector<double> angular_frequencies(const FrameTransform& transform) {
  std::vector<double> angular;
  for (const double f : transform.frequencies()) angular.push_back(2 * M_PI * f);
  return angular;
}

/// Where the power is greatest and no less than beside it, the zero frequency left out: the bin and how far
/// the top of the parabola through three logarithms is beside it, in bins. Bin 0: there is none.
std::pair<std::size_t, double> peak(const std::vector<double>& power) {
  std::size_t best = 0;
  for (std::size_t k = 1; k + 1 < power.size(); ++k)
    if (power[k] > 0 && power[k] >= power[k - 1] && power[k] >= power[k + 1] &&
        (best == 0 || power[k] > power[best]))
      best = k;
  if (best == 0 || !(power[best - 1] > 0) || !(power[best + 1] > 0)) return {best, 0.0};
  const double a = std::log(power[best - 1]), b = std::log(power[best]), c = std::log(power[best + 1]);
  const double bend = a - 2 * b + c;
  return {best, bend < 0 ? 0.5 * (a - c) / bend : 0.0};
}

}  // namespace

double sample_time(const SpectrogramOptions& options, const std::optional<double>& dt) {
  QUINTET_CHECK(dt, "observe.spectrogram needs samples at even times: give time.dt");
  return *dt * static_cast<double>(options.every);
}

void Spectrogram::check(const SpectrogramOptions& options, const SampledSignal& signal, double end,
                        const std::optional<std::int64_t>& steps) {
  const auto transform = make_transform(options, signal);
  double samples = std::floor(end / signal.sample_time * (1 + 1e-9)) + 1;
  if (steps) samples = std::min(samples, double(*steps / options.every) + 1);
  QUINTET_CHECK(samples >= transform->width(),
                "observe.spectrogram: the run gives {:g} samples, a frame is of {}: run longer, sample more "
                "often (every), or take {}",
                samples, transform->width(),
                is_logarithmic(options) ? "a higher lowest frequency" : "a shorter window");
}

Spectrogram::Spectrogram(Context& context, const SpectrogramOptions& options, const SampledSignal& signal,
                         std::int64_t step)
    : options_(options),
      signal_(signal),
      stream_(make_transform(options, signal), options.hop, FramePlaces::within),
      signal_series_(context.results()
                         .root()
                         .group("spectrogram")
                         .series<double>("signal", {2},
                                         {"1",
                                          {"sample", "time_value"},
                                          fmt::format("Time, and {} {}", signal.name, signal.place)})),
      frame_series_(
          context.results()
              .root()
              .group("spectrogram")
              .series<double>("frames", {stream_.transform().frequencies().size()},
                              {"1", {"frame", "bin"}, "Square of the absolute value of each bin"})) {
  hdf5::Group group = context.results().root().group("spectrogram");
  const auto angular = angular_frequencies(stream_.transform());
  group.write<double>("frequency", angular, {angular.size()}, {"1", {"bin"}, "Angular frequency"});
  group.set_attribute("sample_time", signal.sample_time);
  group.set_attribute("hop", options.hop);
  group.set_attribute("width", stream_.transform().width());
  n_samples_ = context.restart_file() ? step / options.every + 1 : 0;
  const auto kept = static_cast<std::uint64_t>(n_samples_);
  QUINTET_CHECK(signal_series_.size() >= kept,
                "{}: spectrogram/signal has {} samples, fewer than the {} of its checkpoint: the file is "
                "damaged; move it away",
                context.path("run.h5"), signal_series_.size(), kept);
  signal_series_.truncate(kept);
  frame_series_.truncate(0);
  sum_.resize(angular.size());
  powers_.resize(angular.size());
  column_.resize(angular.size());
  constexpr std::uint64_t piece = 65536;
  for (std::uint64_t first = 0; first < kept; first += piece) {
    const auto rows = group.read_rows<double>("signal", first, std::min(piece, kept - first));
    for (std::size_t i = 1; i < rows.size(); i += 2) stream(rows[i]);
  }
}

void Spectrogram::add(double value, const Instant& now) {
  const double even = static_cast<double>(n_samples_) * signal_.sample_time;
  if (std::abs(now.time - even) > 1e-6 * signal_.sample_time) {
    if (now.end) return;  // the last step is cut to the end
    throw InputError(fmt::format(
        "step {}: observe.spectrogram needs samples at even times, but the time is {:.9g} instead of {:.9g}: "
        "a step was shorter than time.dt, which stability or a frame asked for; take a smaller time.dt",
        now.step, now.time, even));
  }
  ++n_samples_;
  held_samples_.insert(held_samples_.end(), {now.time, value});
  stream(value);
  if (held_samples_.size() >= most_held) flush();
}

void Spectrogram::flush() {
  signal_series_.append_entries(held_samples_.size() / 2, std::span<const double>(held_samples_));
  frame_series_.append_entries(held_frames_.size() / powers_.size(), std::span<const double>(held_frames_));
  held_samples_.clear();
  held_frames_.clear();
}

void Spectrogram::stream(double value) {
  stream_.push(std::span<const double>(&value, 1), [&](std::span<const std::complex<double>> frame) {
    for (std::size_t k = 0; k < frame.size(); ++k) powers_[k] = std::norm(frame[k]);
    for (std::size_t k = 0; k < frame.size(); ++k) sum_[k] += powers_[k];
    ++n_frames_;
    add_column();
    held_frames_.insert(held_frames_.end(), powers_.begin(), powers_.end());
    if (held_frames_.size() >= most_held) flush();
  });
}

void Spectrogram::add_column() {
  for (std::size_t k = 0; k < powers_.size(); ++k)
    column_[k] += powers_[k] / static_cast<double>(per_column_);
  if (++in_column_ < per_column_) return;
  columns_.push_back(column_);
  std::fill(column_.begin(), column_.end(), 0.0);
  in_column_ = 0;
  if (columns_.size() < most_columns) return;
  for (std::size_t c = 0; c < most_columns / 2; ++c)
    for (std::size_t k = 0; k < powers_.size(); ++k)
      columns_[c][k] = 0.5 * (columns_[2 * c][k] + columns_[2 * c + 1][k]);
  columns_.resize(most_columns / 2);
  per_column_ *= 2;
}

void Spectrogram::report(Context& context) {
  flush();
  if (n_frames_ == 0) return;
  const std::string& name = signal_.name;
  const auto angular = angular_frequencies(stream_.transform());
  std::vector<double> mean = sum_;
  for (double& value : mean) value /= static_cast<double>(n_frames_);
  context.results()
      .root()
      .group("spectrogram")
      .write<double>("spectrum", mean, {mean.size()}, {"1", {"bin"}, "Mean of the frames"});

  context.report().section(fmt::format("Frequencies of {}", name));
  const auto [bin, beside] = peak(mean);
  if (bin > 0) {
    const double at = is_logarithmic(options_) ? angular[bin] * std::exp2(beside / options_.bins_per_octave)
                                               : angular[bin] + beside * (angular[1] - angular[0]);
    context.summarise("spectrum_peak_frequency", at, fmt::format("angular, of {} {}", name, signal_.place));
    context.headline("frequency", fmt::format("{:.5g} of {}", at, name));
    log::info("The spectrum of {} has its greatest peak at the angular frequency {:.6g}", name, at);
  } else {
    log::warning("The spectrum of {} has no peak: it is zero {}, or rises to an end", name, signal_.place);
  }
  context.summarise("spectrogram_frames", static_cast<double>(n_frames_));
  context.report().plot(
      Plot{.title = fmt::format("Spectrum of {}", name),
           .x_label = "angular frequency",
           .y_label = "power",
           .curves = {{"", angular, mean}},
           .log_x = is_logarithmic(options_),
           .log_y = true,
           .caption = fmt::format("Mean of {} frames of {} samples, {:.4g} apart.", n_frames_,
                                  stream_.transform().width(), signal_.sample_time)});
  report_picture(context, angular, *std::max_element(mean.begin(), mean.end()));
}

void Spectrogram::report_picture(Context& context, const std::vector<double>& angular, double greatest) {
  const int n_x = static_cast<int>(columns_.size()), n_y = static_cast<int>(angular.size());
  if (n_x < 2) return;
  const bool logarithmic = is_logarithmic(options_);
  Heatmap map{
      .title = fmt::format("Spectrogram of {}", signal_.name),
      .x_label = "time",
      .y_label = logarithmic ? "log2 of angular frequency" : "angular frequency",
      .value_label = "log10 of power",
      .values = {},
      .n_x = n_x,
      .n_y = n_y,
      .caption = "Time is that of the middle of a frame; below 1e-12 of the spectrum's top is blank."};
  for (int k = 0; k < n_y; ++k)
    for (const auto& column : columns_) {
      const double power = column[static_cast<std::size_t>(k)];
      map.values.push_back(power > 1e-12 * greatest ? std::log10(power) : std::nan(""));
    }
  const double step = options_.hop * signal_.sample_time, width = step * static_cast<double>(per_column_);
  map.x_min = 0.5 * (stream_.transform().width() * signal_.sample_time - step);
  map.x_max = map.x_min + n_x * width;
  const double half = logarithmic ? 0.5 / options_.bins_per_octave : 0.5 * (angular[1] - angular[0]);
  map.y_min = (logarithmic ? std::log2(angular.front()) : angular.front()) - half;
  map.y_max = (logarithmic ? std::log2(angular.back()) : angular.back()) + half;
  context.report().heatmap(map);
}

}  // namespace quintet
