#pragma once

#include <cstdint>
#include <optional>

#include "apps/dpmd/ipi/messages.hpp"
#include "apps/dpmd/ipi/structures.hpp"
#include "io/config/schema_fwd.hpp"
#include "io/runtime/socket.hpp"

namespace quintet::dpmd::ipi {

/// How a driver finds its server.
struct ServeOptions {
  std::optional<std::string> unix_name;
  std::string host = "localhost";
  std::optional<std::int64_t> port;
  double wait = 60;    ///< for a server (s)
  bool again = false;  ///< look for a server again after the loss of one
};
void describe(Schema& schema, ServeOptions& options);
/// Throws InputError unless there is one address. A unix name without '/' is /tmp/ipi_NAME, as i-PI has it.
[[nodiscard]] SocketAddress address_of(const ServeOptions& options);

/// A driver's side of the conversation with one server after another; on one rank.
class Conversation {
 public:
  Conversation(const ServeOptions& options, const Structures& structures);

  /// The next configuration to evaluate; nothing once there is no more. Throws InputError for what is not the
  /// protocol's, ResourceError where there is no server or it ends in the midst of a message, Interrupted.
  [[nodiscard]] std::optional<Configuration> next();
  /// What next()'s configuration has given; it is sent when it is asked for.
  void answer(Forces found);

 private:
  /// The next configuration of this server; nothing if it has ended.
  [[nodiscard]] std::optional<Configuration> next_of_server();
  void connect();
  void send_answer();

  ServeOptions options_;
  SocketAddress address_;
  const Structures& structures_;
  std::optional<Connection> server_;
  std::optional<Forces> answer_;
  std::int64_t n_servers_ = 0;
  bool is_told_ = false;  ///< by INIT how this server sends, or by POSDATA
  bool done_ = false;     ///< told to end, or no server comes back
};

}  // namespace quintet::dpmd::ipi
