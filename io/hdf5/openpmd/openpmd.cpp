#include "io/hdf5/openpmd/openpmd.hpp"

#include <algorithm>
#include <ctime>
#include <span>
#include <utility>

#include <hdf5.h>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"

namespace quintet::hdf5 {

namespace {

using Shape = std::vector<std::uint64_t>;

/// An HDF5 identifier that is closed.
template <herr_t (*Close)(hid_t)>
class Owned {
 public:
  explicit Owned(hid_t id = H5I_INVALID_HID) : id_(id) {}
  Owned(Owned&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  ~Owned() {
    if (id_ >= 0) Close(id_);
  }
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
};

Owned<H5Sclose> space_of(const Shape& shape) {
  const std::vector<hsize_t> extent(shape.begin(), shape.end());
  return Owned<H5Sclose>(shape.empty() ? H5Screate(H5S_SCALAR)
                                       : H5Screate_simple(extent.size(), extent.data(), nullptr));
}

/// A file that is made in memory: a full disk is met where its bytes are written, not within HDF5.
class MadeInMemory {
 public:
  MadeInMemory() {
    Owned<H5Pclose> access(H5Pcreate(H5P_FILE_ACCESS));
    constexpr std::size_t grain = std::size_t{1} << 20;
    check(H5Pset_fapl_core(access, grain, false));
    file_ = Owned<H5Fclose>(H5Fcreate("openpmd", H5F_ACC_TRUNC, H5P_DEFAULT, access));
    check(file_);
  }

  [[nodiscard]] Owned<H5Gclose> group(const std::string& path) const {
    Owned<H5Pclose> with_parents(H5Pcreate(H5P_LINK_CREATE));
    H5Pset_create_intermediate_group(with_parents, 1);
    Owned<H5Gclose> made(H5Gcreate2(file_, path.c_str(), with_parents, H5P_DEFAULT, H5P_DEFAULT));
    check(made);
    return made;
  }
  [[nodiscard]] Owned<H5Dclose> dataset(const std::string& path, const Shape& shape,
                                        const std::vector<double>& values) const {
    Owned<H5Dclose> made(H5Dcreate2(file_, path.c_str(), H5T_IEEE_F64LE, space_of(shape), H5P_DEFAULT,
                                    H5P_DEFAULT, H5P_DEFAULT));
    check(made);
    check(H5Dwrite(made, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()));
    return made;
  }

  /// Texts of fixed length, which all readers take.
  static void set(hid_t object, const char* name, std::span<const std::string> texts, const Shape& shape) {
    std::size_t width = 1;
    for (const auto& text : texts) width = std::max(width, text.size());
    std::string bytes;
    for (const auto& text : texts) bytes += text + std::string(width - text.size(), '\0');
    const Owned<H5Tclose> type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type, width);
    H5Tset_strpad(type, H5T_STR_NULLPAD);
    H5Tset_cset(type, H5T_CSET_UTF8);
    write(object, name, type, bytes.data(), shape);
  }
  static void set(hid_t object, const char* name, const std::string& text) {
    set(object, name, std::span(&text, 1), {});
  }
  static void set(hid_t object, const char* name, const char* text) { set(object, name, std::string(text)); }
  static void set(hid_t object, const char* name, double value) {
    write(object, name, H5T_NATIVE_DOUBLE, &value, {});
  }
  static void set(hid_t object, const char* name, std::uint32_t value) {
    write(object, name, H5T_NATIVE_UINT32, &value, {});
  }
  static void set(hid_t object, const char* name, std::span<const double> values) {
    write(object, name, H5T_NATIVE_DOUBLE, values.data(), {values.size()});
  }

  [[nodiscard]] hid_t root() const { return file_; }
  [[nodiscard]] std::string bytes() const {
    check(H5Fflush(file_, H5F_SCOPE_GLOBAL));
    const auto size = H5Fget_file_image(file_, nullptr, 0);
    check(size);
    std::string image(std::size_t(size), '\0');
    check(H5Fget_file_image(file_, image.data(), image.size()));
    return image;
  }

