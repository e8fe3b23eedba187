#include "apps/podlstm/hindcast/modes_at_origins.hpp"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/podlstm/setup/sea_map.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "physics/ocean/pod.hpp"

namespace quintet::podlstm {

ModesAtOrigins::ModesAtOrigins(Context& context, const HindcastOptions& options)
    : context_(context), options_(options) {
  if (!options.fields) {
    fixed_ = std::make_shared<const ocean::OceanModes>(
        context.timed("read", [&] { return ocean::read_modes(context.comm(), options.modes); }));
    times_ = fixed_->series;
    check_points(*fixed_, options.points);
    return;
  }
  records_ = context.timed("scan", [&] { return open_records(context.comm(), *options.fields); });
  const auto& record = records_.front().record;
  times_.time = record.days();
  const auto pod = pod_of(options.pod, record.n_times());
  check_pod(joint(records_), pod);
  context.require_memory(pod_bytes(joint(records_), pod), "fields of the last origin's times");
}

double ModesAtOrigins::known_until() const {
  return fixed_ ? times_.time[fixed_->n_fit - 1] : -std::numeric_limits<double>::infinity();
}

std::size_t ModesAtOrigins::n_points() const {
  return fixed_ ? fixed_->n_points() : records_.front().record.n_points();
}

std::shared_ptr<const ocean::OceanModes> ModesAtOrigins::at(const sequence::Origin& origin) const {
  if (fixed_) return fixed_;
  auto& known = made_[origin.date];
  if (known) return known;
  auto made = context_.timed("pod", [&] {
    return make_pod(context_.comm(), joint(records_), pod_of(options_.pod, origin.training.end));
  });
  log::info("modes of the times before {}: {:.1f} % of their variance, {:.3f} {} are left out",
            ocean::date_text(origin.date), 100 * made.modes.captured_variance,
            made.variables.front().error_fit, short_unit(made.modes.units));
  known = std::make_shared<const ocean::OceanModes>(std::move(made.modes));
  return known;
}

std::string ModesAtOrigins::leak(const std::vector<sequence::Origin>& origins) const {
  if (known_until() < origins.front().date) return "";
  return fmt::format(
      "the modes were computed from times to {}, after the first origin, {}; fit them to earlier times, or "
      "give fields for modes of each origin",
      ocean::date_text(known_until()), ocean::date_text(origins.front().date));
}

}  // namespace quintet::podlstm
