#include "apps/podlstm/hindcast/modes_at_origins.hpp"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/podlstm/setup/with_slepc.hpp"
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
  record_ = std::make_unique<ocean::Record>(
      context.timed("scan", [&] { return open_record(context.comm(), *options.fields); }));
  times_.time = record_->days();
  auto pod = pod_of(record_->n_times());
  QUINTET_CHECK(pod.method != ocean::PodMethod::lanczos || pod.lanczos,
                "pod.method: lanczos needs SLEPc, and this program was built without it; choose snapshots");
  check_pod(*record_, pod);
  context.require_memory(pod_bytes(*record_, pod), "fields of the last origin's times");
}

double ModesAtOrigins::known_until() const {
  return fixed_ ? times_.time[fixed_->n_fit - 1] : -std::numeric_limits<double>::infinity();
}

std::size_t ModesAtOrigins::n_points() const { return fixed_ ? fixed_->n_points() : record_->n_points(); }

std::shared_ptr<const ocean::OceanModes> ModesAtOrigins::at(const sequence::Origin& origin) const {
  if (fixed_) return fixed_;
  auto& known = made_[origin.date];
  if (known) return known;
  auto made =
      context_.timed("pod", [&] { return make_pod(context_.comm(), *record_, pod_of(origin.training.end)); });
  log::info("modes of the times before {}: {:.1f} % of their variance, {:.3f} degC are left out",
            ocean::date_text(origin.date), 100 * made.modes.captured_variance, made.error_fit);
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

ocean::PodOptions ModesAtOrigins::pod_of(int n_fit) const {
  ocean::PodOptions pod;
  pod.n_modes = static_cast<int>(options_.pod.modes);
  pod.n_fit = n_fit;
  pod.weights = options_.pod.weights;
  pod.background = options_.pod.background;
  pod.harmonics = static_cast<int>(options_.pod.harmonics);
  pod.background_years = years_of(options_.pod.background_years);
  pod.method = options_.pod.method;
  pod.seed = static_cast<std::uint64_t>(options_.pod.seed);
  pod.filling = dineof_of(options_.pod.dineof, pod.seed);
  pod.lanczos = lanczos_svd();
  return pod;
}

}  // namespace quintet::podlstm
