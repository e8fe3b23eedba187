#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include <fmt/ranges.h>

#include "io/fields/field_formats.hpp"
#include "io/fields/field_layout.hpp"
#include "io/fields/field_series.hpp"
#include "io/fields/frame_checksums.hpp"
#include "io/fields/xdmf.hpp"
#include "io/hdf5/checksum.hpp"
#include "io/log/error.hpp"
#include "io/parallel/together.hpp"

namespace quintet {
namespace {

using field_layout::checksum_name;
using field_layout::FieldDataset;

constexpr std::uint64_t most_chunk_bytes = 1 << 24;

std::uint64_t product(const hdf5::Shape& shape) {
  std::uint64_t n = 1;
  for (const auto extent : shape) n *= extent;
  return n;
}

hdf5::Shape joined(hdf5::Shape head, const hdf5::Shape& tail) {
  head.insert(head.end(), tail.begin(), tail.end());
  return head;
}

std::vector<std::string> axis_names(const FieldSeriesHeader& header) {
  std::vector<std::string> names;
  for (const auto& axis : header.axes) names.push_back(axis.name);
  return names;
}

/// [n_samples, n_t, axes..., components].
hdf5::Shape dataset_shape(const FieldSeriesHeader& header, const FieldDataset& dataset,
                          std::uint64_t n_times) {
  auto shape = joined({header.n_samples, n_times}, header.shape());
  if (dataset.is_vector()) shape.push_back(dataset.fields.size());
  return shape;
}

/// One frame of one sample, cut along the first axis of space where it is large.
hdf5::Shape chunk_shape(hdf5::Shape shape, std::uint64_t element_bytes) {
  shape[0] = shape[1] = 1;
  const std::uint64_t slice = element_bytes * product(shape) / shape[2];
  shape[2] = std::clamp<std::uint64_t>(most_chunk_bytes / slice, 1, shape[2]);
  return shape;
}

/// Attributes that The Well's reader asks every dataset for.
void set_varying(hdf5::Group& group, const std::string& member, bool by_sample, bool by_time) {
  group.set_member_attribute(member, "sample_varying", std::vector<std::int64_t>{by_sample});
  group.set_member_attribute(member, "time_varying", std::vector<std::int64_t>{by_time});
}

void write_dimensions(hdf5::Group root, const FieldSeriesHeader& header) {
  auto dimensions = root.group("dimensions");
  dimensions.set_attribute("spatial_dims", axis_names(header));
  static_cast<void>(
      dimensions.series<double>("time", {}, {header.time_units, {"time"}, "Time of each frame."}));
  set_varying(dimensions, "time", false, true);
  auto boundaries = root.group("boundary_conditions");
  for (const auto& axis : header.axes) {
    dimensions.write<double>(axis.name, axis.coordinates, {axis.size()},
                             {axis.units, {axis.name}, "Coordinates of the points."});
    set_varying(dimensions, axis.name, false, false);
    dimensions.set_member_attribute(axis.name, "lower", axis.lower);
    dimensions.set_member_attribute(axis.name, "upper", axis.upper);
    auto boundary = boundaries.group(axis.name + (axis.periodic ? "_periodic" : "_wall"));
    boundary.set_attribute("bc_type", axis.periodic ? "periodic" : "wall");
    boundary.set_attribute("associated_dims", std::vector<std::string>{axis.name});
    boundary.set_attribute("associated_fields", std::vector<std::string>{});
    boundary.set_attribute("sample_varying", 0);
    boundary.set_attribute("time_varying", 0);
    std::vector<std::uint8_t> ends(axis.size(), 0);
    ends.front() = ends.back() = 1;
    boundary.write<std::uint8_t>("mask", ends, {axis.size()}, {"1", {axis.name}, "1 where the boundary is."});
  }
}

void write_parameters(hdf5::Group root, const FieldSeriesHeader& header) {
  auto scalars = root.group("scalars");
  std::vector<std::string> names;
  for (const auto& [symbol, value] : header.parameters) {
    const auto name = field_layout::long_name(symbol);
    names.push_back(name);
    scalars.write<double>(name, std::span(&value, 1), {}, {"1", {}, fmt::format("{}.", name)});
    scalars.set_member_attribute(name, "symbol", symbol);
    set_varying(scalars, name, false, false);
    root.set_attribute(name, value);
  }
  root.set_attribute("simulation_parameters", names);
  if (!header.seeds.empty()) {
    names.emplace_back("seed");
    scalars.write<std::int64_t>("seed", header.seeds, {header.seeds.size()},
                                {"1", {"sample"}, "Seed of the random numbers of each sample."});
    set_varying(scalars, "seed", true, false);
  }
  scalars.set_attribute("field_names", names);
}

void write_datasets(hdf5::Group root, const FieldSeriesHeader& header) {
  std::vector<std::string> scalars, vectors, order;
  for (const auto& dataset : field_layout::datasets_of(header)) {
    (dataset.is_vector() ? vectors : scalars).push_back(dataset.name);
    auto group = root.group(dataset.group);
    const auto& first = header.fields[dataset.fields.front()];
    auto axes = axis_names(header);
    axes.insert(axes.begin(), {"sample", "time"});
    if (dataset.is_vector()) axes.emplace_back("component");
    const hdf5::Description description{first.units, axes, first.text};
    const auto shape = dataset_shape(header, dataset, 0);
    if (header.double_precision)
      group.make_growing<double>(dataset.name, shape, 1, chunk_shape(shape, sizeof(double)), description);
    else
      group.make_growing<float>(dataset.name, shape, 1, chunk_shape(shape, sizeof(float)), description);
    set_varying(group, dataset.name, true, true);
    group.set_member_attribute(dataset.name, "dim_varying", std::vector<std::int64_t>(header.axes.size(), 1));
    std::vector<std::string> symbols;
    for (const auto i : dataset.fields) symbols.push_back(header.fields[i].name);
    group.set_member_attribute(dataset.name, "symbol", symbols);
  }
  for (const auto& field : header.fields) order.push_back(field.name);
  root.set_attribute("fields", order);
  root.group("t0_fields").set_attribute("field_names", scalars);
  root.group("t1_fields").set_attribute("field_names", vectors);
  root.group("t2_fields").set_attribute("field_names", std::vector<std::string>{});
}

/// Message that names the frames, of those that count, that differ from their checksums. Uses a file handle
/// of its own, so that no chunk of frames that may be cut stays in memory.
std::string altered_frames(const Comm& comm, const std::string& path,
                           const std::vector<std::int64_t>& n_frames) {
  const auto file = hdf5::File::open(comm, path);
  if (!file.root().has(checksum_name) || !hdf5::has_covered(file.root(), checksum_name)) return "";
  return hdf5::altered_rows(file.root(), checksum_name, {n_frames.begin(), n_frames.end()},
                            hdf5::most_compared)
      .text("frame");
}

}  // namespace

struct FieldSeriesWriter::Implementation {
  Comm comm;
  FieldSeriesHeader header;
  hdf5::File file;
  std::optional<hdf5::Series> time;
  std::vector<double> times;
  std::vector<std::int64_t> n_frames;
  std::string altered;
  field_layout::FrameChecksums checksums;
  /// The frame that is being written, in parts.
  struct Begun {
    std::uint64_t sample = 0;
    std::int64_t given = 0;  ///< points, of this rank
    std::uint64_t checksum = 0;
  };
  std::optional<Begun> begun;

