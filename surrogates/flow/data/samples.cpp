#include "surrogates/flow/data/samples.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/ranges.h>

#include "io/fields/field_series.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "physics/kernels/rounded_root.hpp"

namespace quintet::flow {
namespace {

constexpr std::uint64_t values_at_a_time = 1 << 24;

FieldSeriesOptions reader_options(const FlowDataOptions& options) {
  auto result = reader_options(options.describe_files);
  result.axes = options.axes;
  result.fields = options.fields;
  return result;
}

/// One frame has no spacing, and needs none.
bool has_equal_times(const FieldSeriesReader& reader) {
  return reader.times().size() < 2 || reader.time_spacing();
}

/// Mean time between frames; none where a frame lies further than half of it from equal spacing.
std::optional<double> nearly_equal_spacing(const std::vector<double>& times) {
  if (times.size() < 4) return std::nullopt;
  const double spacing = (times.back() - times.front()) / (times.size() - 1);
  for (std::size_t i = 0; i < times.size(); ++i)
    if (std::abs(times[i] - times[0] - i * spacing) > 0.5 * spacing) return std::nullopt;
  return spacing;
}

/// Frames at times `to` of frames at times `from`: polynomials of degree 3 through the 4 nearest ones.
/// @param values [from][point] @param result [to][point]
void interpolate_frames(const std::vector<double>& from, const std::vector<float>& values,
                        const std::vector<double>& to, float* result) {
  const std::size_t frame = values.size() / from.size();
  for (const double t : to) {
    const std::size_t above = std::upper_bound(from.begin(), from.end(), t) - from.begin();
    const std::size_t first = std::min(above < 2 ? 0 : above - 2, from.size() - 4);
    std::array<double, 4> weights{};
    for (std::size_t k = 0; k < 4; ++k) {
      weights[k] = 1;
      for (std::size_t j = 0; j < 4; ++j)
        if (j != k) weights[k] *= (t - from[first + j]) / (from[first + k] - from[first + j]);
    }
    for (std::size_t i = 0; i < frame; ++i, ++result) {
      double sum = 0;
      for (std::size_t k = 0; k < 4; ++k) sum += weights[k] * double{values[(first + k) * frame + i]};
      *result = static_cast<float>(sum);
    }
  }
}

/// The times of a sample's frames, or equally spaced ones within them.
BlockAxis time_axis(const FieldSeriesReader& reader, std::uint64_t sample) {
  const std::ptrdiff_t n = reader.n_frames(sample);
  const auto& times = reader.times();
  BlockAxis axis;
  axis.coordinates.assign(times.begin(), times.begin() + n);
  if (!has_equal_times(reader)) {
    QUINTET_CHECK(n >= 4,
                  "{}: sample {} has {}, unequally spaced in time; at least 4 are needed to "
                  "interpolate",
                  reader.path(), sample, counted(n, "frame"));
    const double spacing = *nearly_equal_spacing(times), last = axis.coordinates.back();
    axis.coordinates.clear();
    for (double t = times[0]; t <= last + 1e-9 * spacing; t = times[0] + axis.coordinates.size() * spacing)
      axis.coordinates.push_back(std::min(t, last));
  }
  axis.lower = axis.coordinates.front();
  axis.upper = axis.coordinates.back();
  axis.widths = cell_widths(axis);
  return axis;
}

BlockAxis space_axis(const FieldAxis& axis) {
  BlockAxis result{axis.coordinates, axis.periodic, axis.lower, axis.upper, !axis.periodic, !axis.periodic};
  result.widths = cell_widths(result);
  return result;
}

/// The numbers of the channels in a file. Throws InputError.
std::vector<int> channels(const FieldSeriesReader& reader, const FlowDataOptions& options) {
  std::vector<std::string> names;
  for (const auto& field : reader.header().fields) names.push_back(field.name);
  std::vector<int> numbers;
  for (const auto& name : options.fields) {
    const auto found = std::find(names.begin(), names.end(), name);
    const auto& left = reader.reading().not_used;
    QUINTET_CHECK(found != names.end(), "{}: has no field '{}' of data.fields; it has: {}{}", reader.path(),
                  name, fmt::join(names, ", "),
                  left.empty() ? "" : fmt::format("; not used: {}", fmt::join(left, ", ")));
    numbers.push_back(found - names.begin());
  }
  return numbers;
}

/// Say what was taken for granted, and which fields are not used.
void tell_reading(const FieldSeriesReader& reader, const FlowDataOptions& options) {
  Reading reading = reader.reading();
  for (const auto& field : reader.header().fields)
    if (std::find(options.fields.begin(), options.fields.end(), field.name) == options.fields.end())
      reading.leave(field.name);
  if (!has_equal_times(reader))
    reading.assume(
        fmt::format("unequally spaced in time: interpolated onto frames {:.6g} apart, by polynomials of "
                    "degree 3",
                    nearly_equal_spacing(reader.times()).value_or(0)));
  if (!reading.empty()) log::info("{}: {}", reader.path(), reading.text());
}

void check_series(const FieldSeriesReader& reader, const FlowDataOptions& options) {
  QUINTET_CHECK(reader.header().axes.size() == 2, "{}: has {} axes of space; 2 are expected", reader.path(),
                reader.header().axes.size());
  const auto mask = reader.header().mask;
  QUINTET_CHECK(std::find(mask.begin(), mask.end(), 0) == mask.end(),
                "{}: has points without values (its mask); a crop needs values everywhere", reader.path());
  QUINTET_CHECK(
      reader.time_spacing() || nearly_equal_spacing(reader.times()),
      "{}: its frames are unequally spaced in time, some further than half a spacing from equal ones: "
      "too far to interpolate. Keep those that are equally spaced",
      reader.path());
  static_cast<void>(channels(reader, options));
}

/// Mean and deviation of a field over some frames of the first sample.
struct FieldSize {
  double mean = 0, deviation = 0;
  bool rounded = true;  ///< all values are numbers of single precision

