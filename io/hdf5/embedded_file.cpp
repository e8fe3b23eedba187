#include "io/hdf5/embedded_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "io/config/suggest.hpp"
#include "io/config/tree.hpp"
#include "io/hdf5/checksum.hpp"
#include "io/hdf5/detail.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::hdf5 {
namespace {

namespace fs = std::filesystem;

constexpr hsize_t grain = 4096;

std::string group_of(const std::string& id) { return "/experts/" + id; }

detail::Properties strong_access() {
  detail::Properties access(H5Pcreate(H5P_FILE_ACCESS));
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V110);
  return access;
}

detail::FileHandle open_raw(const std::string& path, unsigned flags, hid_t access) {
  detail::FileHandle file(H5Fopen(path.c_str(), flags, access));
  QUINTET_CHECK(file >= 0, "{}: cannot open it: HDF5: {}", path, detail::library_error());
  return file;
}

struct Mount {
  std::string name;
  std::span<const std::byte> bytes;
};
std::optional<Mount> mounted;

}  // namespace

std::optional<EmbeddedName> embedded_name(const std::string& path) {
  std::error_code none;
  const auto colon = path.rfind(':');
  if (colon == std::string::npos || colon == 0 || fs::exists(path, none)) return std::nullopt;
  EmbeddedName name{path.substr(0, colon), path.substr(colon + 1)};
  if (!fs::is_regular_file(name.file, none)) return std::nullopt;
  return name;
}

void check_embedded_id(const std::string& id) {
  constexpr std::string_view more = "_-.+";
  const bool good =
      !id.empty() && id.size() <= 100 && id.front() != '.' && std::all_of(id.begin(), id.end(), [&](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               more.find(c) != std::string_view::npos;
      });
  QUINTET_CHECK(good,
                "'{}' is no name of an expert; expected 1 to 100 letters, digits, '_', '-', '+' and, not in "
                "front, '.'",
                detail::printable(id));
}

void refuse_registry(const File& file) {
  const auto& root = file.root();
  if (!root.has_attribute("schema") || root.text_attribute("schema") != registry_schema) return;
  const auto ids = root.has("experts") ? root.open_group("experts").names() : std::vector<std::string>{};
  throw InputError(fmt::format("{}: is a registry of models; name one: {}:ID, of {}", file.path(),
                               fs::path(file.path()).filename().string(), detail::joined(ids, 24)));
}

EmbeddedPlace place_of(const EmbeddedName& name) {
  EmbeddedPlace place{name.file + ":" + name.id, name.file, 0, 0, 0};
  {
    const File file = File::open(Comm::self(), name.file);
    check_header(file, registry_schema, registry_version);
    const auto experts = file.root().open_group("experts");
    const auto ids = experts.names();
    QUINTET_CHECK(std::find(ids.begin(), ids.end(), name.id) != ids.end(),
                  "{}: there is no expert '{}'; there {}{}", name.file, detail::printable(name.id),
                  ids.empty() ? "is none" : "are: " + detail::joined(ids, 24), did_you_mean(name.id, ids));
    const auto expert = experts.open_group(name.id);
    const auto shape = expert.shape("parameters");
    QUINTET_CHECK(expert.element_type("parameters") == "uint8" && shape.size() == 1 && shape[0] > 0,
                  "{}: parameters are {} of shape {}; expected bytes in one row", place.name,
                  expert.element_type("parameters"), detail::shape_text(shape));
    place.bytes = shape[0];
    const auto text = expert.text_attribute("checksum");
    const bool is_sum = text.size() == 22 && text.starts_with("xxh64:") &&
                        text.find_first_not_of("0123456789abcdef", 6) == std::string::npos;
    QUINTET_CHECK(is_sum, "{}: its checksum is '{}'; expected xxh64: and 16 digits", place.name,
                  detail::printable(text));
    place.checksum = std::stoull(text.substr(6), nullptr, 16);
  }
  const auto access = strong_access();
  const auto file = open_raw(name.file, H5F_ACC_RDONLY, access);
  const detail::Dataset dataset(H5Dopen2(file, (group_of(name.id) + "/parameters").c_str(), H5P_DEFAULT));
  const haddr_t offset = dataset < 0 ? HADDR_UNDEF : H5Dget_offset(dataset);
  const std::uint64_t size = fs::file_size(name.file);
  QUINTET_CHECK(offset != HADDR_UNDEF && offset <= size && place.bytes <= size - offset,
                "{}: its {} bytes do not lie in one piece within the {} bytes of the file: it is damaged, or "
                "was repacked in chunks",
                place.name, place.bytes, size);
  place.offset = offset;
  return place;
}

