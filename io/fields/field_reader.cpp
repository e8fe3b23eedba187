#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <numeric>
#include <utility>

#include <fmt/ranges.h>

#include "io/fields/dedalus_sets.hpp"
#include "io/fields/field_formats.hpp"
#include "io/fields/field_series.hpp"
#include "io/files/input_file.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"

namespace quintet {
namespace field_formats {

namespace {

void place_points(FieldAxis& axis, const AxisFacts& facts) {
  const double n = axis.size();
  for (std::size_t i = 0; i < axis.size(); ++i) {
    const double number = i;
    const double place = facts.points == AxisFacts::Points::chebyshev
                             ? 0.5 - 0.5 * std::cos(std::numbers::pi * (2 * number + 1) / (2 * n))
                             : (number + (axis.periodic ? 0 : 0.5)) / n;
    axis.coordinates[i] = *facts.lower + place * (*facts.upper - *facts.lower);
  }
}

}  // namespace

void keep_rising(std::vector<double>& times, const std::string& path) {
  std::size_t n = std::min<std::size_t>(times.size(), 1);
  while (n < times.size() && times[n] > times[n - 1]) ++n;
  if (n < times.size())
    log::warning("{}: counts {} frames, but the time of number {} is {} after {}: those before it are read",
                 path, times.size(), n, times[n], times[n - 1]);
  times.resize(n);
}

std::string symbol_of(const std::string& name, const std::vector<std::string>& wanted) {
  if (std::find(wanted.begin(), wanted.end(), name) != wanted.end()) return name;
  return name == "buoyancy" ? "b" : name == "pressure" ? "p" : name;
}

std::optional<double> equal_spacing(const std::vector<double>& points, double tolerance) {
  if (points.size() < 2) return std::nullopt;
  const double spacing = (points.back() - points.front()) / (points.size() - 1);
  for (std::size_t i = 0; i < points.size(); ++i)
    if (!(std::abs(points[i] - points[0] - i * spacing) <= tolerance * std::abs(spacing)))
      return std::nullopt;
  return spacing;
}

std::optional<std::pair<double, double>> chebyshev_ends(const std::vector<double>& points) {
  if (points.size() < 4) return std::nullopt;  // fewer fit almost anything
  const double n = points.size();
  const double half = 0.5 * (points.back() - points.front()) / std::cos(std::numbers::pi / (2 * n)),
               middle = 0.5 * (points.back() + points.front());
  for (std::size_t j = 0; j < points.size(); ++j)
    if (!(std::abs(points[j] - middle +
                   half * std::cos(std::numbers::pi * (2 * static_cast<double>(j) + 1) / (2 * n))) <=
          1e-6 * std::abs(half)))
      return std::nullopt;
  const auto end = [&](double value) {  // free of round-off of the points
    const double step = std::pow(10, std::floor(std::log10(std::abs(half))) - 7),
                 rounded = std::round(value / step) * step;
    return std::abs(rounded - value) < 1e-9 * std::abs(half) ? rounded : value;
  };
  return std::pair{end(middle - half), end(middle + half)};
}

void complete_axis(FieldAxis& axis, const FieldSeriesOptions& options, bool ends_are_known,
                   const std::string& path, Reading& reading) {
  const auto found = options.facts.find(axis.name);
  const AxisFacts facts = found == options.facts.end() ? AxisFacts{} : found->second;
  axis.periodic = facts.periodic.value_or(axis.periodic);
  if (facts.points != AxisFacts::Points::stored) {
    QUINTET_CHECK(facts.lower && facts.upper, "{}: axis '{}': points that are stated need both ends", path,
                  axis.name);
    place_points(axis, facts);
  }
  const auto& x = axis.coordinates;
  if (!ends_are_known && !(facts.lower && facts.upper)) {
    QUINTET_CHECK(x.size() > 1, "{}: axis '{}' has {} points: state its ends", path, axis.name, x.size());
    axis.lower = x.front();
    axis.upper = x.back();
    const double spacing = (x.back() - x.front()) / (x.size() - 1);
    for (std::size_t i = 0; axis.periodic && i < x.size(); ++i)
      QUINTET_CHECK(std::abs(x[i] - x[0] - i * spacing) <= 1e-3 * spacing,
                    "{}: axis '{}' is periodic and its points are not equally spaced: state its ends", path,
                    axis.name);
    if (axis.periodic) axis.upper += spacing;
    reading.assume(
        fmt::format("axis {} {} from {:.6g} to {:.6g}, {} (the file does not say; describe_file(s).axes "
                    "changes it)",
                    axis.name, axis.periodic ? "is a period" : "has walls", axis.lower, axis.upper,
                    axis.periodic ? "a spacing beyond its last point" : "its first and last point"));
  }
  axis.lower = facts.lower.value_or(axis.lower);
  axis.upper = facts.upper.value_or(axis.upper);
}

namespace {

constexpr std::array<Format, 4> formats{
    {{"a field series of ours or of The Well", is_field_series, open_field_series},
     {"frames of vlasov", is_vlasov_run, open_vlasov_run},
     {"tasks of Dedalus", is_dedalus, open_dedalus},
     {"netCDF with coordinates", is_netcdf4, open_netcdf_series}}};

/// The first bytes of a file.
std::string first_bytes(const Comm& comm, const std::string& path) {
  std::string bytes;
  together(comm, [&] {
    auto stream = open_input_file(path);
    std::array<char, 4> mark{};
    stream.read(mark.data(), mark.size());
    bytes.assign(mark.data(), stream.gcount());
  });
  return bytes;
}

std::unique_ptr<Source> open_folder(const Comm& comm, const std::string& path,
                                    const FieldSeriesOptions& options) {
  if (is_netcdf_folder(path)) return open_netcdf_series(comm, path, options);
  if (is_dedalus_folder(path)) return open_dedalus(comm, path, options);
  throw InputError(
      fmt::format("{}: is a folder without fields over time; expected a group of zarr, or a handler's of "
                  "Dedalus (NAME_s1.h5, ...)",
                  path));
}

std::unique_ptr<Source> open_source(const Comm& comm, const std::string& path,
                                    const FieldSeriesOptions& options) {
  if (std::filesystem::is_directory(path)) return open_folder(comm, path, options);
  const auto front = first_bytes(comm, path);
  if (front == "PK\3\4") return open_npz(comm, path, options);
  if (front.starts_with("CDF")) return open_netcdf_series(comm, path, options);
  const Format* found = nullptr;
  {
    const auto file = hdf5::File::open(comm, path);
    for (const auto& format : formats)
      if (found == nullptr && format.is_it(file.root())) found = &format;
    if (found == nullptr) {
      std::vector<std::string> names;
      for (const auto& format : formats) names.emplace_back(format.name);
      const auto schema = file.root().has_attribute("schema") ? file.root().text_attribute("schema") : "";
      throw InputError(fmt::format("{}: {}; expected {} or NumPy arrays (npz)", path,
                                   schema.empty() ? "holds no fields over time that are known"
                                                  : fmt::format("has schema '{}'", schema),
                                   fmt::join(names, ", ")));
    }
  }
  return found->open(comm, path, options);
}

}  // namespace

bool has_known_format(const std::string& path) {
  const auto file = hdf5::File::open(Comm::self(), path);
  return std::any_of(formats.begin(), formats.end(),
                     [&](const Format& format) { return format.is_it(file.root()); });
}

}  // namespace field_formats

/// A source, and how its axes are turned: axis d of the reader is axis order[d] of the source.
struct FieldSeriesReader::Implementation {
  Comm comm;
  std::string path;
  std::unique_ptr<field_formats::Source> source;
  FieldSeriesHeader header;
  std::vector<std::size_t> order;

