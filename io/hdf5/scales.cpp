#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/config/tree.hpp"
#include "io/hdf5/detail.hpp"

// Axes as xarray and netCDF find them: "HDF5 Dimension Scale Specification" (The HDF Group, 2005), by its
// four attributes. HDF5's own functions for it are in a library that not every installation has.

namespace quintet::hdf5::detail {
namespace {

/// An entry of a scale's list of what lies along it.
struct Reference {
  hobj_ref_t dataset;
  int axis;
};

Type reference_type() {
  Type type(H5Tcreate(H5T_COMPOUND, sizeof(Reference)));
  H5Tinsert(type, "dataset", HOFFSET(Reference, dataset), H5T_STD_REF_OBJ);
  H5Tinsert(type, "dimension", HOFFSET(Reference, axis), H5T_NATIVE_INT);
  return type;
}

void write_fixed_text(const Context& context, hid_t object, const std::string& name,
                      const std::string& text) {
  const Type type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type, text.size() + 1);
  write_number_attribute(context, object, name, type, text.c_str(), {});
}

hobj_ref_t reference_to(const Context& context, const std::string& path) {
  hobj_ref_t reference{};
  context.check(H5Rcreate(&reference, context.file, path.c_str(), H5R_OBJECT, H5I_INVALID_HID), path,
                "refer to it");
  return reference;
}

/// What lies along a scale so far; none if the list cannot be read.
std::vector<Reference> references_of(hid_t scale) {
  constexpr hssize_t most = 4096;  // what an attribute holds
  if (H5Aexists(scale, "REFERENCE_LIST") <= 0) return {};
  const Attribute attribute(H5Aopen(scale, "REFERENCE_LIST", H5P_DEFAULT));
  const Space space(H5Aget_space(attribute));
  const hssize_t n = H5Sget_simple_extent_npoints(space);
  std::vector<Reference> found(std::clamp<hssize_t>(n, 0, most));
  const auto type = reference_type();
  if (n < 1 || n > most || H5Aread(attribute, type, found.data()) < 0) found.clear();
  return found;
}

/// The scales of one file, found as they are asked for.
class Scales {
 public:
  explicit Scales(const Context& context) : context_(context) {}

  /// The dataset of a group whose values are along this axis: of its name, or the times or steps of rows.
  const std::optional<std::string>& along(const std::string& group, const std::string& axis) {
    const auto [found, is_new] = found_.try_emplace({group, axis});
    for (const auto* name : {axis.c_str(), "time", "step"})
      if (is_new && !found->second && is_scale(group + "/" + name, axis)) found->second = group + "/" + name;
    return found->second;
  }

  /// Say of each scale what lies along it besides what it says already.
  void write(const std::map<std::string, std::vector<Reference>>& along) const {
    for (const auto& [path, more] : along) {
      const Dataset scale(
          context_.check(H5Dopen2(context_.file, path.c_str(), H5P_DEFAULT), path, "open it"));
      write_fixed_text(context_, scale, "CLASS", "DIMENSION_SCALE");
      write_fixed_text(context_, scale, "NAME", path.substr(path.rfind('/') + 1));
      auto all = references_of(scale);
      all.insert(all.end(), more.begin(), more.end());
      write_number_attribute(context_, scale, "REFERENCE_LIST", reference_type(), all.data(), {all.size()});
    }
  }

 private:
  [[nodiscard]] bool is_scale(const std::string& path, const std::string& axis) const {
    if (H5Lexists(context_.file, path.c_str(), H5P_DEFAULT) <= 0 ||
        H5Oexists_by_name(context_.file, path.c_str(), H5P_DEFAULT) <= 0)
      return false;
    const Object object(H5Oopen(context_.file, path.c_str(), H5P_DEFAULT));
    if (H5Iget_type(object) != H5I_DATASET || H5Aexists(object, "axes") <= 0) return false;
    const Space space(H5Dget_space(object));
    return H5Sget_simple_extent_ndims(space) == 1 &&
           read_texts_attribute(context_, object, path, "axes") == std::vector<std::string>{axis};
  }

  const Context& context_;
  std::map<std::pair<std::string, std::string>, std::optional<std::string>> found_;
};

/// Say of a dataset which scale lies along each axis. False if it has another number of axes.
bool write_list(const Context& context, const std::string& path, const std::vector<std::string>& scales) {
  const Dataset dataset(context.check(H5Dopen2(context.file, path.c_str(), H5P_DEFAULT), path, "open it"));
  const Space space(H5Dget_space(dataset));
  if (H5Sget_simple_extent_ndims(space) != std::ssize(scales)) return false;
  std::vector<hobj_ref_t> references;
  for (const auto& scale : scales) references.push_back(reference_to(context, scale));
  std::vector<hvl_t> lists;
  for (auto& reference : references) lists.push_back({1, &reference});
  const Type list(H5Tvlen_create(H5T_STD_REF_OBJ));
  write_number_attribute(context, dataset, "DIMENSION_LIST", list, lists.data(), {lists.size()});
  return true;
}

/// Attach datasets [path, axes] of a file; what has no scale along one of its axes is left as it is.
void attach(const Context& context, const std::map<std::string, std::vector<std::string>>& made) {
  Scales scales(context);
  std::map<std::string, std::vector<Reference>> along;
  for (const auto& [path, axes] : made) {
    const std::string group = path.substr(0, path.rfind('/'));
    std::vector<std::string> of_axes;
    for (const auto& axis : axes)
      if (const auto& scale = scales.along(group, axis)) of_axes.push_back(*scale);
    if (of_axes.size() < axes.size() || axes.empty()) continue;  // netCDF takes all axes or none
    if (axes.size() == 1 && of_axes[0] == path) {
      along.try_emplace(path);
      continue;
    }
    if (write_list(context, path, of_axes))
      for (std::size_t d = 0; d < of_axes.size(); ++d)
        along[of_axes[d]].push_back({reference_to(context, path), static_cast<int>(d)});
  }
  scales.write(along);
}

}  // namespace

void Context::attach_scales() const {
  try {
    attach(*this, std::exchange(unscaled, {}));
  } catch (const Error&) {  // of a file that was damaged before; the data do not depend on it
  }
}

}  // namespace quintet::hdf5::detail
