#include "physics/kinetics/files/frames.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <span>
#include <utility>

#include <fmt/ranges.h>

#include "io/fields/xdmf.hpp"
#include "io/hdf5/checksum.hpp"
#include "io/log/error.hpp"
#include "physics/kinetics/files/distribution_io.hpp"
#include "physics/kinetics/files/field_points.hpp"
#include "physics/kinetics/files/whole_frames.hpp"

namespace quintet::kinetics {

namespace {

constexpr std::array<const char*, 3> x_names{"x", "y", "z"}, v_names{"vx", "vy", "vz"};

std::string frame_name(std::int64_t i) { return fmt::format("frame_{}", i); }

/// "run" of "DIR/run.h5", with the folder.
std::string stem(const std::string& path) {
  return std::filesystem::path(path).replace_extension("").string();
}

template <class T>
std::vector<T> first(const auto& values, int n) {
  return {values.begin(), values.begin() + n};
}

hdf5::Shape cells_of(const PhaseGrid& grid) {
  hdf5::Shape shape;
  for (int d = 0; d < grid.cdim; ++d) shape.push_back(grid.cells[d]);
  return shape;
}

std::vector<std::string> axes_of(const PhaseGrid& grid, bool with_velocity) {
  std::vector<std::string> axes;
  for (int d = 0; d < grid.cdim; ++d) axes.emplace_back(x_names[d]);
  for (int d = 0; d < grid.vdim && with_velocity; ++d) axes.emplace_back(v_names[d]);
  return axes;
}

/// The points of point_coordinates().
XdmfAxis xdmf_axis(const PhaseGrid& grid, int d, int n_points) {
  const double spacing = grid.mean_width(d) / n_points;
  return {grid.lower[d] + 0.5 * spacing, spacing, static_cast<std::uint64_t>(grid.cells[d] * n_points),
          grid.is_uniform(d) ? std::vector<double>{} : point_coordinates(grid, d, n_points)};
}

}  // namespace

/// The open file, its series, and the XDMF files beside it.
struct FrameWriter::Implementation {
  hdf5::File& file;
  Decomposition decomposition;
  PhaseBasis basis;
  std::vector<Species> species;
  int n_points;
  std::vector<std::int64_t> steps;
  std::vector<double> times;
  std::optional<hdf5::Series> step, time;
  std::optional<hdf5::ChecksumSeries> checksums;
  std::string altered;
  std::map<std::string, hdf5::Series> series;  ///< by path
  std::optional<XdmfSeries> fields_xdmf;
  std::map<std::string, XdmfSeries> pictures_xdmf;
  bool first_of_process = true;

  Implementation(hdf5::File& f, const Decomposition& d, const PhaseBasis& b, const std::vector<Species>& s,
                 int points, std::optional<std::int64_t> restart_step,
                 std::optional<std::uint64_t> restart_frames)
      : file(f), decomposition(d), basis(b), species(s), n_points(points > 0 ? points : b.order() + 1) {
    auto index = file.root().group("frames");
    step = index.series<std::int64_t>("step", {}, {"1", {"frame"}, "Step of each frame."});
    time = index.series<double>("time", {}, {"1", {"frame"}, "Time of each frame."});
    checksums.emplace(decomposition.comm(), file, "frames", "frame", "frame");
    if (restart_step) drop_frames_after(*restart_step, restart_frames);
    QUINTET_CHECK(restart_step || step->size() == 0,
                  "{}: holds {} frames already; a new run needs a new file", file.path(), step->size());
    for (const auto& one : species) write_species(one);
  }

  [[nodiscard]] const PhaseGrid& grid() const { return species.front().grid; }
  [[nodiscard]] std::int64_t n_frames() const { return steps.size(); }

  void drop_frames_after(std::int64_t last_step, std::optional<std::uint64_t> most) {
    // All ranks read this alike: HDF5 would cut data in the chunk cache of one rank on that rank alone.
    const FrameIndex index = whole_frames(file.root());
    steps = index.steps;
    times = index.times;
    auto kept = std::upper_bound(steps.begin(), steps.end(), last_step) - steps.begin();
    if (most) kept = std::min<std::ptrdiff_t>(kept, *most);
    const std::int64_t former = step->size();
    steps.resize(kept);
    times.resize(kept);
    // Steps first, and to the file: what is cut of the others is zeroed there at once, or written over.
    step->truncate(steps.size());
    file.hand_over();
    for (const auto& one : species) drop_distributions(one.name, kept, former);
    for (const auto& path : frame_series(file.root())) {  // also where this process writes no frame
      if (path == "fields/time") continue;                // the other name of frames/time
      auto entry = file.root().shape(path);
      entry.erase(entry.begin());
      series_at(path, entry, {});
    }
    time->truncate(times.size());
    checksums->keep(steps.size());
    file.hand_over();
    altered = checksums->altered(steps.size(), hdf5::most_compared);
  }