  Implementation(const Comm& c, FieldSeriesHeader h, hdf5::File f)
      : comm(c),
        header(std::move(h)),
        file(std::move(f)),
        n_frames(header.n_samples, 0),
        checksums(comm, header) {}

  void open_time() {
    time = file.root().group("dimensions").series<double>("time", {}, {header.time_units, {"time"}, ""});
  }

  /// Bring the counts to the file, then cut what no sample counts: frames that were dropped, or not finished
  /// when a run died. In this order, as what is cut is zeroed there at once. (On several ranks counts go
  /// straight to the file, and between a flush and a cut HDF5 1.10 may not know alike on all ranks what it
  /// has in memory.)
  void cut() {
    write_count();
    if (comm.size() == 1) file.hand_over();
    const std::uint64_t most = *std::max_element(n_frames.begin(), n_frames.end());
    bool is_cut = time->size() == most && file.root().shape(checksum_name).back() == most;
    for (const auto& dataset : field_layout::datasets_of(header))
      is_cut = is_cut && file.root().shape(dataset.path()) == dataset_shape(header, dataset, most);
    if (is_cut) return;
    times.resize(most);
    time->truncate(std::min(most, time->size()));
    grow(most);
    file.hand_over();
  }

  void write_count() {
    const std::uint64_t n = comm.is_root() ? header.n_samples : 0;
    file.root().write_box<std::int64_t>("n_frames", std::span<const std::int64_t>(n_frames).first(n),
                                        {{0}, {n}});
  }

