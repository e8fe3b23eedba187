#include "apps/application/life/run_owner.hpp"

#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <vector>

#include "apps/application/life/owner_state.hpp"
#include "io/config/tree.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/machine/batch_job.hpp"
#include "io/runtime/killed.hpp"
#include "io/runtime/runtime.hpp"
#include "io/runtime/signals.hpp"

namespace quintet {
namespace fs = std::filesystem;
namespace {

using namespace std::chrono_literals;

constexpr std::string_view prefix = "owner_";
constexpr int most_tries = 200;  // others that come and go while we look
/// Holds a directory until all jobs are queued, which the first of them may not wait for.
constexpr std::string_view submission = "quintet submit";
constexpr auto submission_takes = 60s;
constexpr auto ending_takes = 30s;  ///< of an owner on this machine whose job is over

std::string first_line(const char* path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

/// This boot of this kernel, seen from this process namespace: where process numbers mean the same.
std::string machine_id() {
  std::error_code none;
  return first_line("/proc/sys/kernel/random/boot_id") + " " +
         fs::read_symlink("/proc/self/ns/pid", none).string();
}

std::string user_name() {
  const passwd* entry = ::getpwuid(::getuid());
  return entry ? entry->pw_name : fmt::format("user {}", ::getuid());
}

std::string inode_of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? std::to_string(status.st_ino) : "";
}

std::string random_token() {
  std::random_device random;
  return fmt::format("{:08x}{:08x}", random(), random());
}

/// Numbers of the owners that a folder names, in ascending order.
std::vector<std::int64_t> numbers_in(const std::string& folder) {
  std::vector<std::int64_t> numbers;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    std::int64_t number = 0;
    if (!name.starts_with(prefix)) continue;
    const char* end = name.data() + name.size();
    if (const auto parsed = std::from_chars(name.data() + prefix.size(), end, number);
        parsed.ptr == end && parsed.ec == std::errc() && number > 0)
      numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

/// Content of the file of an owner.
struct Record {
  std::string program, host, user, since, machine, token, folder_inode, released, job;
  std::int64_t process = 0;
  std::string process_start;
};

std::optional<Record> read_record(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::string text;
  std::getline(file, text, '\0');  // no exception if the file system does not provide it
  Record record;
  try {
    const Tree tree = parse_yaml(text, path);
    const auto get = [&](const char* key) {
      const Tree* value = tree.find(key);
      return value && value->is_scalar() ? value->as_text() : std::string();
    };
    record = {get("program"),
              get("host"),
              get("user"),
              get("since"),
              get("machine"),
              get("token"),
              get("folder_inode"),
              get("released"),
              get("job"),
              0,
              ""};
    record.process_start = get("process_start");
    if (const Tree* process = tree.find("process")) record.process = process->as_integer();
  } catch (const InputError&) {
    // Half a file, from a file system without links: judge by the time of its last change.
  }
  return record;
}

/// Seconds by which a file's last change lies behind one made now, both by the file system's clock.
double silence_s(const std::string& path) {
  const std::string probe = fmt::format("{}.now_{}", path, random_token());
  const int file = ::open(probe.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
  if (file < 0) return 0;
  struct stat now {
  }, then{};
  const bool known = ::fstat(file, &now) == 0 && ::stat(path.c_str(), &then) == 0;
  ::close(file);
  ::unlink(probe.c_str());
  if (!known) return 0;
  return (now.st_mtim.tv_sec - then.st_mtim.tv_sec) + 1e-9 * (now.st_mtim.tv_nsec - then.st_mtim.tv_nsec);
}

/// Whether an owner is at work; `silent` is set where only its silence can tell.
bool lives(const Record& record, const std::string& folder, const std::string& path,
           std::optional<double>& silent) {
  if (!record.released.empty()) return false;
  if (!record.folder_inode.empty() && record.folder_inode != inode_of(folder)) return false;  // a copy
  if (!record.machine.empty() && record.machine == machine_id()) {
    const int pid = record.process;
    if (const auto start = process_start(pid)) return *start == record.process_start;
    if (::kill(pid, 0) != 0 && errno == ESRCH) return false;
  }
  silent = silence_s(path);
  if (*silent >= RunOwner::silent_s) return false;
  constexpr double late = RunOwner::beat_s + 5;  // it has missed a beat: worth to ask
  return record.job.empty() || *silent < late || life_of_job(record.job) != JobLife::ended;
}

/// Whether the owner is on this machine and gives back its memory after a SIGKILL: soon it is gone.
bool is_dying(const Record& record) {
  return record.machine == machine_id() && is_being_killed(static_cast<int>(record.process));
}

/// How long a process in a job waits for an owner that it has found.
class Vigil {
 public:
  /// Whether to wait on for this owner; `silent` where only its silence can tell.
  bool goes_on(const std::string& owner, std::optional<double> silent) {
    const auto now = Clock::now();
    if (owner != owner_) {
      owner_ = owner, begin_ = now;
      log::info("The directory is in use. Waiting for its owner to end or to be known as dead");
    }
    if (stop_signal_has_come()) return false;
    if (!silent) return now - begin_ < ending_takes;
    // a beat since we look: it lives
    return std::chrono::duration<double>(now - begin_).count() < *silent + 1;
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::string owner_;
  Clock::time_point begin_{};
};

[[noreturn]] void refuse(const Record& record, const std::string& folder, std::optional<double> silent) {
  const std::string directory = fs::path(folder).parent_path().string();
  std::string text = fmt::format(
      "The directory '{}' is in use: {} runs there as process {} of {} on {}, since {}; nothing was touched. "
      "Wait for it or stop it, or choose another directory with --output DIR",
      directory, record.program.empty() ? "another process" : record.program, record.process, record.user,
      record.host, record.since);
  if (silent)
    text += fmt::format(
        ". It is on another machine, where it gave a sign of life {:.0f} s ago: if that machine is gone, try "
        "again when {} s have passed without one",
        std::max(*silent, 0.0), RunOwner::silent_s);
  throw InputError(text);
}

void write_file(const std::string& path, const std::string& text, int flags) {
  const int file = ::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC | flags, 0644);
  const bool written =
      file >= 0 && ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int error = errno;
  if (file >= 0) ::close(file);
  if (written) return;
  if (file >= 0) ::unlink(path.c_str());
  throw ResourceError(fmt::format("{}: cannot be written: {}", path, std::strerror(error)));
}

}  // namespace

std::optional<OwnerState> owner_state(const std::string& folder) {
  std::error_code absent;
  if (!fs::is_directory(folder, absent)) return std::nullopt;
  const auto numbers = numbers_in(folder);
  if (numbers.empty()) return std::nullopt;
  const std::string newest = fmt::format("{}/{}{:06}", folder, prefix, numbers.back());
  const auto record = read_record(newest);
  if (!record) return std::nullopt;
  std::optional<double> silent;
  OwnerState state{.host = record->host, .since = record->since, .process = record->process};
  state.is_alive = lives(*record, folder, newest, silent);
  state.silent_s = silent ? *silent : silence_s(newest);
  return state;
}

RunOwner::RunOwner(std::string folder, const std::string& program,
                   std::function<void(const std::string&)> on_loss, Patience patience)
    : folder_(std::move(folder)), token_(random_token()), on_loss_(std::move(on_loss)) {
  take(program, patience);
  sigset_t all, former;
  sigfillset(&all);  // signals are the main thread's
  pthread_sigmask(SIG_SETMASK, &all, &former);
  heart_ = std::thread([this] { beat(); });
  pthread_sigmask(SIG_SETMASK, &former, nullptr);
}

RunOwner::~RunOwner() {
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ends_.notify_one();
  heart_.join();
  std::error_code ignored;
  if (vanishes_ && is_first()) {
    fs::remove(path(number_), ignored);
    return;
  }
  const std::string temporary = fmt::format("{}/.{}", folder_, token_);
  try {
    write_file(temporary, content_ + fmt::format("released: {}\n", hdf5::current_provenance().date), O_EXCL);
    fs::rename(temporary, path(number_));
  } catch (const std::exception&) {  // the folder or the disk's room is gone: found dead by the next one
    fs::remove(temporary, ignored);
  }
}

std::string RunOwner::path(std::int64_t number) const {
  return fmt::format("{}/{}{:06}", folder_, prefix, number);
}

void RunOwner::take(const std::string& program, Patience patience) {
  Vigil vigil;
  const auto begin = std::chrono::steady_clock::now(), patient_until = begin + submission_takes;
  for (int i_try = 0; i_try < most_tries; ++i_try) {
    if (i_try > 0) std::this_thread::sleep_for(2ms);
    const auto numbers = numbers_in(folder_);
    number_ = numbers.empty() ? 1 : numbers.back() + 1;
    std::string judged_token;
    if (!numbers.empty()) {
      const std::string newest = path(numbers.back());
      const auto record = read_record(newest);
      if (!record) continue;  // gone meanwhile
      std::optional<double> silent;
      if (lives(*record, folder_, newest, silent)) {
        if (is_dying(*record) && std::chrono::steady_clock::now() <= begin + ending_takes) {
          std::this_thread::sleep_for(20ms);
          --i_try;
          continue;
        }
        const bool is_submission = record->program == submission && program != submission &&
                                   std::chrono::steady_clock::now() <= patient_until;
        if (!is_submission && (patience == Patience::none || !vigil.goes_on(record->token, silent)))
          refuse(*record, folder_, silent);
        std::this_thread::sleep_for(is_submission ? 100ms : silent ? 3000ms : 500ms);
        --i_try;
        continue;
      }
      judged_token = record->token;
    }
    if (make(program)) {
      if (came_alone(judged_token)) return;
      std::error_code ignored;
      fs::remove(path(number_), ignored);
    }
  }
  throw InputError(fmt::format(
      "The directory '{}' could not be locked: other runs locked and left it meanwhile. Start again",
      fs::path(folder_).parent_path().string()));
}

/// Make the file of this number with its content; false if another process has made it.
bool RunOwner::make(const std::string& program) {
  Tree tree = Tree::map();
  const auto text = [&tree](const char* key, std::string value) {
    tree.set(key, Tree::text(std::move(value)));
  };
  const auto provenance = hdf5::current_provenance();
  text("program", program);
  text("host", provenance.host);
  tree.set("process", Tree::integer(::getpid()));
  text("process_start", process_start(::getpid()).value_or(""));
  text("user", user_name());
  text("since", provenance.date);
  text("machine", machine_id());
  text("folder_inode", inode_of(folder_));
  text("token", token_);
  if (const auto job = this_job()) text("job", *job);
  content_ = to_yaml(tree);
  const std::string temporary = fmt::format("{}/.{}", folder_, token_), mine = path(number_);
  write_file(temporary, content_, O_EXCL);
  const int linked = ::link(temporary.c_str(), mine.c_str());
  const int error = errno;
  struct stat status {};  // over NFS the answer to a link() that was made can get lost
  const bool made = linked == 0 || (::stat(temporary.c_str(), &status) == 0 && status.st_nlink == 2);
  ::unlink(temporary.c_str());
  if (made) return true;
  if (error == EEXIST) return false;
  try {  // a file system without links
    write_file(mine, content_, O_EXCL);
    return true;
  } catch (const ResourceError&) {
    if (fs::exists(mine)) return false;
    throw;
  }
}

/// After our file was made: nobody has a later number, and no earlier one but the one found dead is alive.
bool RunOwner::came_alone(const std::string& judged_token) const {
  const auto numbers = numbers_in(folder_);
  if (numbers.empty() || numbers.back() != number_) return false;
  for (const auto number : numbers) {
    if (number == number_) continue;
    const auto record = read_record(path(number));
    std::optional<double> silent;
    if (record && record->token != judged_token && lives(*record, folder_, path(number), silent))
      return false;
  }
  std::error_code ignored;
  for (const auto number : numbers)
    if (number != number_) fs::remove(path(number), ignored);
  return true;
}

/// Renew the time of our file until the end; looks whether it is still ours.
void RunOwner::beat() {
  const std::string mine = path(number_);
  std::unique_lock lock(mutex_);
  while (!ends_.wait_for(lock, std::chrono::seconds(beat_s), [this] { return ending_; })) {
    try {
      const auto numbers = numbers_in(folder_);
      if (numbers.empty()) continue;
      const auto record = read_record(path(numbers.back()));
      if (record && !record->token.empty() && record->token != token_)
        return on_loss_(fmt::format(
            "{}: process {} of {} on {} has taken the run directory, as this process gave no sign of life "
            "for "
            "more than {} s; it ends here and writes nothing more",
            fs::path(folder_).parent_path().string(), record->process, record->user, record->host, silent_s));
      ::utimensat(AT_FDCWD, mine.c_str(), nullptr, 0);
    } catch (const std::exception&) {  // a file system that does not answer: next time
    }
  }
}

}  // namespace quintet
