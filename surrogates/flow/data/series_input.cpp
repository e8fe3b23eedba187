#include "surrogates/flow/data/series_input.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kernels/rounded_root.hpp"

namespace quintet::flow {
namespace {

/// Read a part in slabs along its first axis, or some frames at a time, and hand each on.
template <class Real, class Use>
void by_parts(const FieldSeriesReader& reader, int number, std::uint64_t sample, FieldBox box, Use&& use) {
  const auto shape = reader.header().shape();
  if (box.space.count.empty()) box.space = {hdf5::Shape(shape.size(), 0), shape};
  std::uint64_t row = 1;  // of the first axis
  for (std::size_t d = 1; d < shape.size(); ++d) row *= box.space.count[d];
  const std::uint64_t n = box.space.count[0], start = box.space.start[0],
                      end = box.first_frame + box.n_frames;
  if (row * n == 0) return;
  const auto most = [](std::uint64_t values) {
    return std::max<std::uint64_t>(1, values_at_a_time / values);
  };
  const std::uint64_t rows = std::min(n, most(row)), frames = rows < n ? 1 : most(row * n);
  for (std::uint64_t t = box.first_frame; t < end; t += frames)
    for (std::uint64_t first = 0; first < n; first += rows) {
      FieldBox part{t, std::min(frames, end - t), box.space};
      part.space.start[0] = start + first;
      part.space.count[0] = std::min(rows, n - first);
      use(reader.read<Real>(number, sample, part));
    }
}

void check_series(const FieldSeriesReader& reader, const FlowDataOptions& options) {
  const auto n_axes = reader.header().axes.size();
  QUINTET_CHECK(n_axes == options.axes.size(), "{}: has {} axes of space; {} are expected", reader.path(),
                n_axes, options.axes.size());
  const auto mask = reader.header().mask;
  QUINTET_CHECK(std::find(mask.begin(), mask.end(), 0) == mask.end(),
                "{}: has points without values (its mask); a crop needs values everywhere", reader.path());
  QUINTET_CHECK(
      options.of_volumes() || reader.time_spacing() || nearly_equal_spacing(reader.times()),
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
    const FieldBox frame{count == 1 ? 0 : k * (n - 1) / (count - 1), 1, {}};
    by_parts<double>(reader, number, 0, frame, [&](const std::vector<double>& values) {
      if (n_values == 0) shift = values[0];
      for (const double value : values) {
        sum += value - shift, squares += (value - shift) * (value - shift);
        size.rounded = size.rounded && static_cast<double>(static_cast<float>(value)) == value;
      }
      n_values += values.size();
    });
  }
  size.mean = shift + sum / n_values;
  size.deviation = rounded_root(squares / n_values - sum / n_values * (sum / n_values));
  return size;
}

}  // namespace

FieldSeriesReader open_series(const std::string& path, const FlowDataOptions& options) {
  auto how = reader_options(options.describe_files);
  how.axes = options.axes;
  how.fields = options.fields;
  auto reader = FieldSeriesReader::open(Comm::self(), path, how);
  check_series(reader, options);
  return reader;
}

bool has_equal_times(const FieldSeriesReader& reader) {
  return reader.times().size() < 2 || reader.time_spacing();
}

std::optional<double> nearly_equal_spacing(const std::vector<double>& times) {
  if (times.size() < 4) return std::nullopt;
  const double spacing = (times.back() - times.front()) / (times.size() - 1);
  for (std::size_t i = 0; i < times.size(); ++i)
    if (std::abs(times[i] - times[0] - i * spacing) > 0.5 * spacing) return std::nullopt;
  return spacing;
}

BlockAxis space_axis(const FieldAxis& axis) {
  BlockAxis result{axis.coordinates, axis.periodic, axis.lower, axis.upper, !axis.periodic, !axis.periodic};
  result.widths = cell_widths(result);
  return result;
}

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

void tell_reading(const FieldSeriesReader& reader, const FlowDataOptions& options) {
  Reading reading = reader.reading();
  for (const auto& field : reader.header().fields)
    if (std::find(options.fields.begin(), options.fields.end(), field.name) == options.fields.end())
      reading.leave(field.name);
  if (!options.of_volumes() && !has_equal_times(reader))
    reading.assume(
        fmt::format("unequally spaced in time: interpolated onto frames {:.6g} apart, by polynomials of "
                    "degree 3",
                    nearly_equal_spacing(reader.times()).value_or(0)));
  if (!reading.empty()) log::info("{}: {}", reader.path(), reading.text());
}

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

void read_values(const FieldSeriesReader& reader, int number, std::uint64_t sample, const FieldBox& box,
                 double offset, float* to, const Interrupt& interrupt) {
  if (offset == 0)
    by_parts<float>(reader, number, sample, box, [&](const std::vector<float>& values) {
      give_up_if_asked(interrupt);
      to = std::copy(values.begin(), values.end(), to);
    });
  else
    by_parts<double>(reader, number, sample, box, [&](const std::vector<double>& values) {
      give_up_if_asked(interrupt);
      for (const double value : values) *to++ = static_cast<float>(value - offset);
    });
}

}  // namespace quintet::flow
