#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include <fmt/ranges.h>

#include "io/config/tree.hpp"
#include "io/fields/field_formats.hpp"
#include "io/fields/field_layout.hpp"
#include "io/fields/frame_checksums.hpp"
#include "io/hdf5/seal.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"

// Files of our own schema, and The Well's (https://polymathic-ai.org/the_well/data_format), of which ours is
// one.

namespace quintet::field_formats {
namespace {

/// How equations call what The Well's sets name otherwise, and the domain that their files do not state.
struct KnownData {
  const char* name;  ///< how dataset_name begins
  std::map<std::string, std::string> symbols;
  std::map<std::string, std::pair<double, double>> domain;
  std::vector<FieldWallValue> wall_values;
};

const std::vector<KnownData>& known_data() {
  static const std::vector<KnownData> data{{"rayleigh_benard",
                                            {{"y", "z"},
                                             {"buoyancy", "b"},
                                             {"pressure", "p"},
                                             {"velocity_x", "u"},
                                             {"velocity_y", "w"},
                                             {"Rayleigh", "Ra"},
                                             {"Prandtl", "Pr"}},
                                            {{"y", {0, 1}}},
                                            {{"b", "z", false, 1}, {"b", "z", true, 0}}}};
  return data;
}

bool is_ours(const hdf5::Group& root) {
  return root.has_attribute("schema") && root.has_attribute("schema_version") &&
         root.text_attribute("schema") == field_layout::schema;
}

std::string lower_case(std::string text) {
  for (auto& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// A flag of a member that may lack it.
bool flag(const hdf5::Group& group, const std::string& member, const std::string& name, bool otherwise) {
  if (!group.has_member_attribute(member, name)) return otherwise;
  const auto values = group.member_number_attribute(member, name);
  return !values.empty() &&
         std::all_of(values.begin(), values.end(), [](double value) { return value != 0; });
}

std::string text_or(const hdf5::Group& group, const std::string& member, const std::string& name,
                    const std::string& otherwise) {
  return group.has_member_attribute(member, name) ? group.member_text_attribute(member, name) : otherwise;
}

class FieldFile : public Source {
 public:
  FieldFile(const Comm& comm, const std::string& path, const FieldSeriesOptions& options)
      : file_(hdf5::open_verified(comm, path)),
        ours_(is_ours(file_.root())),
        compared_(comm, path, field_layout::checksum_name) {
    if (ours_) hdf5::check_header(file_, field_layout::schema, field_layout::schema_version);
    if (root().has_attribute("dataset_name")) header.name = root().text_attribute("dataset_name");
    for (const auto& one : known_data())
      if (!ours_ && header.name.starts_with(one.name)) known_ = &one;
    read_axes(options);
    read_times();
    read_fields();
    if (ours_) count_whole();
    read_samples();
    read_parameters();
    if (ours_) restore_order();
    read_mask();
    know_walls();
  }

  void read(int field, std::uint64_t sample, const FieldBox& box, std::vector<float>& values) const override {
    if (ours_) compared_.require(sample, box.first_frame, box.n_frames);
    values = root().read_box<float>(places_[field].path, box_of(field, sample, box));
  }
  void read(int field, std::uint64_t sample, const FieldBox& box,
            std::vector<double>& values) const override {
    if (ours_) compared_.require(sample, box.first_frame, box.n_frames);
    values = root().read_box<double>(places_[field].path, box_of(field, sample, box));
  }

 private:
  /// Where a field lies.
  struct Place {
    std::string path;
    std::uint64_t component, n_components;  ///< 0 components: a scalar
  };

  hdf5::File file_;
  bool ours_;
  mutable field_layout::ComparedFrames compared_;
  const KnownData* known_ = nullptr;
  std::vector<std::string> spatial_dims_;  ///< as the file names them
  std::vector<Place> places_;              ///< of the fields

  [[nodiscard]] const hdf5::Group& root() const { return file_.root(); }
  [[nodiscard]] const std::string& path() const { return file_.path(); }

  [[nodiscard]] std::string symbol(const std::string& name) const {
    if (known_ == nullptr) return name;
    const auto found = known_->symbols.find(name);
    return found == known_->symbols.end() ? name : found->second;
  }

  // A length that the file does not say is taken from the named collection, or assumed from its points and
  // told.
  void read_axes(const FieldSeriesOptions& options) {
    const auto dimensions = root().open_group("dimensions");
    spatial_dims_ = dimensions.texts_attribute("spatial_dims");
    QUINTET_CHECK(!spatial_dims_.empty() && spatial_dims_.size() <= 3,
                  "{}: has {} spatial_dims; expected 1 to 3", path(), spatial_dims_.size());
    for (const auto& name : spatial_dims_) {
      FieldAxis axis;
      axis.name = symbol(name);
      axis.units = text_or(dimensions, name, "units", "1");
      QUINTET_CHECK(dimensions.shape(name).size() == 1,
                    "{}: dimensions/{} has {} axes: grids that differ between samples are not read", path(),
                    name, dimensions.shape(name).size());
      axis.coordinates = dimensions.read<double>(name);
      axis.periodic = is_periodic(name);
      bool known = true;
      if (dimensions.has_member_attribute(name, "lower") && dimensions.has_member_attribute(name, "upper")) {
        axis.lower = one_number(dimensions, name, "lower");
        axis.upper = one_number(dimensions, name, "upper");
      } else if (known_ != nullptr && known_->domain.contains(name)) {
        std::tie(axis.lower, axis.upper) = known_->domain.at(name);
        if (const auto own = options.facts.find(axis.name); own == options.facts.end() || !own->second.lower)
          reading.assume(fmt::format("axis {} from {} to {}, as all of {} (describe_file(s).axes changes it)",
                                     axis.name, axis.lower, axis.upper, known_->name));
      } else {
        known = false;
      }
      complete_axis(axis, options, known, path(), reading);
      header.axes.push_back(std::move(axis));
    }
  }

  [[nodiscard]] double one_number(const hdf5::Group& group, const std::string& member,
                                  const std::string& name) const {
    const auto values = group.member_number_attribute(member, name);
    QUINTET_CHECK(values.size() == 1, "{}: {}: its attribute '{}' holds {} numbers; expected one", path(),
                  member, name, values.size());
    return values[0];
  }

  [[nodiscard]] bool is_periodic(const std::string& axis) const {
    if (!root().has("boundary_conditions")) return false;
    const auto boundaries = root().open_group("boundary_conditions");
    for (const auto& name : boundaries.names()) {
      const auto boundary = boundaries.open_group(name);
      const auto axes = boundary.texts_attribute("associated_dims");
      if (std::find(axes.begin(), axes.end(), axis) != axes.end() &&
          lower_case(boundary.text_attribute("bc_type")) == "periodic")
        return true;
    }
    return false;
  }

  void read_times() {
    const auto dimensions = root().open_group("dimensions");
    header.time_units = text_or(dimensions, "time", "units", "1");
    const auto shape = dimensions.shape("time");
    times = ours_ && shape.size() == 1
                ? dimensions.read_rows<double>("time", 0, dimensions.whole_rows("time"))
                : dimensions.read<double>("time");
    if (shape.size() == 1) return;
    QUINTET_CHECK(shape.size() == 2 && shape[0] > 0, "{}: dimensions/time has {} axes; expected 1 or 2",
                  path(), shape.size());
    for (std::size_t i = shape[1]; i < times.size(); ++i)
      QUINTET_CHECK(
          times[i] == times[i % shape[1]],
          "{}: dimensions/time: frame {} of sample {} has time {}, that of sample 0 {}: samples of one file "
          "must share their times",
          path(), i % shape[1], i / shape[1], times[i], times[i % shape[1]]);
    times.resize(shape[1]);
  }

  void read_fields() {
    for (std::uint64_t order = 0; order < 3; ++order) {
      const auto name = fmt::format("t{}_fields", order);
      if (!root().has(name)) continue;
      const auto group = root().open_group(name);
      for (const auto& dataset :
           group.has_attribute("field_names") ? group.texts_attribute("field_names") : group.names())
        read_dataset(group, name, dataset, order);
    }
    QUINTET_CHECK(!header.fields.empty(), "{}: has no fields over time", path());
  }

  /// The fields of a dataset; those that do not vary in time, between samples and along all axes are left
  /// out.
  void read_dataset(const hdf5::Group& group, const std::string& group_name, const std::string& dataset,
                    std::uint64_t order) {
    if (!flag(group, dataset, "time_varying", true) || !flag(group, dataset, "sample_varying", true) ||
        !flag(group, dataset, "dim_varying", true))
      return reading.leave(fmt::format("{}/{}, which does not vary", group_name, dataset));
    const auto shape = group.shape(dataset);
    const std::size_t n_axes = spatial_dims_.size();
    hdf5::Shape expected{shape.empty() ? 0 : shape[0], times.size()};
    for (const auto& axis : header.axes) expected.push_back(axis.size());
    std::uint64_t n_components = 1;
    for (std::uint64_t k = 0; k < order; ++k) n_components *= n_axes;
    if (order > 0) expected.push_back(n_components);
    if (ours_ && shape.size() > 1) expected[1] = shape[1];  // as it was when the run died: see count_whole()
    QUINTET_CHECK(shape == expected && shape[0] > 0,
                  "{}: {}/{} has shape [{}], but its samples, times and axes make [{}]", path(), group_name,
                  dataset, fmt::join(shape, ", "), fmt::join(expected, ", "));
    const auto type = group.element_type(dataset);
    QUINTET_CHECK(type == "float32" || type == "float64", "{}: {}/{} holds {}; expected float32 or float64",
                  path(), group_name, dataset, type);
    QUINTET_CHECK(header.fields.empty() || shape[0] == header.n_samples,
                  "{}: {}/{} has {} samples, but the fields before have {}", path(), group_name, dataset,
                  shape[0], header.n_samples);
    header.n_samples = shape[0];
    header.double_precision = header.double_precision || type == "float64";
    const auto symbols = group.has_member_attribute(dataset, "symbol") && ours_
                             ? group.member_texts_attribute(dataset, "symbol")
                             : std::vector<std::string>{};
    for (std::uint64_t c = 0; c < n_components; ++c) {
      FieldInfo field;
      field.name = c < symbols.size() ? symbols[c] : symbol(dataset + suffix(c, order));
      field.units = text_or(group, dataset, "units", "1");
      field.text = text_or(group, dataset, "description", "");
      field.dataset = dataset;
      field.component = order == 0 ? -1 : static_cast<int>(c);
      places_.push_back({group_name + "/" + dataset, c, order == 0 ? 0 : n_components});
      header.fields.push_back(std::move(field));
    }
  }

  /// "_x" of a vector's, "_xy" of a tensor's component.
  [[nodiscard]] std::string suffix(std::uint64_t component, std::uint64_t order) const {
    std::string text = order == 0 ? "" : "_";
    const std::size_t front = text.size();
    for (std::uint64_t k = 0; k < order; ++k, component /= spatial_dims_.size())
      text.insert(front, spatial_dims_[component % spatial_dims_.size()]);
    return text;
  }

  /// The frames that are whole in all that they are made of, with times that ascend: what a run that was
  /// killed left behind them does not count.
  void count_whole() {
    std::uint64_t n = times.size();
    for (const auto& place : places_) n = std::min(n, root().whole_rows(place.path, 1));
    times.resize(n);
    keep_rising(times, path());
  }

  void read_samples() {
    n_frames.assign(header.n_samples, times.size());
    if (root().has_attribute("n_trajectories")) {
      const auto n = root().integer_attribute("n_trajectories");
      QUINTET_CHECK(n == static_cast<std::int64_t>(header.n_samples),
                    "{}: says that it has {} trajectories, but its fields have {}", path(), n,
                    header.n_samples);
    }
    if (!ours_) return;
    const auto counts = root().read<std::int64_t>("n_frames", {header.n_samples});
    for (std::size_t i = 0; i < counts.size(); ++i) {
      QUINTET_CHECK(counts[i] >= 0, "{}: n_frames: sample {} claims {} frames: the file is corrupt", path(),
                    i, counts[i]);
      n_frames[i] = std::min<std::uint64_t>(static_cast<std::uint64_t>(counts[i]), times.size());
      if (static_cast<std::uint64_t>(counts[i]) > n_frames[i])
        log::warning(
            "{}: sample {} counts {} frames, of which {} are whole: its run was killed; go on with it, "
            "or take these",
            path(), i, counts[i], n_frames[i]);
    }
  }

  void read_parameters() {
    if (!root().has("scalars")) return;
    const auto scalars = root().open_group("scalars");
    for (const auto& name : scalars.names()) {
      if (scalars.is_group(name)) continue;
      if (flag(scalars, name, "time_varying", false)) {  // a series, no parameter
        reading.leave("scalars/" + name + " over time");
        continue;
      }
      if (name == "seed" && scalars.element_type(name).find("int") != std::string::npos) {
        header.seeds = scalars.read<std::int64_t>(name, {header.n_samples});
        continue;
      }
      const auto values = scalars.read<double>(name);
      const auto own = text_or(scalars, name, "symbol", symbol(name));
      QUINTET_CHECK(values.size() == 1 || values.size() == header.n_samples,
                    "{}: scalars/{} holds {} values; expected one, or one of each of the {} samples", path(),
                    name, values.size(), header.n_samples);
      if (values.size() == 1) {
        header.parameters[own] = values[0];
        continue;
      }
      own_parameters.resize(header.n_samples);
      for (std::size_t i = 0; i < values.size(); ++i) own_parameters[i][own] = values[i];
    }
  }

  /// Fields as the writer was given them.
  void restore_order() {
    const auto order = root().texts_attribute("fields");
    auto fields = std::exchange(header.fields, {});
    const auto places = std::exchange(places_, {});
    for (const auto& name : order)
      for (std::size_t i = 0; i < fields.size(); ++i)
        if (fields[i].name == name) {
          header.fields.push_back(fields[i]);
          places_.push_back(places[i]);
          fields[i].name.clear();
        }
    QUINTET_CHECK(header.fields.size() == fields.size() && order.size() == fields.size(),
                  "{}: its attribute 'fields' does not list the fields that it has: it is corrupt", path());
  }

  /// Find the values at walls: as the set's makers say, or as `meshfreeflow simulate` has it.
  void know_walls() {
    if (known_ != nullptr) header.wall_values = known_->wall_values;
    if (!ours_ || !header.name.starts_with("rayleigh_benard")) return;
    const auto sides = header.parameters.find("heated_sides");
    const char* const axis = sides != header.parameters.end() && sides->second != 0 ? "x" : "z";
    header.wall_values = {{"b", axis, false, 0.5}, {"b", axis, true, -0.5}};
  }

  void read_mask() {
    if (!ours_ || !root().has("mask")) return;
    header.mask = root().read<std::uint8_t>("mask", header.shape());
  }

  [[nodiscard]] hdf5::Box box_of(int field, std::uint64_t sample, const FieldBox& box) const {
    hdf5::Box whole{{sample, box.first_frame}, {box.n_frames > 0 ? 1u : 0u, box.n_frames}};
    whole.start.insert(whole.start.end(), box.space.start.begin(), box.space.start.end());
    whole.count.insert(whole.count.end(), box.space.count.begin(), box.space.count.end());
    if (const auto& place = places_[field]; place.n_components > 0) {
      whole.start.push_back(place.component);
      whole.count.push_back(1);
    }
    return whole;
  }
};

}  // namespace

bool is_field_series(const hdf5::Group& root) {
  return is_ours(root) || (!root.has_attribute("schema") && root.has("dimensions") && root.has("t0_fields"));
}

std::unique_ptr<Source> open_field_series(const Comm& comm, const std::string& path,
                                          const FieldSeriesOptions& options) {
  return std::make_unique<FieldFile>(comm, path, options);
}

}  // namespace quintet::field_formats
