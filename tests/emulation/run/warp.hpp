#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/emulation/ptx/kernel.hpp"

namespace quintet::emulation {

struct Dim3 {
  unsigned x = 1, y = 1, z = 1;
};

/// The shared memory's last accesses, to find those of two threads that no
/// barrier orders.
struct Trace {
  struct Word {
    std::uint32_t write_phase = 0, read_phase = 0;  // of the block
    std::uint32_t write_sync = 0, read_sync = 0;    // of the thread's warp
    std::int32_t writer = -1, read_warp = -1;       // a thread; a warp, -2: several
    Mask readers = 0;                               // of that warp
    std::int32_t write_line = 0, read_line = 0;
    bool atomic = false;
  };
  std::vector<Word> words;
};

struct Block {
  const Kernel *kernel = nullptr;
  Dim3 grid, block, index;
  std::vector<std::uint8_t> shared;
  const std::uint8_t *parameters = nullptr;
  std::vector<Warp> warps;
  Trace trace;
  std::uint32_t phase = 1;
  std::uint64_t *costs = nullptr;  // instructions of warps by Cost
  std::uint64_t wavefronts = 0, ideal_wavefronts = 0, sectors = 0, bytes_asked = 0, active_lanes = 0;
};

/// cp.async of one lane that is not waited for yet.
struct AsyncCopy {
  int lane = 0;
  std::int64_t group = 0;
  std::uint8_t *to = nullptr;
  const std::uint8_t *from = nullptr;
  unsigned bytes = 0, read = 0;
};

struct Warp {
  Block *block = nullptr;
  int number = 0;
  std::uint64_t *slots = nullptr;
  std::vector<std::uint64_t> storage;
  std::vector<Mask> predicates;
  std::vector<std::uint8_t> local;  // of lane l: from l * local_bytes
  std::vector<AsyncCopy> copies;
  std::int64_t copy_group = 0;
  std::uint32_t syncs = 1;
  Mask exists = 0, exited = 0, parked = 0, at_barrier = 0;
  std::array<std::int32_t, lanes> pc{};
  std::array<std::int32_t, lanes> barrier_id{};
  [[nodiscard]] std::uint64_t *slot(int i) { return slots + std::int64_t{i} * lanes; }
  [[nodiscard]] const std::uint64_t *slot(int i) const { return slots + std::int64_t{i} * lanes; }
  /// Goes on until every lane has left or waits for others.
  void run();
};

inline constexpr std::uint64_t shared_window = 0x7e0000000000, local_window = 0x7d0000000000,
                               window_bytes = 1 << 24;

/// Runs all blocks of a launch, one after the other.
void launch(const Kernel &kernel, Dim3 grid, Dim3 block, std::size_t dynamic_shared,
            const std::vector<std::uint8_t> &parameters);
[[nodiscard]] std::string demangled(const std::string &name);
/// What a kernel may not do: memory that is not there, a barrier that not all
/// come to, ...
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};
[[noreturn]] void fail(const Warp &warp, const Instruction &instruction, int lane, const std::string &what);
void report();

struct Settings {
  bool races = false, counts = false;
  int order = 0;  // of blocks and warps: 0 forward, 1 backward, other: seed
};
/// From the environment: EMULATION_RACES=1, EMULATION_ORDER=N,
/// EMULATION_REPORT=FILE (counts of each kernel).
[[nodiscard]] Settings &settings();
/// Two threads of a block that came to one place of shared memory, one to
/// write, with no barrier between: each pair of instructions once.
[[nodiscard]] std::vector<std::string> &races();

}  // namespace quintet::emulation