 private:
  template <class Result>
  static void check(const Result& result) {
    if (result < 0)
      throw ResourceError("an openPMD file cannot be made in memory: HDF5 refuses; is there memory left?");
  }
  static void write(hid_t object, const char* name, hid_t type, const void* values, const Shape& shape) {
    const Owned<H5Aclose> attribute(
        H5Acreate2(object, name, type, space_of(shape), H5P_DEFAULT, H5P_DEFAULT));
    check(attribute);
    check(H5Awrite(attribute, type, values));
  }

  Owned<H5Fclose> file_;
};

/// "2026-11-28 12:34:56 +0000", as the standard wants it.
std::string now() {
  const std::time_t seconds = std::time(nullptr);
  std::tm parts{};
  localtime_r(&seconds, &parts);
  std::array<char, 40> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S %z", &parts);
  return text.data();
}

void describe_mesh(hid_t object, const OpenPmdMesh& mesh, const OpenPmdIteration& iteration) {
  MadeInMemory::set(object, "geometry", "cartesian");
  MadeInMemory::set(object, "dataOrder", "C");
  MadeInMemory::set(object, "axisLabels", iteration.axes, {iteration.axes.size()});
  MadeInMemory::set(object, "gridSpacing", iteration.spacing);
  MadeInMemory::set(object, "gridGlobalOffset", iteration.lower);
  MadeInMemory::set(object, "gridUnitSI", 1.0);
  MadeInMemory::set(object, "unitDimension", mesh.dimension);
  MadeInMemory::set(object, "timeOffset", 0.0);
  MadeInMemory::set(object, "comment", mesh.text);
}

void describe_component(hid_t object, std::size_t n_axes) {
  constexpr double middle = 0.5;
  MadeInMemory::set(object, "unitSI", 1.0);
  MadeInMemory::set(object, "position", std::vector<double>(n_axes, middle));
}

void write_mesh(const MadeInMemory& image, const std::string& path, const OpenPmdMesh& mesh,
                const OpenPmdIteration& iteration) {
  const bool is_scalar = mesh.components.size() == 1 && mesh.components.front().name.empty();
  if (is_scalar) {
    const auto data = image.dataset(path, iteration.shape, mesh.components.front().values);
    describe_mesh(data, mesh, iteration);
    return describe_component(data, iteration.axes.size());
  }
  const auto record = image.group(path);
  describe_mesh(record, mesh, iteration);
  for (const auto& component : mesh.components)
    describe_component(image.dataset(path + "/" + component.name, iteration.shape, component.values),
                       iteration.axes.size());
}

}  // namespace

void write_openpmd(const std::string& folder, const OpenPmdIteration& iteration) {
  const MadeInMemory image;
  MadeInMemory::set(image.root(), "openPMD", "1.1.0");
  MadeInMemory::set(image.root(), "openPMDextension", std::uint32_t{0});
  MadeInMemory::set(image.root(), "basePath", "/data/%T/");
  MadeInMemory::set(image.root(), "meshesPath", "fields/");
  MadeInMemory::set(image.root(), "iterationEncoding", "fileBased");
  MadeInMemory::set(image.root(), "iterationFormat", "data_%T.h5");
  MadeInMemory::set(image.root(), "software", iteration.software);
  MadeInMemory::set(image.root(), "softwareVersion", iteration.version);
  MadeInMemory::set(image.root(), "date", now());
  MadeInMemory::set(image.root(), "comment", iteration.comment);
  const std::string base = fmt::format("/data/{}", iteration.step);
  {
    const auto instant = image.group(base);
    MadeInMemory::set(instant, "time", iteration.time);
    MadeInMemory::set(instant, "dt", iteration.dt);
    MadeInMemory::set(instant, "timeUnitSI", 1.0);
  }
  const auto fields = image.group(base + "/fields");
  for (const auto& mesh : iteration.meshes)
    write_mesh(image, fmt::format("{}/fields/{}", base, mesh.name), mesh, iteration);

  write_text_file(fmt::format("{}/data_{}.h5", folder, iteration.step), image.bytes());
}

}  // namespace quintet::hdf5
