#include "apps/meshfreeflow/simulate/point_spectrogram.hpp"

#include <cmath>
#include <optional>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::meshfreeflow {

using namespace convection;

namespace {

using Signal = PointSpectrogramOptions::Signal;

std::optional<PointSpectrogramOptions> section_of(const Simulation& simulation) {
  const auto& observe = simulation.options().observe;
  if (!observe) return std::nullopt;
  return section_given(observe->spectrogram, observe->spectrum);
}

SampledSignal signal_of(const PointSpectrogramOptions& section, const SimulateOptions& options) {
  const char* const name = section.signal == Signal::u ? "u" : section.signal == Signal::w ? "w" : "b";
  return {name, "at the point", sample_time(section.frames, options.time.dt), section.lowest.value_or(0),
          section.corner.value_or(0)};
}

const Field& field_of(const BoussinesqState& state, Signal signal) {
  return signal == Signal::u ? state.u : signal == Signal::w ? state.w : state.b;
}

}  // namespace

void PointSpectrogram::check(const Simulation& simulation) {
  const auto section = section_of(simulation);
  if (!section) return;
  const auto& options = simulation.options();
  Spectrogram::check(section->frames, signal_of(*section, options), options.time.end, options.time.steps);
  const auto need_whole_steps = [&](const char* what, const std::string& key, double time) {
    const double steps = time / *options.time.dt;
    QUINTET_CHECK(
        std::abs(steps - std::round(steps)) < 1e-6 * steps && steps > 0.5,
        "{} needs samples at even times, but a step is cut at each {}: {} {:g} is not a multiple of "
        "time.dt {:g}",
        section->frames.key(), what, key, time, *options.time.dt);
  };
  if (const auto interval = options.output.frame_interval)
    need_whole_steps("frame", "output.frame_interval", *interval);
  if (const auto* policy = simulation.policy(); policy != nullptr && policy->from() < options.time.end) {
    if (policy->from() > 0) need_whole_steps("action", "control.from", policy->from());
    if (policy->from() + policy->interval() < options.time.end)
      need_whole_steps("action", "the policy's interval", policy->interval());
  }
  const Grid& grid = simulation.flow().grid();
  const auto inside = [&](const Axis& axis, int d) {
    const double at = section->at[d];
    QUINTET_CHECK(at >= axis.faces.front() && at <= axis.faces.back(),
                  "{}.{}: {:g} is outside the flow, {:g} to {:g}", section->frames.key("at"), d, at,
                  axis.faces.front(), axis.faces.back());
  };
  inside(grid.x, 0);
  inside(grid.z, 1);
}

/// Linear between two places. Beyond the last place before a wall a value at centres stays as it is there;
/// one at faces, a velocity through the wall, falls to zero on it.
std::vector<PointSpectrogram::Share> PointSpectrogram::shares(const Axis& axis, bool on_faces, double at) {
  const int n = axis.n();
  const auto place = [&](int i) {
    const auto& places = on_faces ? axis.faces : axis.centres;
    return places[i];
  };
  const double length = axis.faces.back() - axis.faces.front();
  int i = n - 1;
  while (i >= 0 && place(i) > at) --i;
  if (i < 0) {
    if (!axis.periodic) return {{0, 1.0}};
    i = n - 1;
    at += length;
  }
  if (i + 1 < n || axis.periodic) {
    const double next = i + 1 < n ? place(i + 1) : place(0) + length;
    const double part = (at - place(i)) / (next - place(i));
    return {{i, 1 - part}, {(i + 1) % n, part}};
  }
  if (!on_faces) return {{i, 1.0}};
  return {{i, (axis.faces.back() - at) / (axis.faces.back() - place(i))}};
}

PointSpectrogram::PointSpectrogram(Context& context, const Simulation& simulation) {
  const auto section = section_of(simulation);
  if (!section) return;
  signal_ = section->signal;
  const Grid& grid = simulation.flow().grid();
  columns_ = shares(grid.x, section->signal == Signal::u, section->at[0]);
  rows_ = shares(grid.z, section->signal == Signal::w, section->at[1]);
  spectrogram_.emplace(context, section->frames, signal_of(*section, simulation.options()),
                       simulation.step());
}

void PointSpectrogram::add(const Simulation& simulation, const Instant& now) {
  const Grid& grid = simulation.flow().grid();
  const Field& field = field_of(simulation.flow().state(0), signal_);
  double value = 0;
  for (const auto& [j, row_weight] : rows_) {
    const int here = j - grid.first_row();
    if (here < 0 || here >= grid.rows_here()) continue;
    for (const auto& [i, weight] : columns_) value += row_weight * weight * field.row(here)[i];
  }
  spectrogram_->add(grid.comm().sum(value), now);
}

}  // namespace quintet::meshfreeflow
