#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "io/log/error.hpp"

namespace quintet {

/// Where a server listens: a socket in the file system, or a port of a host.
struct SocketAddress {
  std::string path;  ///< "" for a port
  std::string host = "localhost";
  int port = 0;
  [[nodiscard]] std::string text() const;  ///< "/tmp/ipi_water" or "localhost:31415"
};

/// The other side is gone in the midst of a message.
struct ConnectionLost : ResourceError {
  using ResourceError::ResourceError;
};

/// What is called ten times a second while there is nothing to do but wait; it throws to end that.
using WhileWaiting = std::function<void()>;

/// One end of a connection that bytes go through in order, both ways. Nothing waits in the system: all
/// waiting is done here, and `waiting` can end it.
class Socket {
 public:
  /// Connect; nothing if nobody listens there (yet). Throws InputError for an address that cannot be one,
  /// ResourceError if the system refuses.
  [[nodiscard]] static std::optional<Socket> connect(const SocketAddress& address,
                                                     const WhileWaiting& waiting);
  explicit Socket(int descriptor);
  Socket(Socket&& other) noexcept;
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();

  /// Receive bytes.size() bytes; false if the other side has ended instead of sending the first of them.
  /// Throws ConnectionLost if it ends after it, naming `what`.
  [[nodiscard]] bool receive(std::span<std::byte> bytes, const std::string& what,
                             const WhileWaiting& waiting);
  /// Throws ConnectionLost if the other side takes no more.
  void send(std::span<const std::byte> bytes, const std::string& what, const WhileWaiting& waiting);

 private:
  int descriptor_ = -1;
};

/// A port of this machine that only its own programs reach, chosen by the system.
class LoopbackListener {
 public:
  /// Throws ResourceError.
  LoopbackListener();
  LoopbackListener(const LoopbackListener&) = delete;
  LoopbackListener& operator=(const LoopbackListener&) = delete;
  ~LoopbackListener();
  [[nodiscard]] int port() const { return port_; }
  /// The next connection of one whom `is_expected`; others are closed, and told of in the log. It is given
  /// the number by which the system knows the other end of the connection (proc(5): socket:[number]), and not
  /// asked where the system does not tell it.
  [[nodiscard]] Socket accept(const WhileWaiting& waiting,
                              const std::function<bool(std::uint64_t socket)>& is_expected) const;

 private:
  int descriptor_ = -1, port_ = 0;
};

}  // namespace quintet