  void check_sample(std::uint64_t sample) const {
    QUINTET_CHECK(sample < header.n_samples, "{}: there is no sample {}; there are {}", file.path(), sample,
                  header.n_samples);
  }

  /// Room for n frames of all samples.
  void grow(std::uint64_t n) {
    checksums.resize(file.root(), n);
    for (const auto& dataset : field_layout::datasets_of(header))
      file.root().resize(dataset.path(), dataset_shape(header, dataset, n));
  }

  /// One frame more, of all fields or of none: on a full disk nothing has changed.
  void grow_by_one(std::uint64_t frame) {
    grow(frame + 1);
    try {
      file.take_room();
    } catch (const ResourceError&) {
      grow(frame);
      throw;
    }
  }

  template <class Real>
  void check(double at, const std::vector<std::span<const Real>>& fields, const hdf5::Box& box) const {
    const auto shape = header.shape();
    bool fits = box.start.size() == shape.size() && box.count.size() == shape.size();
    for (std::size_t d = 0; fits && d < shape.size(); ++d)
      fits = box.start[d] <= shape[d] && box.count[d] <= shape[d] - box.start[d];
    QUINTET_CHECK(fits, "{}: rank {} gives a part of shape [{}] from [{}], but the grid has shape [{}]",
                  file.path(), comm.rank(), fmt::join(box.count, ", "), fmt::join(box.start, ", "),
                  fmt::join(shape, ", "));
    QUINTET_CHECK(fields.size() == header.fields.size(), "{}: {} fields are given, but there are {}",
                  file.path(), fields.size(), header.fields.size());
    for (std::size_t i = 0; i < fields.size(); ++i) {
      QUINTET_CHECK(fields[i].size() == product(box.count),
                    "{}: field '{}': {} values given for a part of shape [{}]", file.path(),
                    header.fields[i].name, fields[i].size(), fmt::join(box.count, ", "));
      check_finite(header.fields[i].name, at, fields[i], box);
    }
  }

  template <class Real>
  void check_finite(const std::string& name, double at, std::span<const Real> values,
                    const hdf5::Box& box) const {
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!std::isfinite(values[i]) && has_value(i, box))
        throw NumericalError(fmt::format("{}: field '{}' is {} at time {}; the frame was not written",
                                         file.path(), name, values[i], at));
  }

  /// Whether point number i of a part is one that the mask leaves.
  [[nodiscard]] bool has_value(std::size_t i, const hdf5::Box& box) const {
    if (header.mask.empty()) return true;
    const auto shape = header.shape();
    std::uint64_t index = 0, stride = 1;
    for (std::size_t d = shape.size(); d-- > 0; i /= box.count[d]) {
      index += (box.start[d] + i % box.count[d]) * stride;
      stride *= shape[d];
    }
    return header.mask[index] != 0;
  }

  /// Write this rank's part; returns what it adds to the frame's checksum.
  template <class Real>
  std::uint64_t write_dataset(const FieldDataset& dataset, std::uint64_t sample, std::uint64_t frame,
                              const std::vector<std::span<const Real>>& fields, const hdf5::Box& box) {
    const std::size_t n = product(box.count), width = dataset.fields.size();
    std::vector<Real> values(n * width);
    for (std::size_t c = 0; c < width; ++c)
      for (std::size_t i = 0; i < n; ++i)
        values[i * width + c] = has_value(i, box) ? fields[dataset.fields[c]][i] : Real(0);
    hdf5::Box place{joined({sample, frame}, box.start), joined({n > 0 ? 1u : 0u, 1}, box.count)};
    if (dataset.is_vector()) {
      place.start.push_back(0);
      place.count.push_back(width);
    }
    file.root().write_box<Real>(dataset.path(), values, place);
    return checksums.part(dataset, values, box);
  }

  template <class Real>
  void append(std::uint64_t sample, double at, const std::vector<std::span<const Real>>& fields,
              const hdf5::Box& box) {
    together(comm, [&] {
      check_sample(sample);
      check(at, fields, box);
    });
    check_given(product(box.count));  // before the file grows
    begin_frame(sample, at);
    add_checked(fields, box);
    end_frame();
  }

  void check_given(std::int64_t own) const {
    const auto given = comm.sum(own);
    QUINTET_CHECK(given == static_cast<std::int64_t>(product(header.shape())),
                  "{}: the ranks give {} values of {} in all", file.path(), given, product(header.shape()));
  }

