#include "tests/emulation/run/warp.hpp"
#include "tests/emulation/ptx/numbers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>

namespace quintet::emulation {

void Warp::run() {
  const Kernel &kernel = *block->kernel;
  const Instruction *const code = kernel.code.data();
  constexpr std::int32_t never = 1 << 30;
  for (;;) {
    const Mask runs = exists & ~exited & ~parked & ~at_barrier;
    if (runs == 0) return;
    // The lanes that are furthest behind go on, together with those at the same
    // place.
    std::int32_t at = never, merge = never;
    for (int l = 0; l < lanes; ++l)
      if (runs >> l & 1) at = std::min(at, pc[l]);
    Mask active = 0;
    for (int l = 0; l < lanes; ++l)
      if (runs >> l & 1) {
        if (pc[l] == at)
          active |= Mask{1} << l;
        else
          merge = std::min(merge, pc[l]);
      }
    auto leave_at = [&](Mask who, std::int32_t where) {
      for (int l = 0; l < lanes; ++l)
        if (who >> l & 1) pc[l] = where;
    };
    for (bool together = true; together;) {
      const Instruction &i = code[at];
      Mask m = active;
      if (i.guard >= 0) m &= i.guard_not ? ~predicates[i.guard] : predicates[i.guard];
      ++block->costs[static_cast<int>(i.cost)];
      if (settings().counts) block->active_lanes += static_cast<u64>(std::popcount(m));
      switch (i.kind) {
        case Kind::plain:
          if (m) i.run(*this, i, m);
          ++at;
          break;
        case Kind::branch:
          if (m == active) {
            at = i.target;
          } else if (m == 0) {
            ++at;
          } else {
            leave_at(m, i.target);
            leave_at(active & ~m, at + 1);
            together = false;
            continue;
          }
          break;
        case Kind::exit:
          exited |= m;
          leave_at(active & ~m, at + 1);
          together = false;
          continue;
        case Kind::trap:
          if (m) fail(*this, i, std::countr_zero(m), "a trap (an assertion of a kernel)");
          ++at;
          break;
        case Kind::barrier: {
          if (m == 0) {
            ++at;
            break;
          }
          // n_dst: of bar.red.popc
          for (int l = 0; l < lanes; ++l)
            if (m >> l & 1) barrier_id[l] = static_cast<std::int32_t>(slot(i.r[i.n_dst])[l]);
          if (i.n_src > 1 || i.n_dst > 0) {
            const u64 n = i.n_src > 1 ? slot(i.r[i.n_dst + 1])[std::countr_zero(m)] : 0;
            if (n != 0 && n != static_cast<u64>(block->block.x) * block->block.y * block->block.z)
              fail(*this, i, std::countr_zero(m), "a barrier of a part of a block");
          }
          leave_at(active, at);
          leave_at(active & ~m, at + 1);
          at_barrier |= m;
          together = false;
          continue;
        }
        case Kind::warp_sync:
        case Kind::vote:
        case Kind::shuffle: {
          if (m == 0) {
            ++at;
            break;
          }
          if (m != active) {  // guarded: lanes apart
            leave_at(active & ~m, at + 1);
            leave_at(m, at);
            active = m;
            together = false;
          }
          // Lanes that name one mask wait for each other.
          const bool all_that_are_here = i.kind == Kind::vote && i.mode == 9;
          const u64 *named = all_that_are_here ? nullptr : slot(i.r[i.n_dst + i.n_src - 1]);
          const Mask named_first = named ? static_cast<Mask>(named[std::countr_zero(m)]) : m;
          auto names_it = [&](int l) { return !named || static_cast<Mask>(named[l]) == named_first; };
          Mask same = 0, waiting = 0;
          for (int l = 0; l < lanes; ++l) {
            if ((m >> l & 1) && names_it(l)) same |= Mask{1} << l;
            if ((parked >> l & 1) && pc[l] == at && names_it(l)) waiting |= Mask{1} << l;
          }
          if (same != m) {
            leave_at(m, at);
            m = active = same;
            together = false;
          }
          const Mask group = m | waiting;
          const Mask live = exists & ~exited;
          Mask members = group;
          if (named) {
            const int one = std::countr_zero(m);
            members = named_first;
            if (!(members >> one & 1)) fail(*this, i, one, "a lane that is not in the mask it names");
            if ((members & live & ~group) != 0) {  // others are still to come
              parked |= m;
              leave_at(m, at);
              together = false;
              continue;
            }
          }
          parked &= ~group;
          const Mask who = group & members;
          if ((group & ~members) != 0)
            fail(*this, i, std::countr_zero(group & ~members), "a lane that is not in the mask it names");
          if (i.kind == Kind::warp_sync) ++syncs;  // a shuffle or vote orders no memory
          if (i.kind == Kind::vote) {
            if (i.mode == 9) {
              for (int l = 0; l < lanes; ++l)
                if (who >> l & 1) slot(i.r[0])[l] = m;
            } else {
              Mask p = predicates[i.p_src];
              if (i.p_not) p = ~p;
              p &= who;
              const bool result = i.mode == 1 ? p == who : i.mode == 2 ? p != 0 : p == who || p == 0;
              if (i.mode == 4) {
                for (int l = 0; l < lanes; ++l)
                  if (who >> l & 1) slot(i.r[0])[l] = p;
              } else {
                Mask &to = predicates[i.p_dst];
                to = (to & ~who) | (result ? who : 0);
              }
            }
          } else if (i.kind == Kind::shuffle) {
            u64 value[lanes];
            std::memcpy(value, slot(i.r[1]), sizeof value);
            const u64 *b = slot(i.r[2]), *c = slot(i.r[3]);
            u64 *d = slot(i.r[0]);
            u64 result[lanes];
            Mask inside = 0;
            for (int l = 0; l < lanes; ++l) {
              if (!(who >> l & 1)) continue;
              const int clamp = c[l] & 31, segment = c[l] >> 8 & 31, by = b[l] & 31;
              const int most = (l & segment) | (clamp & ~segment), least = l & segment;
              int from = 0;
              bool good = false;
              switch (i.mode) {
                case 1:
                  from = l - by;
                  good = from >= most;
                  break;
                case 2:
                  from = l + by;
                  good = from <= most;
                  break;
                case 3:
                  from = l ^ by;
                  good = from <= most;
                  break;
                default:
                  from = least | (by & ~segment);
                  good = from <= most;
                  break;
              }
              if (!good) from = l;
              if (good && !(who >> from & 1))
                fail(*this, i, l, "a shuffle from lane " + std::to_string(from) + ", which is not there");
              result[l] = value[from];
              if (good) inside |= Mask{1} << l;
            }
            for (int l = 0; l < lanes; ++l)
              if (who >> l & 1) d[l] = static_cast<u32>(result[l]);
            if (i.p_dst >= 0) {
              Mask &to = predicates[i.p_dst];
              to = (to & ~who) | (inside & who);
            }
          }
          if (group != active) {
            leave_at(group, at + 1);
            together = false;
            continue;
          }
          ++at;
          if (!together) {
            leave_at(group, at);
            continue;
          }
          break;
        }
      }
      if (at >= merge) {
        leave_at(active, at);
        together = false;
      }
    }
  }
}

}  // namespace quintet::emulation