void read_embedded(const EmbeddedPlace& place, std::span<std::byte> to) {
  QUINTET_ASSERT(to.size() == place.bytes, "room for the bytes of an embedded file");
  const int file = ::open(place.file.c_str(), O_RDONLY | O_CLOEXEC);
  QUINTET_CHECK(file >= 0, "{}: cannot open it: {}", place.name, std::strerror(errno));
  std::size_t done = 0;
  ssize_t now = 1;
  while (done < to.size() && (now > 0 || errno == EINTR)) {
    now = ::pread(file, to.data() + done, to.size() - done, place.offset + done);
    if (now > 0) done += now;
  }
  const int reason = errno;
  ::close(file);
  QUINTET_CHECK(done == to.size(), "{}: cannot read byte {} of {}: {}", place.name, done, to.size(),
                now < 0 ? std::strerror(reason) : "the file ends before it");
  const auto sum = xxh64(to);
  QUINTET_CHECK(sum == place.checksum, "{}: checksum is {:016x}, but {:016x} was written: it is corrupt",
                place.name, sum, place.checksum);
}

Mounted::Mounted(std::string name, std::span<const std::byte> bytes) {
  if (mounted) throw InternalError(fmt::format("{} is mounted already", mounted->name));
  mounted = Mount{std::move(name), bytes};
}
Mounted::~Mounted() { mounted.reset(); }

std::optional<std::span<const std::byte>> detail::mounted_bytes(const std::string& name) {
  if (!mounted || mounted->name != name) return std::nullopt;
  return mounted->bytes;
}

std::vector<std::byte> detail::embedded_bytes(const Comm& comm, const EmbeddedName& name) {
  EmbeddedPlace place;
  std::vector<std::byte> bytes;
  on_root(comm, [&] {
    place = place_of(name);
    bytes.resize(place.bytes);
    read_embedded(place, bytes);
  });
  bytes.resize(comm.broadcast(static_cast<std::uint64_t>(bytes.size())));
  if (comm.size() > 1) comm.broadcast(std::span(bytes));
  return bytes;
}

namespace {

// A file image that HDF5 reads where it lies: it asks for room and copies, and is given the very bytes.
using Image = std::span<const std::byte>;
void* image_room(std::size_t, H5FD_file_image_op_t, void* image) {
  return const_cast<std::byte*>(static_cast<const Image*>(image)->data());
}
void* image_copy(void* to, const void*, std::size_t, H5FD_file_image_op_t, void*) { return to; }
void* image_growth(void*, std::size_t, H5FD_file_image_op_t, void*) { return nullptr; }
herr_t image_end(void*, H5FD_file_image_op_t, void*) { return 0; }
void* same_image(void* image) { return image; }
herr_t keep_image(void*) { return 0; }

}  // namespace

detail::FileHandle detail::open_bytes(const std::string& name, const Image& bytes) {
  start_library();
  const auto access = strong_access();
  H5Pset_fapl_core(access, 1 << 16, false);
  H5FD_file_image_callbacks_t calls{
      image_room, image_copy, image_growth, image_end, same_image, keep_image, const_cast<Image*>(&bytes)};
  if (H5Pset_file_image_callbacks(access, &calls) < 0 ||
      H5Pset_file_image(access, const_cast<std::byte*>(bytes.data()), bytes.size()) < 0)
    throw InternalError("HDF5 takes no file image: " + library_error());
  const std::string alias = name + " (bytes)";  // the driver refuses the name of a file that is there
  FileHandle file(H5Fopen(alias.c_str(), H5F_ACC_RDONLY, access));
  QUINTET_CHECK(file >= 0, "{}: cannot open it (is it a whole HDF5 file?): HDF5: {}", name, library_error());
  return file;
}

