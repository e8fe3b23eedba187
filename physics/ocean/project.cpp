#include <string>
#include <vector>

#include <fmt/ranges.h>

#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/ocean/coordinates/grid.hpp"
#include "physics/ocean/pod.hpp"
#include "physics/ocean/pod_fields.hpp"

namespace quintet::ocean {

void check_variables(const JointRecords& records, const OceanModes& modes) {
  const auto variables = variables_of(modes);
  std::vector<std::string> given, wanted;
  for (std::size_t v = 1; v < records.size(); ++v) given.push_back(records[v].name);
  for (const auto& one : modes.also) wanted.push_back(one.name);
  QUINTET_CHECK(
      given == wanted,
      "fields.also: has the further variables [{}], the modes [{}]; give those that `podlstm fit` has "
      "read, in its order",
      fmt::join(given, ", "), fmt::join(wanted, ", "));
  for (std::size_t v = 0; v < records.size(); ++v) {
    const auto& record = *records[v].record;
    const auto& one = *variables[v];
    QUINTET_CHECK(same_grid({one.latitude, one.longitude}, record.grid()) && one.mask == record.mask(),
                  "{}are on a grid of {} x {} with {} sea points, the modes on {} x {} with {}; give the "
                  "record and the region that `podlstm fit` has read",
                  one.name.empty() ? "fields: " : told_by_name(one.name), record.grid().latitude.size(),
                  record.grid().longitude.size(), record.n_points(), one.latitude.size(),
                  one.longitude.size(), one.n_points());
    QUINTET_CHECK(
        record.units() == one.units && (record.quantity() == FieldQuantity::anomaly) == one.anomalies,
        "{}are in {}, the modes of {}, or anomalies where these are of temperatures; give the "
        "record that `podlstm fit` has read",
        one.name.empty() ? "fields: " : told_by_name(one.name), record.units(), one.units);
  }
}

std::vector<double> project(const Comm& comm, const JointRecords& records, const OceanModes& modes) {
  check_joint(records);
  check_variables(records, modes);
  const auto& days = records.front().record->days();
  const auto variables = variables_of(modes);
  const int n_modes = modes.n_modes(), n_times = days.size();
  for (const auto& one : records)
    QUINTET_CHECK(one.record->n_missing() == 0,
                  "{}{} missing, and gaps are filled where modes are fitted alone: fit them anew "
                  "with the new times, or incomplete_points: drop",
                  one.name.empty() ? "fields: " : told_by_name(one.name),
                  counted(one.record->n_missing(), "value is", "values are"));
  std::vector<double> values;
  for (int first = 0; first < n_times; first += times_later) {
    const int n = std::min(times_later, n_times - first);
    std::vector<double> sums(std::int64_t{n} * n_modes, 0.0);
    const std::vector<double> none(n_modes, 0.0);
    for (std::size_t v = 0; v < records.size(); ++v) {
      const auto& record = *records[v].record;
      const auto& one = *variables[v];
      const int first_mine = record.first_point(comm.rank());
      const std::size_t points = one.n_points();
      const auto fields = record.read(first, n);
      for (int t = 0; t < n; ++t) {
        const auto background = expand(one, days[first + t], none.data());
        for (int m = 0; m < n_modes; ++m)
          for (int p = 0; p < record.n_mine(); ++p) {
            const std::size_t x = static_cast<std::size_t>(first_mine) + p;
            sums[std::int64_t{t} * n_modes + m] +=
                one.weights[x] * one.modes[m * points + x] * (fields.row(p)[t] - background[x]);
          }
      }
    }
    comm.reduce(std::span<double>(sums), Comm::Reduction::sum);
    values.insert(values.end(), sums.begin(), sums.end());
  }
  return values;
}

}  // namespace quintet::ocean
