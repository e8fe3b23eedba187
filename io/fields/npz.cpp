#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <utility>

#include "io/fields/field_formats.hpp"
#include "io/files/npy_header.hpp"
#include "io/files/zip_file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"

// Archives of NumPy arrays as MeshfreeFlowNet keeps its data: fields p, b, u, w ... [t, x, z]. Beside them
// there may be coordinates `x` and `z`, times `t` (or `time`, `sim_time`, `write_time`) and single numbers,
// which are parameters.

namespace quintet::field_formats {
namespace {

constexpr const char* time_names[] = {"t", "time", "sim_time", "write_time"};
constexpr const char* axis_names[] = {"x", "z"};

class Npz : public Source {
 public:
  Npz(const Comm& comm, const std::string& path, const FieldSeriesOptions& options)
      : comm_(comm), zip_(path), wanted_(options.fields) {
    header.name = "npz";
    for (const auto& member : zip_.names()) take(member);
    QUINTET_CHECK(!header.fields.empty(), "{}: holds no array [t, x, z] of float32 or float64", path);
    header.axes.resize(2);
    for (std::size_t d = 0; d < 2; ++d) read_axis(d, options);
    read_times(options);
    for (const auto& name : beside_)
      if (!used_.contains(name)) reading.leave(fmt::format("{} {}", name, arrays_.at(name).shape_text()));
  }

  void read(int field, std::uint64_t, const FieldBox& box, std::vector<float>& values) const override {
    read_as(field, box, values);
  }
  void read(int field, std::uint64_t, const FieldBox& box, std::vector<double>& values) const override {
    read_as(field, box, values);
  }

 private:
  Comm comm_;
  ZipFile zip_;
  std::vector<std::string> wanted_;  ///< fields that are needed; empty: all
  std::vector<std::string> beside_;  ///< arrays that are neither fields nor parameters
  std::set<std::string> used_;       ///< of these
  std::map<std::string, NpyHeader> arrays_;
  hdf5::Shape shape_;                 ///< [t, x, z] of all fields
  mutable std::string name_, bytes_;  ///< the array read last

  /// Sort a member: a field, a parameter, or something else.
  void take(const std::string& member) {
    if (!member.ends_with(".npy")) return;
    const auto name = member.substr(0, member.size() - 4);
    const auto what = fmt::format("{}: {}", zip_.path(), name);
    const auto front = zip_.read(member, most_npy_header_bytes);
    NpyHeader array;
    try {
      array = read_npy_header(front, zip_.size(member), what);
    } catch (const InputError&) {
      // Texts, objects and records are not fields; nor is a damaged array that is not needed.
      const auto type = type_of(front);
      const bool foreign = type.find_first_of("OUSVM") != std::string::npos;
      if (is_wanted(name) || (wanted_.empty() && !foreign)) throw;
      return reading.leave(fmt::format("{} ({})", name, type.empty() ? "unreadable" : "type " + type));
    }
    arrays_[name] = array;
    if (array.n_elements() == 1 && array.shape.size() <= 1) {
      const double value = numbers<double>(name)[0];
      if (!std::isfinite(value)) return reading.leave(fmt::format("{} = {}", name, value));
      header.parameters[name] = value;
    } else if (array.shape.size() == 3 && (is_wanted(name) || wanted_.empty())) {
      take_field(name, array, what);
    } else {
      beside_.push_back(name);
    }
  }

  [[nodiscard]] bool is_wanted(const std::string& name) const {
    return std::find(wanted_.begin(), wanted_.end(), name) != wanted_.end();
  }

  /// "|O" of a header {'descr': '|O', ...}.
  [[nodiscard]] static std::string type_of(const std::string& front) {
    const std::string key = "'descr':";
    const auto at = front.find(key);
    const auto begin = at == std::string::npos ? at : front.find('\'', at + key.size());
    const auto end = begin == std::string::npos ? begin : front.find('\'', begin + 1);
    return end == std::string::npos || end - begin > 16 ? "" : front.substr(begin + 1, end - begin - 1);
  }

  void take_field(const std::string& name, const NpyHeader& array, const std::string& what) {
    if (!array.element_type.starts_with("float")) {
      if (wanted_.empty()) return beside_.push_back(name);
      reading.assume(fmt::format("{} is {}: its numbers are taken as they are", name, array.element_type));
    }
    if (header.fields.empty()) shape_ = array.shape;
    QUINTET_CHECK(array.shape == shape_, "{}: has shape {}, but that of '{}' is {}", what, array.shape_text(),
                  header.fields.front().name, arrays_.at(header.fields.front().name).shape_text());
    header.double_precision = header.double_precision || array.element_size == 8;
    header.fields.push_back({name, "1", "", "", -1});
  }

