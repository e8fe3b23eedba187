#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/ranges.h>

#include "io/fields/field_formats.hpp"
#include "io/fields/frame_checksums.hpp"
#include "io/hdf5/seal.hpp"
#include "io/log/error.hpp"

// run.h5 of vlasov (physics/kinetics/files/frames.hpp): fields on points of x, and pictures of f over x and
// v.

namespace quintet::field_formats {
namespace {

constexpr const char* axis_names[] = {"x", "y", "z", "vx", "vy", "vz"};

class VlasovRun : public Source {
 public:
  VlasovRun(const Comm& comm, const std::string& path, const FieldSeriesOptions& options)
      : file_(hdf5::open_verified(comm, path)), compared_(comm, path, "frames/frame_checksum") {
    header.name = "vlasov";
    header.double_precision = true;
    read_times();
    const auto part = choose(options.part);
    if (part == "fields")
      read_fields(options);
    else
      read_picture(part, options);
  }

  void read(int field, std::uint64_t, const FieldBox& box, std::vector<float>& values) const override {
    compared_.require(0, box.first_frame, box.n_frames);
    values = root().read_box<float>(paths_[field], box_of(box));
  }
  void read(int field, std::uint64_t, const FieldBox& box, std::vector<double>& values) const override {
    compared_.require(0, box.first_frame, box.n_frames);
    values = root().read_box<double>(paths_[field], box_of(box));
  }

 private:
  hdf5::File file_;
  mutable field_layout::ComparedFrames compared_;
  std::vector<std::string> paths_;  ///< of the fields

  [[nodiscard]] const hdf5::Group& root() const { return file_.root(); }
  [[nodiscard]] const std::string& path() const { return file_.path(); }

  void read_times() {
    const auto frames = root().open_group("frames");
    QUINTET_CHECK(frames.shape("step").size() == 1 && frames.shape("time").size() == 1,
                  "{}: frames/step and frames/time should be lists: the file is damaged", path());
    // A frame counts when it has both.
    times =
        frames.read_rows<double>("time", 0, std::min(frames.whole_rows("step"), frames.whole_rows("time")));
    keep_rising(times, path());
    n_frames = {times.size()};
  }

  /// The series that is meant, among those that there are.
  [[nodiscard]] std::string choose(const std::string& wanted) const {
    std::vector<std::string> parts;
    if (root().has("fields")) parts.emplace_back("fields");
    if (root().has("pictures"))
      for (const auto& name : root().open_group("pictures").names()) parts.push_back("pictures/" + name);
    QUINTET_CHECK(!parts.empty(), "{}: has neither fields nor pictures over time", path());
    if (wanted.empty()) {
      QUINTET_CHECK(parts.size() == 1, "{}: holds several series; name the part that is meant: {}", path(),
                    fmt::join(parts, ", "));
      return parts[0];
    }
    QUINTET_CHECK(std::find(parts.begin(), parts.end(), wanted) != parts.end(),
                  "{}: has no part '{}'; it has: {}", path(), wanted, fmt::join(parts, ", "));
    return wanted;
  }

  void read_fields(const FieldSeriesOptions& options) {
    const auto group = root().open_group("fields");
    const auto species = root().open_group("species").names();
    QUINTET_CHECK(!species.empty(), "{}: has no species, whose grid is that of the fields", path());
    for (const auto& name : group.names()) {
      if (name == "time" || name == "mask" || is_axis(name)) continue;
      const auto axes = group.member_texts_attribute(name, "axes");
      if (header.axes.empty())
        for (std::size_t d = 1; d < axes.size(); ++d)
          add_axis(axes[d], species.front(), group.shape(axes[d]), options, group.read<double>(axes[d]));
      add_field(name, "fields/" + name, axes);
    }
    QUINTET_CHECK(!header.fields.empty(), "{}: its group 'fields' has no fields", path());
  }

  /// "pictures/elc_x_vx": f of species elc.
  void read_picture(const std::string& part, const FieldSeriesOptions& options) {
    const auto name = part.substr(part.find('/') + 1);
    const auto group = root().open_group("pictures");
    const auto axes = group.member_texts_attribute(name, "axes");
    const auto shape = group.shape(name);
    QUINTET_CHECK(axes.size() == 3 && shape.size() == 3, "{}: {} has {} axes; expected frame, v and x",
                  path(), part, axes.size());
    std::string species;
    for (const auto& one : root().open_group("species").names())
      if (name == fmt::format("{}_{}_{}", one, axes[2], axes[1])) species = one;
    QUINTET_CHECK(!species.empty(), "{}: there is no species whose picture {} could be", path(), part);
    for (std::size_t d = 1; d < 3; ++d) add_axis(axes[d], species, {shape[d]}, options, {});
    add_field("f", part, axes);
  }

  static bool is_axis(const std::string& name) {
    return std::find(std::begin(axis_names), std::end(axis_names), name) != std::end(axis_names);
  }

