#include "io/hdf5/detail.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <exception>
#include <filesystem>
#include <limits>
#include <vector>

#include "io/config/tree.hpp"
#include "io/log/controls.hpp"
#include "io/log/counted.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::hdf5::detail {
namespace {

herr_t collect_error(unsigned, const H5E_error2_t* entry, void* client) {
  auto& texts = *static_cast<std::vector<std::string>*>(client);
  const std::string text = entry->desc ? entry->desc : "";
  if (!text.empty() && std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
  return 0;
}

bool names_full_disk(const std::string& text) {
  constexpr const char* signs[] = {"No space left", "Disk quota", "File too large", "MPI_ERR_NO_SPACE",
                                   "MPI_ERR_QUOTA"};
  return std::any_of(std::begin(signs), std::end(signs),
                     [&](const char* sign) { return text.find(sign) != std::string::npos; });
}

}  // namespace

void start_library() {
  static const bool once = [] {
    H5dont_atexit();
    H5open();
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    register_raw_texts();
    return true;
  }();
  static_cast<void>(once);
}

namespace {
/// Started before main(), so before MPI: else HDF5 cleans up in MPI_Finalize. Its clean-up (there or at exit)
/// closes once more what could not be closed on a full disk, and crashes. Our handles leave it nothing to
/// clean.
[[maybe_unused]] const bool started = (start_library(), true);
}  // namespace

std::string library_error() {
  std::vector<std::string> texts;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, collect_error, &texts);
  H5Eclear2(H5E_DEFAULT);
  std::string all;
  for (const auto& text : texts) all += (all.empty() ? "" : ": ") + printable(text, 400);
  return all.empty() ? "no reason given" : all;
}

std::string printable(std::string_view text, std::size_t most) {
  std::string clean = log::without_controls(text.substr(0, most));
  for (char& c : clean)
    if (c == '\n' || c == '\t') c = ' ';
  return text.size() > most ? clean + "..." : clean;
}

std::string joined(const std::vector<std::string>& names, std::size_t most) {
  std::string all;
  for (std::size_t i = 0; i < std::min(names.size(), most); ++i)
    all += (i ? ", " : "") + printable(names[i], 80);
  return names.size() > most ? all + fmt::format(", ... ({} in all)", names.size()) : all;
}

void sync_to_disk(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool good = descriptor >= 0 && ::fsync(descriptor) == 0;
  const int reason = errno;
  if (descriptor >= 0) ::close(descriptor);
  // Some file systems know no fsync of folders and say EINVAL; the rename is then as safe as they make it.
  if (!good && reason != EINVAL) {
    throw ResourceError(fmt::format("{}: cannot bring it to the disk: {}", path, std::strerror(reason)));
  }
}

namespace {

/// The files that this process has open.
std::vector<const Context*>& open_files() {
  static std::vector<const Context*> files;
  return files;
}

}  // namespace

Context::Context(Comm communicator, std::string file_path)
    : comm(std::move(communicator)), path(std::move(file_path)) {
  start_library();
  open_files().push_back(this);
}

Context::~Context() {
  std::erase(open_files(), this);
  // Closing flushes; where that fails on one rank (full disk), the others would wait for it in MPI for ever,
  // and a library built with assertions (HDF5 2.2 as Debian packages it) aborts.
  constexpr double patience_s = 5;
  try {
    // An error that one rank has alone: the others will not come to close the file.
    if (!write_failed && std::uncaught_exceptions() > 0 && !comm.all_arrive(patience_s)) write_failed = true;
    if (!write_failed && std::uncaught_exceptions() == 0) attach_scales();
    if (!write_failed) take_room(true);
  } catch (const Error&) {
    write_failed = true;
  }
  if (write_failed) file.abandon();
  if (file < 0) return;
  const Watch watch(*this);
  file.reset();
  give_back_room();
}

void Context::close() {
  if (file < 0) return;
  attach_scales();
  take_room(true);
  write_together([&] {
    if (file.reset() < 0) fail_write("file");
  });
  give_back_room();
}

