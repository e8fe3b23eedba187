#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "tests/emulation/ptx/decoder.hpp"

namespace quintet::emulation {

void assign_slots(Kernel &kernel, int n, const std::map<std::uint64_t, int> &constants) {
  std::vector<char> pinned(n, 0);
  for (int k = 0; k < n_special; ++k) pinned[k] = 1;
  for (auto &[value, id] : constants) pinned[id] = 1;
  constexpr int never = 1 << 30;
  std::vector<int> begin(n, never), end(static_cast<std::size_t>(n), -1);
  const auto &code = kernel.code;
  const int n_code = code.size();
  // Basic blocks, and which registers live at their ends: what is read later
  // before it is written.
  std::vector<char> starts(static_cast<std::size_t>(n_code) + 1, 0);
  starts[0] = 1;
  for (int at = 0; at < n_code; ++at) {
    const Instruction &i = code[at];
    if (i.kind == Kind::branch) starts[i.target] = 1;
    if (i.kind == Kind::branch || i.kind == Kind::exit) starts[static_cast<std::size_t>(at) + 1] = 1;
  }
  std::vector<int> first, block_of(static_cast<std::size_t>(n_code));
  for (int at = 0; at < n_code; ++at) {
    if (starts[at]) first.push_back(at);
    block_of[at] = static_cast<int>(first.size()) - 1;
  }
  const auto n_blocks = first.size();
  first.push_back(n_code);
  const std::size_t words = (static_cast<std::size_t>(n) + 63) / 64;
  using Set = std::vector<std::uint64_t>;
  std::vector<Set> reads(n_blocks, Set(words)), writes = reads, in = reads, out = reads;
  auto has = [](const Set &s, std::size_t r) { return s[r / 64] >> (r % 64) & 1; };
  auto put = [](Set &s, std::size_t r) { s[r / 64] |= std::uint64_t{1} << (r % 64); };
  for (std::size_t b = 0; b < n_blocks; ++b)
    for (int at = first[b]; at < first[b + 1]; ++at) {
      const Instruction &i = code[at];
      for (int k = i.n_dst; k < i.n_dst + i.n_src; ++k)
        if (const std::size_t r = i.r[k]; !has(writes[b], r)) put(reads[b], r);
      for (int k = 0; k < i.n_dst; ++k) {
        const std::size_t r = i.r[k];
        if (i.guard < 0)
          put(writes[b], r);
        else if (!has(writes[b], r))
          put(reads[b], r);
      }
      for (int k = 0; k < i.n_dst + i.n_src; ++k) {
        const std::size_t r = i.r[k];
        begin[r] = std::min(begin[r], at);
        end[r] = std::max(end[r], at);
      }
    }
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = n_blocks; b-- > 0;) {
      const Instruction &last = code[static_cast<std::size_t>(first[b + 1]) - 1];
      auto join = [&](std::size_t next) {
        for (std::size_t w = 0; w < words; ++w) out[b][w] |= in[next][w];
      };
      if (last.kind == Kind::branch) join(static_cast<std::size_t>(block_of[last.target]));
      if (b + 1 < n_blocks && !((last.kind == Kind::branch || last.kind == Kind::exit) && last.guard < 0))
        join(b + 1);
      for (std::size_t w = 0; w < words; ++w) {
        const std::uint64_t now = reads[b][w] | (out[b][w] & ~writes[b][w]);
        changed = changed || now != in[b][w];
        in[b][w] = now;
      }
    }
  }
  for (std::size_t b = 0; b < n_blocks; ++b)
    for (std::size_t r = 0; r < static_cast<std::size_t>(n); ++r) {
      if (has(in[b], r)) begin[r] = std::min(begin[r], first[b]), end[r] = std::max(end[r], first[b]);
      if (has(out[b], r))
        begin[r] = std::min(begin[r], first[b + 1] - 1), end[r] = std::max(end[r], first[b + 1] - 1);
    }
  std::vector<int> slot(n, -1);
  int next = n_special;
  for (int k = 0; k < n_special; ++k) slot[k] = k;
  for (auto &[value, id] : constants) {
    slot[id] = next;
    kernel.constants.emplace_back(next++, value);
  }
  std::vector<int> order;
  for (int r = 0; r < n; ++r)
    if (!pinned[r] && begin[r] != never) order.push_back(r);
  std::sort(order.begin(), order.end(), [&](int a, int b) { return begin[a] < begin[b]; });
  std::multimap<int, int> live;  // by end: slot
  std::vector<int> free;
  for (int r : order) {
    while (!live.empty() && live.begin()->first < begin[r]) {
      free.push_back(live.begin()->second);
      live.erase(live.begin());
    }
    if (free.empty()) free.push_back(next++);
    slot[r] = free.back();
    free.pop_back();
    live.emplace(end[r], slot[r]);
  }
  kernel.n_slots = next;
  for (Instruction &i : kernel.code)
    for (int k = 0; k < i.n_dst + i.n_src; ++k) i.r[k] = slot[i.r[k]];
}

}  // namespace quintet::emulation