  Implementation(const Comm& c, std::string p, const FieldSeriesOptions& options)
      : comm(c), path(std::move(p)), source(field_formats::open_source(comm, path, options)) {
    for (const auto& [name, facts] : options.facts) require_axis(name);
    for (const auto& [name, value] : options.parameters) give_parameter(name, value);
    check_header(source->header, path);
    check_times();
    if (options.time_spacing) check_time_spacing(*options.time_spacing);
    header = source->header;
    turn(options.axes);
  }

  void require_axis(const std::string& name) const {
    std::vector<std::string> names;
    for (const auto& axis : source->header.axes) names.push_back(axis.name);
    QUINTET_CHECK(std::find(names.begin(), names.end(), name) != names.end(),
                  "{}: describe_file(s).axes: there is no axis '{}'; there are: {}", path, name,
                  fmt::join(names, ", "));
  }

  void check_times() const {
    const auto& t = source->times;
    QUINTET_CHECK(!t.empty(), "{}: holds no frames", path);
    for (std::size_t i = 0; i < t.size(); ++i)
      QUINTET_CHECK(std::isfinite(t[i]) && (i == 0 || t[i] > t[i - 1]),
                    "{}: times must ascend, but that of frame {} is {}{}", path, i, t[i],
                    i == 0 ? "" : fmt::format(" after {}", t[i - 1]));
  }

