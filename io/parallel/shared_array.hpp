#pragma once

#include <memory>
#include <type_traits>

#include "io/parallel/comm_fwd.hpp"

namespace quintet {

/// Memory of which each rank of a node gives a part and which all of them read and write directly.
///
/// Nothing travels: a sum over the ranks of a node is a sweep over memory. One rank alone needs no MPI.
class SharedMemory {
 public:
  /// @param node ranks that share memory, e.g. Comm::node(); collective. @param bytes this rank's part.
  SharedMemory(const Comm& node, std::size_t bytes);
  ~SharedMemory();
  SharedMemory(SharedMemory&&) noexcept;
  SharedMemory& operator=(SharedMemory&&) = delete;

  [[nodiscard]] std::byte* part(int rank) const;
  /// Make what any rank wrote before visible to all. Collective.
  void synchronise() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// SharedMemory as numbers: n of T on each rank (n may differ), zero at first.
template <class T>
class SharedArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  SharedArray(const Comm& node, std::size_t n) : memory_(node, n * sizeof(T)) {}
  [[nodiscard]] T* part(int rank) const { return reinterpret_cast<T*>(memory_.part(rank)); }
  void synchronise() const { memory_.synchronise(); }

 private:
  SharedMemory memory_;
};

}  // namespace quintet
