#include "apps/vlasov/state/step_control.hpp"

#include <algorithm>
#include <cmath>

#include "io/hdf5/file.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"

namespace quintet::vlasov {

StepControl::StepControl(const RunOptions& options, const Setup& setup)
    : end_(setup.end), fixed_dt_(setup.fixed_dt), limits_(options.limits) {
  if (options.time.steps) most_steps_ = *options.time.steps;
}

bool StepControl::hopeless(double stable) {
  if (!(stable > 0)) return true;
  n_shrunk_ = first_dt_ > 0 && stable < limits_.shrunk_dt * first_dt_ ? n_shrunk_ + 1 : 0;
  return n_shrunk_ >= limits_.shrunk_steps;
}

void StepControl::fail(double stable, double time, std::int64_t step, const std::string& where) const {
  if (!(stable > 0))
    throw NumericalError(
        fmt::format("step {}, time {:.6g}: the stable time step is {:.4g}; {}", step, time, stable, where));
  throw NumericalError(
      fmt::format("step {}, time {:.6g}: the stable time step has been below limits.shrunk_dt = {:g} of the "
                  "first one, {:.4g}, for {}; it is {:.4g} now; {}",
                  step, time, limits_.shrunk_dt, first_dt_, counted(n_shrunk_, "step"), stable, where));
}

void StepControl::expect(double stable) {
  last_dt_ = std::min({stable, fixed_dt_.value_or(stable), end_});
  constexpr double most = 1e12;
  QUINTET_CHECK(
      !(stable > 0) || most_steps_ <= most || end_ / last_dt_ <= most,
      "time.end = {:g} is {:.1e} steps of {:g} away; no run has more than {:g}: give an earlier end, "
      "a larger time.dt or time.cfl, or time.steps",
      end_, end_ / last_dt_, last_dt_, most);
}

double StepControl::choose(double stable, double time, std::int64_t step) {
  double dt = fixed_dt_.value_or(stable);
  if (dt > stable * (1 + 1e-12)) {
    if (!warned_)
      log::warning(
          "step {}, time {:.6g}: time.dt = {:.4g} exceeds the stability limit {:.4g}, "
          "which limits the step wherever it is smaller (time.cfl)",
          step, time, dt, stable);
    warned_ = true;
    dt = stable;
  }
  if (first_dt_ == 0) first_dt_ = dt;
  last_dt_ = dt;
  // Round-off must not leave a last step of 1e-16 of the others.
  return time + dt * (1 + 1e-9) >= end_ ? end_ - time : dt;
}

bool StepControl::finished(double time, std::int64_t step) const {
  return step >= most_steps_ || end_ - time <= 1e-12 * std::max(std::abs(end_), last_dt_);
}

std::int64_t StepControl::steps_left(double time, std::int64_t step) const {
  if (finished(time, step)) return 0;
  const double n = last_dt_ > 0 ? std::ceil((end_ - time) / last_dt_) : 1;
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::min(n, 1e15)), 1, most_steps_ - step);
}

void StepControl::save(hdf5::Group& group) const {
  group.set_attribute("first_dt", first_dt_);
  group.set_attribute("last_dt", last_dt_);
  group.set_attribute("shrunk_steps", n_shrunk_);
}

void StepControl::load(const hdf5::Group& group) {
  first_dt_ = group.number_attribute("first_dt").at(0);
  last_dt_ = group.number_attribute("last_dt").at(0);
  n_shrunk_ = group.integer_attribute("shrunk_steps");
}

}  // namespace quintet::vlasov
