#include "physics/particles/observables/observables_correlation.hpp"

#include <algorithm>
#include <span>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/dynamics/dynamics_kernels.hpp"

namespace quintet {

TimeCorrelation::TimeCorrelation(const CorrelationOptions& options, Product product)
    : options_(options), product_(product) {}

void TimeCorrelation::begin(const Comm& comm, const Atoms& atoms) {
  homes_ = AtomHomes(comm, AtomHomes::largest_id(comm, atoms), atoms.n_global);
  type_names_ = atoms.type_names;
  masses_ = atoms.masses;
  n_of_type_.assign(atoms.type_names.size(), 0);
  for (int i = 0; i < atoms.n_local; ++i) ++n_of_type_[atoms.type(i)];
  comm.reduce(std::span<std::int64_t>(n_of_type_), Comm::Reduction::sum);
  origin_.assign(n_slots() * 3 * homes_.count(), 0.0);
  curve_.assign(n_slots() * n_types() * n_lags(), 0.0);
  sum_.assign(n_types() * n_lags(), 0.0);
  n_origins_.assign(n_lags(), 0);
}

std::vector<std::int64_t> TimeCorrelation::live_origins() const {
  const std::int64_t newest = n_samples_ / options_.origin_interval;
  const std::int64_t past = n_samples_ - options_.length;
  const std::int64_t oldest = past <= 0 ? 0 : 1 + (past - 1) / options_.origin_interval;
  std::vector<std::int64_t> origins;
  for (std::int64_t o = oldest; o <= newest; ++o) origins.push_back(o);
  return origins;
}

double TimeCorrelation::sum_of_type(const Exec& exec, int wanted, std::int64_t slot) const {
  const double* const now = value_.data();
  const double* const then = origin_.data() + slot * 3 * homes_.count();
  const int* const type = type_.data();
  const bool dot = product_ == Product::dot;
  return blocked_sum<1>(exec, "particles::correlate", homes_.count(), [=](int i, std::array<double, 1>& sum) {
    if (type[i] != wanted) return;
    for (int k = 3 * i; k < 3 * i + 3; ++k) {
      const double difference = now[k] - then[k];
      sum[0] += dot ? now[k] * then[k] : difference * difference;
    }
  })[0];
}

std::optional<std::vector<double>> TimeCorrelation::add(const Exec& exec, const Comm& comm,
                                                        const std::vector<AtomSample>& samples,
                                                        const Atoms& atoms) {
  if (n_of_type_.empty()) begin(comm, atoms);
  homes_.send_home(comm, samples, value_, type_);
  const std::int64_t every = options_.origin_interval;
  if (n_samples_ % every == 0)
    std::copy(value_.begin(), value_.end(),
              origin_.begin() + (n_samples_ / every % n_slots()) * value_.size());

  const auto origins = live_origins();
  std::vector<double> sums;
  for (const std::int64_t origin : origins)
    for (int t = 0; t < n_types(); ++t) sums.push_back(sum_of_type(exec, t, origin % n_slots()));
  comm.reduce(std::span<double>(sums), Comm::Reduction::sum);

  std::optional<std::vector<double>> completed;
  for (std::size_t o = 0; o < origins.size(); ++o) {
    const std::int64_t lag = n_samples_ - origins[o] * every, slot = origins[o] % n_slots();
    for (int t = 0; t < n_types(); ++t) {
      const double mean = n_of_type_[t] > 0 ? sums[o * n_types() + t] / n_of_type_[t] : 0.0;
      curve_[curve(slot, t) + lag] = mean;
      sum_[t * n_lags() + lag] += mean;
    }
    ++n_origins_[lag];
    if (lag == options_.length)
      completed.emplace(curve_.begin() + curve(slot, 0), curve_.begin() + curve(slot + 1, 0));
  }
  ++n_samples_;
  return completed;
}

std::size_t TimeCorrelation::n_seen() const {
  return std::find(n_origins_.begin(), n_origins_.end(), 0) - n_origins_.begin();
}

std::vector<double> TimeCorrelation::average(int type) const {
  std::vector<double> mean(n_seen());
  for (std::size_t lag = 0; lag < mean.size(); ++lag)
    mean[lag] = sum_[type * n_lags() + lag] / n_origins_[lag];
  return mean;
}

void TimeCorrelation::save(hdf5::Group& group) const {
  group.set_attribute("samples", n_samples_);
  if (n_samples_ == 0) return;
  group.set_attribute(
      "interval_length_origin_interval",
      std::vector<std::int64_t>{options_.interval, options_.length, options_.origin_interval});
  const std::uint64_t slots = n_slots(), types = n_types();
  const std::uint64_t lags = n_lags();
  group.write_text("type_names", join_lines(type_names_));
  group.write("masses", std::span<const double>(masses_), {types}, {"amu", {"type"}, "Masses"});
  group.write("atoms_of_type", std::span<const std::int64_t>(n_of_type_), {types},
              {"1", {"type"}, "Atoms of each type"});
  group.write("curves", std::span<const double>(curve_), {slots, types, lags},
              {"1", {"origin", "type", "lag"}, "Averages over atoms of origins still followed"});
  group.write("sums", std::span<const double>(sum_), {types, lags},
              {"1", {"type", "lag"}, "Sums over origins"});
  group.write("origins_in_sum", std::span<const std::int64_t>(n_origins_), {lags},
              {"1", {"lag"}, "Origins in the sums"});
  for (std::uint64_t slot = 0; slot < slots; ++slot) {
    const std::size_t size = std::int64_t{3} * homes_.count();
    group.write_distributed(
        "origin_" + std::to_string(slot), std::span<const double>(origin_.data() + slot * size, size),
        {static_cast<std::uint64_t>(homes_.n_ids()), 3}, static_cast<std::uint64_t>(homes_.first()),
        {"1", {"id", "xyz"}, "Values at a time origin, by atom id"});
  }
}

void TimeCorrelation::restore(const Comm& comm, const hdf5::Group& group) {
  n_samples_ = group.number_attribute("samples").at(0);
  if (n_samples_ == 0) return;
  const auto saved = group.number_attribute("interval_length_origin_interval");
  QUINTET_CHECK(
      saved.size() == 3 && saved[0] == static_cast<double>(options_.interval) &&
          saved[1] == static_cast<double>(options_.length) &&
          saved[2] == static_cast<double>(options_.origin_interval),
      "interval, length or origin_interval of a time correlation differ from the checkpoint's; restart with "
      "the options of the first run");
  type_names_ = split_lines(group.read_text("type_names"));
  n_of_type_ = group.read<std::int64_t>("atoms_of_type", {type_names_.size()});
  masses_ = group.read<double>("masses", {type_names_.size()});
  const std::uint64_t slots = n_slots(), types = n_types();
  curve_ = group.read<double>("curves", {slots, types, n_lags()});
  sum_ = group.read<double>("sums", {types, n_lags()});
  n_origins_ = group.read<std::int64_t>("origins_in_sum", {n_lags()});
  std::int64_t n_atoms = 0;
  for (const std::int64_t n : n_of_type_) n_atoms += n;
  homes_ = AtomHomes(comm, group.shape("origin_0").at(0), n_atoms);
  origin_.clear();
  for (std::uint64_t slot = 0; slot < slots; ++slot) {
    const auto rows =
        group.read_rows<double>("origin_" + std::to_string(slot), homes_.first(), homes_.count());
    origin_.insert(origin_.end(), rows.begin(), rows.end());
  }
}

}  // namespace quintet