  /// Steps in which single precision holds the field without `offset`, in its deviations.
  [[nodiscard]] double step(double offset) const {
    constexpr double epsilon = std::numeric_limits<float>::epsilon();
    return deviation > 0 ? std::abs(mean - offset) * epsilon / deviation : 0;
  }
};
constexpr double most_step = 1e-3, most_stored_step = 1e-2;

FieldSize size_of(const FieldSeriesReader& reader, int number) {
  constexpr std::uint64_t most_frames = 8;
  const std::uint64_t n = reader.n_frames(0), count = std::min(n, most_frames);
  FieldSize size;
  double sum = 0, squares = 0, n_values = 0, shift = 0;
  for (std::uint64_t k = 0; k < count; ++k) {
    const auto values = reader.read<double>(number, 0, {count == 1 ? 0 : k * (n - 1) / (count - 1), 1, {}});
    if (k == 0) shift = values[0];
    for (const double value : values) {
      sum += value - shift, squares += (value - shift) * (value - shift);
      size.rounded = size.rounded && static_cast<double>(static_cast<float>(value)) == value;
    }
    n_values += values.size();
  }
  size.mean = shift + sum / n_values;
  size.deviation = rounded_root(squares / n_values - sum / n_values * (sum / n_values));
  return size;
}

/// For each field, what is taken off in double precision: a model's, else the first file's mean where it is
/// too large. Throws InputError where values were rounded with such a mean, or files differ in it.
void find_offsets(const FieldSeriesReader& reader, const std::vector<int>& numbers,
                  const FlowDataOptions& options, bool is_first, std::vector<double>& offsets) {
  offsets.resize(numbers.size(), 0);
  for (std::size_t c = 0; c < numbers.size(); ++c) {
    const auto size = size_of(reader, numbers[c]);
    const auto& name = options.fields[c];
    QUINTET_CHECK(
        !size.rounded || size.step(0) <= most_stored_step,
        "{}: '{}' is {:.6g} with a deviation of {:.3g}, in steps of {:.2g}: it was rounded to single "
        "precision with its mean. Store it in double precision, or without its mean",
        reader.path(), name, size.mean, size.deviation, size.step(0) * size.deviation);
    if (options.offsets.empty() && is_first && !size.rounded && size.step(0) > most_step) {
      offsets[c] = size.mean;
      log::info("{}: the mean {:.9g} of '{}' is taken off in double precision", reader.path(), size.mean,
                name);
    }
    QUINTET_CHECK(
        size.step(offsets[c]) <= (size.rounded ? most_stored_step : most_step),
        "{}: '{}' has a mean of {:.9g}, too large for single precision; {:.9g} is taken off, as of what "
        "was read before or trained on. Store it with that mean",
        reader.path(), name, size.mean, offsets[c]);
  }
}

}  // namespace

Samples::Samples(const Comm& comm, const std::vector<std::string>& files, const FlowDataOptions& options) {
  std::uint64_t n_values = 0;
  offsets_ = options.offsets;
  together(comm, [&] {
    for (std::size_t f = 0; f < files.size(); ++f) {
      const auto reader = FieldSeriesReader::open(Comm::self(), files[f], reader_options(options));
      check_series(reader, options);
      tell_reading(reader, options);
      const auto numbers = channels(reader, options);
      find_offsets(reader, numbers, options, f == 0, offsets_);
      for (const int number : numbers)
        if (f == 0) field_units_.push_back(reader.header().fields[number].units);
      for (std::uint64_t s = 0; s < reader.n_samples(); ++s) {
        QUINTET_CHECK(reader.n_frames(s) > 0, "{}: sample {} has no frames", files[f], s);
        Sample sample;
        sample.name = reader.n_samples() == 1 ? files[f] : fmt::format("{}, sample {}", files[f], s);
        sample.file = f;
        sample.axes = {time_axis(reader, s), space_axis(reader.header().axes[0]),
                       space_axis(reader.header().axes[1])};
        if (!has_equal_times(reader))
          sample.own_times.assign(reader.times().begin(), reader.times().begin() + reader.n_frames(s));
        sample.parameters = reader.parameters(s);
        sample.wall_values = reader.header().wall_values;
        n_values += sample.n_points() * options.fields.size();
        samples_.push_back(std::move(sample));
      }
    }
    QUINTET_CHECK(static_cast<double>(n_values) * sizeof(float) <= options.memory * 1e9,
                  "the fields take {:.3g} GB of memory, but {} allows {:.3g} GB: raise it{}",
                  static_cast<double>(n_values) * sizeof(float) * 1e-9, options.memory_key, options.memory,
                  files.size() > 1 ? ", or name fewer files" : "");
  });
  const Comm node = comm.node();
  memory_ = std::make_unique<SharedArray<float>>(node, node.is_root() ? n_values : 0);
  const float* next = memory_->part(0);
  for (auto& sample : samples_) {
    sample.values = next;
    next += sample.n_points() * options.fields.size();
  }
  read(comm, files, options);
}

/// Each rank of a node reads some of the fields, for all of them.
void Samples::read(const Comm& comm, const std::vector<std::string>& files, const FlowDataOptions& options) {
  const Comm node = comm.node();
  together(comm, [&] {
    int item = 0;
    for (std::size_t f = 0, first = 0; f < files.size(); ++f) {
      const auto reader = FieldSeriesReader::open(Comm::self(), files[f], reader_options(options));
      const auto numbers = channels(reader, options);
      for (std::uint64_t s = 0; s < reader.n_samples(); ++s, ++first)
        for (std::size_t c = 0; c < numbers.size(); ++c) {
          if (item++ % node.size() != node.rank()) continue;
          const Sample& sample = samples_[first];
          float* to = const_cast<float*>(sample.values) + c * sample.n_points();
          const std::uint64_t frame = sample.n_points() / sample.axes[0].coordinates.size();
          const bool between = !sample.own_times.empty();
          const std::uint64_t n_frames =
              between ? sample.own_times.size() : sample.axes[0].coordinates.size();
          std::vector<float> own(between ? n_frames * frame : 0);
          float* const result = to;
          if (between) to = own.data();
          const std::uint64_t step = std::max<std::uint64_t>(1, values_at_a_time / frame);
          for (std::uint64_t t = 0; t < n_frames; t += step) {
            const FieldBox box{t, std::min(step, n_frames - t), {}};
            if (offsets_[c] == 0) {
              const auto values = reader.read<float>(numbers[c], s, box);
              to = std::copy(values.begin(), values.end(), to);
            } else {
              for (const double value : reader.read<double>(numbers[c], s, box))
                *to++ = static_cast<float>(value - offsets_[c]);
            }
          }
          if (between) interpolate_frames(sample.own_times, own, sample.axes[0].coordinates, result);
        }
    }
  });
  memory_->synchronise();
}

}  // namespace quintet::flow
