#include "apps/podlstm/fit/cost.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <utility>

#include <Kokkos_Core.hpp>

#include "apps/application/life/context.hpp"
#include "apps/application/life/memory.hpp"
#include "apps/application/loop/timed_steps.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/kernels/random.hpp"
#include "physics/ocean/coordinates/calendar.hpp"

namespace quintet::podlstm {
namespace {

constexpr std::size_t sampled_times = 32;  ///< of the record, which are read
constexpr double most_values = 4e6;        ///< of the made-up sea

/// Standing waves of falling amplitude whose coefficients are red noise, and white noise a tenth of them: a
/// spectrum as that of a sea. In memory, so that reading costs nothing.
class MadeUpSea : public ocean::FieldSource {
 public:
  MadeUpSea(std::vector<double> times, int points) {
    constexpr int waves = 40;
    constexpr double memory = 0.9;  // from one time to the next
    name = "made-up sea";
    days = std::move(times);
    grid.latitude = {0};
    for (int x = 0; x < points; ++x) grid.longitude.push_back(360.0 * x / points);
    values_.reserve(days.size() * points);
    std::vector<double> a(waves);
    for (std::size_t t = 0; t < days.size(); ++t) {
      double u = 0, v = 0;
      for (int k = 0; k < waves; ++k) {
        normal_pair(1, 1, k, t, u, v);
        a[k] = memory * a[k] + u;
      }
      for (int x = 0; x < points; ++x) {
        normal_pair(1, 2, x, t, u, v);
        double value = 0.1 * u;
        for (int k = 0; k < waves; ++k)
          value += a[k] / (k + 1) * std::cos(2 * std::numbers::pi * (k + 1) * x / points + k);
        values_.push_back(value);
      }
    }
    quantity = ocean::FieldQuantity::anomaly;
    units = "1";
  }
  [[nodiscard]] std::vector<double> read(int first, int n) const override {
    const auto begin = values_.begin() + static_cast<std::ptrdiff_t>(first * grid.size());
    return {begin, begin + static_cast<std::ptrdiff_t>(n * grid.size())};
  }

 private:
  std::vector<double> values_;
};

/// The first times of the record, read as files are read that no cache keeps.
FieldsOptions sample_of(FieldsOptions fields, const std::vector<double>& days) {
  if (days.size() > sampled_times) fields.to = ocean::date_text(days[sampled_times] - 1);
  fields.cache.clear();
  // In a few times points may keep their value that do not in many.
  const auto keep = [](VariableOptions& one) {
    if (one.constant_points == ocean::ConstantPoints::refuse)
      one.constant_points = ocean::ConstantPoints::sea;
  };
  keep(fields);
  for (auto& one : fields.also) one.cache.clear(), keep(one);
  return fields;
}

/// Seconds of the decomposition of fields at some points, without their reading.
StepTimes time_pod(const Comm& comm, const std::vector<double>& days, int points,
                   const ocean::PodOptions& pod) {
  ocean::RecordOptions all;
  all.keep_gaps = true;
  const ocean::Record record(comm, std::make_unique<MadeUpSea>(days, points), {}, all);
  return time_steps([&] { static_cast<void>(make_pod(comm, record, pod)); }, 0.5, 2, 9);
}

/// Bytes of modes.h5 and modes.nc.
double bytes_of_modes(const ocean::JointRecords& records, const ocean::PodOptions& pod, double times) {
  const double modes = pod.n_modes,
               cycle = pod.background == ocean::PodBackground::climatology ? 2.0 * pod.harmonics : 0;
  double bytes = 2 * 8 * times * (modes + 1);
  for (const auto& one : records) {
    const double cells = one.record->grid().size(), points = one.record->n_points();
    bytes += 8 * points * (modes + 2 + cycle) + cells + 4 * cells * (modes + 2);
  }
  return bytes;
}

}  // namespace

planning::CostModel fit_cost(Context& context, const FitOptions& options, const std::vector<int>& ranks) {
  const auto& comm = context.comm();
  QUINTET_CHECK(comm.size() == 1, "steps are timed on one rank, but {} were started", comm.size());
  QUINTET_CHECK(options.fields, "coefficients: are copied, and there is nothing to plan; run podlstm fit");
  Kokkos::Timer timer;
  auto uncached = *options.fields;
  uncached.cache.clear();
  const auto days = days_of(comm, uncached);
  const double looking = timer.seconds();
  QUINTET_CHECK(days.size() >= 2, "fields: has {}; expected two at least", counted(days.size(), "time"));
  const auto n = static_cast<int>(days.size());
  const auto pod = pod_of(options.pod, asked_times(options, days).value_or(n));
  const double base = 1e6 * peak_memory_mb();

  timer.reset();
  const auto opened = open_records(comm, sample_of(*options.fields, days));
  const double opening = timer.seconds();
  const auto records = joint(opened);
  const auto& first = opened.front().record;
  double points = 0, cells = 0;
  for (const auto& one : opened) {
    QUINTET_CHECK(one.record.n_missing() == 0,
                  "fields.incomplete_points: dineof: how often gaps are filled before nothing changes is not "
                  "known beforehand; plan with drop, and expect more");
    points += one.record.n_points(), cells += one.record.grid().size();
  }
  timer.reset();
  for (const auto& one : opened) static_cast<void>(one.record.read(0, one.record.n_times()));
  // Every value is looked at, and read again.
  const double reading = (std::max(opening - looking, 0.0) + timer.seconds()) / first.n_times();

  const int few = std::max(2 * pod.n_modes, static_cast<int>(std::min(points, most_values / n)));
  const auto large = time_pod(comm, days, few, pod), small = time_pod(comm, days, (few + 1) / 2, pod);
  const auto line = planning::rate_of((few + 1) / 2, small.median, few, large.median);
  const double decomposing = (line.floor + points * line.per_unit) / n;

  planning::CostModel model{.what = fmt::format("{}, about {:.0f} points, {}; a step is a time, read anew",
                                                counted(n, "time"), points, counted(pod.n_modes, "mode")),
                            .unit = "time",
                            .work = 1,
                            .steps = static_cast<double>(n)};
  model.rate = {.per_unit = reading + decomposing + looking / n,
                .spread = large.spread,
                .timed = fmt::format("{} of the record, and {} at {}", counted(first.n_times(), "time"),
                                     counted(large.n + small.n, "decomposition"), counted(few, "point"))};
  model.output = bytes_of_modes(records, pod, n);
  for (const int p : ranks) {
    constexpr double times_together = 16;  // that a rank reads before values travel
    const double others = p - 1;
    planning::StepCost row{.ranks = p,
                           .decomposition = p == 1 ? "points" : "points; words: of reading alone",
                           .work = std::ceil(1.0 * n / p) / n,
                           // Fields are gone when files and the report are written.
                           .memory = base +
                                     std::max(pod_bytes(records, pod, p) + bytes_of_writing, bytes_of_files) +
                                     (p > 1 ? bytes_of_messages : 0),
                           .halo = {others / (times_together * p) * static_cast<double>(opened.size()),
                                    8 * points * others / p / p}};
    if (p > first.n_points()) row.impossible = fmt::format("{} ranks share {} points", p, first.n_points());
    model.rows.push_back(row);
  }
  return model;
}

}  // namespace quintet::podlstm