  void read_axis(std::size_t d, const FieldSeriesOptions& options) {
    auto& axis = header.axes[d];
    axis.name = axis_names[d];
    const auto found = options.facts.find(axis.name);
    const bool stated = found != options.facts.end() && found->second.points != AxisFacts::Points::stored;
    axis.coordinates.assign(shape_[d + 1], 0);
    if (!stated) {
      QUINTET_CHECK(
          arrays_.contains(axis.name),
          "{}: has no coordinates '{}': state the ends and points of this axis (data.describe_files.axes)",
          zip_.path(), axis.name);
      const auto& array = arrays_.at(axis.name);
      QUINTET_CHECK(array.shape.size() == 1 && array.shape[0] == shape_[d + 1],
                    "{}: coordinates '{}' have shape {}, but the fields have {} points along it", zip_.path(),
                    axis.name, array.shape_text(), shape_[d + 1]);
      axis.coordinates = numbers<double>(axis.name);
      used_.insert(axis.name);
    }
    if (found == options.facts.end() || !found->second.periodic)
      reading.assume(fmt::format(
          "axis {} not periodic (the file does not say; describe_file(s).axes changes it)", axis.name));
    complete_axis(axis, options, false, zip_.path(), reading);
  }

  void read_times(const FieldSeriesOptions& options) {
    for (const auto* name : time_names) {
      const auto found = arrays_.find(name);
      if (found == arrays_.end() || !times.empty()) continue;
      QUINTET_CHECK(found->second.shape == hdf5::Shape{shape_[0]},
                    "{}: times '{}' have shape {}, but there are {} frames", zip_.path(), name,
                    found->second.shape_text(), shape_[0]);
      times = numbers<double>(name);
      used_.insert(name);
    }
    QUINTET_CHECK(options.time_spacing || !times.empty(),
                  "{}: has no times 't': state the time between frames (data.describe_files.time_spacing)",
                  zip_.path());
    const bool spaced = times.empty();
    for (std::uint64_t i = 0; i < shape_[0] && spaced; ++i) times.push_back((i + 1) * *options.time_spacing);
    n_frames = {shape_[0]};
  }

  /// Bytes [begin, begin + n) of an array's data.
  [[nodiscard]] std::string_view bytes(const std::string& name, std::uint64_t begin, std::uint64_t n) const {
    if (name_ != name) {
      name_.clear();
      bytes_ = zip_.read(name + ".npy");
      name_ = name;
    }
    return std::string_view(bytes_).substr(arrays_.at(name).begin + begin, n);
  }

  /// Elements [first, first + n) of an array in C order; all without these.
  template <class T>
  [[nodiscard]] std::vector<T> numbers(const std::string& name, std::uint64_t first = 0,
                                       std::uint64_t n = ~std::uint64_t{0}) const {
    const auto& array = arrays_.at(name);
    n = std::min(n, array.n_elements() - first);
    return npy_numbers<T>(bytes(name, first * array.element_size, n * array.element_size), array);
  }

  /// n elements, `stride` apart.
  template <class T>
  [[nodiscard]] std::vector<T> scattered(const std::string& name, std::uint64_t first, std::uint64_t stride,
                                         std::uint64_t n) const {
    const auto& array = arrays_.at(name);
    std::string row;
    for (std::uint64_t i = 0; i < n; ++i)
      row += bytes(name, (first + i * stride) * array.element_size, array.element_size);
    return npy_numbers<T>(row, array);
  }

  template <class T>
  void read_as(int field, const FieldBox& box, std::vector<T>& values) const {
    values.clear();
    together(comm_, [&] {
      const auto& name = header.fields[field].name;
      const std::uint64_t n_x = shape_[1], n_z = shape_[2];
      for (std::uint64_t t = box.first_frame; t < box.first_frame + box.n_frames; ++t)
        for (std::uint64_t x = box.space.start[0]; x < box.space.start[0] + box.space.count[0]; ++x) {
          const auto row =
              arrays_.at(name).fortran_order
                  ? scattered<T>(name, t + shape_[0] * (x + n_x * box.space.start[1]), shape_[0] * n_x,
                                 box.space.count[1])
                  : numbers<T>(name, (t * n_x + x) * n_z + box.space.start[1], box.space.count[1]);
          values.insert(values.end(), row.begin(), row.end());
        }
    });
  }
};

}  // namespace

std::unique_ptr<Source> open_npz(const Comm& comm, const std::string& path,
                                 const FieldSeriesOptions& options) {
  std::unique_ptr<Source> source;
  together(comm, [&] { source = std::make_unique<Npz>(comm, path, options); });
  return source;
}

}  // namespace quintet::field_formats
