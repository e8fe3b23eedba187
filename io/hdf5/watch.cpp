#include <sys/statvfs.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "io/hdf5/detail.hpp"
#include "io/hdf5/stuck_ranks.hpp"
#include "io/log/log.hpp"

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
         static_cast<std::uint64_t>(system.f_bavail) * system.f_frsize < full_below;
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
    comm_->abort(static_cast<int>(ExitCode::resource));
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
