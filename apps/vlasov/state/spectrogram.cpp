#include "apps/vlasov/state/spectrogram.hpp"

#include <algorithm>
#include <cmath>

#include "io/log/error.hpp"
#include "io/log/log.hpp"

namespace quintet::vlasov {

using namespace kinetics;

namespace {

constexpr const char* components[] = {"ex", "ey", "ez", "bx", "by", "bz"};
constexpr std::size_t most_columns = 512;  // of the picture

std::string key(const char* name) { return std::string("observe.spectrogram.") + name; }

std::shared_ptr<FrameTransform> make_transform(const SpectrogramOptions& options, const Setup& setup,
                                               double sample_time) {
  const double rate = 1 / sample_time;
  if (options.transform == SpectrogramOptions::Transform::fourier)
    return std::make_shared<ShortTimeFourier>(options.window, rate);
  const double lowest = setup.formulas.positive(key("lowest"));
  const double highest = lowest * std::exp2(double(options.bins - 1) / options.bins_per_octave);
  QUINTET_CHECK(
      highest < M_PI * rate,
      "observe.spectrogram: the highest of {} bins, {:.6g}, is not below the Nyquist frequency {:.6g} "
      "(angular): take fewer bins, or sample more often (every)",
      options.bins, highest, M_PI * rate);
  return std::make_shared<ConstantQ>(ConstantQOptions{.rate = rate,
                                                      .lowest = lowest / (2 * M_PI),
                                                      .n_bins = options.bins,
                                                      .bins_per_octave = options.bins_per_octave});
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

void Spectrogram::check(const RunOptions& options, const Setup& setup) {
  if (!options.observe || !options.observe->spectrogram) return;
  const auto& section = *options.observe->spectrogram;
  QUINTET_CHECK(setup.fixed_dt, "observe.spectrogram needs samples at even times: give time.dt");
  const double sample_time = *setup.fixed_dt * static_cast<double>(section.every);
  const auto transform = make_transform(section, setup, sample_time);
  double samples = std::floor(setup.end / sample_time * (1 + 1e-9)) + 1;
  if (options.time.steps) samples = std::min(samples, double(*options.time.steps / section.every) + 1);
  QUINTET_CHECK(samples >= transform->width(),
                "observe.spectrogram: the run gives {:g} samples, a frame is of {}: run longer, sample more "
                "often (every), or take {}",
                samples, transform->width(),
                section.transform == SpectrogramOptions::Transform::fourier ? "a shorter window"
                                                                            : "a higher lowest frequency");
  (void)make_probe(section, setup);
}

Spectrogram::Probe Spectrogram::make_probe(const SpectrogramOptions& options, const Setup& setup) {
  const auto& grid = setup.species.front().grid;
  const PhaseBlock block = setup.decomposition.block(grid);
  const auto cdim = static_cast<std::size_t>(grid.cdim);
  const FieldModel model = setup.system.field;
  QUINTET_CHECK(model != FieldModel::none, "{}: this run has no field (field.model: none)", key("signal"));
  QUINTET_CHECK(model == FieldModel::maxwell || options.component < grid.cdim,
                "{}: {} is zero in Poisson's field of {} direction(s)", key("signal"),
                components[options.component], grid.cdim);
  QUINTET_CHECK(options.at.size() == cdim, "{}: has {} values; expected {}", key("at"), options.at.size(),
                cdim);
  Probe probe;
  probe.component = static_cast<std::size_t>(options.component);
  std::array<double, 3> xi{};
  std::array<int, 3> local{};
  bool here = true;
  for (std::size_t d = 0; d < cdim; ++d) {
    const int direction = static_cast<int>(d);
    const double x = setup.formulas.number(fmt::format("{}.{}", key("at"), d));
    QUINTET_CHECK(x >= grid.lower[d] && x <= grid.upper[d], "{}.{}: {:g} is outside the grid, {:g} to {:g}",
                  key("at"), d, x, grid.lower[d], grid.upper[d]);
    const double width = grid.width(direction);
    const int cell = std::min(static_cast<int>((x - grid.lower[d]) / width), grid.cells[d] - 1);
    xi[d] = 2 * (x - grid.centre(direction, cell)) / width;
    local[d] = cell - block.begin[d];
    here = here && local[d] >= 0 && local[d] < block.extent[d];
  }
  // Ranks that differ in velocity alone hold the same field: one of them speaks.
  here = here && setup.decomposition.velocity_comm().is_root();
  if (here) probe.cell = block.conf_number(local);
  const Basis& basis = setup.basis.conf();
  for (int i = 0; i < basis.size(); ++i)
    probe.weights.push_back(basis.value(i, std::span<const double>(xi.data(), cdim)));
  return probe;
}

Spectrogram::Spectrogram(Context& context, const RunOptions& options, const Simulation& simulation) {
  if (!options.observe || !options.observe->spectrogram) return;
  const auto& section = *options.observe->spectrogram;
  const Setup& setup = simulation.setup();
  const double sample_time = *setup.fixed_dt * static_cast<double>(section.every);
  FrameStream stream(make_transform(section, setup, sample_time), section.hop, FramePlaces::within);
  const auto& frequencies = stream.transform().frequencies();
  hdf5::Group group = context.results().root().group("spectrogram");
  auto signal =
      group.series<double>("signal", {2},
                           {"1",
                            {"sample", "time_value"},
                            fmt::format("Time, and {} at the point", components[section.component])});
  auto frames = group.series<double>("frames", {frequencies.size()},
                                     {"1", {"frame", "bin"}, "Square of the absolute value of each bin"});
  std::vector<double> angular;
  for (const double f : frequencies) angular.push_back(2 * M_PI * f);
  group.write<double>("frequency", angular, {angular.size()}, {"1", {"bin"}, "Angular frequency"});
  group.set_attribute("sample_time", sample_time);
  group.set_attribute("hop", section.hop);
  group.set_attribute("width", stream.transform().width());
  const auto kept = context.restart_file() ? static_cast<std::uint64_t>(simulation.step() / section.every) + 1
                                           : std::uint64_t{0};
  QUINTET_CHECK(signal.size() >= kept,
                "{}: spectrogram/signal has {} samples, fewer than the {} of its checkpoint: the file is "
                "damaged; move it away",
                context.path("run.h5"), signal.size(), kept);
  signal.truncate(kept);
  frames.truncate(0);
  sum_.resize(frequencies.size());
  powers_.resize(frequencies.size());
  column_.resize(frequencies.size());
  active_.emplace(
      Active{section, sample_time, std::move(stream), make_probe(section, setup), signal, frames});
  constexpr std::uint64_t piece = 65536;
  for (std::uint64_t first = 0; first < kept; first += piece) {
    const auto rows = group.read_rows<double>("signal", first, std::min(piece, kept - first));
    for (std::size_t i = 1; i < rows.size(); i += 2) this->stream(rows[i]);
  }
}

Schedule Spectrogram::schedule() const {
  return active_ ? at_start() | every_steps(active_->options.every) : Schedule();
}

void Spectrogram::add(const Simulation& simulation, const Instant& now) {
  const double even = static_cast<double>(active_->signal.size()) * active_->sample_time;
  if (std::abs(simulation.time() - even) > 1e-6 * active_->sample_time) {
    if (simulation.finished()) return;  // the last step is cut to the end
    throw InputError(fmt::format(
        "step {}: observe.spectrogram needs samples at even times, but the time is {:.9g} instead of {:.9g}: "
        "the CFL condition has shortened a step; take a smaller time.dt",
        now.step, simulation.time(), even));
  }
  double value = 0;
  if (const Probe& probe = active_->probe; probe.cell >= 0) {
    const ConfField& field = simulation.system().field();
    for (std::size_t i = 0; i < probe.weights.size(); ++i)
      value += probe.weights[i] * field(static_cast<std::size_t>(probe.cell), probe.component, i);
  }
  value = simulation.setup().decomposition.comm().sum(value);
  const double entry[2] = {simulation.time(), value};
  active_->signal.append(std::span<const double>(entry));
  stream(value);
}

void Spectrogram::stream(double value) {
  active_->stream.push(std::span<const double>(&value, 1), [&](std::span<const std::complex<double>> frame) {
    for (std::size_t k = 0; k < frame.size(); ++k) powers_[k] = std::norm(frame[k]);
    active_->frames.append(std::span<const double>(powers_));
    for (std::size_t k = 0; k < frame.size(); ++k) sum_[k] += powers_[k];
    ++n_frames_;
    add_column(powers_);
  });
}

void Spectrogram::add_column(const std::vector<double>& powers) {
  for (std::size_t k = 0; k < powers.size(); ++k) column_[k] += powers[k] / static_cast<double>(per_column_);
  if (++in_column_ < per_column_) return;
  columns_.push_back(column_);
  std::fill(column_.begin(), column_.end(), 0.0);
  in_column_ = 0;
  if (columns_.size() < most_columns) return;
  for (std::size_t c = 0; c < most_columns / 2; ++c)
    for (std::size_t k = 0; k < powers.size(); ++k)
      columns_[c][k] = 0.5 * (columns_[2 * c][k] + columns_[2 * c + 1][k]);
  columns_.resize(most_columns / 2);
  per_column_ *= 2;
}

void Spectrogram::report(Context& context) {
  if (!active_ || n_frames_ == 0) return;
  const auto& [options, sample_time, stream, probe, signal, frames] = *active_;
  const char* const name = components[options.component];
  std::vector<double> angular, mean = sum_;
  for (const double f : stream.transform().frequencies()) angular.push_back(2 * M_PI * f);
  for (double& value : mean) value /= static_cast<double>(n_frames_);
  context.results()
      .root()
      .group("spectrogram")
      .write<double>("spectrum", mean, {mean.size()}, {"1", {"bin"}, "Mean of the frames"});

  context.report().section(fmt::format("Frequencies of {}", name));
  const auto [bin, beside] = peak(mean);
  const bool logarithmic = options.transform == SpectrogramOptions::Transform::constant_q;
  if (bin > 0) {
    const double at = logarithmic ? angular[bin] * std::exp2(beside / options.bins_per_octave)
                                  : angular[bin] + beside * (angular[1] - angular[0]);
    context.summarise("spectrum_peak_frequency", at, fmt::format("angular, of {} at the point", name));
    context.headline("frequency", fmt::format("{:.5g} of {}", at, name));
    log::info("The spectrum of {} has its greatest peak at the angular frequency {:.6g}", name, at);
  } else {
    log::warning("The spectrum of {} has no peak: the field is zero at the point, or rises to an end", name);
  }
  context.summarise("spectrogram_frames", static_cast<double>(n_frames_));
  Plot plot{.title = fmt::format("Spectrum of {}", name),
            .x_label = "angular frequency",
            .y_label = "power",
            .curves = {{"", angular, mean}},
            .log_x = logarithmic,
            .log_y = true,
            .caption = fmt::format("Mean of {} frames of {} samples, {:.4g} apart.", n_frames_,
                                   stream.transform().width(), sample_time)};
  context.report().plot(plot);

  const int n_x = static_cast<int>(columns_.size()), n_y = static_cast<int>(angular.size());
  if (n_x < 2) return;
  const double greatest = *std::max_element(mean.begin(), mean.end()), step = options.hop * sample_time;
  Heatmap map{
      .title = fmt::format("Spectrogram of {}", name),
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
  const double width = step * static_cast<double>(per_column_);
  map.x_min = 0.5 * (stream.transform().width() * sample_time - step);
  map.x_max = map.x_min + n_x * width;
  const double half = logarithmic ? 0.5 / options.bins_per_octave : 0.5 * (angular[1] - angular[0]);
  map.y_min = (logarithmic ? std::log2(angular.front()) : angular.front()) - half;
  map.y_max = (logarithmic ? std::log2(angular.back()) : angular.back()) + half;
  context.report().heatmap(map);
}

}  // namespace quintet::vlasov
