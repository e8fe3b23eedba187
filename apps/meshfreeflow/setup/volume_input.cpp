#include "apps/meshfreeflow/setup/volume_input.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "surrogates/flow/data/series_input.hpp"

namespace quintet::meshfreeflow {
namespace {

constexpr double slab_bytes = 64e6;  // of a slab with what reading it takes, where a row does not take more
constexpr double reading_bytes =
    20;  // a value: float and double of a part, turned into the order of the axes

}  // namespace

VolumeInput::VolumeInput(const Comm& comm, const FlowInputOptions& options,
                         const flow::FlowModelHeader& model, const flow::LowResolutionOptions& low_resolution)
    : comm_(comm),
      data_(data_of(options, model)),
      coarsening_(coarsening(low_resolution)),
      sample_(options.sample),
      first_frame_(options.first_frame) {
  coarsening_.filter[0] = low_resolution.space_filter;
  together(comm_, [&] {
    const auto reader = flow::open_series(options.file, data_);
    flow::tell_reading(reader, data_);
    flow::find_offsets(reader, flow::channels(reader, data_), data_, true, data_.offsets);
    QUINTET_CHECK(options.sample < static_cast<int>(reader.n_samples()),
                  "{}: there is no sample {}; the file has {}", options.file, options.sample,
                  reader.n_samples());
    name_ = reader.n_samples() == 1 ? options.file : fmt::format("{}, sample {}", options.file, sample_);
    parameters_ = reader.parameters(sample_);
    time_units_ = reader.header().time_units;
    const std::int64_t n = reader.n_frames(sample_), count = options.frames.value_or(n - options.first_frame);
    QUINTET_CHECK(count >= 1 && options.first_frame + count <= n,
                  "{}: frames {} to {} are asked for; there are {}, and at least 1 is needed", options.file,
                  options.first_frame, options.first_frame + count - 1, n);
    const auto begin = reader.times().begin() + first_frame_;
    times_.assign(begin, begin + count);
    for (std::size_t d = 0; d < 3; ++d) axes_[d] = flow::space_axis(reader.header().axes[d]);
    flow::require_whole_nodes(axes_, model.axis_names(), coarsening_, options.file);
  });
}

bool VolumeInput::is_truth() const {
  return std::any_of(coarsening_.factor.begin(), coarsening_.factor.end(), [](int n) { return n > 1; });
}

int VolumeInput::slab_rows() const {
  const int factor = coarsening_.factor[0];
  const double bytes = (4.0 * data_.fields.size() + reading_bytes) * row_points() * factor;
  return factor * std::clamp<int>(slab_bytes / bytes, 1, axes_[0].size() / factor);
}

double VolumeInput::bytes() const {
  return (4.0 * data_.fields.size() + reading_bytes) * row_points() * slab_rows();
}

std::vector<float> VolumeInput::rows(int i, int first, int count) const {
  const auto reader = flow::open_series(data_.files.front(), data_);
  const auto numbers = flow::channels(reader, data_);
  const std::uint64_t start = first, n = count;
  const FieldBox box{static_cast<std::uint64_t>(first_frame_ + i),
                     1,
                     {{start, 0, 0}, {n, axes_[1].coordinates.size(), axes_[2].coordinates.size()}}};
  std::vector<float> values(numbers.size() * n * row_points());
  for (std::size_t c = 0; c < numbers.size(); ++c)
    flow::read_values(reader, numbers[c], sample_, box, data_.offsets[c],
                      values.data() + c * n * row_points());
  return values;
}

flow::FieldBlock VolumeInput::coarse(int i) const {
  flow::FieldBlock block;
  block.axes = flow::coarse_axes(axes_, coarsening_);
  block.n_fields = data_.fields.size();
  block.values.resize(block.n_fields * block.n_points());
  const std::size_t row = std::size_t(block.axes[1].size()) * block.axes[2].size();
  together(comm_, [&] {
    for (int first = 0; first < axes_[0].size(); first += slab_rows()) {
      const int count = std::min(slab_rows(), axes_[0].size() - first);
      flow::FieldBlock slab;
      slab.axes = axes_;
      slab.axes[0] = flow::part_of(axes_[0], first, count);
      slab.n_fields = block.n_fields;
      slab.values = rows(i, first, count);
      const auto made = flow::coarsen(flow::BlockView(slab), coarsening_);
      const std::size_t n = made.n_points(), to = first / coarsening_.factor[0] * row;
      for (int f = 0; f < block.n_fields; ++f)
        std::copy_n(&made.values[f * n], n, &block.values[f * block.n_points() + to]);
    }
  });
  return block;
}

}  // namespace quintet::meshfreeflow
