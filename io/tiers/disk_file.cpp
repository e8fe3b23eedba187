#include "io/tiers/disk_file.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "io/log/error.hpp"
#include "io/tiers/grain_memory.hpp"
#include "io/tiers/ledger.hpp"

namespace quintet {

namespace {

constexpr long tmpfs_magic = 0x01021994, ramfs_magic = 0x858458f6;

}  // namespace

DiskFile::DiskFile(Options options)
    : options_(std::move(options)), path_(options_.folder + "/" + options_.name) {
  if (options_.nameless) path_ += fmt::format(".{}", ::getpid());
  const auto& folder = options_.folder;
  struct stat status {};
  QUINTET_CHECK(::stat(folder.c_str(), &status) == 0 && S_ISDIR(status.st_mode),
                "{}: {} is no folder; expected one on a disk of this node", options_.key, folder);
  const auto open = [&](int more) {
    return ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | more, 0600);
  };
  file_ = options_.direct ? open(O_DIRECT) : -1;
  direct_ = file_ >= 0;
  if (file_ < 0) file_ = open(0);
  const int reason = errno;
  if (file_ < 0 && (reason == ENOSPC || reason == EDQUOT)) fail("make", reason);
  QUINTET_CHECK(file_ >= 0, "{}: no file can be written in {}: {}; expected a folder on a disk of this node",
                options_.key, folder, std::strerror(reason));
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    ::close(file_);
    throw InputError(fmt::format("{}: {} is in use by another process; give each run a folder of its own",
                                 options_.key, path_));
  }
  if (options_.nameless) ::unlink(path_.c_str());
}

DiskFile::~DiskFile() {
  if (!stays_ && !options_.nameless) ::unlink(path_.c_str());
  ::close(file_);
}

void DiskFile::fail(const std::string& doing, int reason) const {
  throw ResourceError(fmt::format("{}: cannot {}: {}", path_, doing, std::strerror(reason)));
}

std::size_t DiskFile::size() const {
  struct stat status {};
  return ::fstat(file_, &status) == 0 ? static_cast<std::size_t>(status.st_size) : 0;
}

void DiskFile::take_space(std::size_t bytes, const std::string& what) {
  if (::ftruncate(file_, 0) != 0) fail("empty it", errno);
  struct statvfs space {};
  if (::statvfs(options_.folder.c_str(), &space) == 0) {
    const std::size_t free = std::size_t{space.f_bavail} * space.f_frsize;
    if (free < bytes)
      throw ResourceError(
          fmt::format("{}: {} ({}) do not fit into {}, which has {} free; expected a larger disk, or less to "
                      "keep there",
                      options_.key, text_of_bytes(bytes), what, options_.folder, text_of_bytes(free)));
  }
  struct statfs system {};
  const bool known = ::statfs(options_.folder.c_str(), &system) == 0;
  QUINTET_CHECK(
      !known || (system.f_type != tmpfs_magic && static_cast<std::uint32_t>(system.f_type) != ramfs_magic),
      "{}: {} lies in memory (tmpfs), which files there would fill like any other; expected a folder on a "
      "disk",
      options_.key, options_.folder);
  if (const int reason = ::posix_fallocate(file_, 0, bytes); reason != 0)
    fail(fmt::format("take {} of disk space", text_of_bytes(bytes)), reason);
  const auto grain = grain_memory(tier_grain);
  try {
    write(grain.get(), tier_grain, 0);
  } catch (const ResourceError&) {
    if (!direct_) throw;
    // Some file systems take the flag and then refuse each write.
    ::fcntl(file_, F_SETFL, ::fcntl(file_, F_GETFL) & ~O_DIRECT);
    direct_ = false;
    write(grain.get(), tier_grain, 0);
  }
}

void DiskFile::transfer(bool writes, std::byte* memory, std::size_t n, std::size_t at) {
  for (std::size_t done = 0; done < n;) {
    const off_t from = at + done;
    const ssize_t now = writes ? ::pwrite(file_, memory + done, n - done, from)
                               : ::pread(file_, memory + done, n - done, from);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) fail(writes ? "write" : "read", now < 0 ? errno : EIO);
    done += now;
  }
  if (direct_) return;
  if (writes && ::fdatasync(file_) != 0) fail("write to the disk", errno);
  ::posix_fadvise(file_, at, n, POSIX_FADV_DONTNEED);
}

void DiskFile::read(std::byte* to, std::size_t n, std::size_t at) { transfer(false, to, n, at); }
void DiskFile::write(const std::byte* from, std::size_t n, std::size_t at) {
  transfer(true, const_cast<std::byte*>(from), n, at);
}

DiskCost measured_cost(DiskFile& file, std::size_t bytes) {
  using Clock = std::chrono::steady_clock;
  const std::size_t n = whole_grains(bytes);
  const auto memory = grain_memory(n);
  const auto seconds_a_byte = [n](const auto& action) {
    const auto begin = Clock::now();
    action();
    return std::chrono::duration<double>(Clock::now() - begin).count() / n;
  };
  DiskCost least{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  for (int round = 0; round < 3; ++round) {
    least.write = std::min(least.write, seconds_a_byte([&] { file.write(memory.get(), n, 0); }));
    least.read = std::min(least.read, seconds_a_byte([&] { file.read(memory.get(), n, 0); }));
  }
  return least;
}

}  // namespace quintet
