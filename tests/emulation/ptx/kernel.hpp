#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

/// A kernel decoded from PTX. A register is a slot of 32 values of 64 bits, one
/// a lane of the warp; a predicate is a mask of lanes.
namespace quintet::emulation {

inline constexpr int lanes = 32;
using Mask = std::uint32_t;

struct Instruction;
struct ModuleText;
struct Warp;
using Function = void (*)(Warp &, const Instruction &, Mask);

enum class Kind : std::uint8_t { plain, branch, exit, barrier, warp_sync, vote, shuffle, trap };
enum class Space : std::uint8_t { generic, global, shared, local, param, constant };
/// What a warp's instruction costs a multiprocessor.
enum class Cost : std::uint8_t {
  other,
  fp64,
  fp32,
  integer,
  special,
  global_load,
  global_store,
  shared_load,
  shared_store,
  local,
  atomic,
  barrier,
  shuffle,
  branch,
  tensor,
  count
};

struct Instruction {
  Function run = nullptr;
  Kind kind = Kind::plain;
  Cost cost = Cost::other;
  Space space = Space::generic;
  std::uint8_t n_dst = 0,
               n_src = 0;  // registers in r: first those written, then those read
  std::uint8_t width = 1;  // elements of an access
  std::uint8_t mode = 0;
  bool guard_not = false, p_not = false;
  std::int32_t guard = -1;                           // predicate
  std::int32_t p_dst = -1, p_dst2 = -1, p_src = -1;  // predicates
  std::array<std::int32_t, 9> r{};
  std::int32_t target = -1;
  std::int32_t line = 0;
  std::int64_t offset = 0;
  // the allocation of the last access
  mutable std::uint64_t begin = 0, end = 0;
  mutable std::ptrdiff_t alias = 0;
};

struct Kernel {
  std::string name;
  std::vector<Instruction> code;
  std::vector<std::string> text;  // of each instruction
  int n_slots = 0, n_predicates = 0;
  std::vector<std::pair<int, std::uint64_t>> constants;
  std::vector<std::pair<std::size_t, std::size_t>> parameters;  // offset, bytes
  std::size_t parameter_bytes = 0, static_shared = 0, local_bytes = 0;
  std::array<int, 3> max_threads{};
  int min_blocks = 0;
  mutable std::uint64_t generation = 0;  ///< of the memory that instructions know of
};

/// Slots of every kernel that hold what a thread knows of itself.
enum Special : int {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  clock_now,
  mask_lt,
  mask_le,
  mask_eq,
  mask_gt,
  mask_ge,
  dynamic_shared,
  carry,
  n_special
};

/// A module: variables are allocated and filled, kernels decoded when first
/// asked for.
class Module {
 public:
  explicit Module(std::string ptx);
  ~Module();
  [[nodiscard]] const Kernel *kernel(const std::string &name);
  /// Address and bytes; {0, 0} if it has none of that name.
  [[nodiscard]] std::pair<std::uint64_t, std::size_t> variable(const std::string &name) const;

 private:
  std::unique_ptr<ModuleText> text_;
  std::map<std::string, std::unique_ptr<Kernel>> kernels_;
};

/// The function of an arithmetic instruction; null if it is not known. `parts`:
/// its name split at the dots.
[[nodiscard]] Function arithmetic(const std::vector<std::string> &parts, Instruction &instruction);
[[nodiscard]] Function memory_access(const std::vector<std::string> &parts, Instruction &instruction);

}  // namespace quintet::emulation