void Context::hand_over() const {
  attach_scales();
  take_room(true);
  write_together([&] {
    if (H5Fflush(file, H5F_SCOPE_GLOBAL) < 0) fail_write("file");
  });
  restart_room();
}

void Context::write_together(const std::function<void()>& action) const {
  const Watch watch(*this);
  try {
    together(comm, [&] {
      try {
        action();
      } catch (const Error& error) {
        watch.failed(error.what());
        throw;
      }
    });
  } catch (...) {
    write_failed = true;
    for (const Context* other : open_files())
      if (comm.size() > 1 && other->comm.size() > 1 && other->writable) other->write_failed = true;
    throw;
  }
}

void Context::require_open() const {
  if (file < 0) throw InternalError(fmt::format("{}: used after it was closed", path));
}

std::uint64_t Context::bytes() const {
  if (made_here) return std::numeric_limits<std::int64_t>::max();
  if (image) return image->size();
  hsize_t size = 0;
  if (comm.size() == 1) {
    check(H5Fget_filesize(file, &size), "file", "find its size");
  } else {  // HDF5 does not know it while MPI-IO writes
    on_root(comm, [&] { size = std::filesystem::file_size(path); });
    size = comm.broadcast(size);
  }
  return size;
}

void Context::fail(std::string_view object, std::string_view action) const {
  const std::string reason = library_error();
  const std::string text = fmt::format("{}: {}: cannot {}: HDF5: {}", path, object, action, reason);
  if (names_full_disk(reason)) throw ResourceError(text);
  throw InputError(text);
}

void Context::fail_write(std::string_view object) const {
  throw ResourceError(
      fmt::format("{}: {}: cannot write (disk full?): HDF5: {}", path, object, library_error()));
}

std::uint64_t element_count(const Shape& shape, std::string_view what) {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  if (std::find(shape.begin(), shape.end(), 0u) != shape.end()) return 0;
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape) {
    QUINTET_CHECK(extent <= most / count, "{}: shape {} holds more elements than a file can", what,
                  shape_text(shape));
    count *= extent;
  }
  return count;
}

void check_complete(std::uint64_t given, std::uint64_t expected, std::string_view path,
                    std::string_view name) {
  QUINTET_CHECK(given == expected, "{}: {}: all ranks together give {}, but there are {}", path, name,
                counted(given, "row"), expected);
}

std::string shape_text(const Shape& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

Space make_space(const Shape& shape) {
  if (shape.empty()) return Space(H5Screate(H5S_SCALAR));
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  return Space(H5Screate_simple(extents.size(), extents.data(), nullptr));
}

Shape shape_of_space(hid_t space) {
  if (H5Sget_simple_extent_type(space) == H5S_NULL) return {0};
  const int rank = H5Sget_simple_extent_ndims(space);
  std::vector<hsize_t> extents(std::max(rank, 0));
  if (rank > 0) H5Sget_simple_extent_dims(space, extents.data(), nullptr);
  return {extents.begin(), extents.end()};
}

std::string type_name(hid_t type) {
  const auto bits = 8 * H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      return fmt::format("float{}", bits);
    case H5T_INTEGER:
      return fmt::format("{}int{}", H5Tget_sign(type) == H5T_SGN_NONE ? "u" : "", bits);
    case H5T_STRING:
      return "string";
    case H5T_ENUM:
      return "enum";
    case H5T_COMPOUND:
      return "compound";
    case H5T_REFERENCE:
      return "reference";
    case H5T_VLEN:
      return "variable-length list";
    case H5T_ARRAY:
      return "array";
    case H5T_OPAQUE:
      return "opaque";
    default:
      return "unknown";
  }
}

std::string without_padding(std::string text, hid_t type) {
  const bool spaces = H5Tget_strpad(type) == H5T_STR_SPACEPAD;
  text.resize(std::min(text.size(), text.find('\0')));
  text.resize(text.find_last_not_of(spaces ? ' ' : '\0') + 1);
  return text;
}

Type variable_text_type() {
  Type type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type, H5T_VARIABLE);
  H5Tset_cset(type, H5T_CSET_UTF8);
  return type;
}

}  // namespace quintet::hdf5::detail
