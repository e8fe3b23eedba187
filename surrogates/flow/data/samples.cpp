#include "surrogates/flow/data/samples.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "io/fields/field_series.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/shared_memory_bounds.hpp"
#include "io/parallel/together.hpp"
#include "surrogates/flow/data/series_input.hpp"

namespace quintet::flow {
namespace {

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

void keep_times(BlockAxis& axis, int first, int n) {
  const auto part = [&](std::vector<double>& all) { all = {all.begin() + first, all.begin() + first + n}; };
  part(axis.coordinates);
  part(axis.widths);
  axis.lower = axis.coordinates.front();
  axis.upper = axis.coordinates.back();
}

}  // namespace

Samples::Samples(const Comm& comm, const std::vector<std::string>& files, const FlowDataOptions& options,
                 const Interrupt& interrupt, const std::optional<SampleChoice>& choice) {
  std::uint64_t n_values = 0;
  offsets_ = options.offsets;
  together(comm, [&] {
    for (std::size_t f = 0; f < files.size(); ++f) {
      give_up_if_asked(interrupt);
      const auto reader = open_series(files[f], options);
      tell_reading(reader, options);
      const auto numbers = channels(reader, options);
      find_offsets(reader, numbers, options, f == 0, offsets_);
      for (const int number : numbers)
        if (f == 0) field_units_.push_back(reader.header().fields[number].units);
      for (std::uint64_t s = 0; s < reader.n_samples(); ++s)
        if (!choice || choice->sample == s) add_run(reader, s, f, options, choice);
    }
    for (const auto& sample : samples_) n_values += sample.n_points() * options.fields.size();
    QUINTET_CHECK(static_cast<double>(n_values) * sizeof(float) <= options.memory * 1e9,
                  "the fields take {:.3g} GB of memory, but {} allows {:.3g} GB: raise it{}",
                  static_cast<double>(n_values) * sizeof(float) * 1e-9, options.memory_key, options.memory,
                  files.size() > 1 ? ", or name fewer files" : "");
  });
  const Comm node = comm.node();
  const double bytes = sizeof(float) * static_cast<double>(n_values);
  if (!choice) log::info("The fields take {:.3g} MB of memory, once a node", 1e-6 * bytes);
  require_memory(comm, bytes / node.size(), "the fields of the data, of which a node holds all");
  memory_ = std::make_unique<SharedArray<float>>(node, node.is_root() ? n_values : 0);
  const float* next = memory_->part(0);
  for (auto& sample : samples_) {
    sample.values = next;
    next += sample.n_points() * options.fields.size();
  }
  read(comm, files, options, interrupt);
}

/// A run of a file as one sample, or, of volumes, each of its frames.
void Samples::add_run(const FieldSeriesReader& reader, std::uint64_t s, std::size_t file,
                      const FlowDataOptions& options, const std::optional<SampleChoice>& choice) {
  const int n_frames = reader.n_frames(s);
  QUINTET_CHECK(n_frames > 0, "{}: sample {} has no frames", reader.path(), s);
  Sample sample;
  sample.name = reader.n_samples() == 1 ? reader.path() : fmt::format("{}, sample {}", reader.path(), s);
  sample.file = file;
  sample.parameters = reader.parameters(s);
  sample.wall_values = reader.header().wall_values;
  const auto& axes = reader.header().axes;
  if (!options.of_volumes()) {
    sample.axes = {time_axis(reader, s), space_axis(axes[0]), space_axis(axes[1])};
    int first = 0;
    if (!has_equal_times(reader))
      sample.own_times.assign(reader.times().begin(), reader.times().begin() + n_frames);
    else if (choice)
      keep_times(sample.axes[0], first = choice->first_frame, choice->n_frames);
    runs_.push_back({sample.name, samples_.size(), sample.n_frames(), s, first});
    samples_.push_back(std::move(sample));
    return;
  }
  sample.axes = {space_axis(axes[0]), space_axis(axes[1]), space_axis(axes[2])};
  runs_.push_back({sample.name, samples_.size(), n_frames, s});
  for (int frame = 0; frame < n_frames; ++frame) {
    samples_.push_back(sample);
    samples_.back().name += fmt::format(", frame {}", frame);
    samples_.back().frame = frame;
    samples_.back().time = reader.times()[frame];
  }
}

/// Each rank of a node reads some of the fields, for all of them.
void Samples::read(const Comm& comm, const std::vector<std::string>& files, const FlowDataOptions& options,
                   const Interrupt& interrupt) {
  const Comm node = comm.node();
  together(comm, [&] {
    int item = 0;
    std::optional<FieldSeriesReader> reader;
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      const std::size_t file = samples_[runs_[r].first].file;
      const bool is_new = r == 0 || file != samples_[runs_[r - 1].first].file;
      if (is_new) reader = open_series(files[file], options);
      const std::uint64_t of_file = runs_[r].number;
      const auto numbers = channels(*reader, options);
      const std::size_t n_samples = options.of_volumes() ? runs_[r].n_frames : 1;
      for (std::size_t s = runs_[r].first; s < runs_[r].first + n_samples; ++s)
        for (std::size_t c = 0; c < numbers.size(); ++c) {
          if (item++ % node.size() != node.rank()) continue;
          const Sample& sample = samples_[s];
          float* to = const_cast<float*>(sample.values) + c * sample.n_points();
          if (sample.own_times.empty()) {
            const std::uint64_t first = sample.frame.value_or(runs_[r].first_frame), n = sample.n_frames();
            read_values(*reader, numbers[c], of_file, {first, n, {}}, offsets_[c], to, interrupt);
            continue;
          }
          const std::uint64_t n = sample.own_times.size();
          std::vector<float> own(n * (sample.n_points() / sample.axes[0].coordinates.size()));
          read_values(*reader, numbers[c], of_file, {0, n, {}}, offsets_[c], own.data(), interrupt);
          interpolate_frames(sample.own_times, own, sample.axes[0].coordinates, to);
        }
    }
  });
  memory_->synchronise();
}

}  // namespace quintet::flow
