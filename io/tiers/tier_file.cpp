#include "io/tiers/tier_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
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

constexpr std::uint64_t magic = 0x71746965727331ull;
constexpr long tmpfs_magic = 0x01021994, ramfs_magic = 0x858458f6;

/// In front of the slot of each item (a byte).
struct Header {
  std::uint64_t sum, magic, layout;
  std::int64_t generation, tag;
};

/// FNV-1a.
std::uint64_t sum_of(const std::byte* bytes, std::size_t n) {
  std::uint64_t sum = 0xcbf29ce484222325ull;
  for (std::size_t i = 0; i < n; ++i) sum = (sum ^ static_cast<std::uint64_t>(bytes[i])) * 0x100000001b3ull;
  return sum;
}

std::uint64_t layout_of(const std::vector<std::size_t>& sizes) {
  return sum_of(reinterpret_cast<const std::byte*>(sizes.data()), sizes.size() * sizeof(std::size_t));
}

}  // namespace

std::size_t TierFile::bytes_of(std::span<const std::size_t> sizes) {
  std::size_t bytes = 2 * whole_grains(sizeof(Header) + sizes.size());
  for (const std::size_t size : sizes) bytes += 2 * whole_grains(size);
  return bytes;
}

std::size_t TierFile::header_bytes() const { return whole_grains(sizeof(Header) + sizes_.size()); }

std::size_t TierFile::place(int item, int slot) const {
  const auto i = static_cast<std::size_t>(item);
  return first_[i] + static_cast<std::size_t>(slot) * whole_grains(sizes_[i]);
}

TierFile::TierFile(Options options, std::vector<std::size_t> sizes)
    : options_(std::move(options)),
      sizes_(std::move(sizes)),
      path_(options_.folder + "/" + options_.name),
      bytes_(bytes_of(sizes_)),
      written_(sizes_.size()),
      good_(sizes_.size()) {
  std::size_t next = 2 * header_bytes();
  for (const std::size_t size : sizes_) {
    first_.push_back(next);
    next += 2 * whole_grains(size);
  }
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
  try {
    options_.start == Start::committed ? take_over() : take_space();
  } catch (...) {
    if (options_.start == Start::fresh) ::unlink(path_.c_str());
    ::close(file_);
    throw;
  }
}

TierFile::~TierFile() {
  ::unlink(path_.c_str());
  ::close(file_);
}

void TierFile::fail(const char* doing, int reason) const {
  throw ResourceError(fmt::format("{}: cannot {}: {}", path_, doing, std::strerror(reason)));
}

void TierFile::take_space() {
  if (::ftruncate(file_, 0) != 0) fail("empty it", errno);
  struct statvfs space {};
  if (::statvfs(options_.folder.c_str(), &space) == 0) {
    const std::size_t free = std::size_t{space.f_bavail} * space.f_frsize;
    if (free < bytes_)
      throw ResourceError(
          fmt::format("{}: {} (two generations) do not fit into {}, which has {} free; expected a "
                      "larger disk, or less to keep there",
                      options_.key, text_of_bytes(bytes_), options_.folder, text_of_bytes(free)));
  }
  struct statfs system {};
  const bool known = ::statfs(options_.folder.c_str(), &system) == 0;
  QUINTET_CHECK(
      !known || (system.f_type != tmpfs_magic && static_cast<std::uint32_t>(system.f_type) != ramfs_magic),
      "{}: {} lies in memory (tmpfs), which files there would fill like any other; expected a folder on a "
      "disk",
      options_.key, options_.folder);
  if (const int reason = ::posix_fallocate(file_, 0, static_cast<off_t>(bytes_)); reason != 0)
    fail(fmt::format("take {} of disk space", text_of_bytes(bytes_)).c_str(), reason);
  try {
    write_header();
  } catch (const ResourceError&) {
    if (!direct_) throw;
    // Some file systems take the flag and then refuse each write.
    ::fcntl(file_, F_SETFL, ::fcntl(file_, F_GETFL) & ~O_DIRECT);
    direct_ = false;
    write_header();
  }
}

void TierFile::take_over() {
  const auto page = grain_memory(header_bytes());
  struct stat status {};
  bool found = ::fstat(file_, &status) == 0 && static_cast<std::size_t>(status.st_size) == bytes_;
  if (found) {
    found = false;
    for (const std::size_t number : {0u, 1u}) {
      transfer(false, page.get(), header_bytes(), number * header_bytes());
      Header header;
      std::memcpy(&header, page.get(), sizeof header);
      const std::size_t skipped = sizeof header.sum;
      if (header.magic != magic || header.layout != layout_of(sizes_) ||
          header.sum != sum_of(page.get() + skipped, sizeof header - skipped + sizes_.size()) ||
          (found && header.generation < generation_))
        continue;
      found = true;
      generation_ = header.generation;
      tag_ = header.tag;
      std::memcpy(good_.data(), page.get() + sizeof header, sizes_.size());
    }
  }
  QUINTET_CHECK(found, "{}: {} holds no generation of these items", options_.key, path_);
  written_ = good_;
}

void TierFile::write_header() {
  const auto page = grain_memory(header_bytes());
  Header header{0, magic, layout_of(sizes_), generation_, tag_};
  std::memcpy(page.get(), &header, sizeof header);
  std::memcpy(page.get() + sizeof header, written_.data(), written_.size());
  const std::size_t skipped = sizeof header.sum;
  header.sum = sum_of(page.get() + skipped, sizeof header - skipped + sizes_.size());
  std::memcpy(page.get(), &header.sum, sizeof header.sum);
  transfer(true, page.get(), header_bytes(), static_cast<std::size_t>(generation_ % 2) * header_bytes());
}

void TierFile::transfer(bool writes, std::byte* memory, std::size_t n, std::size_t at) {
  for (std::size_t done = 0; done < n;) {
    const auto from = static_cast<off_t>(at + done);
    const ssize_t now = writes ? ::pwrite(file_, memory + done, n - done, from)
                               : ::pread(file_, memory + done, n - done, from);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) fail(writes ? "write" : "read", now < 0 ? errno : EIO);
    done += static_cast<std::size_t>(now);
  }
  if (direct_) return;
  if (writes && ::fdatasync(file_) != 0) fail("write to the disk", errno);
  ::posix_fadvise(file_, static_cast<off_t>(at), static_cast<off_t>(n), POSIX_FADV_DONTNEED);
}

void TierFile::read(int item, std::byte* to) {
  const auto i = static_cast<std::size_t>(item);
  transfer(false, to, whole_grains(sizes_[i]), place(item, written_[i]));
}

void TierFile::write(int item, const std::byte* from) {
  const auto i = static_cast<std::size_t>(item);
  const int slot = 1 - good_[i];
  transfer(true, const_cast<std::byte*>(from), whole_grains(sizes_[i]), place(item, slot));
  written_[i] = static_cast<char>(slot);
}

void TierFile::commit(std::int64_t tag) {
  ++generation_;
  tag_ = tag;
  write_header();
  good_ = written_;
}

}  // namespace quintet