  /// @param points their coordinates; empty: the centres of equal parts of each cell
  void add_axis(const std::string& name, const std::string& species, const hdf5::Shape& shape,
                const FieldSeriesOptions& options, std::vector<double> points) {
    const auto group = root().open_group("species/" + species);
    const auto found = std::find(std::begin(axis_names), std::end(axis_names), name);
    const auto cdim = group.integer_attribute("cdim"), vdim = group.integer_attribute("vdim");
    const auto lower = group.number_attribute("lower"), upper = group.number_attribute("upper"),
               cells = group.number_attribute("cells");
    const auto number = found - std::begin(axis_names);
    // Dimensions before sums of them: attributes of a damaged file are any numbers.
    QUINTET_CHECK(found != std::end(axis_names) && cdim >= 0 && cdim <= 3 && vdim >= 0 && vdim <= 3 &&
                      (number < 3 ? number < cdim : number - 3 < vdim) && cdim + vdim == std::ssize(lower) &&
                      upper.size() == lower.size() && cells.size() == lower.size(),
                  "{}: species '{}' has no axis '{}'", path(), species, name);
    const auto d = number < 3 ? number : cdim + number - 3;
    FieldAxis axis;
    axis.name = name;
    axis.lower = lower[d];
    axis.upper = upper[d];
    if (group.has_attribute("periodic")) {
      const auto periodic = group.number_attribute("periodic");
      axis.periodic = number < 3 && static_cast<std::size_t>(d) < periodic.size() && periodic[d] != 0;
    }
    axis.coordinates = points.empty() ? cell_points(group, name, axis, cells[d], shape) : std::move(points);
    complete_axis(axis, options, true, path(), reading);
    header.axes.push_back(std::move(axis));
  }

  [[nodiscard]] std::vector<double> cell_points(const hdf5::Group& species, const std::string& name,
                                                const FieldAxis& axis, double cells,
                                                const hdf5::Shape& shape) const {
    constexpr std::uint64_t most_points = 1 << 24;
    QUINTET_CHECK(shape[0] <= most_points, "{}: axis '{}' has {} points; at most {} are read", path(), name,
                  shape[0], most_points);
    std::vector<double> edges;
    if (species.has("edges_" + name)) {
      edges = species.read<double>("edges_" + name);
    } else {
      QUINTET_CHECK(cells >= 1 && cells <= shape[0], "{}: axis '{}' has {} cells for {} points", path(), name,
                    cells, shape[0]);
      for (int i = 0; i <= static_cast<int>(cells); ++i)
        edges.push_back(axis.lower + i * (axis.upper - axis.lower) / cells);
    }
    const std::uint64_t n_cells = edges.empty() ? 0 : edges.size() - 1;
    QUINTET_CHECK(n_cells > 0 && shape[0] % n_cells == 0, "{}: axis '{}' has {} cells for {} points", path(),
                  name, n_cells, shape[0]);
    const std::uint64_t n = shape[0] / n_cells;
    std::vector<double> points;
    for (std::uint64_t i = 0; i < shape[0]; ++i)
      points.push_back(edges[i / n] + ((i % n) + 0.5) / n * (edges[i / n + 1] - edges[i / n]));
    return points;
  }

  void add_field(const std::string& name, const std::string& where, const std::vector<std::string>& axes) {
    const auto shape = root().shape(where);
    bool fits = shape.size() == header.axes.size() + 1 && axes.size() == shape.size();
    for (std::size_t d = 0; fits && d < header.axes.size(); ++d)
      fits = axes[d + 1] == header.axes[d].name && shape[d + 1] == header.axes[d].size();
    QUINTET_CHECK(fits, "{}: {} has shape [{}], which is not that of {} frames on its axes [{}]", path(),
                  where, fmt::join(shape, ", "), times.size(), fmt::join(header.shape(), ", "));
    // What a run that was killed left of its last frame does not count.
    times.resize(std::min(times.size(), root().whole_rows(where)));
    n_frames = {times.size()};
    const auto slash = where.rfind('/');
    const auto group = root().open_group(where.substr(0, slash));
    const auto dataset = where.substr(slash + 1);
    header.fields.push_back({name, group.member_text_attribute(dataset, "units"),
                             group.member_text_attribute(dataset, "description"), dataset, -1});
    paths_.push_back(where);
  }

  [[nodiscard]] static hdf5::Box box_of(const FieldBox& box) {
    hdf5::Box whole{{box.first_frame}, {box.n_frames}};
    whole.start.insert(whole.start.end(), box.space.start.begin(), box.space.start.end());
    whole.count.insert(whole.count.end(), box.space.count.begin(), box.space.count.end());
    return whole;
  }
};

}  // namespace

bool is_vlasov_run(const hdf5::Group& root) {
  return root.has("frames/time") && root.has("frames/step") && root.has("species") &&
         (root.has("fields") || root.has("pictures"));
}

std::unique_ptr<Source> open_vlasov_run(const Comm& comm, const std::string& path,
                                        const FieldSeriesOptions& options) {
  return std::make_unique<VlasovRun>(comm, path, options);
}

}  // namespace quintet::field_formats
