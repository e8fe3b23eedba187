#pragma once

/// Rates that a core reaches at a moment, to tell whether a neighbour disturbed a timing.
namespace quintet {

/// CPU seconds of this process so far, all threads together.
[[nodiscard]] double cpu_seconds();

/// CPU seconds of one call.
template <class Action>
double timed(Action&& action) {
  const double start = cpu_seconds();
  action();
  return cpu_seconds() - start;
}

/// Rates of this core at one moment.
struct Core {
  double peak;   ///< floating-point operations a second of independent multiply-adds in registers, two a
                 ///< multiply-add
  double slots;  ///< multiply-adds, each with five empty instructions, a second: all slots of issue
};

/// Measure it: the least time of many rounds of about 0.1 ms, some 50 ms in all.
/// @tparam T float or double
template <class T>
Core measure_core();

/// A case between two measurements of the core.
///
/// The neighbour of a virtual core takes slots of issue: multiply-adds alone then run as before, while
/// kernels, which load, store and count besides, lose a quarter. Times with few slots say little.
template <class T>
class Bracket {
 public:
  Bracket() : before_(measure_core<T>()) { (void)share_of_slots(before_); }
  /// Measure again: the mean of both peaks, the lesser of the slots.
  Core close() const;
  /// Share of the slots of a moment among the most that this process has seen: 1 on a core to oneself.
  static double share_of_slots(const Core& core);

 private:
  Core before_;
};

}  // namespace quintet