void embed(const std::string& file, const std::string& id, std::span<const std::byte> bytes) {
  check_embedded_id(id);
  {
    const auto access = strong_access();
    // Whatever is as long as the bytes, or longer, begins at a multiple of the grain: the bytes do.
    H5Pset_alignment(access, std::min<hsize_t>(bytes.size(), grain), grain);
    auto handle = open_raw(file, H5F_ACC_RDWR, access);
    const detail::Properties links(H5Pcreate(H5P_LINK_CREATE)), creation(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_create_intermediate_group(links, 1);
    H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
    H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
    const auto space = detail::make_space({bytes.size()});
    detail::Dataset dataset(H5Dcreate2(handle, (group_of(id) + "/parameters").c_str(), H5T_NATIVE_UINT8,
                                       space, links, creation, H5P_DEFAULT));
    const bool written =
        dataset >= 0 &&
        H5Dwrite(dataset, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) >= 0 &&
        dataset.reset() >= 0 && handle.reset() >= 0;
    if (!written)
      throw ResourceError(
          fmt::format("{}: cannot write {} (disk full?): HDF5: {}", file, id, detail::library_error()));
  }
  auto registry = File::open_for_update(Comm::self(), file);
  auto expert = registry.root().open_group("experts").open_group(id);
  expert.set_member_attribute("parameters", "units", "1");
  expert.set_member_attribute("parameters", "axes", std::vector<std::string>{"byte"});
  expert.set_member_attribute("parameters", "description", "The model's own file; layout says where in it");
  expert.set_attribute("checksum", fmt::format("xxh64:{:016x}", xxh64(bytes)));
  registry.close();
}

void take_out(const std::string& file, const std::string& id) {
  const auto access = strong_access();
  auto handle = open_raw(file, H5F_ACC_RDWR, access);
  const bool done = H5Ldelete(handle, group_of(id).c_str(), H5P_DEFAULT) >= 0 && handle.reset() >= 0;
  if (!done)
    throw ResourceError(fmt::format("{}: cannot take out {}: HDF5: {}", file, id, detail::library_error()));
}

namespace {

struct Visit {
  hid_t file;
  std::vector<LaidOut> found;
};

herr_t add_dataset(hid_t, const char* name, const H5O_info_t* info, void* visit) {
  if (info->type != H5O_TYPE_DATASET) return 0;
  auto& all = *static_cast<Visit*>(visit);
  const detail::Dataset dataset(H5Dopen2(all.file, name, H5P_DEFAULT));
  if (dataset < 0) return -1;
  const haddr_t offset = H5Dget_offset(dataset);
  if (offset == HADDR_UNDEF) return 0;
  const detail::Type type(H5Dget_type(dataset));
  const detail::Space space(H5Dget_space(dataset));
  const auto kind = H5Tget_class(type);
  if (kind == H5T_FLOAT || kind == H5T_INTEGER)
    all.found.push_back(
        {"/" + detail::printable(name), offset, detail::shape_of_space(space), detail::type_name(type)});
  return 0;
}

}  // namespace

std::vector<LaidOut> layout_of(std::span<const std::byte> bytes, const std::string& name) {
  const auto file = detail::open_bytes(name, bytes);
  Visit visit{file, {}};
#if H5_VERSION_GE(1, 12, 0)
  const herr_t done = H5Ovisit3(
      file, H5_INDEX_NAME, H5_ITER_NATIVE,
      [](hid_t group, const char* member, const H5O_info2_t* info, void* data) -> herr_t {
        H5O_info_t kind{};
        kind.type = info->type;
        return add_dataset(group, member, &kind, data);
      },
      &visit, H5O_INFO_BASIC);
#else
  const herr_t done = H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_NATIVE, add_dataset, &visit, H5O_INFO_BASIC);
#endif
  QUINTET_CHECK(done >= 0, "{}: its datasets cannot be listed: {}", name, detail::library_error());
  std::sort(visit.found.begin(), visit.found.end(),
            [](const auto& a, const auto& b) { return a.offset < b.offset; });
  return visit.found;
}

}  // namespace quintet::hdf5
