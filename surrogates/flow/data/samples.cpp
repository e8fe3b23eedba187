#include "surrogates/flow/data/samples.hpp"

#include <algorithm>
#include <utility>

#include <fmt/ranges.h>

#include "io/fields/field_series.hpp"
#include "io/log/error.hpp"
#include "io/parallel/together.hpp"

namespace quintet::flow {
namespace {

constexpr std::uint64_t values_at_a_time = 1 << 24;

FieldSeriesOptions reader_options(const FlowDataOptions& options) {
  FieldSeriesOptions result;
  result.axes = options.axes;
  result.part = options.describe_files.part;
  result.parameters.insert(options.describe_files.parameters.begin(),
                           options.describe_files.parameters.end());
  result.time_spacing = options.describe_files.time_spacing;
  for (const auto& axis : options.describe_files.axes) {
    AxisFacts facts{axis.lower, axis.upper, std::nullopt, axis.points};
    if (axis.periodic != FileAxisOptions::Periodic::stored)
      facts.periodic = axis.periodic == FileAxisOptions::Periodic::yes;
    result.facts[axis.name] = facts;
  }
  return result;
}

BlockAxis time_axis(const FieldSeriesReader& reader, std::uint64_t sample) {
  const auto n = reader.n_frames(sample);
  BlockAxis axis;
  axis.coordinates.assign(reader.times().begin(), reader.times().begin() + static_cast<std::ptrdiff_t>(n));
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
    QUINTET_CHECK(found != names.end(), "{}: has no field '{}' of data.fields; it has: {}", reader.path(),
                  name, fmt::join(names, ", "));
    numbers.push_back(static_cast<int>(found - names.begin()));
  }
  return numbers;
}

void check_series(const FieldSeriesReader& reader, const FlowDataOptions& options) {
  QUINTET_CHECK(reader.header().axes.size() == 2, "{}: has {} axes of space; 2 are expected", reader.path(),
                reader.header().axes.size());
  const auto mask = reader.header().mask;
  QUINTET_CHECK(std::find(mask.begin(), mask.end(), 0) == mask.end(),
                "{}: has points without values (its mask); a crop needs values everywhere", reader.path());
  QUINTET_CHECK(reader.time_spacing().has_value(),
                "{}: its frames are unequally spaced in time: train on equal spacing", reader.path());
  static_cast<void>(channels(reader, options));
}

}  // namespace

Samples::Samples(const Comm& comm, const std::vector<std::string>& files, const FlowDataOptions& options) {
  std::uint64_t n_values = 0;
  together(comm, [&] {
    for (std::size_t f = 0; f < files.size(); ++f) {
      const auto reader = FieldSeriesReader::open(Comm::self(), files[f], reader_options(options));
      check_series(reader, options);
      const auto numbers = channels(reader, options);
      for (const int number : numbers)
        if (f == 0) field_units_.push_back(reader.header().fields[number].units);
      for (std::uint64_t s = 0; s < reader.n_samples(); ++s) {
        QUINTET_CHECK(reader.n_frames(s) > 0, "{}: sample {} has no frames", files[f], s);
        Sample sample;
        sample.name = reader.n_samples() == 1 ? files[f] : fmt::format("{}, sample {}", files[f], s);
        sample.file = f;
        sample.axes = {time_axis(reader, s), space_axis(reader.header().axes[0]),
                       space_axis(reader.header().axes[1])};
        sample.parameters = reader.parameters(s);
        n_values += sample.n_points() * options.fields.size();
        samples_.push_back(std::move(sample));
      }
    }
    QUINTET_CHECK(static_cast<double>(n_values) * sizeof(float) <= options.memory * 1e9,
                  "the fields take {:.3g} GB of memory, but data.memory allows {:.3g} GB: raise it, or name "
                  "fewer files",
                  static_cast<double>(n_values) * sizeof(float) * 1e-9, options.memory);
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
          const std::uint64_t n_frames = sample.axes[0].coordinates.size(),
                              frame = sample.n_points() / n_frames;
          const std::uint64_t step = std::max<std::uint64_t>(1, values_at_a_time / frame);
          for (std::uint64_t t = 0; t < n_frames; t += step) {
            const auto values = reader.read<float>(numbers[c], s, {t, std::min(step, n_frames - t), {}});
            to = std::copy(values.begin(), values.end(), to);
          }
        }
    }
  });
  memory_->synchronise();
}

}  // namespace quintet::flow
