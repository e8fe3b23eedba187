#include "io/hdf5/file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "io/files/input_file.hpp"
#include "io/hdf5/detail.hpp"
#include "io/hdf5/seal.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "io/syntax/foreign_text.hpp"

namespace quintet::hdf5 {
namespace {

using detail::Context;

/// Keep metadata in memory until they are flushed: so the file on the disk is at every moment that of the
/// last flush, whole, with data behind it that nothing counts yet. Else HDF5 writes single pieces whenever
/// its cache is full, and a kill leaves counts of one time over data of another.
void keep_until_flushed(hid_t access) {
  H5AC_cache_config_t cache{};
  cache.version = H5AC__CURR_CACHE_CONFIG_VERSION;
  H5Pget_mdc_config(access, &cache);
  cache.evictions_enabled = false;
  cache.incr_mode = H5C_incr__off;
  cache.flash_incr_mode = H5C_flash_incr__off;
  cache.decr_mode = H5C_decr__off;
  H5Pset_mdc_config(access, &cache);
}

/// Access through MPI-IO where there is more than one rank; formats that HDF5 1.10 reads, with checksummed
/// metadata.
detail::Properties access_properties(const Comm& comm, bool writes) {
  detail::Properties access(H5Pcreate(H5P_FILE_ACCESS));
  if (writes) keep_until_flushed(access);
  H5Pset_fclose_degree(access, H5F_CLOSE_STRONG);
  // 1.8's object headers carry checksums; 1.10's superblock would refuse a file whose writer was killed.
  H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V110);
  if (comm.size() > 1) {
    H5Pset_fapl_mpio(access, *static_cast<const MPI_Comm*>(comm.native()), MPI_INFO_NULL);
    H5Pset_coll_metadata_write(access, true);
  } else {
    H5Pset_file_locking(access, true, true);  // lock where the file system can, go on where it cannot
  }
  return access;
}

/// Whether an HDF5 file's signature stands at 0, 512, 1024, 2048, ..., as its format asks for.
bool has_signature(std::ifstream& file, std::uintmax_t size) {
  constexpr std::array<char, 8> signature = {'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
  for (std::uintmax_t at = 0; at + signature.size() <= size; at = at == 0 ? 512 : 2 * at) {
    std::array<char, 8> found{};
    file.clear();
    file.seekg(static_cast<std::streamoff>(at));
    file.read(found.data(), found.size());
    if (found == signature) return true;
  }
  return false;
}

/// Throw where a file is of another kind, with the kind where it is known.
void check_signature(const std::string& path) {
  auto file = open_input_file(path);
  const auto size = std::filesystem::file_size(path);
  if (has_signature(file, size)) return;
  constexpr std::uintmax_t most = 1U << 16;
  std::string begin(std::min(size, most), '\0');
  file.clear();
  file.seekg(0);
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  const auto kind = foreign_kind(begin);
  QUINTET_CHECK(kind.empty(), "{}: this is {}, not an HDF5 file", path, kind);
  throw InputError(fmt::format("{}: is not an HDF5 file; is this the right file?", path));
}

void check_is_file(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  QUINTET_CHECK(std::filesystem::exists(status), "{}: no such file", path);
  QUINTET_CHECK(std::filesystem::is_regular_file(status), "{}: is not a file; expected an HDF5 file", path);
  // HDF5 takes an empty file that may be written for a new one.
  QUINTET_CHECK(std::filesystem::file_size(path) > 0, "{}: is empty; expected an HDF5 file", path);
  check_signature(path);
}

/// A file whose bytes each rank holds.
std::shared_ptr<Context> open_image(std::shared_ptr<Context> context) {
  together(context->comm, [&] { context->file = detail::open_bytes(context->path, *context->image); });
  return context;
}

std::shared_ptr<Context> open_context(const Comm& comm, const std::string& path, unsigned flags) {
  auto context = std::make_shared<Context>(comm, path);
  context->image = detail::mounted_bytes(path);
  if (!context->image && path.find(':') != std::string::npos) {
    const auto name = embedded_name(path);
    if (comm.broadcast(name.has_value())) {  // as rank 0 sees it
      context->own_image = detail::embedded_bytes(comm, name.value_or(EmbeddedName{}));
      context->image = context->own_image;
    }
  }
  if (context->image) {
    QUINTET_CHECK(flags == H5F_ACC_RDONLY, "{}: an expert of a registry is only read", path);
    return open_image(std::move(context));
  }
  context->writable = flags == H5F_ACC_RDWR;
  on_root(comm, [&] { check_is_file(path); });
  if (context->writable)
    if (const auto damage = unseal(comm, path))
      log::warning("{}; a value in it has changed since a run ended. It is gone on with", *damage);
  const auto access = access_properties(comm, context->writable);
  together(comm, [&] {
    context->file = detail::FileHandle(H5Fopen(path.c_str(), flags, access));
    if (context->file < 0) context->fail("file", "open it (is it a whole HDF5 file?)");
  });
  if (context->writable) context->restart_room();
  context->settled = 0;
  return context;
}

/// Throws ResourceError if not even a file's first bytes can be written: HDF5 2.2, as Debian builds it,
/// aborts there. A file that another process has locked, as HDF5 does while it is open, is not touched.
void check_room(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) return;  // HDF5 says why
  const bool is_open = ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  const std::string first_bytes(4096, '\0');
  errno = 0;
  const bool written =
      is_open || (::ftruncate(file, 0) == 0 && ::pwrite(file, first_bytes.data(), first_bytes.size(), 0) ==
                                                   static_cast<ssize_t>(first_bytes.size()));
  const int error = errno;
  const bool closed = ::close(file) == 0;
  QUINTET_CHECK(!is_open, "{}: another process has it open; nothing was written", path);
  if (!written || !closed)
    throw ResourceError(fmt::format("{}: cannot write it: {}", path, std::strerror(written ? errno : error)));
}

std::shared_ptr<Context> create_context(const Comm& comm, const std::string& path) {
  auto context = std::make_shared<Context>(comm, path);
  context->writable = context->made_here = true;
  on_root(comm, [&] { check_room(path); });
  const auto access = access_properties(comm, true);
  together(comm, [&] {
    context->file = detail::FileHandle(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access));
    if (context->file < 0) context->fail("file", "create it (is the folder there and writable?)");
  });
  return context;
}

std::shared_ptr<File::Implementation> make_implementation(std::shared_ptr<Context> context) {
  Group root(std::make_shared<Group::Implementation>(Group::Implementation{context, ""}));
  return std::make_shared<File::Implementation>(File::Implementation{std::move(context), std::move(root)});
}

}  // namespace

File File::create(const Comm& comm, const std::string& path) {
  return File(make_implementation(create_context(comm, path)));
}

File File::open(const Comm& comm, const std::string& path) {
  return File(make_implementation(open_context(comm, path, H5F_ACC_RDONLY)));
}

File File::open_for_update(const Comm& comm, const std::string& path) {
  return File(make_implementation(open_context(comm, path, H5F_ACC_RDWR)));
}

Group& File::root() { return implementation_->root; }
const Group& File::root() const { return implementation_->root; }
const std::string& File::path() const { return implementation_->context->path; }

void File::hand_over() {
  const auto& context = *implementation_->context;
  context.require_open();
  context.hand_over();
}

void File::take_room() {
  implementation_->context->require_open();
  implementation_->context->take_room();
}

void File::flush() {
  hand_over();
  const auto& context = *implementation_->context;
  on_root(context.comm, [&] { detail::sync_to_disk(context.path); });
}

void File::close() { implementation_->context->close(); }

}  // namespace quintet::hdf5
