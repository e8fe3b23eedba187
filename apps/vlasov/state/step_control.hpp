#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "apps/vlasov/setup/setup.hpp"
#include "io/hdf5/file_fwd.hpp"

namespace quintet::vlasov {

/// Chooses time steps: the largest stable or a fixed one, the last one cut to the end; and stops a run whose
/// steps have become hopelessly small.
class StepControl {
 public:
  StepControl(const RunOptions& options, const Setup& setup);

  /// The step to take at `time`, of which `stable` is the largest that the CFL condition admits. A fixed step
  /// beyond it is rejected: the stable one is taken, with a warning that says so. Throws NumericalError when
  /// `stable` is not positive, or steps have been below limits.shrunk_dt of the first one for
  /// limits.shrunk_steps steps; `where` tells the place for the message.
  template <class Where>
  [[nodiscard]] double next(double stable, double time, std::int64_t step, Where where) {
    if (hopeless(stable)) fail(stable, time, step, where());
    return choose(stable, time, step);
  }
  [[nodiscard]] bool finished(double time, std::int64_t step) const;
  /// The step that steps_left() counts with before the first one, where `stable` is the largest there. Throws
  /// InputError where the end is more steps away than a run ever takes.
  void expect(double stable);
  /// Steps still to go at the size of the last one.
  [[nodiscard]] std::int64_t steps_left(double time, std::int64_t step) const;
  [[nodiscard]] double last_dt() const { return last_dt_; }

  /// Save, or load, the state that a restart needs to take the same steps.
  void save(hdf5::Group& group) const;
  void load(const hdf5::Group& group);

 private:
  [[nodiscard]] bool hopeless(double stable);
  [[noreturn]] void fail(double stable, double time, std::int64_t step, const std::string& where) const;
  [[nodiscard]] double choose(double stable, double time, std::int64_t step);

  double end_;
  std::optional<double> fixed_dt_;
  std::int64_t most_steps_ = std::numeric_limits<std::int64_t>::max() / 2;
  LimitOptions limits_;
  double first_dt_ = 0, last_dt_ = 0;
  std::int64_t n_shrunk_ = 0;
  bool warned_ = false;
};

}  // namespace quintet::vlasov
