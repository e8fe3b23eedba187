#include <array>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "io/config/tree.hpp"
#include "io/files/input_file.hpp"
#include "io/hdf5/detail.hpp"

// HDF5 1.10 keeps variable-length texts in global heaps and follows their addresses without looking: an index
// that is not there or a length that is too small makes it read or write outside its memory. So the heaps of
// a file that we did not make are walked before HDF5 is asked. Format: "HDF5 File Format Specification,
// version 3.0", III.E and VIII.A.

namespace quintet::hdf5::detail {
namespace {

/// A variable-length text as it stands in the file: length, address of its heap, number of the object in the
/// heap.
struct RawText {
  std::uint32_t length;
  std::uint32_t address[2];
  std::uint32_t index;
  [[nodiscard]] std::uint64_t heap() const { return std::bit_cast<std::uint64_t>(address); }
};
static_assert(sizeof(RawText) == 16);

Type raw_text_type() {
  Type type(H5Tcreate(H5T_OPAQUE, sizeof(RawText)));
  H5Tset_tag(type, "quintet raw text");
  return type;
}

/// "Converts" a stored text to what is stored.
herr_t keep_raw(hid_t source, hid_t target, H5T_cdata_t* data, std::size_t, std::size_t, std::size_t, void*,
                void*, hid_t) {
  if (data->command != H5T_CONV_INIT) return 0;
  data->need_bkg = H5T_BKG_NO;
  const bool variable = H5Tis_variable_str(source) > 0 || H5Tget_class(source) == H5T_VLEN;
  const bool ours =
      variable && H5Tget_size(source) == sizeof(RawText) && H5Tget_size(target) == sizeof(RawText);
  return ours ? 0 : -1;
}

template <class T>
T number_at(const std::string& bytes, std::size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

/// The file's bytes, read past the library.
class RawFile {
 public:
  explicit RawFile(const Context& context) : context_(context) {
    if (!context.image) file_ = open_input_file(context.path);
    const Properties creation(H5Fget_create_plist(context.file));
    std::size_t address_bytes = 0, size_bytes = 0;
    H5Pget_userblock(creation, &base_);
    bytes_ = (context.image ? context.image->size() : std::filesystem::file_size(context.path)) - base_;
    H5Pget_sizes(creation, &address_bytes, &size_bytes);
    QUINTET_CHECK(address_bytes == 8 && size_bytes == 8, "{}: has addresses of {} bytes; only 8 are read",
                  context.path, address_bytes);
  }
  std::string read(std::uint64_t address, std::uint64_t n) {
    QUINTET_CHECK(address <= bytes_ && n <= bytes_ - address,
                  "{}: a text lies outside the file: it is corrupt or truncated", context_.path);
    if (context_.image)
      return {reinterpret_cast<const char*>(context_.image->data()) + base_ + address, std::size_t{n}};
    std::string bytes(n, '\0');
    file_.clear();
    file_.seekg(static_cast<std::streamoff>(base_ + address));
    file_.read(bytes.data(), n);
    QUINTET_CHECK(file_.gcount() == static_cast<std::streamsize>(n),
                  "{}: cannot read {} bytes at {}: it is truncated", context_.path, n, address);
    return bytes;
  }

 private:
  const Context& context_;
  std::ifstream file_;
  hsize_t base_ = 0;
  std::uint64_t bytes_ = 0;  ///< after the base
};

/// Sizes of the objects of a global heap by their numbers. Throws InputError unless all lie within the heap.
std::map<std::uint32_t, std::uint64_t> heap_objects(RawFile& file, std::uint64_t address,
                                                    const std::string& path) {
  constexpr std::uint64_t header = 16;
  const std::string start = file.read(address, header);
  QUINTET_CHECK(start.starts_with("GCOL\1"), "{}: there is no heap of texts at {}: it is corrupt", path,
                address);
  const auto size = number_at<std::uint64_t>(start, 8);
  QUINTET_CHECK(size >= 4096, "{}: the heap of texts at {} has {} bytes: it is corrupt", path, address, size);
  const std::string heap = file.read(address, size);
  std::map<std::uint32_t, std::uint64_t> objects;
  for (std::uint64_t at = header; at + header <= size;) {
    const auto index = number_at<std::uint16_t>(heap, at);
    const auto bytes = number_at<std::uint64_t>(heap, at + 8);
    if (index == 0) {  // free space: must reach to the end, else HDF5 walks on for ever
      QUINTET_CHECK(bytes == size - at, "{}: the heap of texts at {} has a hole: it is corrupt", path,
                    address);
      break;
    }
    QUINTET_CHECK(bytes <= size - at - header,
                  "{}: text {} in the heap at {} is larger than the heap: it is corrupt", path, index,
                  address);
    objects[index] = bytes;
    at += header + (bytes + 7) / 8 * 8;
  }
  return objects;
}

}  // namespace

void register_raw_texts() {
  H5Tregister(H5T_PERS_SOFT, "quintet_raw_text", variable_text_type(), raw_text_type(), keep_raw);
  const Type list(H5Tvlen_create(H5T_STD_REF_OBJ));
  H5Tregister(H5T_PERS_SOFT, "quintet_raw_list", list, raw_text_type(), keep_raw);
}

void check_variable_texts(const Context& context, std::size_t count, const std::string& what,
                          const std::function<herr_t(hid_t type, void* raw)>& read, std::size_t element) {
  if (context.made_here || count == 0) return;
  if (context.writable) context.check(H5Fflush(context.file, H5F_SCOPE_LOCAL), what, "flush before a check");
  std::vector<RawText> texts(count);
  context.check(read(raw_text_type(), texts.data()), what, "read its texts");
  on_root(context.comm, [&] {
    RawFile file(context);
    for (const RawText& text : texts) {
      if (text.heap() == 0) continue;  // a text that was never written
      const auto objects = heap_objects(file, text.heap(), context.path);
      const auto found = objects.find(text.index);
      QUINTET_CHECK(found != objects.end() && found->second == std::uint64_t{text.length} * element,
                    "{}: {}: its text of {} bytes is not in the heap that it names: the file is corrupt",
                    context.path, what, std::uint64_t{text.length} * element);
    }
  });
}

namespace {

/// Looks at the attributes of an object that are texts or lists of variable length.
void check_attributes(const Context& context, hid_t object, const std::string& name) {
  std::vector<std::string> attributes;
  const auto collect = [](hid_t, const char* attribute, const H5A_info_t*, void* list) -> herr_t {
    static_cast<std::vector<std::string>*>(list)->emplace_back(attribute);
    return 0;
  };
  hsize_t at = 0;
  // Decodes each of them: the iteration of HDF5 1.10 crashes where one cannot be.
  context.check(H5Aexists(object, " "), name, "list its attributes");
  context.check(H5Aiterate2(object, H5_INDEX_NAME, H5_ITER_NATIVE, &at, collect, &attributes), name,
                "list its attributes");
  for (const auto& one : attributes) {
    const auto what = fmt::format("attribute '{}' of '{}'", printable(one), printable(name));
    const Attribute attribute(context.check(H5Aopen(object, one.c_str(), H5P_DEFAULT), what, "open it"));
    const Type type(context.check(H5Aget_type(attribute), what, "find its type"));
    const bool is_list = H5Tget_class(type) == H5T_VLEN;
    if (!is_list && H5Tis_variable_str(type) <= 0) continue;
    const Space space(context.check(H5Aget_space(attribute), what, "find its shape"));
    const std::uint64_t count = element_count(shape_of_space(space), what);
    QUINTET_CHECK(count <= context.bytes() / sizeof(RawText),
                  "{}: {}: claims {} values, more than the file can hold: it is corrupt", context.path, what,
                  count);
    std::size_t element = 1;
    if (is_list) {
      const Type inner(context.check(H5Tget_super(type), what, "find its type"));
      element = H5Tget_size(inner);
    }
    check_variable_texts(
        context, count, what, [&](hid_t raw_type, void* raw) { return H5Aread(attribute, raw_type, raw); },
        element);
  }
}

void check_group(const Context& context, const Group& group, const std::string& path, int depth) {
  QUINTET_CHECK(depth < 16, "{}: has groups 16 deep; fewer are read", context.path);
  const Object here(context.check(H5Oopen(context.file, path.c_str(), H5P_DEFAULT), path, "open it"));
  check_attributes(context, here, path);
  for (const auto& name : group.names()) {
    const auto full = (path == "/" ? "" : path) + "/" + name;
    if (group.is_group(name)) {
      check_group(context, group.open_group(name), full, depth + 1);
      continue;
    }
    const Object object(context.check(H5Oopen(context.file, full.c_str(), H5P_DEFAULT), full, "open it"));
    check_attributes(context, object, full);
  }
}

}  // namespace

}  // namespace quintet::hdf5::detail

namespace quintet::hdf5 {

void File::check_attributes() const { detail::check_group(*implementation_->context, root(), "/", 0); }

}  // namespace quintet::hdf5