  /// Empty the f of frames from `kept` on, also that of a frame that was not finished.
  void drop_distributions(const std::string& name, std::int64_t kept, std::int64_t former) {
    const auto path = fmt::format("species/{}/f", name);
    if (!file.root().has(path)) return;
    auto group = file.root().group(path);
    for (std::int64_t i = kept; i <= former; ++i)
      if (group.has(frame_name(i)))
        group.write<double>(frame_name(i), {}, {0}, {"1", {"none"}, "A frame that a restart dropped."});
  }

  // A file that is continued must have this grid: frames of two grids under one name would be read wrongly.
  void write_species(const Species& one) {
    auto group = file.root().group("species/" + one.name);
    const int dim = one.grid.dim();
    const auto text = grid_text(one.grid, dim);
    if (group.has_attribute("grid"))
      QUINTET_CHECK(group.text_attribute("grid") == text, "{}: species '{}' has the grid {}, this run {}",
                    file.path(), one.name, group.text_attribute("grid"), text);
    group.set_attribute("grid", text);
    group.set_attribute("charge", one.charge);
    group.set_attribute("mass", one.mass);
    group.set_attribute("cdim", one.grid.cdim);
    group.set_attribute("vdim", one.grid.vdim);
    group.set_attribute("cells", first<std::int64_t>(one.grid.cells, dim));
    group.set_attribute("lower", first<double>(one.grid.lower, dim));
    group.set_attribute("upper", first<double>(one.grid.upper, dim));
    group.set_attribute("periodic", first<std::int64_t>(one.grid.periodic, dim));
    for (int d = 0; d < one.grid.vdim; ++d)
      if (const auto& edges = one.grid.velocity_edges[d]; !edges.empty()) {
        const auto data = fmt::format("edges_{}", v_names[d]);
        if (!group.has(data))
          group.write<double>(data, edges, {edges.size()},
                              {"1", {v_names[d]}, "Edges of the velocity cells, which differ in width."});
      }
    group.set_attribute("family", name(basis.family()));
    group.set_attribute("order", basis.order());
    group.set_attribute("modes", modes_text(basis));
    group.set_attribute("conf_modes", modes_text(basis.conf()));
  }

  /// The series at `path`, made or reopened and cut to the frames that count.
  hdf5::Series& series_at(const std::string& path, const hdf5::Shape& entry,
                          const hdf5::Description& description) {
    if (const auto found = series.find(path); found != series.end()) return found->second;
    auto slash = path.rfind('/');
    auto group = file.root().group(path.substr(0, slash));
    auto& result =
        series.emplace(path, group.series<double>(path.substr(slash + 1), entry, description)).first->second;
    QUINTET_CHECK(
        result.size() >= steps.size(),
        "{}: {} has {} entries, but there are {} frames: a run must go on writing what it began with",
        file.path(), path, result.size(), steps.size());
    result.truncate(steps.size());
    return result;
  }

  void append_coefficients(const std::string& folder, const Frame::Coefficients& one) {
    const auto& field = one.values;
    auto entry = cells_of(grid());
    entry.push_back(field.extent(1));
    entry.push_back(field.extent(2));
    auto axes = axes_of(grid(), false);
    axes.insert(axes.begin(), "frame");
    axes.insert(axes.end(), {"component", "mode"});
    const auto exchange = conf_rows(decomposition, grid(), field, RowExchange::Owner::shared);
    const auto rows = exchange.collect(give_modes(decomposition.block(grid()), field));
    const auto path = folder + "/" + one.name;
    const bool is_new = !file.root().has(path);
    const std::uint64_t begin = exchange.rows().begin;
    series_at(path, entry, {"1", axes, one.text}).append_distributed<double>(rows, begin);
    checksums->note<double>(path, rows, begin * exchange.row_size());
    if (!is_new) return;
    auto group = file.root().group(folder);
    group.set_member_attribute(one.name, "grid", grid_text(grid(), grid().cdim));
    group.set_member_attribute(one.name, "basis", basis_text(basis));
    group.set_member_attribute(one.name, "modes", modes_text(basis.conf()));
  }

  void begin_points(const std::vector<PointField>& points) {
    auto group = file.root().group("fields");
    if (!group.has("time")) file.root().link("/frames/time", "fields/time");
    hdf5::Shape shape;
    std::vector<std::string> axes;
    XdmfSeries::Description xdmf{std::filesystem::path(file.path()).filename().string(), {}, {}};
    for (int d = grid().cdim - 1; d >= 0; --d) {
      const auto x = point_coordinates(grid(), d, n_points);
      if (!group.has(x_names[d]))  // a restart finds them; a kill must not find them half replaced
        group.write<double>(x_names[d], x, {x.size()}, {"1", {x_names[d]}, "Coordinates of the points."});
      shape.push_back(x.size());
      axes.emplace_back(x_names[d]);
      xdmf.axes.push_back(xdmf_axis(grid(), d, n_points));
    }
    std::uint64_t n = 1;
    for (const auto extent : shape) n *= extent;
    const std::vector<std::uint8_t> all(n, 1);
    if (!group.has("mask"))
      group.write<std::uint8_t>("mask", all, shape,
                                {"1", axes, "1 where there is a value, 0 where there is none."});
    for (const auto& one : points) xdmf.datasets.push_back({one.name, "/fields/" + one.name});
    fields_xdmf.emplace(decomposition.comm(), stem(file.path()) + ".fields.xmf", xdmf, times);
  }

