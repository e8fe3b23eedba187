#include "io/runtime/process_family.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>

#include <unistd.h>

#include <fmt/format.h>

#include "io/runtime/runtime.hpp"

namespace quintet {

namespace {

using Patience = std::chrono::steady_clock;

/// A line of the system's list of processes.
struct ProcessLine {
  int number = 0, parent = 0, session = 0;
};

/// All processes that have not ended.
std::vector<ProcessLine> living_processes() {
  std::vector<ProcessLine> lines;
  std::error_code error;
  for (std::filesystem::directory_iterator at("/proc", error), end; !error && at != end;
       at.increment(error)) {
    ProcessLine line;
    const std::string name = at->path().filename().string();
    const auto [rest, wrong] = std::from_chars(name.data(), name.data() + name.size(), line.number);
    if (wrong != std::errc() || rest != name.data() + name.size()) continue;
    std::ifstream file("/proc/" + name + "/stat");
    std::string text;
    std::getline(file, text, '\0');         // no exception if it ends meanwhile
    const auto name_end = text.rfind(')');  // the program's name may hold anything
    if (name_end == std::string::npos) continue;
    std::istringstream fields(text.substr(name_end + 1));
    char state = 'X';
    int group = 0;
    if (fields >> state >> line.parent >> group >> line.session && state != 'Z' && state != 'X')
      lines.push_back(line);
  }
  return lines;
}

/// Whether a process was born with this mark in its environment.
bool bears(int process, const std::string& mark) {
  std::ifstream file(fmt::format("/proc/{}/environ", process), std::ios::binary);
  const std::string name = std::string(ProcessFamily::variable) + "=";
  for (std::string entry; std::getline(file, entry, '\0');)
    if (entry.starts_with(name))
      return (entry.substr(name.size()) + " ").find(mark + " ") != std::string::npos;
  return false;
}

bool has_open(int process, const std::string& what) {
  std::error_code error;
  const auto folder = fmt::format("/proc/{}/fd", process);
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code closed_meanwhile;
    if (std::filesystem::read_symlink(at->path(), closed_meanwhile) == what) return true;
  }
  return false;
}

}  // namespace

std::string ProcessFamily::new_mark() {
  static std::atomic<int> n_marks = 0;
  const char* const before = std::getenv(variable);
  const int self = getpid();
  return fmt::format("{}={}{}{}.{}.{}", variable, before == nullptr ? "" : before,
                     before == nullptr ? "" : " ", self, process_start(self).value_or(""), n_marks++);
}

ProcessFamily::ProcessFamily(int head, const std::string& mark)
    : head_(head), mark_(mark.substr(mark.find_last_of("= ") + 1)) {}

std::vector<int> ProcessFamily::processes() const { return with_relatives({}); }

std::vector<int> ProcessFamily::with_relatives(std::vector<int> found) const {
  const std::vector<ProcessLine> all = living_processes();
  const auto is_found = [&](int number) {
    return std::find(found.begin(), found.end(), number) != found.end();
  };
  for (const auto& line : all)
    if (!is_found(line.number) && (line.session == head_ || bears(line.number, mark_)))
      found.push_back(line.number);
  for (std::size_t before = 0; before != found.size();) {  // children, and theirs
    before = found.size();
    for (const auto& line : all)
      if (is_found(line.parent) && !is_found(line.number)) found.push_back(line.number);
  }
  return found;
}

bool ProcessFamily::holds_socket(std::uint64_t number) const {
  const auto all = processes();
  const std::string socket = fmt::format("socket:[{}]", number);
  return std::any_of(all.begin(), all.end(), [&](int process) { return has_open(process, socket); });
}

bool ProcessFamily::end(double patience_s) const {
  constexpr double patience_of_force_s = 10;
  const auto begin = Patience::now();
  const auto waited = [&] { return std::chrono::duration<double>(Patience::now() - begin).count(); };
  // Numbers and starts of those found so far. The request may end a parent before its child, and then nothing
  // says any more whose child that was.
  std::map<int, std::string> known;
  const auto find = [&] {
    std::erase_if(known, [](const auto& one) { return process_start(one.first).value_or("") != one.second; });
    std::vector<int> numbers;
    for (const auto& [number, start] : known) numbers.push_back(number);
    known.clear();
    for (const int number : with_relatives(numbers))
      if (const auto start = process_start(number).value_or(""); !start.empty()) known[number] = start;
  };
  find();
  for (const auto& [number, start] : known) kill(number, SIGTERM);
  for (auto nap = std::chrono::milliseconds(2); !known.empty(); find()) {
    if (waited() > patience_s + patience_of_force_s) return false;
    if (waited() > patience_s)
      for (const auto& [number, start] : known) kill(number, SIGKILL);
    std::this_thread::sleep_for(nap);
    nap = std::min(2 * nap, std::chrono::milliseconds(50));
  }
  return true;
}

}  // namespace quintet