  /// Times of the file win: what is given beside them must be theirs.
  void check_time_spacing(double given) const {
    const auto& t = source->times;
    if (t.size() < 2) return;
    const double own = (t.back() - t.front()) / (t.size() - 1);
    QUINTET_CHECK(
        std::abs(own - given) <= 1e-3 * own,
        "{}: its frames are {:.6g} apart by its own times, and time_spacing is given as {:.6g}: leave "
        "time_spacing out, it is for files without times",
        path, own, given);
  }

  /// A given parameter goes before the file's, which is said where they differ.
  void give_parameter(const std::string& name, double value) {
    auto& own = source->header.parameters;
    if (const auto found = own.find(name); found != own.end() && found->second != value)
      source->reading.assume(
          fmt::format("{} = {} as given, not {} as the file says", name, value, found->second));
    own[name] = value;
    for (auto& of_sample : source->own_parameters)
      if (const auto found = of_sample.find(name); found != of_sample.end()) {
        source->reading.assume(
            fmt::format("{} = {} of all samples as given, not as the file says", name, value));
        of_sample.erase(found);
      }
  }

  void turn(const std::vector<std::string>& wanted) {
    order.resize(header.axes.size());
    std::iota(order.begin(), order.end(), 0);
    if (wanted.empty()) return;
    std::vector<std::string> names;
    for (const auto& axis : header.axes) names.push_back(axis.name);
    QUINTET_CHECK(std::is_permutation(wanted.begin(), wanted.end(), names.begin(), names.end()),
                  "{}: its axes are {}; those asked for are {}", path, fmt::join(names, ", "),
                  fmt::join(wanted, ", "));
    for (std::size_t d = 0; d < wanted.size(); ++d) {
      order[d] = source->header.axis(wanted[d]);
      header.axes[d] = source->header.axes[order[d]];
    }
    if (!header.mask.empty()) header.mask = turned(source->header.mask, 1, source->header.shape());
  }

  /// Values [frame][axes of the source] as [frame][axes of the reader].
  template <class T>
  [[nodiscard]] std::vector<T> turned(const std::vector<T>& values, std::uint64_t n_frames,
                                      const hdf5::Shape& shape) const {
    if (std::is_sorted(order.begin(), order.end())) return values;
    std::array<std::uint64_t, 3> n{1, 1, 1},
        stride{0, 0, 0};  // of the reader's axes, and where they step in `values`
    std::uint64_t frame = 1;
    for (const auto extent : shape) frame *= extent;
    for (std::size_t d = 0; d < order.size(); ++d) {
      n[d] = shape[order[d]];
      stride[d] = 1;
      for (std::size_t e = order[d] + 1; e < shape.size(); ++e) stride[d] *= shape[e];
    }
    std::vector<T> result(values.size());
    std::size_t at = 0;
    for (std::uint64_t f = 0; f < n_frames; ++f)
      for (std::uint64_t i = 0; i < n[0]; ++i)
        for (std::uint64_t j = 0; j < n[1]; ++j)
          for (std::uint64_t k = 0; k < n[2]; ++k)
            result[at++] = values[f * frame + i * stride[0] + j * stride[1] + k * stride[2]];
    return result;
  }

  /// The box in the order of the source, whole where it is not given. Throws InputError.
  [[nodiscard]] FieldBox source_box(int field, std::uint64_t sample, const FieldBox& box) const {
    QUINTET_CHECK(field >= 0 && field < std::ssize(header.fields), "{}: there is no field {}; there are {}",
                  path, field, header.fields.size());
    QUINTET_CHECK(sample < header.n_samples, "{}: there is no sample {}; there are {}", path, sample,
                  header.n_samples);
    const auto n = source->n_frames[sample];
    QUINTET_CHECK(
        box.first_frame <= n && box.n_frames <= n - box.first_frame,
        "{}: frames {} to {} of sample {} are asked for, but it has {}{}", path, box.first_frame,
        box.first_frame + box.n_frames, sample, n,
        n < source->times.size() ? fmt::format(" of {}: its run ended early", source->times.size()) : "");
    const auto shape = header.shape();
    hdf5::Box space = box.space;
    if (space.count.empty()) space = {hdf5::Shape(shape.size(), 0), shape};
    bool fits = space.start.size() == shape.size() && space.count.size() == shape.size();
    for (std::size_t d = 0; fits && d < shape.size(); ++d)
      fits = space.start[d] <= shape[d] && space.count[d] <= shape[d] - space.start[d];
    QUINTET_CHECK(fits, "{}: a part of shape [{}] from [{}] is asked for, but the grid has shape [{}]", path,
                  fmt::join(space.count, ", "), fmt::join(space.start, ", "), fmt::join(shape, ", "));
    FieldBox result{box.first_frame, box.n_frames, space};
    for (std::size_t d = 0; d < order.size(); ++d) {
      result.space.start[order[d]] = space.start[d];
      result.space.count[order[d]] = space.count[d];
    }
    return result;
  }