  void begin_frame(std::uint64_t sample, double at) {
    QUINTET_ASSERT(!begun, "{}: a frame is begun before the last one has ended", file.path());
    together(comm, [&] { check_sample(sample); });
    const std::uint64_t frame = n_frames[sample];
    const bool is_new = frame == times.size();
    QUINTET_CHECK(std::isfinite(at) && (!is_new || times.empty() || at > times.back()),
                  "{}: a frame at time {} cannot follow the one at {}", file.path(), at,
                  times.empty() ? 0.0 : times.back());
    QUINTET_CHECK(
        is_new || std::abs(at - times[frame]) <= 1e-9 * std::max(1.0, std::abs(times[frame])),
        "{}: frame {} of sample {} has time {}, that of the samples before {}: samples of one file share "
        "their times",
        file.path(), frame, sample, at, times[frame]);
    if (is_new) {
      grow_by_one(frame);
      time->append<double>(std::span<const double>(&at, 1));
      times.push_back(at);
    }
    begun.emplace();
    begun->sample = sample;
  }

  template <class Real>
  void add_part(const std::vector<std::span<const Real>>& fields, const hdf5::Box& box) {
    QUINTET_ASSERT(begun, "{}: part of a frame that is not begun", file.path());
    together(comm, [&] { check(times[n_frames[begun->sample]], fields, box); });
    add_checked(fields, box);
  }

  template <class Real>
  void add_checked(const std::vector<std::span<const Real>>& fields, const hdf5::Box& box) {
    for (const auto& dataset : field_layout::datasets_of(header))
      begun->checksum += write_dataset(dataset, begun->sample, n_frames[begun->sample], fields, box);
    begun->given += static_cast<std::int64_t>(product(box.count));
  }

  void end_frame() {
    QUINTET_ASSERT(begun, "{}: a frame is ended that is not begun", file.path());
    check_given(begun->given);
    checksums.write(file.root(), begun->sample, n_frames[begun->sample], begun->checksum);
    ++n_frames[begun->sample];
    begun.reset();
  }

  void drop_frame() { begun.reset(), cut(); }

  /// Keep `kept` frames of samples [first, last).
  void truncate(std::uint64_t first, std::uint64_t last, std::uint64_t kept) {
    for (std::uint64_t sample = first; sample < last; ++sample) {
      check_sample(sample);
      QUINTET_CHECK(kept <= static_cast<std::uint64_t>(n_frames[sample]),
                    "{}: sample {} has {} frames; it cannot be cut to {}: the file is older than the "
                    "checkpoint that is "
                    "restarted from",
                    file.path(), sample, n_frames[sample], kept);
    }
    std::fill_n(n_frames.begin() + first, last - first, static_cast<std::int64_t>(kept));
    cut();
  }

  void write_xdmf() const {
    const auto path = std::filesystem::path(file.path());
    XdmfSeries::Description description{path.filename().string(), {}, {}};
    for (const auto& axis : header.axes)
      description.axes.push_back(XdmfAxis{0, 1, axis.size(), axis.coordinates});
    for (std::uint64_t sample = 0; sample < header.n_samples; ++sample) {
      description.datasets.clear();
      for (const auto& dataset : field_layout::datasets_of(header))
        for (std::size_t c = 0; c < dataset.fields.size(); ++c)
          description.datasets.push_back({header.fields[dataset.fields[c]].name,
                                          fmt::format("/{}", dataset.path()), header.double_precision ? 8 : 4,
                                          sample, header.n_samples, c,
                                          dataset.is_vector() ? dataset.fields.size() : 0, times.size()});
      auto beside = path;
      beside.replace_extension(header.n_samples == 1 ? ".xmf" : fmt::format(".sample_{}.xmf", sample));
      const std::vector<double> own(times.begin(), times.begin() + n_frames[sample]);
      XdmfSeries(comm, beside.string(), description, own);
    }
  }

  /// Frames first, then their number: a frame counts only when it is whole.
  void flush() {
    file.hand_over();
    write_count();
    file.flush();
    write_xdmf();
  }
};

