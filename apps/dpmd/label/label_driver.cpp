#include "apps/dpmd/label/label_driver.hpp"

#include <algorithm>
#include <filesystem>
#include <thread>
#include <utility>

#include <fmt/ranges.h>

#include "apps/dpmd/label/label_template.hpp"
#include "io/log/error.hpp"

namespace quintet::dpmd {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::string kind_of(const DriverRecipe& driver, const Configuration& frame) {
  std::string kind = fmt::format("{} {}", fmt::join(frame.box.periodic(), " "), driver.kind(frame));
  for (const int type : frame.types) kind += " " + frame.type_names[type];
  return kind;
}

}  // namespace

LabelDriver::LabelDriver(const LabelRecipe& recipe, const LabelOptions& options, std::string command,
                         std::string text, std::string folder)
    : recipe_(recipe),
      options_(options),
      command_(std::move(command)),
      text_(std::move(text)),
      folder_(std::move(folder)) {}

LabelDriver::~LabelDriver() { part(); }

std::string LabelDriver::output() const { return folder_ + "/" + label_output; }

void LabelDriver::part() {
  constexpr double patience_s = 5;
  if (connection_ && program_ && !program_->ended()) {
    try {
      connection_->send_word("EXIT");
      (void)program_->ended_within(patience_s);
    } catch (const Error&) {  // it is not there, or nobody is to wait for it: it is stopped below
    }
  }
  end();
}

void LabelDriver::end() {
  connection_.reset();
  program_.reset();
  listener_.reset();
}

void LabelDriver::start(const Configuration& frame) {
  part();
  n_labelled_ = 0;
  gone_since_.reset();
  kind_ = kind_of(recipe_.driver, frame);
  fs::remove_all(folder_);
  fs::create_directories(folder_);
  listener_.emplace();
  recipe_.driver.write(text_, folder_, frame, listener_->port());
  program_.emplace(command_, folder_, output());
  const WhileWaiting waiting = [this] { while_waiting(); };
  const auto is_of_program = [this](std::uint64_t socket) { return program_->holds_socket(socket); };
  connection_.emplace(listener_->accept(waiting, is_of_program), waiting, recipe_.driver.units(text_));
}

void LabelDriver::tell_end(const ProcessEnd& end) const {
  throw NoLabel(fmt::format("{} ended with {}; the last lines of {}:{}", recipe_.name, end.text(), output(),
                            last_lines(output(), 6)),
                end);
}

void LabelDriver::while_waiting() {
  if (StopWatch::seen()) throw NoLabel("stopped", ProcessEnd{0, false, true});
  if (options_.time_limit && seconds_since(begin_) > *options_.time_limit)
    tell_end(ProcessEnd{0, true, false});
  const auto end = program_->ended();
  if (!end) return;
  if (!gone_since_) gone_since_ = Clock::now();
  // What it has sent before comes first, and then the connection tells its end, unless a child holds it.
  constexpr double patience_s = 5;
  if (!connection_ || seconds_since(*gone_since_) > patience_s) tell_end(*end);
}

Configuration LabelDriver::label(const Configuration& frame) {
  begin_ = Clock::now();
  const bool fresh =
      !connection_ || program_->ended() || kind_ != kind_of(recipe_.driver, frame) || n_labelled_ == 0;
  try {
    if (fresh) start(frame);
    return ask(frame);
  } catch (const NoLabel& error) {
    end();
    if (fresh || error.end.stopped || error.end.timed_out) throw;
  } catch (const Error&) {
    end();
    if (fresh) throw;
  }
  try {
    start(frame);
    return ask(frame);
  } catch (...) {
    end();
    throw;
  }
}

std::string LabelDriver::status() {
  connection_->send_word("STATUS");
  const auto word = connection_->receive_word();
  if (!word) throw ConnectionLost("the connection ended");
  return *word;
}

Configuration LabelDriver::ask(const Configuration& frame) {
  try {
    const std::size_t said = fs::exists(output()) ? fs::file_size(output()) : 0;
    std::string word = status();
    if (word == "NEEDINIT") {
      connection_->send_init(0, " ");
      word = status();
    }
    QUINTET_CHECK(word == "READY", "{} answered '{}' to STATUS; expected READY", recipe_.name, word);
    connection_->send_positions(recipe_.driver.sent(frame));
    word = status();
    QUINTET_CHECK(word == "HAVEDATA", "{} answered '{}' after POSDATA; expected HAVEDATA", recipe_.name,
                  word);
    connection_->send_word("GETFORCE");
    word = connection_->receive_word().value_or("");
    if (word.empty()) throw ConnectionLost("the connection ended");
    QUINTET_CHECK(word == "FORCEREADY", "{} answered '{}' to GETFORCE; expected FORCEREADY", recipe_.name,
                  word);
    const auto found = recipe_.driver.received(frame, connection_->receive_forces(frame.n_atoms()));
    read_output(said, found.energy);
    Configuration labelled = frame;
    labelled.energy = found.energy;
    labelled.forces = found.forces;
    // A driver that computes no stress sends zeros.
    if (std::any_of(found.virial.begin(), found.virial.end(), [](double w) { return w != 0; }))
      labelled.virial = found.virial;
    check_labels(labelled);
    ++n_labelled_;
    return labelled;
  } catch (const ConnectionLost& error) {
    constexpr double patience_s = 2;
    if (const auto ended = program_->ended_within(patience_s)) tell_end(*ended);
    throw InputError(
        fmt::format("{} closed its connection and goes on: {} ({})", recipe_.name, error.what(), output()));
  }
}

void LabelDriver::read_output(std::size_t from, double energy) {
  if (recipe_.driver.is_said == nullptr) return;
  constexpr double patience_s = 10;
  const auto begin = Clock::now();
  for (;;) {
    const std::string all = read_text_file(output());
    if (recipe_.driver.is_said(all.substr(std::min(from, all.size())), energy)) return;
    QUINTET_CHECK(seconds_since(begin) < patience_s, "{} sent a result, but {} does not tell of it in {:g} s",
                  recipe_.name, output(), patience_s);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

}  // namespace quintet::dpmd
