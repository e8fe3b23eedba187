#include "io/runtime/socket.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "io/log/log.hpp"

namespace quintet {

namespace {

std::string reason(int error) { return std::strerror(error); }

/// Wait until a descriptor is ready, or in error, which the next call on it tells.
void wait_for(int descriptor, short events, const WhileWaiting& waiting) {
  constexpr int slice_ms = 100;
  for (;;) {
    pollfd watched{descriptor, events, 0};
    const int ready = ::poll(&watched, 1, slice_ms);
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR)
      throw ResourceError(fmt::format("cannot wait for a socket: {}", reason(errno)));
    if (waiting) waiting();
  }
}

/// A descriptor that is closed unless it is released.
struct Descriptor {
  int number;
  explicit Descriptor(int n) : number(n) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number >= 0) ::close(number);
  }
  int release() { return std::exchange(number, -1); }
};

int new_socket(int family) {
  const int descriptor = ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (descriptor < 0) throw ResourceError(fmt::format("cannot make a socket: {}", reason(errno)));
  return descriptor;
}

/// Small messages go at once: each waits for the other's answer.
void do_not_delay(int descriptor) {
  const int on = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

/// 0, or the error of connecting.
int connect_to(int descriptor, const sockaddr* to, socklen_t size, const WhileWaiting& waiting) {
  if (::connect(descriptor, to, size) == 0) return 0;
  if (errno != EINPROGRESS && errno != EINTR) return errno;
  wait_for(descriptor, POLLOUT, waiting);
  int error = 0;
  socklen_t length = sizeof error;
  ::getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length);
  return error;
}

bool means_nobody_listens(int error) {
  return error == ECONNREFUSED || error == ENOENT || error == EAGAIN || error == ETIMEDOUT;
}

std::optional<Socket> connect_by_path(const SocketAddress& address, const WhileWaiting& waiting) {
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  QUINTET_CHECK(address.path.size() < sizeof to.sun_path,
                "the name of the socket '{}' has {} bytes; expected at most {}", address.path,
                address.path.size(), sizeof to.sun_path - 1);
  std::memcpy(to.sun_path, address.path.c_str(), address.path.size() + 1);
  Descriptor descriptor(new_socket(AF_UNIX));
  const int error = connect_to(descriptor.number, reinterpret_cast<const sockaddr*>(&to), sizeof to, waiting);
  if (means_nobody_listens(error)) return std::nullopt;
  if (error != 0) throw ResourceError(fmt::format("cannot connect to {}: {}", address.text(), reason(error)));
  return Socket(descriptor.release());
}

std::optional<Socket> connect_by_host(const SocketAddress& address, const WhileWaiting& waiting) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  // Without a name, this machine: an empty container has no file that says who localhost is.
  const char* host = address.host == "localhost" ? nullptr : address.host.c_str();
  const int failed = ::getaddrinfo(host, std::to_string(address.port).c_str(), &hints, &found);
  QUINTET_CHECK(failed == 0, "the host '{}' is not known: {}", address.host, ::gai_strerror(failed));
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  int error = ECONNREFUSED;
  for (const addrinfo* at = found; at != nullptr; at = at->ai_next) {
    Descriptor descriptor(new_socket(at->ai_family));
    error = connect_to(descriptor.number, at->ai_addr, at->ai_addrlen, waiting);
    if (error != 0) continue;
    do_not_delay(descriptor.number);
    return Socket(descriptor.release());
  }
  if (means_nobody_listens(error)) return std::nullopt;
  throw ResourceError(fmt::format("cannot connect to {}: {}", address.text(), reason(error)));
}

/// "0100007F:9521" of /proc/net/tcp: an address of IPv4 as it lies in memory, and a port.
std::string in_table(std::uint32_t address, int port) { return fmt::format("{:08X}:{:04X}", address, port); }

