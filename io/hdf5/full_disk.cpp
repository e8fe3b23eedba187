#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "io/hdf5/detail.hpp"
#include "io/hdf5/stuck_ranks.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"

// A full disk: room is taken before anything is written, and ranks that wait for one another all the same are
// ended.

namespace quintet::hdf5::detail {
namespace {

constexpr std::uint64_t slack = 1 << 16;  ///< bytes that HDF5 may give out besides what is counted

/// Whether the space that the file lacks of [begin, end) is free, on a file system that cannot reserve.
bool has_free(int descriptor, std::uint64_t begin, std::uint64_t end) {
  struct stat file {};
  struct statvfs system {};
  if (::fstat(descriptor, &file) != 0 || ::fstatvfs(descriptor, &system) != 0 || system.f_blocks == 0)
    return true;
  constexpr std::uint64_t unit = 512;  // of st_blocks
  const std::uint64_t there = std::max(begin, file.st_blocks * unit);
  return there >= end || (end - there) / system.f_frsize < system.f_bavail;
}

/// Why the bytes [begin, end) of a file cannot have their place on the disk, as an errno; 0 if they have it.
int take_bytes(const std::string& path, std::uint64_t begin, std::uint64_t end) {
  struct rlimit limit {};
  // What goes beyond a file's end is taken in spite of the limit, and then cannot be written.
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && end > limit.rlim_cur)
    return EFBIG;
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return errno;
  int reason = 0;
  do {
    reason = ::fallocate(descriptor, FALLOC_FL_KEEP_SIZE, begin, end - begin) == 0 ? 0 : errno;
  } while (reason == EINTR);
  if (reason != 0 && reason != ENOSPC && reason != EDQUOT && reason != EFBIG)
    reason = has_free(descriptor, begin, end) ? 0 : ENOSPC;
  ::close(descriptor);
  return reason;
}

}  // namespace

void Context::take_room(bool with_metadata) const {
  if (!writable || file < 0) return;
  std::uint64_t wanted = 0;
  if (comm.size() == 1) {
    haddr_t end = 0;
    if (H5Fget_eoa(file, &end) < 0 || end == HADDR_UNDEF) return;
    wanted = end;
  } else {
    // HDF5 does not tell of MPI-IO where its file ends: metadata are not more than those in memory.
    wanted = grown + slack;
    std::size_t metadata = 0;
    if (with_metadata && H5Fget_mdc_size(file, nullptr, nullptr, &metadata, nullptr) >= 0)
      wanted += comm.maximum(static_cast<std::int64_t>(metadata));
  }
  if (wanted > taken) on_root(comm, [&] { take_on_root(wanted); });
  taken = wanted;
}

void Context::take_on_root(std::uint64_t wanted) const {
  const int reason = take_bytes(path, comm.size() == 1 ? taken : settled, base + wanted);
  if (reason == 0) return;
  throw ResourceError(
      fmt::format("{}: cannot write {} bytes more: {}", path, wanted - taken, std::strerror(reason)));
}

void Context::restart_room() const {
  if (comm.size() == 1) return;
  grown = taken = 0;
  std::error_code ignored;
  if (comm.is_root()) settled = base = std::filesystem::file_size(path, ignored);
}

void Context::give_back_room() const {
  if (!writable || !comm.is_root()) return;
  std::error_code ignored;
  const auto size = std::filesystem::file_size(path, ignored);
  if (!ignored) std::filesystem::resize_file(path, size, ignored);
}

}  // namespace quintet::hdf5::detail

namespace quintet::hdf5::detail {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr auto patience_after_failure = 2s;
constexpr auto patience = 5s;                  ///< of a call while the disk is full
constexpr std::uint64_t full_below = 1 << 20;  ///< bytes that are free

bool is_full(const std::string& path) {
  struct statvfs system {};
  return ::statvfs(path.c_str(), &system) == 0 && system.f_blocks > 0 &&
         system.f_bavail * system.f_frsize < full_below;
}

/// The call that this rank is in, and the thread that looks at it from time to time.
class Watcher {
 public:
  void enter(const Context& context) {
    const std::lock_guard lock(mutex_);
    if (depth_++ > 0) return;
    comm_ = context.comm;
    path_ = context.path;
    since_ = Clock::now();
    failure_.reset();
    if (started_) return;
    started_ = true;
    std::thread([this] { look(); }).detach();
  }
  void leave() {
    const std::lock_guard lock(mutex_);
    if (--depth_ == 0) comm_.reset();
  }
  void before_end(std::function<void(const std::string&)> action) {
    const std::lock_guard lock(mutex_);
    before_end_ = std::move(action);
  }
  void fail(const std::string& message) {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    failure_ = message;
    since_ = Clock::now();
  }

 private:
  [[noreturn]] void look() {
    for (;; std::this_thread::sleep_for(200ms)) {
      const std::lock_guard lock(mutex_);
      if (!comm_) continue;
      // Lower ranks lose patience earlier, so that one of them speaks.
      const auto waited = Clock::now() - since_ - 50ms * std::min(comm_->rank(), 40);
      if (failure_ && waited > patience_after_failure)
        end(*failure_);
      else if (waited > patience && is_full(path_))
        end(fmt::format("{}: cannot be written: the disk is full, and the ranks wait for one another",
                        path_));
    }
  }
  [[noreturn]] void end(const std::string& message) {
    log::configure({.speaks = true, .quiet = false, .file = ""});
    log::error("on rank {} of {}: {}", comm_->rank(), comm_->size(), message);
    log::flush();
    if (before_end_) before_end_(message);
    comm_->abort(ExitCode::resource);
  }

  std::mutex mutex_;
  int depth_ = 0;
  bool started_ = false;
  std::optional<Comm> comm_;
  std::string path_;
  std::optional<std::string> failure_;
  Clock::time_point since_;
  std::function<void(const std::string&)> before_end_;
};

/// Never destroyed: its thread may look at it until the process ends.
Watcher& watcher() {
  static auto* const one = new Watcher;
  return *one;
}

}  // namespace

Watch::Watch(const Context& context) : on_(context.comm.size() > 1 && context.writable) {
  if (on_) watcher().enter(context);
}
Watch::~Watch() {
  if (on_) watcher().leave();
}
void Watch::failed(const std::string& message) const {
  if (on_) watcher().fail(message);
}

}  // namespace quintet::hdf5::detail

namespace quintet::hdf5 {

void before_stuck_ranks_end(std::function<void(const std::string& message)> action) {
  detail::watcher().before_end(std::move(action));
}

}  // namespace quintet::hdf5