  /// Throws InputError for the first value that is not finite where there is one, and makes all others 0.
  template <class Real>
  void check_values(int field, std::uint64_t sample, const FieldBox& box, std::vector<Real>& values) const {
    const auto shape = source->header.shape();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (source->header.mask.empty() && std::isfinite(values[i])) continue;
      std::size_t rest = i;
      std::vector<std::uint64_t> place(shape.size());
      std::uint64_t index = 0, stride = 1;
      for (std::size_t d = shape.size(); d-- > 0; rest /= box.space.count[d]) {
        place[d] = box.space.start[d] + rest % box.space.count[d];
        index += place[d] * stride;
        stride *= shape[d];
      }
      if (!source->header.mask.empty() && source->header.mask[index] == 0) {
        values[i] = 0;
        continue;
      }
      QUINTET_CHECK(std::isfinite(values[i]), "{}: field '{}' is {} in frame {} of sample {} at point [{}]",
                    path, header.fields[field].name, values[i], box.first_frame + rest, sample,
                    fmt::join(place, ", "));
    }
  }

  template <class Real>
  [[nodiscard]] std::vector<Real> read(int field, std::uint64_t sample, const FieldBox& wanted) const {
    FieldBox box;
    together(comm, [&] { box = source_box(field, sample, wanted); });
    std::vector<Real> values;
    source->read(field, sample, box, values);
    together(comm, [&] { check_values(field, sample, box, values); });
    return turned(values, box.n_frames, box.space.count);
  }
};

FieldSeriesReader::FieldSeriesReader(std::shared_ptr<const Implementation> implementation)
    : implementation_(std::move(implementation)) {}

FieldSeriesReader FieldSeriesReader::open(const Comm& comm, const std::string& path,
                                          const FieldSeriesOptions& options) {
  return FieldSeriesReader(std::make_shared<const Implementation>(comm, path, options));
}

const std::string& FieldSeriesReader::path() const { return implementation_->path; }
const FieldSeriesHeader& FieldSeriesReader::header() const { return implementation_->header; }
const std::vector<double>& FieldSeriesReader::times() const { return implementation_->source->times; }

const Reading& FieldSeriesReader::reading() const { return implementation_->source->reading; }

std::uint64_t FieldSeriesReader::n_frames(std::uint64_t sample) const {
  QUINTET_CHECK(sample < n_samples(), "{}: there is no sample {}; there are {}", path(), sample, n_samples());
  return implementation_->source->n_frames[sample];
}

std::map<std::string, double> FieldSeriesReader::parameters(std::uint64_t sample) const {
  QUINTET_CHECK(sample < n_samples(), "{}: there is no sample {}; there are {}", path(), sample, n_samples());
  auto parameters = header().parameters;
  const auto& own = implementation_->source->own_parameters;
  if (!own.empty()) parameters.insert(own[sample].begin(), own[sample].end());
  return parameters;
}

std::optional<double> FieldSeriesReader::time_spacing(double tolerance) const {
  const auto& t = times();
  if (t.size() < 2) return std::nullopt;
  const double mean = (t.back() - t.front()) / (t.size() - 1);
  for (std::size_t i = 1; i < t.size(); ++i)
    if (std::abs(t[i] - t[i - 1] - mean) > tolerance * mean) return std::nullopt;
  return mean;
}

template <class Real>
std::vector<Real> FieldSeriesReader::read(int field, std::uint64_t sample, const FieldBox& box) const {
  return implementation_->read<Real>(field, sample, box);
}
template std::vector<float> FieldSeriesReader::read<float>(int, std::uint64_t, const FieldBox&) const;
template std::vector<double> FieldSeriesReader::read<double>(int, std::uint64_t, const FieldBox&) const;

}  // namespace quintet