/// The system's number of the socket from which this machine's port `to` is connected; 0 if it is closed
/// already, nothing where the system has no table of connections. Source: proc(5), /proc/net/tcp.
std::optional<std::uint64_t> number_of_socket(const sockaddr_in& from, int to) {
  const std::string local = in_table(from.sin_addr.s_addr, ntohs(from.sin_port)),
                    remote = in_table(htonl(INADDR_LOOPBACK), to),
                    within_ipv6 =
                        "0000000000000000FFFF0000";  // where the program speaks IPv6, ::ffff:127.0.0.1
  bool is_told = false;
  for (const auto& [table, prefix] :
       {std::pair{"/proc/net/tcp", std::string()}, {"/proc/net/tcp6", within_ipv6}}) {
    std::ifstream file(table);
    is_told = is_told || file.is_open();
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      std::string row, ours, theirs, skipped;
      if (!(words >> row >> ours >> theirs) || ours != prefix + local || theirs != prefix + remote) continue;
      for (int i = 0; i < 6; ++i) words >> skipped;  // state, queues, timer, retransmissions, user, timeout
      std::uint64_t number = 0;
      if (words >> number) return number;
    }
  }
  return is_told ? std::optional<std::uint64_t>(0) : std::nullopt;
}

}  // namespace

std::string SocketAddress::text() const { return path.empty() ? fmt::format("{}:{}", host, port) : path; }

std::optional<Socket> Socket::connect(const SocketAddress& address, const WhileWaiting& waiting) {
  return address.path.empty() ? connect_by_host(address, waiting) : connect_by_path(address, waiting);
}

Socket::Socket(int descriptor) : descriptor_(descriptor) {}

Socket::Socket(Socket&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool Socket::receive(std::span<std::byte> bytes, const std::string& what, const WhileWaiting& waiting) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const auto got = ::recv(descriptor_, bytes.data() + done, bytes.size() - done, 0);
    if (got > 0) {
      done += got;
    } else if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
      wait_for(descriptor_, POLLIN, waiting);
    } else {
      if (done == 0 && (got == 0 || errno == ECONNRESET)) return false;
      throw ConnectionLost(fmt::format("the connection ended after {} of {} bytes of {}{}", done,
                                       bytes.size(), what, got < 0 ? ": " + reason(errno) : ""));
    }
  }
  return true;
}

void Socket::send(std::span<const std::byte> bytes, const std::string& what, const WhileWaiting& waiting) {
  for (std::size_t done = 0; done < bytes.size();) {
    const auto sent = ::send(descriptor_, bytes.data() + done, bytes.size() - done, MSG_NOSIGNAL);
    if (sent > 0)
      done += sent;
    else if (sent < 0 && (errno == EAGAIN || errno == EINTR))
      wait_for(descriptor_, POLLOUT, waiting);
    else
      throw ConnectionLost(fmt::format("the connection ended after {} of {} bytes of {}: {}", done,
                                       bytes.size(), what, reason(errno)));
  }
}

LoopbackListener::LoopbackListener() {
  Descriptor descriptor(new_socket(AF_INET));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  auto* address = reinterpret_cast<sockaddr*>(&at);
  constexpr int most_waiting = 8;
  if (::bind(descriptor.number, address, size) != 0 || ::listen(descriptor.number, most_waiting) != 0 ||
      ::getsockname(descriptor.number, address, &size) != 0)
    throw ResourceError(fmt::format("cannot listen on this machine: {}", reason(errno)));
  port_ = ntohs(at.sin_port);
  descriptor_ = descriptor.release();
}

LoopbackListener::~LoopbackListener() { ::close(descriptor_); }

Socket LoopbackListener::accept(const WhileWaiting& waiting,
                                const std::function<bool(std::uint64_t socket)>& is_expected) const {
  for (;;) {
    wait_for(descriptor_, POLLIN, waiting);
    sockaddr_in from{};
    socklen_t size = sizeof from;
    Descriptor accepted(
        ::accept4(descriptor_, reinterpret_cast<sockaddr*>(&from), &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (accepted.number >= 0) {
      const auto other_end = number_of_socket(from, port_);
      if (!other_end || (*other_end != 0 && is_expected(*other_end))) {
        do_not_delay(accepted.number);
        return Socket(accepted.release());
      }
      if (*other_end != 0)
        log::warning(
            "Port {} of this machine: a connection of a program that was not started for it is refused",
            port_);
    } else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
      throw ResourceError(fmt::format("cannot take a connection: {}", reason(errno)));
    }
  }
}

}  // namespace quintet
