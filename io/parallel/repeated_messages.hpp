#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "io/parallel/comm_fwd.hpp"

namespace quintet {

/// Messages that go again and again from the same memory to the same memory: made once, then started and
/// waited for without an allocation.
///
/// Messages of two ranks with one tag arrive in the order in which they were started; within one start() in
/// the order in which they were added. The communicator counts each start() of a send as one message.
class RepeatedMessages {
 public:
  /// Longest message (bytes): MPI counts with int.
  static constexpr std::size_t max_bytes = std::size_t{1} << 30;

  explicit RepeatedMessages(const Comm& comm);
  ~RepeatedMessages();  ///< gives up what is under way, so that an error on its way up hangs no rank
  RepeatedMessages(RepeatedMessages&&) noexcept;
  RepeatedMessages& operator=(RepeatedMessages&&) = delete;

  /// Add a message; the memory must live as long as this. Errors: InternalError for a rank that does not
  /// exist or is this one, a tag beyond Comm::max_tag, a message that is too long.
  void send(std::span<const std::byte> bytes, int destination, int tag);
  void receive(std::span<std::byte> bytes, int source, int tag);
  /// Begin with all of them; what is sent must stay untouched, what is received unread, until wait() returns.
  void start();
  /// Errors: InternalError if a message was not as long as expected. Does nothing where nothing was started.
  void wait();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace quintet
