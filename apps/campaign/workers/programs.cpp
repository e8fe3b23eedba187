#include "apps/campaign/workers/programs.hpp"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>

#include "apps/campaign/workers/program.hpp"
#include "io/log/error.hpp"

namespace quintet::campaign {
namespace fs = std::filesystem;
namespace {

constexpr int most_lost = 3;             // warm programs of an executable, before it starts by itself only
constexpr int fork_patience_ms = 60000;  // of a fork: to give up kills all that the program runs
constexpr int end_patience_ms = 10000;

int code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace

WarmProgram::WarmProgram(const std::string& executable, const std::string& folder) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw ResourceError(fmt::format("no socket for {}: {}", executable, std::strerror(errno)));
  socket_ = ends[0];
  try {
    server_ = start_program(executable, {executable, "warm"}, folder, {}, ends[1]);
  } catch (...) {
    for (const int end : ends) close(end);
    throw;
  }
  close(ends[1]);
}

WarmProgram::~WarmProgram() {
  if (server_ != 0) lose();
}

std::optional<std::int64_t> WarmProgram::start(const WarmOrder& order) {
  hear();
  if (!is_ready_) return std::nullopt;
  try {
    if (!send_order(socket_, order)) throw ResourceError("a warm program has ended");
    for (;;) {
      const auto news = next_news(socket_, fork_patience_ms);
      if (!news) throw ResourceError("a warm program does not answer");
      if (news->status == WarmNews::refused) return std::nullopt;
      const bool is_new = !runs_.contains(news->process);
      if (is_new) runs_[news->process].start = start_of(news->process);
      take(*news);
      if (is_new) return news->process;
    }
  } catch (const ResourceError&) {
    lose();
    return std::nullopt;
  }
}

std::optional<int> WarmProgram::ended(std::int64_t process) {
  hear();
  const auto run = runs_.find(process);
  const auto code = run->second.code;
  if (code) runs_.erase(run);
  return code;
}

/// All news that are there.
void WarmProgram::hear() {
  if (server_ == 0) return;
  try {
    while (const auto news = next_news(socket_, 0)) take(*news);
  } catch (const ResourceError&) {
    lose();
  }
}

void WarmProgram::take(const WarmNews& news) {
  if (news.status == WarmNews::ready) {
    is_ready_ = true;
  } else if (news.status >= 0) {
    if (const auto run = runs_.find(news.process); run != runs_.end())
      run->second.code = code_of(news.status);
  }
}

/// End it. Its runs are killed with it; who hears that one has ended may remove its folder.
void WarmProgram::lose() {
  const pid_t server = server_;
  kill(server, SIGKILL);
  while (waitpid(server, nullptr, 0) < 0 && errno == EINTR) {
  }
  std::map<std::int64_t, std::string> left;  // with their starts
  try {
    while (const auto news = next_news(socket_, 0)) {  // what it has said last
      take(*news);
      if (news->status == WarmNews::begun) left[news->process] = start_of(news->process);
    }
  } catch (const ResourceError&) {
  }
  close(socket_);
  server_ = 0;
  is_ready_ = false;
  for (auto& [process, run] : runs_) {
    if (run.code) continue;
    left[process] = run.start;
    run.code = 128 + SIGKILL;
  }
  for (const auto& [process, start] : left) {
    kill(-process, SIGKILL);
    for (int wait_ms = 0; !start.empty() && start_of(process) == start; ++wait_ms) {
      if (wait_ms > end_patience_ms) break;  // it hangs in the kernel: nothing ends it
      usleep(1000);
    }
  }
}

std::int64_t Programs::start(const std::string& executable, const std::vector<std::string>& words,
                             const std::string& folder, const std::vector<std::string>& variables,
                             bool warm) {
  if (warm) {
    auto& [program, n_lost] = standing_[executable];
    if (program && program->is_gone()) {
      program.reset();
      ++n_lost;
    }
    if (!program && n_lost < most_lost) {
      fs::create_directories(folder_);
      program = std::make_unique<WarmProgram>(executable, folder_);
    }
    if (program) {
      auto all = variables;
      all.push_back(variable_of_item(folder));
      if (const auto process = program->start({folder, folder + "/log.txt", all, words})) {
        ++n_warm_;
        return *process;
      }
    }
  }
  return start_program(executable, words, folder, variables);
}

std::optional<int> Programs::ended(std::int64_t process) {
  for (auto& [executable, standing] : standing_)
    if (standing.program && standing.program->has(process)) return standing.program->ended(process);
  int status = 0;
  if (waitpid(process, &status, WNOHANG) == 0) return std::nullopt;
  return code_of(status);
}

}  // namespace quintet::campaign
