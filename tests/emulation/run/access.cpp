#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

#include "tests/emulation/ptx/numbers.hpp"
#include "tests/emulation/run/memory.hpp"
#include "tests/emulation/run/warp.hpp"

namespace quintet::emulation {

namespace {

void tell_race(const Block &b, const char *what, int line_before, int line_now, int before, int now,
               u64 offset) {
  static auto *known = new std::set<std::tuple<const Kernel *, int, int>>;
  if (races().empty()) known->clear();
  if (!known->insert({b.kernel, line_before, line_now}).second) return;
  races().push_back(std::string(what) + " in shared memory at byte " + std::to_string(offset) + ": thread " +
                    (before < 0 ? "?" : std::to_string(before)) + " at line " + std::to_string(line_before) +
                    ", thread " + std::to_string(now) + " at line " + std::to_string(line_now) + ", block " +
                    std::to_string(b.index.x) + " of " + demangled(b.kernel->name));
  std::fprintf(stderr, "emulation: a race: %s\n", races().back().c_str());
}

void trace(Warp &w, const Instruction &i, int lane, u64 offset, unsigned bytes, bool write, bool atomic) {
  Block &b = *w.block;
  const int thread = w.number * lanes + lane;
  const Mask others = ~(Mask{1} << lane);
  for (u64 o = offset / 4; o < (offset + bytes + 3) / 4; ++o) {
    if (o >= b.trace.words.size()) b.trace.words.resize(o + 1);
    Trace::Word &t = b.trace.words[o];
    const bool written = t.writer >= 0 && t.write_phase == b.phase && t.writer != thread &&
                         (t.writer / lanes != w.number || t.write_sync == w.syncs);
    if (written && !(atomic && t.atomic))
      tell_race(b, write ? "write after write" : "read after write", t.write_line, i.line, t.writer, thread,
                o * 4);
    const bool read_now = t.read_warp != -1 && t.read_phase == b.phase;
    const bool in_this_warp = t.read_warp == w.number && t.read_sync == w.syncs;
    if (write) {
      if (read_now && (t.read_warp != w.number ? true : in_this_warp && (t.readers & others) != 0))
        tell_race(b, "write after read", t.read_line, i.line,
                  t.read_warp == w.number ? std::countr_zero(t.readers & others) + w.number * lanes : -1,
                  thread, o * 4);
      t.write_phase = b.phase;
      t.write_sync = w.syncs;
      t.writer = thread;
      t.write_line = i.line;
      t.atomic = atomic;
    } else {
      if (read_now && t.read_warp != w.number) {
        t.read_warp = -2;
      } else {
        t.readers = (read_now && in_this_warp ? t.readers : 0) | ~others;
        t.read_warp = w.number;
      }
      t.read_phase = b.phase;
      t.read_sync = w.syncs;
      t.read_line = i.line;
    }
  }
}

/// How many times 32 banks of 4 bytes answer for the lanes of one access, a
/// word that several ask for once, and at best.
void count_shared(Block &b, const u64 *address, Mask m, unsigned bytes) {
  std::array<std::set<u64>, 32> banks;
  for (int l = 0; l < lanes; ++l)
    if (m >> l & 1)
      for (u64 o = address[l] / 4; o < (address[l] + bytes + 3) / 4; ++o) banks[o % 32].insert(o);
  std::size_t most = 0, all = 0;
  for (const auto &s : banks) {
    most = std::max(most, s.size());
    all += s.size();
  }
  b.wavefronts += most;
  b.ideal_wavefronts += (all + 31) / 32;
}

void count_global(Block &b, const u64 *address, Mask m, unsigned bytes) {
  u64 sectors[2 * lanes];
  int n = 0;
  for (int l = 0; l < lanes; ++l)
    if (m >> l & 1) {
      sectors[n++] = address[l] / 32;
      if ((address[l] + bytes - 1) / 32 != address[l] / 32) sectors[n++] = (address[l] + bytes - 1) / 32;
      b.bytes_asked += bytes;
    }
  std::sort(sectors, sectors + n);
  b.sectors += static_cast<u64>(std::unique(sectors, sectors + n) - sectors);
}

u8 *locate(Warp &w, const Instruction &i, int lane, u64 address, unsigned bytes, bool write,
           bool atomic = false) {
  Space space = i.space;
  if (address % bytes != 0 && !(bytes > 16))
    fail(w, i, lane, "an address that is not a multiple of " + std::to_string(bytes));
  if (space == Space::generic) {
    if (address - shared_window < window_bytes) {
      space = Space::shared;
      address -= shared_window;
    } else if (address - local_window < window_bytes) {
      space = Space::local;
      address -= local_window;
    } else {
      space = Space::global;
    }
  }
  switch (space) {
    case Space::shared:
      address = static_cast<u32>(address);
      if (address > w.block->shared.size() || bytes > w.block->shared.size() - address)
        fail(w, i, lane,
             "shared memory has " + std::to_string(w.block->shared.size()) + " bytes, not " +
                 std::to_string(address + bytes));
      if (settings().races) trace(w, i, lane, address, bytes, write, atomic);
      return w.block->shared.data() + address;
    case Space::local:
      if (address > w.block->kernel->local_bytes || bytes > w.block->kernel->local_bytes - address)
        fail(w, i, lane, "local memory ends before");
      return w.local.data() + std::int64_t{lane} * w.block->kernel->local_bytes + address;
    case Space::param:
      if (address > w.block->kernel->parameter_bytes || bytes > w.block->kernel->parameter_bytes - address)
        fail(w, i, lane, "parameters end before");
      return const_cast<u8 *>(w.block->parameters) + address;
    default: {
      if (address < i.begin || address + bytes > i.end) {
        const Allocation *a = find(address);
        if (a == nullptr || address + bytes > a->end) {
          char text[200];
          std::snprintf(text, sizeof text, "no memory of the device at %#llx (%u bytes)%s",
                        static_cast<unsigned long long>(address), bytes,
                        a || find(address - 1) ? ": the allocation ends before" : "");
          fail(w, i, lane, text);
        }
        i.begin = a->begin;
        i.end = a->end;
        i.alias = a->alias;
      }
      return reinterpret_cast<u8 *>(static_cast<s64>(address) + i.alias);
    }
  }
}

void count_access(Warp &w, const Instruction &i, Mask m, const u64 *address, unsigned bytes) {
  int first = std::countr_zero(m);
  const bool shared = i.space == Space::shared ||
                      (i.space == Space::generic && address[first] - shared_window < window_bytes);
  const bool global = i.space == Space::global ||
                      (i.space == Space::generic && !shared && address[first] - local_window >= window_bytes);
  if (shared) count_shared(*w.block, address, m, bytes);
  if (global) count_global(*w.block, address, m, bytes);
}

/// Where each lane goes, from register r of the instruction.
std::array<u64, lanes> addresses(const Warp &w, const Instruction &i, int r) {
  const u64 *base = w.slot(i.r[r]);
  std::array<u64, lanes> out{};
  for (int l = 0; l < lanes; ++l) out[l] = base[l] + static_cast<u64>(i.offset);
  return out;
}

template <class T>
void load(Warp &w, const Instruction &i, Mask m) {
  const unsigned bytes = sizeof(T) * i.width;
  const auto address = addresses(w, i, i.n_dst);
  if (settings().counts) count_access(w, i, m, address.data(), bytes);
  for (int l = 0; l < lanes; ++l) {
    if (!(m >> l & 1)) continue;
    const u8 *p = locate(w, i, l, address[l], bytes, false);
    for (unsigned k = 0; k < i.width; ++k) {
      T v;
      std::memcpy(&v, p + k * sizeof(T), sizeof(T));
      w.slot(i.r[k])[l] = std::is_signed_v<T> ? static_cast<u64>(static_cast<s64>(v)) : static_cast<u64>(v);
    }
  }
}
template <class T>
void store(Warp &w, const Instruction &i, Mask m) {
  const unsigned bytes = sizeof(T) * i.width;
  const auto address = addresses(w, i, 0);
  if (settings().counts) count_access(w, i, m, address.data(), bytes);
  for (int l = 0; l < lanes; ++l) {
    if (!(m >> l & 1)) continue;
    u8 *p = locate(w, i, l, address[l], bytes, true);
    for (unsigned k = 0; k < i.width; ++k) {
      const T v = static_cast<T>(w.slot(i.r[1 + k])[l]);
      std::memcpy(p + k * sizeof(T), &v, sizeof(T));
    }
  }
}

enum Atomic : u8 {
  add,
  minimum,
  maximum,
  exchange,
  compare_swap,
  increment,
  decrement,
  bit_and,
  bit_or,
  bit_xor
};
template <class T>
void atomic(Warp &w, const Instruction &i, Mask m) {
  const int n = i.n_dst;  // none: red
  const auto address = addresses(w, i, n);
  if (settings().counts) count_access(w, i, m, address.data(), sizeof(T));
  for (int l = 0; l < lanes; ++l) {
    if (!(m >> l & 1)) continue;
    u8 *p = locate(w, i, l, address[l], sizeof(T), true, true);
    T old, fresh;
    std::memcpy(&old, p, sizeof(T));
    const T x = get<T>(w.slot(i.r[n + 1])[l]);
    fresh = old;
    switch (i.mode) {
      case add:
        if constexpr (std::is_integral_v<T>)
          fresh = static_cast<T>(static_cast<u64>(old) + static_cast<u64>(x));
        else
          fresh = old + x;
        break;
      case minimum:
        fresh = std::min(old, x);
        break;
      case maximum:
        fresh = std::max(old, x);
        break;
      case exchange:
        fresh = x;
        break;
      case compare_swap:
        if (put(old) == put(x)) fresh = get<T>(w.slot(i.r[n + 2])[l]);
        break;
      case increment:
        fresh = old >= x ? T{0} : static_cast<T>(old + 1);
        break;
      case decrement:
        fresh = old == 0 || old > x ? x : static_cast<T>(old - 1);
        break;
      default:
        if constexpr (std::is_integral_v<T>)
          fresh = i.mode == bit_and ? old & x : i.mode == bit_or ? old | x : old ^ x;
    }
    std::memcpy(p, &fresh, sizeof(T));
    if (n > 0) w.slot(i.r[0])[l] = put(old);
  }
}

/// cp.async: r: shared, global, bytes, bytes that are read (the rest is zero).
/// What is copied is there after cp.async.wait_group, and no number before.
void copy_async(Warp &w, const Instruction &i, Mask m) {
  u64 address[lanes];
  std::memcpy(address, w.slot(i.r[1]), sizeof address);
  if (settings().counts)
    count_global(*w.block, address, m, static_cast<unsigned>(w.slot(i.r[2])[std::countr_zero(m)]));
  for (int l = 0; l < lanes; ++l) {
    if (!(m >> l & 1)) continue;
    const unsigned bytes = w.slot(i.r[2])[l];
    const auto read = i.n_src > 3 ? static_cast<unsigned>(w.slot(i.r[3])[l]) : bytes;
    Instruction to = i, from = i;
    to.space = Space::shared;
    from.space = Space::global;
    u8 *d = locate(w, to, l, w.slot(i.r[0])[l] + static_cast<u64>(i.offset), bytes, true);
    const u8 *s = read > 0 ? locate(w, from, l, address[l], read, false) : nullptr;
    std::memset(d, 0xff, bytes);
    w.copies.push_back({l, w.copy_group, d, s, bytes, read});
  }
}
void commit_copies(Warp &w, const Instruction &, Mask) { ++w.copy_group; }
/// offset: how many of the latest groups may still be on their way; -1: none,
/// what is in no group too
void wait_for_copies(Warp &w, const Instruction &i, Mask m) {
  std::erase_if(w.copies, [&](const AsyncCopy &c) {
    if (!(m >> c.lane & 1) || (i.offset >= 0 && c.group >= w.copy_group - i.offset)) return false;
    if (c.read > 0) std::memcpy(c.to, c.from, c.read);
    std::memset(c.to + c.read, 0, c.bytes - c.read);
    return true;
  });
}

}  // namespace

std::vector<std::string> &races() {
  static auto *value = new std::vector<std::string>;
  return *value;
}

Function memory_access(const std::vector<std::string> &parts, Instruction &i) {
  const std::string &op = parts[0];
  const std::string &t = parts.back();
  auto has = [&](const char *part) {
    for (const auto &p : parts)
      if (p == part) return true;
    return false;
  };
  const bool local = i.space == Space::local || i.space == Space::param, shared = i.space == Space::shared;
  const bool is_load = op == "ld" || op == "ldu";
  i.cost = local    ? Cost::local
           : shared ? (is_load ? Cost::shared_load : Cost::shared_store)
                    : (is_load ? Cost::global_load : Cost::global_store);
  if (is_load) {
    if (t == "u8" || t == "b8") return load<u8>;
    if (t == "s8") return load<std::int8_t>;
    if (t == "u16" || t == "b16") return load<u16>;
    if (t == "s16") return load<std::int16_t>;
    if (t == "u32" || t == "b32" || t == "f32") return load<u32>;
    if (t == "s32") return load<std::int32_t>;
    if (t == "u64" || t == "b64" || t == "f64" || t == "s64") return load<u64>;
    return nullptr;
  }
  if (op == "st") {
    const std::string n = t.substr(1);
    return n == "8"    ? store<u8>
           : n == "16" ? store<u16>
           : n == "32" ? store<u32>
           : n == "64" ? store<u64>
                       : nullptr;
  }
  if (op == "cp") {
    if (!has("async") || has("bulk") || has("mbarrier")) return nullptr;
    i.cost = Cost::global_load;
    return has("commit_group")                    ? commit_copies
           : has("wait_group") || has("wait_all") ? wait_for_copies
                                                  : copy_async;
  }
  i.cost = Cost::atomic;
  if (i.width > 1 || has("noftz") || has("f16x2") || has("bf16x2")) return nullptr;
  i.mode = has("cas")    ? compare_swap
           : has("add")  ? add
           : has("min")  ? minimum
           : has("max")  ? maximum
           : has("exch") ? exchange
           : has("inc")  ? increment
           : has("dec")  ? decrement
           : has("and")  ? bit_and
           : has("or")   ? bit_or
                         : bit_xor;
  if (t == "u32" || t == "b32") return atomic<u32>;
  if (t == "s32") return atomic<std::int32_t>;
  if (t == "u64" || t == "b64") return atomic<u64>;
  if (t == "s64") return atomic<s64>;
  if (t == "f64") return atomic<double>;
  if (t == "f32") return atomic<float>;
  return nullptr;
}

}  // namespace quintet::emulation
