#include "physics/kernels/core_rate.hpp"

#include <algorithm>
#include <ctime>

#include "physics/kernels/pack.hpp"

namespace quintet {
namespace {

constexpr int chains = 12, rounds = 20000, repeats = 200;

/// Seconds of `rounds` of independent multiply-adds, one in each chain, with empty instructions among them or
/// not.
template <class T, bool with_empty>
double round_seconds(Pack<T> (&sum)[chains]) {
  Pack<T> a = broadcast<T>(T(0.999)), b = broadcast<T>(T(1e-3));
  return timed([&] {
    for (int i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
      for (int k = 0; k < chains; ++k) {
        sum[k] = sum[k] * a + b;
        if constexpr (with_empty) asm volatile("nop; nop; nop; nop; nop");
      }
#ifdef __x86_64__
      asm volatile("" : "+v"(a), "+v"(b));
#endif
    }
  });
}

template <class T, bool with_empty>
double best_rate() {
  double best = 1e300, keep = 0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    Pack<T> sum[chains];
    for (int k = 0; k < chains; ++k) sum[k] = broadcast<T>(static_cast<T>(1e-3 * (k + repeat)));
    best = std::min(best, round_seconds<T, with_empty>(sum));
    for (const auto& pack : sum) keep += static_cast<double>(horizontal_sum<T>(pack));
  }
  volatile double kept = keep;  // else nothing has to be computed
  (void)kept;
  return static_cast<double>(rounds) * chains / best;
}

/// A core that was idle takes tens of milliseconds to full speed: seen to run at half of it.
void warm_up() {
  static bool warm = false;
  for (const double start = cpu_seconds(); !warm && cpu_seconds() - start < 0.2;) best_rate<double, false>();
  warm = true;
}

}  // namespace

double cpu_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

template <class T>
Core measure_core() {
  warm_up();
  return {2.0 * pack_width<T> * best_rate<T, false>(), best_rate<T, true>()};
}

template <class T>
Core Bracket<T>::close() const {
  const Core after = measure_core<T>();
  (void)share_of_slots(after);  // counts among those that were seen
  return {(before_.peak + after.peak) / 2, std::min(before_.slots, after.slots)};
}

template <class T>
double Bracket<T>::share_of_slots(const Core& core) {
  static double most = 0;
  most = std::max(most, core.slots);
  return core.slots / most;
}

template Core measure_core<float>();
template Core measure_core<double>();
template class Bracket<float>;
template class Bracket<double>;

}  // namespace quintet