  void append_points(const std::vector<PointField>& points) {
    if (points.empty()) return;
    if (first_of_process) begin_points(points);
    hdf5::Shape entry;
    std::vector<std::string> axes{"frame"};
    for (int d = grid().cdim - 1; d >= 0; --d) {
      entry.push_back(grid().cells[d] * n_points);
      axes.emplace_back(x_names[d]);
    }
    for (const auto& one : points) {
      const auto path = "fields/" + one.name;
      const auto values =
          field_points(decomposition, grid(), basis.conf(), one.coefficients, one.component, n_points);
      series_at(path, entry, {one.units, axes, one.text}).append<double>(values);
      checksums->note_on_root<double>(path, values);
    }
  }

  void append_picture(const Species& one, const Distribution& f, int x, int v) {
    const std::string x_name = x_names[x], v_name = v_names[v - one.grid.cdim];
    const auto name = fmt::format("{}_{}_{}", one.name, x_name, v_name);
    const auto picture = phase_picture(decomposition, basis, f, x, v, n_points, n_points);
    const hdf5::Shape entry{static_cast<std::uint64_t>(picture.n_b), static_cast<std::uint64_t>(picture.n_a)};
    series_at(
        "pictures/" + name, entry,
        {"1",
         {"frame", v_name, x_name},
         fmt::format("f of '{}' over {} and {}, integrated over the other velocities and averaged over the "
                     "other coordinates, at the centres of {} equal parts of each cell and direction.",
                     one.name, x_name, v_name, n_points)})
        .append<double>(picture.values);
    checksums->note_on_root<double>("pictures/" + name, picture.values);
    if (!first_of_process) return;
    const auto data_file = std::filesystem::path(file.path()).filename().string();
    pictures_xdmf.emplace(name,
                          XdmfSeries(decomposition.comm(), fmt::format("{}.{}.xmf", stem(file.path()), name),
                                     {data_file,
                                      {{name, "/pictures/" + name}},
                                      {xdmf_axis(one.grid, v, n_points), xdmf_axis(one.grid, x, n_points)}},
                                     times));
  }

  void append_distribution(const Species& one, const Distribution& f) {
    auto group = file.root().group(fmt::format("species/{}/f", one.name));
    auto axes = axes_of(one.grid, true);
    axes.emplace_back("mode");
    const auto all = fmt::format("species/{}/f/frame_*", one.name);
    checksums->note_part(all, write(group, frame_name(n_frames()), decomposition, basis, f,
                                    {"1", axes, "DG coefficients of f."}, hdf5::RowChecksum::seed(all)));
    for (int x = 0; x < one.grid.cdim; ++x)
      for (int v = one.grid.cdim; v < one.grid.dim(); ++v) append_picture(one, f, x, v);
  }

  void append(const Frame& frame) {
    Exec().fence();
    checksums->begin_frame();
    QUINTET_CHECK(steps.empty() || frame.step > steps.back(), "{}: frame of step {} after that of step {}",
                  file.path(), frame.step, steps.back());
    for (std::size_t s = 0; s < frame.f.size(); ++s) append_distribution(species[s], frame.f[s]);
    for (std::size_t s = 0; s < frame.moments.size(); ++s)
      for (const auto& one : frame.moments[s])
        append_coefficients(fmt::format("species/{}/moments", species[s].name), one);
    for (const auto& one : frame.fields) append_coefficients("coefficients", one);
    append_points(frame.points);
    checksums->note_on_root<double>("frames/time", std::span(&frame.time, 1));
    checksums->note_on_root<std::int64_t>("frames/step", std::span(&frame.step, 1));
    checksums->end_frame();
    time->append<double>(std::span(&frame.time, 1));
    // Last, so that a frame counts only when it is whole.
    step->append<std::int64_t>(std::span(&frame.step, 1));
    steps.push_back(frame.step);
    times.push_back(frame.time);
    if (fields_xdmf) fields_xdmf->append(frame.time);
    for (auto& [name, xdmf] : pictures_xdmf) xdmf.append(frame.time);
    first_of_process = false;
  }
};

FrameWriter::FrameWriter(hdf5::File& file, const Decomposition& decomposition, const PhaseBasis& basis,
                         const std::vector<Species>& species, int points,
                         std::optional<std::int64_t> restart_step,
                         std::optional<std::uint64_t> restart_frames)
    : implementation_(std::make_unique<Implementation>(file, decomposition, basis, species, points,
                                                       restart_step, restart_frames)) {}
FrameWriter::~FrameWriter() = default;
FrameWriter::FrameWriter(FrameWriter&&) noexcept = default;
FrameWriter& FrameWriter::operator=(FrameWriter&&) noexcept = default;

void FrameWriter::append(const Frame& frame) { implementation_->append(frame); }
std::int64_t FrameWriter::size() const { return implementation_->n_frames(); }
const std::string& FrameWriter::altered() const { return implementation_->altered; }
std::int64_t FrameWriter::last_step() const {
  return implementation_->steps.empty() ? -1 : implementation_->steps.back();
}

}  // namespace quintet::kinetics
