#include "apps/dpmd/ipi/conversation.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include "io/config/schema.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/together.hpp"
#include "io/runtime/signals.hpp"
#include "physics/particles/formats/read_configuration_text.hpp"

namespace quintet::dpmd::ipi {

namespace {

void heed_signals() {
  if (stop_signal_has_come()) throw Interrupted("stopped by a signal");
}

}  // namespace

void describe(Schema& schema, ServeOptions& options) {
  schema.text("unix", options.unix_name, "Socket of this machine: its path, or NAME for /tmp/ipi_NAME");
  schema.text("host", options.host, "Machine of the server");
  schema.integer("port", options.port, "Port of the server").at_least(1).at_most(65535);
  schema.quantity("wait", options.wait, "s", "How long to look for a server").at_least(0);
  schema.flag("again", options.again, "Look for a server again where one ends without saying EXIT");
}

SocketAddress address_of(const ServeOptions& options) {
  QUINTET_CHECK(options.unix_name.has_value() != options.port.has_value(),
                "{}; expected one address of the server: --unix NAME, or --port N with --host HOST",
                options.port ? "--unix and --port are given" : "neither --unix nor --port is given");
  SocketAddress address;
  if (options.unix_name) {
    QUINTET_CHECK(!options.unix_name->empty(), "--unix: the name is empty; expected NAME or a path");
    address.path = options.unix_name->find('/') == std::string::npos ? "/tmp/ipi_" + *options.unix_name
                                                                     : *options.unix_name;
    return address;
  }
  address.host = options.host;
  address.port = *options.port;
  return address;
}

Conversation::Conversation(const ServeOptions& options, const Structures& structures)
    : options_(options), address_(address_of(options)), structures_(structures) {}

void Conversation::connect() {
  using Clock = std::chrono::steady_clock;
  const auto give_up = Clock::now() + std::chrono::duration<double>(options_.wait);
  constexpr auto pause = std::chrono::milliseconds(100);
  log::info("looking for a server at {}", address_.text());
  for (;;) {
    if (auto socket = Socket::connect(address_, heed_signals)) {
      server_.emplace(std::move(*socket), heed_signals);
      ++n_servers_;
      answer_.reset();
      is_told_ = false;
      return log::info("connected to {}", address_.text());
    }
    if (Clock::now() > give_up) break;
    std::this_thread::sleep_for(pause);
    heed_signals();
  }
  if (n_servers_ == 0)
    throw ResourceError(
        fmt::format("no server at {} for {:g} s; start it first, or wait longer with --wait '10 min'",
                    address_.text(), options_.wait));
  log::info("no server came back to {} for {:g} s", address_.text(), options_.wait);
  done_ = true;
}

std::optional<Configuration> Conversation::next() {
  while (!done_) {
    if (!server_) connect();
    if (done_) break;
    try {
      if (auto frame = next_of_server()) return frame;
      if (!done_) log::info("the server at {} has ended", address_.text());
    } catch (const ConnectionLost& error) {
      if (!options_.again) throw;
      log::warning("{}; {} is looked for again", error.what(), address_.text());
    }
    server_.reset();
    done_ = done_ || !options_.again;
  }
  return std::nullopt;
}

std::optional<Configuration> Conversation::next_of_server() {
  for (;;) {
    heed_signals();
    const auto word = server_->receive_word();
    if (!word) return std::nullopt;
    if (*word == "STATUS") {
      server_->send_word(answer_ ? "HAVEDATA" : is_told_ ? "READY" : "NEEDINIT");
    } else if (*word == "INIT") {
      const std::string told = server_->receive_init();
      QUINTET_CHECK(
          told.find("batch_size") == std::string::npos,
          "the server at {} sends several configurations at once ({}); expected batch_size 1: start "
          "as many 'dpmd serve' as shall compute at once",
          address_.text(), text::shown(told));
      is_told_ = true;
    } else if (*word == "POSDATA") {
      is_told_ = true;
      auto sent = server_->receive_positions([this](int n) { structures_.require(n); });
      answer_.reset();
      return structures_.placed(sent.rows, std::move(sent.positions));
    } else if (*word == "GETFORCE") {
      send_answer();
    } else if (*word == "EXIT") {
      done_ = true;
      return std::nullopt;
    } else {
      throw InputError(fmt::format(
          "the server at {} sent {}; expected STATUS, INIT, POSDATA, GETFORCE or EXIT of i-PI's protocol",
          address_.text(), text::shown(*word)));
    }
  }
}

void Conversation::answer(Forces found) { answer_ = std::move(found); }

void Conversation::send_answer() {
  QUINTET_CHECK(answer_, "the server at {} asked for forces (GETFORCE) before it sent positions (POSDATA)",
                address_.text());
  server_->send_forces(*answer_);
  answer_.reset();
}

}  // namespace quintet::dpmd::ipi
