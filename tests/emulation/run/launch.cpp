#include <cxxabi.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "tests/emulation/ptx/numbers.hpp"
#include "tests/emulation/run/memory.hpp"
#include "tests/emulation/run/warp.hpp"

namespace quintet::emulation {

namespace {

struct Totals {
  std::uint64_t launches = 0, warps = 0, blocks = 0, threads = 0;
  std::uint64_t costs[static_cast<int>(Cost::count)] = {};
  std::uint64_t wavefronts = 0, ideal = 0, sectors = 0, asked = 0, active = 0;
};
std::map<const Kernel *, Totals> &totals() {
  static auto *value = new std::map<const Kernel *, Totals>;
  return *value;
}

}  // namespace

std::string demangled(const std::string &name) {
  int status = 0;
  char *text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string out = status == 0 ? text : name;
  std::free(text);
  return out;
}

void fail(const Warp &w, const Instruction &i, int lane, const std::string &what) {
  const Block &b = *w.block;
  const std::size_t at = &i - b.kernel->code.data();
  const auto three = [](u64 x, u64 y, u64 z) {
    return "(" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
  };
  std::string text = what + "\n  in " + demangled(b.kernel->name);
  if (at < b.kernel->text.size()) text += "\n  line " + std::to_string(i.line) + ": " + b.kernel->text[at];
  text +=
      "\n  block " + three(b.index.x, b.index.y, b.index.z) + " of " + three(b.grid.x, b.grid.y, b.grid.z);
  text += ", thread " + three(w.slot(tid_x)[lane], w.slot(tid_y)[lane], w.slot(tid_z)[lane]) + " of " +
          three(b.block.x, b.block.y, b.block.z);
  throw Fault(text);
}

Settings &settings() {
  static Settings value = [] {
    Settings s;
    auto set = [](const char *name) {
      const char *text = std::getenv(name);
      return text ? std::atoi(text) : 0;
    };
    s.races = set("EMULATION_RACES") != 0;
    s.counts = std::getenv("EMULATION_REPORT") != nullptr;
    s.order = set("EMULATION_ORDER");
    return s;
  }();
  return value;
}

namespace {

void prepare(Warp &w, Block &b, int number) {
  const Kernel &k = *b.kernel;
  w.block = &b;
  w.number = number;
  if (w.storage.empty()) {
    w.storage.resize(std::int64_t{k.n_slots} * lanes + 8);
    w.slots = reinterpret_cast<u64 *>((reinterpret_cast<std::uintptr_t>(w.storage.data()) + 63) / 64 * 64);
    w.predicates.assign(k.n_predicates, 0);
    w.predicates[1] = ~Mask{0};
    for (const auto &[slot, value] : k.constants) std::fill_n(w.slot(slot), lanes, value);
    w.local.assign(k.local_bytes * lanes, 0xff);
  }
  const u64 threads = static_cast<u64>(b.block.x) * b.block.y * b.block.z;
  w.copies.clear();
  w.copy_group = 0;
  if (settings().races) {  // what a block before has left is no number
    std::fill_n(w.slot(n_special), std::int64_t{k.n_slots - n_special} * lanes, ~u64{0});
    for (const auto &[slot, value] : k.constants) std::fill_n(w.slot(slot), lanes, value);
    std::fill(w.local.begin(), w.local.end(), u8{0xff});
  }
  w.exists = w.exited = w.parked = w.at_barrier = 0;
  for (int l = 0; l < lanes; ++l) {
    const u64 t = static_cast<u64>(number) * lanes + static_cast<u64>(l);
    if (t < threads) w.exists |= Mask{1} << l;
    w.pc[l] = 0;
    auto set = [&](int s, u64 v) { w.slot(s)[l] = v; };
    set(tid_x, t % b.block.x);
    set(tid_y, t / b.block.x % b.block.y);
    set(tid_z, t / b.block.x / b.block.y);
    set(ntid_x, b.block.x);
    set(ntid_y, b.block.y);
    set(ntid_z, b.block.z);
    set(ctaid_x, b.index.x);
    set(ctaid_y, b.index.y);
    set(ctaid_z, b.index.z);
    set(nctaid_x, b.grid.x);
    set(nctaid_y, b.grid.y);
    set(nctaid_z, b.grid.z);
    set(laneid, static_cast<u64>(l));
    set(warpid, static_cast<u64>(number));
    set(clock_now, 0);
    set(mask_eq, Mask{1} << l);
    set(mask_lt, (Mask{1} << l) - 1);
    set(mask_le, (Mask{1} << l) | ((Mask{1} << l) - 1));
    set(mask_gt, ~((Mask{1} << l) | ((Mask{1} << l) - 1)));
    set(mask_ge, ~((Mask{1} << l) - 1));
    set(dynamic_shared, (k.static_shared + 15) / 16 * 16);
    set(carry, 0);
  }
}

/// All threads that are left wait at one barrier: they go on. CUDA does not say
/// what happens where some wait at another instruction, even of the same
/// barrier.
bool release_barrier(Block &b) {
  int id = -1, at = -1;
  for (const Warp &w : b.warps)
    for (int l = 0; l < lanes; ++l) {
      if (!((w.exists & ~w.exited) >> l & 1)) continue;
      if (!(w.at_barrier >> l & 1)) return false;
      if (id < 0) id = w.barrier_id[l];
      if (w.barrier_id[l] != id) return false;
      const int pc = w.pc[l];
      if (at < 0) at = pc;
      if (pc != at)
        fail(w, b.kernel->code[pc], l,
             "a barrier while other threads wait at that of line " + std::to_string(b.kernel->code[at].line));
    }
  if (id < 0) return false;
  // bar.red: over all threads
  u64 sum = 0, all = 0;
  for (const Warp &w : b.warps)
    for (int l = 0; l < lanes; ++l)
      if (w.at_barrier >> l & 1) {
        const Instruction &i = b.kernel->code[w.pc[l]];
        if (i.p_src < 0) continue;
        Mask p = w.predicates[i.p_src];
        if (i.p_not) p = ~p;
        sum += p >> l & 1;
        ++all;
      }
  for (Warp &w : b.warps) {
    for (int l = 0; l < lanes; ++l)
      if (w.at_barrier >> l & 1) {
        const Instruction &i = b.kernel->code[w.pc[l]];
        if (i.p_dst >= 0) {
          Mask &to = w.predicates[i.p_dst];
          const bool r = i.mode == 1 ? sum == all : sum > 0;
          to = (to & ~(Mask{1} << l)) | (r ? Mask{1} << l : 0);
        }
        if (i.n_dst > 0) w.slot(i.r[0])[l] = sum;
        ++w.pc[l];
      }
    w.at_barrier = 0;
    ++w.syncs;
  }
  ++b.phase;
  return true;
}

}  // namespace

void launch(const Kernel &kernel, Dim3 grid, Dim3 block, std::size_t dynamic,
            const std::vector<u8> &parameters) {
  Totals &t = totals()[&kernel];
  if (kernel.generation != generation()) {
    for (const Instruction &i : kernel.code) i.begin = i.end = 0;
    kernel.generation = generation();
  }
  Block b;
  b.kernel = &kernel;
  b.grid = grid;
  b.block = block;
  b.parameters = parameters.data();
  b.costs = t.costs;
  const u64 threads = static_cast<u64>(block.x) * block.y * block.z;
  const std::size_t n_warps = (threads + lanes - 1) / lanes;
  b.warps.resize(n_warps);
  const std::size_t shared = (kernel.static_shared + 15) / 16 * 16 + dynamic;
  const u64 n = static_cast<u64>(grid.x) * grid.y * grid.z;
  ++t.launches;
  t.blocks += n;
  t.warps += n * n_warps;
  t.threads += n * threads;
  std::vector<std::size_t> order(n_warps);
  for (std::size_t k = 0; k < n_warps; ++k) order[k] = settings().order == 1 ? n_warps - 1 - k : k;
  std::mt19937 random(static_cast<unsigned>(settings().order) + static_cast<unsigned>(t.launches));
  std::vector<u64> blocks;
  if (settings().order > 1) {
    blocks.resize(n);
    for (u64 k = 0; k < n; ++k) blocks[k] = k;
    std::shuffle(blocks.begin(), blocks.end(), random);
  }
  for (u64 turn = 0; turn < n; ++turn) {
    const u64 k = settings().order == 1 ? n - 1 - turn : settings().order > 1 ? blocks[turn] : turn;
    b.index = {static_cast<unsigned>(k % grid.x), static_cast<unsigned>(k / grid.x % grid.y),
               static_cast<unsigned>(k / grid.x / grid.y)};
    b.shared.assign(shared, 0xff);
    b.trace.words.clear();
    for (std::size_t w = 0; w < n_warps; ++w) prepare(b.warps[w], b, static_cast<int>(w));
    for (;;) {
      if (settings().order > 1) std::shuffle(order.begin(), order.end(), random);
      for (const std::size_t w : order) b.warps[w].run();
      bool done = true;
      for (const Warp &w : b.warps) done = done && (w.exists & ~w.exited) == 0;
      if (done) break;
      if (!release_barrier(b)) {
        for (const Warp &w : b.warps)
          for (int l = 0; l < lanes; ++l)
            if ((w.exists & ~w.exited) >> l & 1) {
              const auto &i = kernel.code[w.pc[l]];
              fail(w, i, l,
                   (w.at_barrier >> l & 1) ? "a barrier that some threads do not come to"
                                           : "lanes that wait for others");
            }
      }
    }
  }
  t.wavefronts += b.wavefronts;
  t.ideal += b.ideal_wavefronts;
  t.sectors += b.sectors;
  t.asked += b.bytes_asked;
  t.active += b.active_lanes;
}

void report() {
  const char *path = std::getenv("EMULATION_REPORT");
  if (path == nullptr) return;
  std::FILE *out = std::fopen(path, "a");
  if (out == nullptr) return;
  static const char *names[] = {"other",       "fp64",         "fp32",        "integer",      "special",
                                "global_load", "global_store", "shared_load", "shared_store", "local",
                                "atomic",      "barrier",      "shuffle",     "branch",       "tensor"};
  for (const auto &[kernel, t] : totals()) {
    std::uint64_t all = 0;
    for (auto c : t.costs) all += c;
    std::fprintf(out,
                 "{\"kernel\": \"%s\", \"launches\": %llu, \"blocks\": %llu, \"warps\": "
                 "%llu, "
                 "\"instructions\": %llu, \"lanes_active\": %.3f, "
                 "\"shared_wavefronts\": %llu, "
                 "\"shared_ideal\": %llu, \"sectors\": %llu, \"bytes_asked\": %llu",
                 demangled(kernel->name).c_str(), static_cast<unsigned long long>(t.launches),
                 static_cast<unsigned long long>(t.blocks), static_cast<unsigned long long>(t.warps),
                 static_cast<unsigned long long>(all),
                 all ? static_cast<double>(t.active) / static_cast<double>(all) / 32 : 0.0,
                 static_cast<unsigned long long>(t.wavefronts), static_cast<unsigned long long>(t.ideal),
                 static_cast<unsigned long long>(t.sectors), static_cast<unsigned long long>(t.asked));
    for (int c = 0; c < static_cast<int>(Cost::count); ++c)
      if (t.costs[c])
        std::fprintf(out, ", \"%s\": %llu", names[c], static_cast<unsigned long long>(t.costs[c]));
    std::fprintf(out, "}\n");
  }
  std::fclose(out);
}

}  // namespace quintet::emulation
