#include "apps/application/life/progress.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "io/config/tree.hpp"
#include "io/log/counted.hpp"
#include "io/log/log.hpp"

namespace quintet {
namespace {

using Seconds = std::chrono::duration<double>;
constexpr double smoothing = 0.3;          // weight of the newest rate
constexpr double least_between_lines = 2;  // s; short runs say little
constexpr double most_between_lines = 60;  // s
constexpr double least_between_files = 1;  // s

/// A number as JSON, null if it is negative or not finite.
std::string json_number(double value) {
  return std::isfinite(value) && value >= 0 ? fmt::format("{:.6g}", value) : "null";
}

}  // namespace

std::string clock_text(double seconds) {
  if (!(seconds >= 0) || seconds > 1e9) return "?";
  const auto whole = std::llround(seconds);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

void Progress::start(std::int64_t first, std::int64_t last) {
  first_ = first;
  total_ = last - first + 1;
  seen_ = logged_ = 0;
  rate_ = 0;
  start_ = seen_at_ = logged_at_ = Clock::now();
  write(0);
}

void Progress::update(std::int64_t done) {
  if (!speaks_ || done == seen_) return;
  const auto now = Clock::now();
  const double rate = (done - seen_) / std::max(Seconds(now - seen_at_).count(), 1e-9);
  rate_ = rate_ == 0 ? rate : (1 - smoothing) * rate_ + smoothing * rate;
  seen_ = done;
  seen_at_ = now;

  const double silence = Seconds(now - logged_at_).count();
  if (silence > most_between_lines ||
      (silence > least_between_lines && done * 10 / total_ > logged_ * 10 / total_)) {
    clear();
    log::info("{}", line(done));
    logged_ = done;
    logged_at_ = now;
  }
  draw(line(done));
  if (Seconds(now - written_at_).count() >= least_between_files) write(done);
}

void Progress::finish(std::int64_t done) {
  if (!speaks_ || total_ <= 0) return;
  clear();
  write(done);
  const double seconds = Seconds(Clock::now() - start_).count();
  log::info("{} in {} s, {:.4g} steps/s{}", counted(done, "step"),
            seconds < 100 ? fmt::format("{:.2f}", seconds) : clock_text(seconds),
            done / std::max(seconds, 1e-9), number_.empty() ? "" : ", " + number_);
}

void Progress::show(const std::string& name, double value, const std::string& unit) {
  if (speaks_) number_ = fmt::format("{} = {:.6g}{}{}", name, value, unit.empty() ? "" : " ", unit);
}

std::string Progress::line(std::int64_t done) const {
  const std::int64_t last = first_ + total_ - 1;
  return fmt::format("step {}/{} ({} %)  {:.4g} steps/s  {} left{}{}", first_ + done - 1, last,
                     done * 100 / total_, rate_, clock_text((total_ - done) / rate_),
                     number_.empty() ? "" : "  ", number_);
}

void Progress::write(std::int64_t done) {
  if (file_.empty()) return;
  written_at_ = Clock::now();
  const double now = Seconds(std::chrono::system_clock::now().time_since_epoch()).count();
  const double left = done == total_ ? 0 : (total_ - done) / rate_;
  std::string shown = to_json(Tree::scalar(number_, true), 0);
  const std::string text = fmt::format(
      "{{\"step\": {}, \"last_step\": {}, \"steps_per_s\": {}, \"left_s\": {}, \"written_unix_s\": {:.3f}, "
      "\"shown\": {}}}\n",
      first_ + done - 1, first_ + total_ - 1, json_number(rate_ > 0 ? rate_ : NAN), json_number(left), now,
      shown);
  // Not flushed to the disk, unlike results: that could take longer than a step, and a crash of the node
  // takes nothing with it that a restart needs.
  const std::string partial = file_ + ".tmp";
  std::error_code ignored;
  std::ofstream out(partial, std::ios::trunc);
  out << text;
  out.close();
  if (out) std::filesystem::rename(partial, file_, ignored);  // a full disk leaves the one before
}

void Progress::draw(const std::string& line) {
  if (!live_) return;
  // The cursor goes back to the beginning: a warning in between overwrites the line instead of following it.
  std::fprintf(stderr, "\r\x1b[2K%s\r", line.c_str());
  std::fflush(stderr);
  drawn_ = true;
}

void Progress::clear() {
  if (!drawn_) return;
  std::fputs("\r\x1b[2K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace quintet
