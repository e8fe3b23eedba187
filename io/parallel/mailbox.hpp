#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "io/parallel/comm.hpp"

namespace quintet {

/// Letters between ranks that nobody waits for: of any length, from any rank, in no agreed order.
///
/// Letters of one rank to another arrive in the order in which they were sent. Only the constructor is
/// collective, not sending or looking into the box.
class Mailbox {
 public:
  /// Collective.
  explicit Mailbox(const Comm& comm);
  ~Mailbox();
  Mailbox(Mailbox&&) noexcept;
  Mailbox& operator=(Mailbox&&) = delete;

  struct Letter {
    int source = 0;
    std::vector<std::byte> bytes;
  };

  /// Send a copy of `bytes`; returns at once. Throws InternalError for a letter to oneself or to a rank that
  /// does not exist.
  void send(std::span<const std::byte> bytes, int destination);
  /// A letter that has come, if there is one. Does not wait.
  [[nodiscard]] std::optional<Letter> receive();
  /// Count of what this rank has sent.
  [[nodiscard]] const Comm::Counter& sent() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace quintet
