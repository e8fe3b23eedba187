#include "apps/campaign/workers/workers.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "apps/application/life/owner_state.hpp"
#include "apps/campaign/workers/program.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "io/log/line_counts.hpp"
#include "io/log/log.hpp"

namespace quintet::campaign {
namespace fs = std::filesystem;
namespace {

using namespace std::chrono_literals;
constexpr const char *prefix = ".worker_", *program = "quintet campaign";
constexpr auto judgement_lasts = 2s;

std::string first_word(const std::string& path) {
  std::ifstream file(path);
  std::string word;
  file >> word;
  return word;
}

/// Names of all workers that have joined, or died as they did: one whose folder has no file `claim` owns it,
/// or is about to.
std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(prefix)) continue;
    bool counts = fs::exists(entry.path() / "claim");
    if (!counts)
      if (const auto state = owner_state(entry.path().string())) counts = !state->is_alive;
    if (counts) names.push_back(name.substr(std::strlen(prefix)));
  }
  return names;
}

/// When a worker joined, by the file system's clock: its file `claim` is never written again.
std::pair<timespec, std::string> age(const std::string& directory, const std::string& name) {
  struct stat status {};
  if (::stat((directory + "/" + prefix + name + "/claim").c_str(), &status) != 0) return {{}, name};
  return {status.st_mtim, name};
}

bool is_before(const std::pair<timespec, std::string>& a, const std::pair<timespec, std::string>& b) {
  return std::make_tuple(a.first.tv_sec, a.first.tv_nsec, a.second) <
         std::make_tuple(b.first.tv_sec, b.first.tv_nsec, b.second);
}

bool has_claims(const std::string& directory, const std::string& name) {
  const fs::directory_iterator claims(directory + "/claims");
  return std::any_of(begin(claims), end(claims),
                     [&](const auto& claim) { return first_word(claim.path().string()) == name; });
}

void lose(const std::string& why) {
  log::error("{}", why);  // another process has what was ours: nothing here may touch it any more
  log::flush();
  write_line_counts();
  std::_Exit(static_cast<int>(ExitCode::resource));
}

}  // namespace

Workers::Workers(std::string directory, Sharing sharing) : directory_(std::move(directory)) {
  std::random_device random;
  name_ = fmt::format("{}_{}_{:08x}", host_name(), getpid(), random());
  const std::string own = directory_ + "/" + prefix + name_;
  std::error_code failed;
  fs::create_directories(own, failed);
  if (!failed) fs::create_directories(directory_ + "/claims", failed);
  QUINTET_CHECK(!failed, "The directory '{}' cannot be used: {}", directory_, failed.message());
  owner_ = std::make_unique<RunOwner>(own, program, lose);
  write_text_file(own + "/claim", name_ + "\n");
  for (const auto& other : names_in(directory_)) {
    if (other == name_ || inherit(other) || sharing == Sharing::shared) continue;
    if (!is_before(age(directory_, other), age(directory_, name_))) continue;  // it will find us
    const auto state = owner_state(directory_ + "/" + prefix + other).value_or(OwnerState{});
    owner_.reset();
    fs::remove_all(own, failed);
    throw InputError(fmt::format(
        "The directory '{}' is in use: quintet campaign runs there as process {} on {}, since {}. Wait for "
        "it, choose another with --output DIR, or share the work with it: --share",
        directory_, state.process, state.host, state.since));
  }
}

Workers::~Workers() {
  judged_.clear();  // one that was alive a moment ago may have been killed since
  try {
    for (const auto& other : names_in(directory_))
      if (other != name_) (void)inherit(other);  // of one that died between two items nobody asks any more
  } catch (const std::exception&) {              // the next one will
  }
  std::error_code ignored;
  try {
    if (names_in(directory_).size() == 1) remove_unfinished();
  } catch (const std::exception&) {
  }
  owner_.reset();
  fs::remove_all(directory_ + "/" + prefix + name_, ignored);
}

void Workers::remove_unfinished() const {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory_)) {
    const std::string name = entry.path().filename().string();
    if (const auto at = name.rfind(".tmp");
        at != std::string::npos && name.find_first_not_of("0123456789", at + 4) == std::string::npos)
      fs::remove(entry.path(), ignored);
  }
}

fs::file_time_type Workers::since() const {
  return fs::last_write_time(directory_ + "/" + prefix + name_ + "/claim");
}

bool Workers::claim(const std::string& key) {
  const std::string mine = directory_ + "/" + prefix + name_ + "/claim",
                    claim = directory_ + "/claims/" + key;
  for (;;) {
    if (::link(mine.c_str(), claim.c_str()) == 0) return true;
    if (errno != EEXIST) {  // a file system without links, or with a limit for them
      const int file = ::open(claim.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
      if (file >= 0) {
        const std::string text = name_ + "\n";
        const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
        ::close(file);
        if (written) return true;
        ::unlink(claim.c_str());
      }
      if (file >= 0 || errno != EEXIST)
        throw ResourceError(fmt::format("'{}' cannot be written: {}", claim, std::strerror(errno)));
    }
    const std::string other = first_word(claim);
    if (other == name_) return true;  // over NFS the answer to a link() that was made can get lost
    if (other.empty() && fs::exists(claim)) return false;  // just being written
    if (!other.empty() && !inherit(other)) return false;
  }
}

void Workers::release(const std::string& key) const { ::unlink((directory_ + "/claims/" + key).c_str()); }

bool Workers::is_claimed(const std::string& key) const { return fs::exists(directory_ + "/claims/" + key); }

std::string Workers::holder(const std::string& directory, const std::string& key) {
  const std::string name = first_word(directory + "/claims/" + key);
  if (name.empty()) return "";
  const auto state = owner_state(directory + "/" + prefix + name);
  if (!state || !state->is_alive) return "";
  return fmt::format("process {} on {}, heard of {:.0f} s ago", state->process, state->host,
                     std::max(state->silent_s, 0.0));
}

/// Whether the worker was dead, and its claims are gone now.
bool Workers::inherit(const std::string& name) {
  const auto now = std::chrono::steady_clock::now();
  if (const auto judged = judged_.find(name);
      judged != judged_.end() && now - judged->second < judgement_lasts)
    return false;
  judged_[name] = now;
  const std::string folder = directory_ + "/" + prefix + name;
  if (const auto state = owner_state(folder); state && state->is_alive) return false;
  try {
    std::error_code ignored;
    if (!fs::exists(folder) && !has_claims(directory_, name)) {  // another has inherited, a moment ago
      judged_.erase(name);
      return true;
    }
    fs::create_directories(folder, ignored);
    const RunOwner heir(folder, program, lose);
    for (const auto& entry : fs::directory_iterator(directory_ + "/claims"))
      if (first_word(entry.path().string()) == name) {
        const std::string key = entry.path().filename().string();
        end_program_in(directory_ + "/work/" + key);
        fs::remove(entry.path());
      }
  } catch (const InputError&) {
    return false;  // another one inherits
  } catch (const ResourceError&) {
    if (fs::exists(folder)) throw;
    return false;  // another one has, and has taken the folder away under our hands
  } catch (const fs::filesystem_error&) {
    return false;
  }
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  judged_.erase(name);
  return true;
}

}  // namespace quintet::campaign