FieldSeriesWriter::FieldSeriesWriter(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
FieldSeriesWriter::FieldSeriesWriter(FieldSeriesWriter&&) noexcept = default;
FieldSeriesWriter& FieldSeriesWriter::operator=(FieldSeriesWriter&&) noexcept = default;
FieldSeriesWriter::~FieldSeriesWriter() = default;

FieldSeriesWriter FieldSeriesWriter::create(const Comm& comm, const std::string& path,
                                            const FieldSeriesHeader& header,
                                            const hdf5::Provenance& provenance) {
  check_header(header, path);
  auto own = std::make_unique<Implementation>(comm, header, hdf5::File::create(comm, path));
  auto& root = own->file.root();
  hdf5::write_header(root, field_layout::schema, field_layout::schema_version, provenance);
  root.set_attribute("dataset_name", header.name);
  root.set_attribute("grid_type", "cartesian");
  root.set_attribute("n_spatial_dims", static_cast<int>(header.axes.size()));
  root.set_attribute("n_trajectories", header.n_samples);
  write_dimensions(root, header);
  write_parameters(root, header);
  write_datasets(root, header);
  own->checksums.make(root, 0);
  if (!header.mask.empty())
    root.write<std::uint8_t>("mask", header.mask, header.shape(),
                             {"1", axis_names(header), "1 where there is a value, 0 where there is none."});
  root.write<std::int64_t>("n_frames", own->n_frames, {header.n_samples},
                           {"1", {"sample"}, "Whole frames of each sample."});
  own->open_time();
  own->file.hand_over();  // a kill before the first frame leaves a file that can be gone on with
  return FieldSeriesWriter(std::move(own));
}

FieldSeriesWriter FieldSeriesWriter::reopen(const Comm& comm, const std::string& path,
                                            const FieldSeriesHeader& header) {
  check_header(header, path);
  std::vector<double> times;
  std::vector<std::int64_t> n_frames;
  std::string altered;
  {
    const auto found = field_formats::open_field_series(comm, path, {});
    const auto other = field_layout::difference(found->header, header);
    QUINTET_CHECK(other.empty(),
                  "{}: holds another series than the one to be continued: {} differ; write into another "
                  "output directory, or remove this file",
                  path, other);
    times = found->times;
    n_frames.assign(found->n_frames.begin(), found->n_frames.end());
    altered = altered_frames(comm, path, n_frames);
  }
  auto own = std::make_unique<Implementation>(comm, header, hdf5::File::open_for_update(comm, path));
  hdf5::check_header(own->file, field_layout::schema, field_layout::schema_version);
  own->open_time();
  own->times = std::move(times);
  own->n_frames = std::move(n_frames);
  own->checksums.make(own->file.root(), own->times.size());
  own->altered = altered;
  own->cut();
  return FieldSeriesWriter(std::move(own));
}

template <class Real>
void FieldSeriesWriter::append(std::uint64_t sample, double time,
                               const std::vector<std::span<const Real>>& fields, const hdf5::Box& box) {
  implementation_->append(sample, time, fields, box);
}
template void FieldSeriesWriter::append<float>(std::uint64_t, double,
                                               const std::vector<std::span<const float>>&, const hdf5::Box&);
template void FieldSeriesWriter::append<double>(std::uint64_t, double,
                                                const std::vector<std::span<const double>>&,
                                                const hdf5::Box&);

void FieldSeriesWriter::begin_frame(std::uint64_t sample, double time) {
  implementation_->begin_frame(sample, time);
}
void FieldSeriesWriter::end_frame() { implementation_->end_frame(); }
void FieldSeriesWriter::drop_frame() { implementation_->drop_frame(); }
template <class Real>
void FieldSeriesWriter::add_part(const std::vector<std::span<const Real>>& fields, const hdf5::Box& box) {
  implementation_->add_part(fields, box);
}
template void FieldSeriesWriter::add_part<float>(const std::vector<std::span<const float>>&,
                                                 const hdf5::Box&);
template void FieldSeriesWriter::add_part<double>(const std::vector<std::span<const double>>&,
                                                  const hdf5::Box&);

void FieldSeriesWriter::truncate(std::uint64_t sample, std::uint64_t n_frames) {
  implementation_->truncate(sample, sample + 1, n_frames);
}

void FieldSeriesWriter::truncate(std::uint64_t n_frames) {
  implementation_->truncate(0, implementation_->header.n_samples, n_frames);
}

std::uint64_t FieldSeriesWriter::n_frames(std::uint64_t sample) const {
  implementation_->check_sample(sample);
  return implementation_->n_frames[sample];
}

const std::vector<double>& FieldSeriesWriter::times() const { return implementation_->times; }
const std::string& FieldSeriesWriter::altered() const { return implementation_->altered; }
void FieldSeriesWriter::flush() { implementation_->flush(); }
void FieldSeriesWriter::close() {
  implementation_->flush();
  implementation_->file.close();
}

}  // namespace quintet
