#include <array>
#include <charconv>
#include <cmath>
#include <csignal>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"
#include "io/runtime/signals.hpp"

namespace quintet {
namespace {

constexpr std::array watched_signals{SIGTERM, SIGUSR1, SIGINT, SIGHUP};
volatile std::sig_atomic_t received_signal = 0;
bool remembered_from_start = false;  ///< a signal that came before the first StopRequest counts

extern "C" void remember_signal(int signal) { received_signal = signal; }

/// SIGINT answers once: who is impatient presses twice.
struct sigaction remembering(int signal) {
  struct sigaction action {};
  action.sa_handler = remember_signal;
  action.sa_flags = signal == SIGINT ? static_cast<int>(SA_RESTART | SA_RESETHAND) : SA_RESTART;
  return action;
}

/// Ignore signals of failed writes, so that a write returns an error that it can report and handle.
void ignore_write_signals() {
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_IGN);
}

/// A run under nohup is to outlive its terminal.
bool is_ignored_hangup(int signal) {
  struct sigaction now {};
  return signal == SIGHUP && sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace

void ignore_size_signal() { std::signal(SIGXFSZ, SIG_IGN); }

void hear_of_children() { std::signal(SIGCHLD, SIG_DFL); }

namespace {

const char* signal_name(int signal) {
  return signal == SIGTERM   ? "SIGTERM"
         : signal == SIGUSR1 ? "SIGUSR1"
         : signal == SIGHUP  ? "SIGHUP"
                             : "SIGINT";
}

std::string clock_text(double seconds) {
  const long s = seconds;
  return fmt::format("{:02}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60);
}

/// The number at the front of `text`, which is cut off.
std::optional<double> take_number(std::string_view& text) {
  double value = 0.0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(value) || value < 0.0) return std::nullopt;
  text.remove_prefix(end - text.data());
  return value;
}

/// "HH:MM:SS" or "MM:SS": whole numbers, those after the first below 60.
std::optional<double> parse_clock(std::string_view text) {
  double seconds = 0.0;
  for (int n_fields = 1;; ++n_fields) {
    unsigned field = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), field);
    if (error != std::errc() || (n_fields > 1 && field > 59)) return std::nullopt;
    seconds = 60.0 * seconds + field;
    text.remove_prefix(end - text.data());
    if (text.empty()) return n_fields > 1 ? std::optional(seconds) : std::nullopt;
    if (text.front() != ':' || n_fields == 3) return std::nullopt;
    text.remove_prefix(1);
  }
}

/// "90 s", "30 min", "2 h".
std::optional<double> parse_with_unit(std::string_view text) {
  const auto number = take_number(text);
  if (!number) return std::nullopt;
  while (text.starts_with(' ')) text.remove_prefix(1);
  for (const auto& [unit, seconds] : {std::pair("s", 1.0), std::pair("min", 60.0), std::pair("h", 3600.0)}) {
    if (text == unit) return *number * seconds;
  }
  return std::nullopt;
}

}  // namespace

double parse_walltime(const std::string& text) {
  const auto clock = parse_clock(text);
  const auto seconds = clock ? clock : parse_with_unit(text);
  if (!seconds || *seconds <= 0.0) {
    throw UsageError(
        fmt::format("The walltime \"{}\" is not understood: expected a positive HH:MM:SS, MM:SS, or a "
                    "number with its unit s, min or h, such as 00:30:00 or \"30 min\".",
                    text));
  }
  return *seconds;
}

void remember_stop_signals() {
  remembered_from_start = true;
  for (const int signal : watched_signals) {
    const auto action = remembering(signal);
    if (!is_ignored_hangup(signal)) sigaction(signal, &action, nullptr);
  }
  ignore_write_signals();
}

bool stop_signal_has_come() { return received_signal != 0; }

struct StopRequest::FormerHandlers {
  std::array<struct sigaction, watched_signals.size()> actions{};
};

StopRequest::StopRequest(std::optional<double> walltime_s)
    : walltime_s_(walltime_s), former_(std::make_unique<FormerHandlers>()) {
  if (!remembered_from_start) received_signal = 0;
  for (std::size_t i = 0; i < watched_signals.size(); ++i) {
    auto action = remembering(watched_signals[i]);
    if (is_ignored_hangup(watched_signals[i])) action.sa_handler = SIG_IGN;
    sigaction(watched_signals[i], &action, &former_->actions[i]);
  }
  ignore_write_signals();  // again: libraries that were started in between may have handlers of their own
}

StopRequest::~StopRequest() {
  for (std::size_t i = 0; i < watched_signals.size(); ++i) {
    sigaction(watched_signals[i], &former_->actions[i], nullptr);
  }
}

bool StopRequest::time_is_up(double reserve_s) const {
  return walltime_s_ && seconds_since_start() + reserve_s >= *walltime_s_;
}

bool StopRequest::noticed(double reserve_s) const { return received_signal != 0 || time_is_up(reserve_s); }

std::string StopRequest::reason(const Comm& comm, double reserve_s) const {
  std::array<int, 2> found{received_signal, time_is_up(reserve_s) ? 1 : 0};
  comm.reduce(std::span<int>(found), Comm::Reduction::maximum);
  if (found[0] != 0) return signal_name(found[0]);
  if (found[1] != 0)
    return fmt::format("walltime of {} is nearly used", clock_text(walltime_s_.value_or(0.0)));
  return {};
}

}  // namespace quintet
