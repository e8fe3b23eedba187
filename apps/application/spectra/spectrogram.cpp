#include "apps/application/spectra/spectrogram.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"

namespace quintet {

namespace {

constexpr std::size_t most_columns = 512;  // of the picture
// Values that are held back: a write to HDF5 takes as long as hundreds of small steps.
constexpr std::size_t most_held = std::size_t{1} << 14;

using Transform = SpectrogramOptions::Transform;

/// A transform, and the scale on which its bins lie evenly.
struct TransformRow {
  Transform value;
  std::shared_ptr<FrameTransform> (*make)(const SpectrogramOptions&, const SampledSignal&);
  double (*place)(double frequency, const SampledSignal&);  ///< of a told frequency
  const char* label;                                        ///< of the scale
  bool has_log_plot;
  const char* shorter;  ///< what makes a frame shorter
};

std::shared_ptr<FrameTransform> make_fourier(const SpectrogramOptions& options, const SampledSignal& signal) {
  return std::make_shared<ShortTimeFourier>(options.window, 1 / signal.sample_time);
}
std::shared_ptr<FrameTransform> make_constant_q(const SpectrogramOptions& options,
                                                const SampledSignal& signal) {
  const double highest = signal.lowest * std::exp2(double(options.bins - 1) / options.bins_per_octave),
               nyquist = 0.5 * signal.scale.of_cycles / signal.sample_time;
  QUINTET_CHECK(
      highest < nyquist,
      "{}: the highest of {} bins, {:.6g}, is not below the Nyquist frequency {:.6g} ({}): take fewer "
      "bins, or sample more often (every)",
      options.key(), options.bins, highest, nyquist, signal.scale.name);
  return std::make_shared<ConstantQ>(ConstantQOptions{.rate = 1 / signal.sample_time,
                                                      .lowest = signal.lowest / signal.scale.of_cycles,
                                                      .n_bins = options.bins,
                                                      .bins_per_octave = options.bins_per_octave});
}
std::shared_ptr<FrameTransform> make_mel(const SpectrogramOptions& options, const SampledSignal& signal) {
  return std::make_shared<MelBands>(MelOptions{.rate = 1 / signal.sample_time,
                                               .width = options.window,
                                               .corner = signal.corner / signal.scale.of_cycles,
                                               .n_bands = options.bins});
}

constexpr TransformRow transforms[] = {
    {Transform::fourier, make_fourier, [](double f, const SampledSignal&) { return f; }, "{}", false,
     "a shorter window"},
    {Transform::constant_q, make_constant_q, [](double f, const SampledSignal&) { return std::log2(f); },
     "log2 of {}", true, "a higher lowest frequency"},
    {Transform::mel, make_mel, [](double f, const SampledSignal& s) { return std::log1p(f / s.corner); },
     "log(1 + {}/corner)", true, "a shorter window"}};

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
  QUINTET_CHECK(dt, "{} needs samples at even times: give time.dt", options.key());
  return *dt * static_cast<double>(options.every);
}

void Spectrogram::check(const SpectrogramOptions& options, const SampledSignal& signal, double end,
                        const std::optional<std::int64_t>& steps) {
  const TransformRow& row = row_of(transforms, options.transform);
  const auto transform = row.make(options, signal);
  double samples = std::floor(end / signal.sample_time * (1 + 1e-9)) + 1;
  if (steps) samples = std::min(samples, double(*steps / options.every) + 1);
  QUINTET_CHECK(samples >= transform->width(),
                "{}: the run gives {:g} samples, a frame is of {}: run longer, sample more often (every), or "
                "take {}",
                options.key(), samples, transform->width(), row.shorter);
}

Spectrogram::Spectrogram(Context& context, const SpectrogramOptions& options, const SampledSignal& signal,
                         std::int64_t step)
    : options_(options),
      signal_(signal),
      stream_(row_of(transforms, options.transform).make(options, signal), options.hop, FramePlaces::within),
      signals_(
          context, {.group = options.group(), .key = "signal", .keeps_in_memory = false},
          {{"signal", "1", fmt::format("Time, and {} {}", signal.name, signal.place), {2}, {"time_value"}}},
          (static_cast<double>(step / options.every) + 0.5) * signal.sample_time) {
  hdf5::Group group = context.results().root().group(options.group());
  const auto told = told_frequencies();
  if (options.keeps_frames)
    frame_series_.emplace(group.series<double>(
        "frames", {told.size()}, {"1", {"frame", "bin"}, "Square of the absolute value of each bin"}));
  group.write<double>("frequency", told, {told.size()}, {signal.scale.unit, {"bin"}, signal.scale.name});
  group.set_attribute("sample_time", signal.sample_time);
  group.set_attribute("hop", options.hop);
  group.set_attribute("width", stream_.transform().width());
  if (context.restart_file()) begin_at(context, step);
  if (frame_series_) frame_series_->truncate(0);
  sum_.resize(told.size());
  powers_.resize(told.size());
  column_.resize(told.size());
  constexpr std::uint64_t piece = 65536;
  const auto kept = static_cast<std::uint64_t>(n_samples_);
  for (std::uint64_t first = 0; first < kept; first += piece) {
    const auto rows = group.read_rows<double>("signal", first, std::min(piece, kept - first));
    for (std::size_t i = 1; i < rows.size(); i += 2) stream(rows[i]);
  }
}

/// Of a run that goes on: where its signal begins. One with a hole is none: it begins anew.
void Spectrogram::begin_at(Context& context, std::int64_t step) {
  const std::int64_t next = step / options_.every + 1;
  origin_ = next;
  if (signals_.size() > 0) {
    const auto group = context.results().root().open_group(options_.group());
    origin_ = std::llround(group.read_rows<double>("signal", 0, 1)[0] / signal_.sample_time);
  }
  n_samples_ = next - origin_;
  if (n_samples_ == static_cast<std::int64_t>(signals_.size()) && n_samples_ > 0) return;
  if (signals_.size() > 0 || context.doubt_of(options_.group()).empty())  // else the table has told
    context.lose(options_.group(), "run.h5 has no samples from before the restart: it begins here");
  signals_.clear();
  origin_ = next;
  n_samples_ = 0;
}

void Spectrogram::add(double value, const Instant& now) {
  const double even = static_cast<double>(origin_ + n_samples_) * signal_.sample_time;
  if (std::abs(now.time - even) > 1e-6 * signal_.sample_time) {
    if (now.end) return;  // the last step is cut to the end
    throw InputError(
        fmt::format("step {}: {} needs samples at even times, but the time is {:.9g} instead of {:.9g}: a "
                    "step was shorter "
                    "than time.dt, which stability or a frame asked for; take a smaller time.dt",
                    now.step, options_.key(), now.time, even));
  }
  ++n_samples_;
  held_samples_.insert(held_samples_.end(), {now.time, value});
  stream(value);
  if (held_samples_.size() >= most_held) flush();
}

void Spectrogram::flush() {
  if (!held_samples_.empty()) signals_.append({held_samples_});
  if (frame_series_)
    frame_series_->append_entries(held_frames_.size() / powers_.size(),
                                  std::span<const double>(held_frames_));
  held_samples_.clear();
  held_frames_.clear();
}

void Spectrogram::stream(double value) {
  if (signal_.from_first) {
    if (!first_) first_ = value;
    value -= *first_;
  }
  stream_.push(std::span<const double>(&value, 1), [&](std::span<const std::complex<double>> frame) {
    for (std::size_t k = 0; k < frame.size(); ++k) powers_[k] = std::norm(frame[k]);
    for (std::size_t k = 0; k < frame.size(); ++k) sum_[k] += powers_[k];
    ++n_frames_;
    if (!frame_series_) return;
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
  const auto told = told_frequencies();
  const bool has_log_plot = row_of(transforms, options_.transform).has_log_plot;
  std::vector<double> mean = sum_;
  for (double& value : mean) value /= static_cast<double>(n_frames_);
  context.results()
      .root()
      .group(options_.group())
      .write<double>("spectrum", mean, {mean.size()}, {"1", {"bin"}, "Mean of the frames"});

  context.report().section(fmt::format("Frequencies of {}", name));
  const auto [bin, beside] = peak(mean);
  if (bin > 0) {
    const double at =
        signal_.scale.of_cycles * stream_.transform().frequency_at(static_cast<double>(bin) + beside);
    context.summarise("spectrum_peak_frequency" + signal_.scale.suffix, at,
                      fmt::format("{}, of {} {}", signal_.scale.name, name, signal_.place));
    context.headline("frequency", fmt::format("{:.5g} of {}", at, name), context.doubt_of(options_.group()));
    log::info("The spectrum of {} has its greatest peak at the {} {:.6g}", name, signal_.scale.name, at);
  } else {
    log::warning("The spectrum of {} has no peak: it is zero {}, or rises to an end", name, signal_.place);
  }
  context.summarise("spectrogram_frames", static_cast<double>(n_frames_));
  context.report().plot(
      Plot{.title = fmt::format("Spectrum of {}", name),
           .x_label = signal_.scale.name,
           .y_label = "power",
           .curves = {{"", told, mean}},
           .log_x = has_log_plot,
           .log_y = true,
           .caption = fmt::format("Mean of {} frames of {} samples, {:.4g} apart.", n_frames_,
                                  stream_.transform().width(), signal_.sample_time)});
  if (frame_series_) report_picture(context, told, *std::max_element(mean.begin(), mean.end()));
}

std::vector<double> Spectrogram::told_frequencies() const {
  std::vector<double> told;
  for (const double f : stream_.transform().frequencies()) told.push_back(signal_.scale.of_cycles * f);
  return told;
}

void Spectrogram::report_picture(Context& context, const std::vector<double>& told, double greatest) {
  const int n_x = static_cast<int>(columns_.size()), n_y = static_cast<int>(told.size());
  if (n_x < 2) return;
  const TransformRow& row = row_of(transforms, options_.transform);
  Heatmap map{
      .title = fmt::format("Spectrogram of {}", signal_.name),
      .x_label = "time",
      .y_label = fmt::format(fmt::runtime(row.label), signal_.scale.name),
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
  const double bottom = row.place(told[0], signal_), top = row.place(told.back(), signal_),
               half = 0.5 * (top - bottom) / (n_y - 1);
  map.y_min = bottom - half;
  map.y_max = top + half;
  context.report().heatmap(map);
}

}  // namespace quintet
