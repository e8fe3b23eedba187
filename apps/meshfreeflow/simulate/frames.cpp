#include "apps/meshfreeflow/simulate/frames.hpp"

#include <cmath>

#include <fmt/format.h>

#include "physics/convection/centred.hpp"

namespace quintet::meshfreeflow {

using namespace convection;

namespace {

constexpr double round_off = 1e-9;

struct NamedField {
  const char *name, *text;
  std::vector<double> Centred::*values;
};
constexpr NamedField fields[] = {{"p", "Pressure, of zero volume mean", &Centred::p},
                                 {"b", "Buoyancy", &Centred::b},
                                 {"u", "Velocity along x", &Centred::u},
                                 {"w", "Velocity along z", &Centred::w}};

}  // namespace

Frames::Frames(Context& context, const Simulation& simulation)
    : interval_(simulation.options().output.frame_interval.value_or(0)),
      time_(context.results().root().group("fields").series<double>("time", {}, {"1", {"frame"}, "Time"})) {
  hdf5::Group group = context.results().root().group("fields");
  const Grid& grid = simulation.flow().grid();
  const auto all = group.read_rows<double>("time", 0, time_.size());
  for (const double time : all)
    if (time <= simulation.time() * (1 + round_off)) times_.push_back(time);
  if (!context.restart_file()) times_.clear();
  time_.truncate(times_.size());
  for (int m = 0; m < simulation.flow().n_members(); ++m)
    for (const auto& [name, text, values] : fields) {
      series_.push_back(group.series<float>(
          fmt::format("{}_{}", name, m),
          {static_cast<std::uint64_t>(grid.z.n()), static_cast<std::uint64_t>(grid.x.n())},
          {"1", {"frame", "z", "x"}, text}));
      series_.back().truncate(times_.size());
    }
}

Schedule Frames::schedule() const {
  const Schedule ends = at_start() | at_end();
  if (interval_ <= 0) return ends;
  return ends | Schedule([interval = interval_](const Instant& now) {
           return std::floor(now.time / interval + round_off) >
                  std::floor(now.time_before / interval + round_off);
         });
}

void Frames::write(const Simulation& simulation) {
  const double time = simulation.time();
  if (!times_.empty() && times_.back() >= time) return;
  const Grid& grid = simulation.flow().grid();
  std::size_t k = 0;
  for (int m = 0; m < simulation.flow().n_members(); ++m) {
    const Centred values = centred(Exec(), simulation.flow(), m);
    for (const auto& field : fields) {
      const auto& of = values.*field.values;
      const std::vector<float> rows(of.begin(), of.end());
      series_[k++].append_distributed(std::span<const float>(rows),
                                      static_cast<std::uint64_t>(grid.first_row()));
    }
  }
  time_.append(std::span<const double>(&time, 1));
  times_.push_back(time);
}

}  // namespace quintet::meshfreeflow
