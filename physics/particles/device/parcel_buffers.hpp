#pragma once

#include <cstddef>
#include <string>

#include "physics/kernels/device_buffer.hpp"
#include "physics/particles/device/resident_atoms.hpp"

namespace quintet::device {

/// Buffers from which a rank's messages are sent and in which they arrive: memory of the device where MPI
/// reads that, else page-locked memory of the host beside it, with one copy each way. Grows and stays; one
/// message at a time.
///
/// All sizes are numbers of 8 bytes, in which positions, forces and records travel.
template <class Space>
class ParcelBuffers {
 public:
  explicit ParcelBuffers(bool direct) : direct_(direct) {}

  /// Buffer of packed numbers, and room for those that arrive.
  [[nodiscard]] double* outgoing(std::size_t n) {
    make_room<double, Space>(outgoing_, "resident::outgoing", n, spare);
    return outgoing_.data();
  }
  [[nodiscard]] double* incoming(std::size_t n) {
    make_room<double, Space>(incoming_, "resident::incoming", n, spare);
    return incoming_.data();
  }
  /// For steps, which allocate nothing.
  void reserve(std::size_t n) {
    (void)outgoing(n);
    (void)incoming(n);
    stage(n, n);
  }

  /// n_out numbers at `from` go out, n_in come in to `to` (see arrive()). All is there when it returns.
  [[nodiscard]] ResidentAtoms::Parcel leave(const Space& space, const void* from, std::size_t n_out, void* to,
                                            std::size_t n_in) {
    stage(n_out, n_in);
    if (!direct_ && n_out > 0)
      Kokkos::deep_copy(space, Staged(staged_out_.data(), n_out),
                        There<const double>(static_cast<const double*>(from), n_out));
    space.fence();
    if (direct_) return {from, to};
    return {staged_out_.data(), staged_in_.data()};
  }
  /// After the message: n numbers are on their way to `to`, in the order of `space`.
  void arrive(const Space& space, void* to, std::size_t n) {
    if (direct_ || n == 0) return;
    Kokkos::deep_copy(space, There<double>(static_cast<double*>(to), n), Staged(staged_in_.data(), n));
  }

 private:
  static constexpr double spare = 1.05;
#ifdef KOKKOS_ENABLE_CUDA
  using StagingSpace = Kokkos::CudaHostPinnedSpace;
#else
  using StagingSpace = Kokkos::HostSpace;
#endif
  using Staging = Kokkos::View<double*, StagingSpace>;
  using Staged = Kokkos::View<double*, StagingSpace, Kokkos::MemoryUnmanaged>;
  template <class T>
  using There = Kokkos::View<T*, typename Space::memory_space, Kokkos::MemoryUnmanaged>;

  void stage(std::size_t n_out, std::size_t n_in) {
    if (direct_) return;
    stage(staged_out_, n_out);
    stage(staged_in_, n_in);
  }
  static void stage(Staging& buffer, std::size_t n) {
    if (buffer.extent(0) >= n) return;
    buffer = Staging();
    const auto size = static_cast<std::size_t>(n * spare) + 1;
    buffer = Staging(Kokkos::view_alloc(std::string("staged::parcel"), Kokkos::WithoutInitializing), size);
  }

  bool direct_;
  Buffer<double, Space> outgoing_, incoming_;
  Staging staged_out_, staged_in_;
};

}  // namespace quintet::device
