#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace quintet {

/// The one owner of a run directory, on any number of ranks (rank 0 holds it), also on file systems that
/// several machines share and that know no locks.
///
/// Each owner is a file of the folder, `owner_000001`, `owner_000002` ...; the newest one counts. link()
/// makes it with its content, and succeeds for exactly one process at each number. A living owner keeps its
/// file and marks it `released` at the end. Whoever finds the newest owner released or dead makes the next
/// number, checks that no other process came between, and removes the older files. An owner is dead
/// - on this machine (boot and process namespace), when its process, named by number and time of start, is
///   gone;
/// - elsewhere, when its file, whose time of change it renews every `beat_s`, is `silent_s` older than a
///   file made now. Both times are the file system's, so the machines' clocks do not matter;
/// - also elsewhere, when its file missed a beat and the scheduler says that the job it was in (which the
/// file
///   names) is over;
/// - when the folder was copied: the file names the folder's inode.
class RunOwner {
 public:
  static constexpr int beat_s = 15, silent_s = 120;
  /// How to treat an owner that may be dead: `waits` is for processes in jobs, whose next chance may be hours
  /// away.
  enum class Patience { none, waits };

  /// Take the folder, which must exist. Throws InputError with host, process and since when if it has an
  /// owner: nothing was changed then. For `quintet submit` it waits up to a minute, half a minute for a
  /// process of this machine that was killed and is not yet gone. With patience it waits
  /// until a silent owner is known to be dead, or has given a sign of life, and some time for one on this
  /// machine to end. `on_loss` is called, from another thread, if this process was silent for so long that
  /// another took the folder: what it has open is no longer its own.
  RunOwner(std::string folder, const std::string& program, std::function<void(const std::string&)> on_loss,
           Patience patience = Patience::none);
  ~RunOwner();  ///< releases
  RunOwner(const RunOwner&) = delete;
  RunOwner& operator=(const RunOwner&) = delete;

  /// Whether nobody owned the folder before; then it may be removed again, with our files in it.
  [[nodiscard]] bool is_first() const { return number_ == 1; }
  /// Leave no trace when this owner, the first one, goes.
  void vanish() { vanishes_ = true; }

 private:
  void take(const std::string& program, Patience patience);
  [[nodiscard]] bool make(const std::string& program);
  [[nodiscard]] bool came_alone(const std::string& judged_token) const;
  void beat();
  [[nodiscard]] std::string path(std::int64_t number) const;

  std::string folder_, token_, content_;
  std::function<void(const std::string&)> on_loss_;
  std::int64_t number_ = 0;
  bool vanishes_ = false;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool ending_ = false;
  std::thread heart_;  // last: it uses the others
};

}  // namespace quintet
