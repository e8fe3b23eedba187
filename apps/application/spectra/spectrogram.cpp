#include "apps/application/spectra/spectrogram.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <tuple>
#include <utility>

#include "apps/application/life/context.hpp"
#include "apps/application/report/report.hpp"
#include "io/config/table.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "physics/transforms/frame_stream.hpp"

namespace quintet {

namespace {

constexpr std::size_t most_columns = 512;  // of the picture
constexpr double rounding = 1e-10;         // of a signal, or of what it is a sum of
constexpr double least_shown = 1e-6;       // of the highest power: where a plot ends
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
  QUINTET_CHECK(highest < nyquist,
                "{}: the highest of {}, {:.6g}, is not below the Nyquist frequency {:.6g} ({}): take fewer "
                "bins, or sample more often (every)",
                options.key(), counted(options.bins, "bin"), highest, nyquist, signal.scale.name);
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

/// Bins up to where power is.
std::size_t shown_bins(const std::vector<double>& mean) {
  const double highest = *std::max_element(mean.begin(), mean.end());
  std::size_t shown = mean.size();
  while (shown > 8 && mean[shown - 1] < least_shown * highest) --shown;
  return shown;
}

/// A quarter of the numbers lie below it, or the least of fewer than four.
double lower_quartile(std::span<const double> numbers) {
  std::vector<double> sorted(numbers.begin(), numbers.end());
  const auto place = sorted.begin() + sorted.size() / 4;
  std::nth_element(sorted.begin(), place, sorted.end());
  return *place;
}

}  // namespace

std::string SampledSignal::density_unit() const {
  if (unit == "1" && scale.unit == "1") return "1";
  const bool is_product = unit.find_first_of(" /^") != std::string::npos;
  return fmt::format(fmt::runtime(is_product ? "({})^2{}" : "{}^2{}"), unit,
                     scale.unit == "1" ? "" : "/" + scale.unit);
}

std::optional<double> significant_peak(std::span<const double> power, std::size_t first,
                                       double n_independent) {
  const double stands_out = std::exp(4 * std::sqrt(2 / n_independent));
  std::size_t best = 0;
  for (std::size_t k = first + 1; k + 1 < power.size(); ++k) {
    if (!(power[k] >= power[k - 1] && power[k] >= power[k + 1]) || (best > 0 && power[k] <= power[best]))
      continue;
    const auto left = power.subspan(first, k - first), right = power.subspan(k + 1);
    if (power[k] > stands_out * std::max(lower_quartile(left), lower_quartile(right))) best = k;
  }
  if (best == 0) return std::nullopt;
  const double a = std::log(power[best - 1]), b = std::log(power[best]), c = std::log(power[best + 1]),
               bend = a - 2 * b + c;
  return best + (std::isfinite(bend) && bend < 0 ? 0.5 * (a - c) / bend : 0.0);
}

double sample_time(const SpectrogramOptions& options, const std::optional<double>& dt) {
  QUINTET_CHECK(dt, "{} needs samples at even times: give time.dt", options.key());
  return *dt * options.every;
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
      transform_(row_of(transforms, options.transform).make(options, signal)),
      signals_(context, {.group = options.group(), .key = "signal", .keeps_in_memory = false},
               {{"signal",
                 "1",
                 fmt::format("Time, and {} {} ({})", signal.name, signal.place, signal.unit),
                 {1 + signal.n_parts},
                 {"time_value"}}},
               ((step / options.every) + 0.5) * signal.sample_time) {
  hdf5::Group group = context.results().root().group(options.group());
  const auto told = told_frequencies();
  group.write<double>("frequency", told, {told.size()}, {signal.scale.unit, {"bin"}, signal.scale.name});
  group.set_attribute("sample_time", signal.sample_time);
  group.set_attribute("hop", options.hop);
  group.set_attribute("width", transform_->width());
  if (context.restart_file()) begin_at(context, step);
}

/// Find where the signal of a continued run begins. A signal with a gap is dropped, and a new one begins.
void Spectrogram::begin_at(Context& context, std::int64_t step) {
  const std::int64_t next = step / options_.every + 1;
  origin_ = next;
  if (signals_.size() > 0) {
    const auto group = context.results().root().open_group(options_.group());
    origin_ = std::llround(group.read_rows<double>("signal", 0, 1)[0] / signal_.sample_time);
  }
  n_samples_ = next - origin_;
  if (n_samples_ == std::ssize(signals_) && n_samples_ > 0) return;
  if (signals_.size() > 0 || context.doubt_of(options_.group()).empty())  // else the table has told
    context.lose(options_.group(), "run.h5 has no samples from before the restart: it begins here");
  signals_.clear();
  origin_ = next;
  n_samples_ = 0;
}

void Spectrogram::add(std::span<const double> values, const Instant& now) {
  const double even = (origin_ + n_samples_) * signal_.sample_time;
  if (std::abs(now.time - even) > 1e-6 * signal_.sample_time) {
    if (now.end) return;  // the last step is cut to the end
    throw InputError(
        fmt::format("step {}: {} needs samples at even times, but the time is {:.9g} instead of {:.9g}: a "
                    "step was shorter "
                    "than time.dt, which stability or a frame asked for; take a smaller time.dt",
                    now.step, options_.key(), now.time, even));
  }
  ++n_samples_;
  held_samples_.push_back(now.time);
  held_samples_.insert(held_samples_.end(), values.begin(), values.end());
  if (held_samples_.size() >= most_held) flush();
}

void Spectrogram::flush() {
  if (!held_samples_.empty()) signals_.append({held_samples_});
  held_samples_.clear();
}

template <class Take>
void Spectrogram::each_block(Context& context, const Take& take) const {
  constexpr std::uint64_t most = 65536;
  const auto group = context.results().root().open_group(options_.group());
  const std::uint64_t n = n_samples_, entry = 1 + signal_.n_parts;
  std::vector<std::vector<double>> parts(signal_.n_parts);
  for (std::uint64_t first = 0; first < n; first += most) {
    const auto rows = group.read_rows<double>("signal", first, std::min(most, n - first));
    for (std::size_t p = 0; p < parts.size(); ++p) {
      parts[p].resize(rows.size() / entry);
      for (std::size_t i = 0; i < parts[p].size(); ++i) parts[p][i] = rows[i * entry + 1 + p];
    }
    take(parts);
  }
}

/// The mean of each part; the largest value of any, and the largest standard deviation.
std::vector<double> Spectrogram::means(Context& context, double& most, double& deviation) const {
  const double n = n_samples_;
  std::vector<double> means(signal_.n_parts, 0), squares(signal_.n_parts, 0);
  most = 0;
  each_block(context, [&](const std::vector<std::vector<double>>& parts) {
    for (std::size_t p = 0; p < parts.size(); ++p)
      for (const double x : parts[p]) {
        means[p] += x / n;
        most = std::max(most, std::abs(x));
      }
  });
  each_block(context, [&](const std::vector<std::vector<double>>& parts) {
    for (std::size_t p = 0; p < parts.size(); ++p)
      for (const double x : parts[p]) squares[p] += (x - means[p]) * (x - means[p]) / n;
  });
  deviation = std::sqrt(*std::max_element(squares.begin(), squares.end()));
  return means;
}

/// Power spectral densities of frames, and a picture of them in columns of several frames each.
struct Spectrogram::Powers {
  std::size_t n_frames = 0;
  std::vector<double> mean;
  std::vector<std::vector<double>> columns;
  std::size_t per_column = 1;  ///< doubles when there are too many

  void add(std::span<const double> frame) {
    mean.resize(frame.size());
    if (n_frames % per_column == 0) columns.emplace_back(frame.size(), 0.0);
    for (std::size_t k = 0; k < frame.size(); ++k) {
      mean[k] += frame[k];
      columns.back()[k] += frame[k] / per_column;
    }
    ++n_frames;
    if (columns.size() < most_columns || n_frames % per_column != 0) return;
    for (std::size_t c = 0; c < most_columns / 2; ++c)
      for (std::size_t k = 0; k < frame.size(); ++k)
        columns[c][k] = 0.5 * (columns[2 * c][k] + columns[2 * c + 1][k]);
    columns.resize(most_columns / 2);
    per_column *= 2;
  }
  void finish() {
    for (double& power : mean) power /= n_frames;
    if (n_frames % per_column != 0) columns.pop_back();  // of too few frames
  }
};

Spectrogram::Powers Spectrogram::powers(Context& context, const std::vector<double>& means) const {
  const std::size_t n_bins = transform_->size();
  std::optional<hdf5::Series> series;
  if (options_.keeps_frames) {
    series.emplace(context.results()
                       .root()
                       .group(options_.group())
                       .series<double>("frames", {n_bins},
                                       {signal_.density_unit(),
                                        {"frame", "bin"},
                                        "One-sided power spectral density of each frame"}));
    series->truncate(0);
  }
  std::vector<double> density(n_bins);  // the mean over the parts, told per unit of the scale
  for (std::size_t k = 0; k < n_bins; ++k)
    density[k] = transform_->density(k) / (signal_.scale.of_cycles * signal_.n_parts);
  std::vector<FrameStream> streams(signal_.n_parts,
                                   FrameStream(transform_, options_.hop, FramePlaces::within));
  Powers result;
  std::vector<double> frames;
  each_block(context, [&](std::vector<std::vector<double>>& parts) {
    frames.clear();
    for (std::size_t p = 0; p < parts.size(); ++p) {
      for (double& x : parts[p]) x -= means[p];
      std::size_t at = 0;
      streams[p].push(parts[p], [&](std::span<const std::complex<double>> frame) {
        if (p == 0) frames.resize(frames.size() + n_bins, 0.0);
        for (std::size_t k = 0; k < n_bins; ++k) frames[at + k] += density[k] * std::norm(frame[k]);
        at += n_bins;
      });
    }
    for (std::size_t at = 0; at < frames.size(); at += n_bins)
      result.add(std::span(frames).subspan(at, n_bins));
    if (series) series->append_entries(frames.size() / n_bins, std::span<const double>(frames));
  });
  result.finish();
  return result;
}

void Spectrogram::report(Context& context, double scale) {
  flush();
  if (n_samples_ < transform_->width()) return;
  double most = 0, deviation = 0;
  const auto middle = means(context, most, deviation);
  context.report().section(fmt::format("Frequencies of {}", signal_.name));
  if (!(deviation > rounding * std::max(most, scale))) {
    const auto text =
        fmt::format("{} {} does not move: its standard deviation {:.2g} {} is rounding. No spectrum",
                    signal_.name, signal_.place, deviation, signal_.unit);
    log::warning("{}", text);
    context.report().warning(text + ".");
    return;
  }
  const Powers powers = this->powers(context, middle);
  context.results()
      .root()
      .group(options_.group())
      .write<double>(
          "spectrum", powers.mean, {powers.mean.size()},
          {signal_.density_unit(), {"bin"}, "One-sided power spectral density, mean of the frames"});
  context.summarise("spectrogram_frames", static_cast<double>(powers.n_frames));
  report_peak(context, powers);
  if (options_.keeps_frames) report_picture(context, powers);
}

void Spectrogram::report_peak(Context& context, const Powers& powers) const {
  const auto& [name, place] = std::tie(signal_.name, signal_.place);
  auto told = told_frequencies();
  auto mean = powers.mean;
  // Half-overlapping frames of Hann's window count as 1.5 per width. Two bins are its main lobe about zero.
  const double n_independent =
      signal_.n_parts * std::min<double>(powers.n_frames, 1.5 * n_samples_ / transform_->width());
  const std::size_t first = options_.transform == Transform::fourier ? 2 : 0;
  if (const auto peak = significant_peak(mean, first, n_independent)) {
    const double at = signal_.scale.of_cycles * transform_->frequency_at(*peak);
    const std::string text = signal_.scale.unit == "1" ? fmt::format("{} {:.5g}", signal_.scale.name, at)
                                                       : fmt::format("{:.5g} {}", at, signal_.scale.unit);
    context.summarise("spectrum_peak_frequency" + signal_.scale.suffix, at,
                      fmt::format("{}, of {} {}", signal_.scale.name, name, place));
    context.headline("highest peak of " + name, text, context.doubt_of(options_.group()));
    log::info("Spectrum of {} {}: highest peak at {}", name, place, text);
  } else {
    log::info("Spectrum of {} {}: no peak stands out of the noise", name, place);
  }
  told.resize(shown_bins(mean));
  mean.resize(told.size());
  context.report().plot(
      Plot{.title = fmt::format("Spectrum of {}", name),
           .x_label = signal_.scale.name,
           .y_label = fmt::format("power spectral density ({})", signal_.density_unit()),
           .curves = {{"", told, mean}},
           .log_x = row_of(transforms, options_.transform).has_log_plot,
           .log_y = true,
           .caption = fmt::format(
               "Mean of {} of {}, {:.4g} apart{}, without the mean over "
               "time. Beyond the right end it is below {:g} of the highest.",
               counted(powers.n_frames, "frame"), counted(transform_->width(), "sample"), signal_.sample_time,
               signal_.n_parts > 1 ? fmt::format(", and over {}", counted(signal_.n_parts, "signal")) : "",
               least_shown)});
}

std::vector<double> Spectrogram::told_frequencies() const {
  std::vector<double> told;
  for (const double f : transform_->frequencies()) told.push_back(signal_.scale.of_cycles * f);
  return told;
}

// A cell of the picture is a frame wide and a told frequency high; its edges lie half a step around the first
// and last middle.
void Spectrogram::report_picture(Context& context, const Powers& powers) const {
  auto told = told_frequencies();
  told.resize(shown_bins(powers.mean));
  const double greatest = *std::max_element(powers.mean.begin(), powers.mean.end());
  const int n_x = powers.columns.size(), n_y = told.size();
  if (n_x < 2) return;
  const TransformRow& row = row_of(transforms, options_.transform);
  Heatmap map{
      .title = fmt::format("Spectrogram of {}", signal_.name),
      .x_label = signal_.time_unit.empty() ? "time" : fmt::format("time ({})", signal_.time_unit),
      .y_label = fmt::format(fmt::runtime(row.label), signal_.scale.name),
      .value_label = fmt::format("log10 of power spectral density ({})", signal_.density_unit()),
      .values = {},
      .n_x = n_x,
      .n_y = n_y,
      .caption = "Time is that of the middle of a frame; below 1e-12 of the spectrum's top is blank."};
  for (int k = 0; k < n_y; ++k)
    for (const auto& column : powers.columns) {
      const double power = column[k];
      map.values.push_back(power > 1e-12 * greatest ? std::log10(power) : std::nan(""));
    }
  const double step = options_.hop * signal_.sample_time, width = step * powers.per_column;
  map.x_min = 0.5 * (transform_->width() * signal_.sample_time - step);
  map.x_max = map.x_min + n_x * width;
  const double bottom = row.place(told[0], signal_), top = row.place(told.back(), signal_),
               half = 0.5 * (top - bottom) / (n_y - 1);
  map.y_min = bottom - half;
  map.y_max = top + half;
  context.report().heatmap(map);
}

}  // namespace quintet
