#include "apps/meshfreeflow/flow/flow_history.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "apps/application/life/context.hpp"
#include "io/formula/names.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "physics/spectral/wave_statistics.hpp"

namespace quintet::meshfreeflow::periodic {

using namespace spectral;

namespace {

constexpr double warns_at = 0.1;  ///< of a limit

void check_is_name(const std::string& name, const std::string& key) {
  QUINTET_CHECK(detail::is_name(name), "{}: '{}' is no name; expected a letter, then letters, digits or '_'",
                key, name);
}

void check_names(const FlowOptions& options) {
  std::set<std::string> taken{"time", "step", "dt", "spectrum_tail", "row_checksum"};
  const auto take = [&](const std::string& name, const std::string& key) {
    check_is_name(name, key);
    QUINTET_CHECK(taken.insert(name).second, "{}: the history has a column '{}' already; choose another name",
                  key, name);
  };
  for (const auto& [name, formula] : options.means) take(name, "means." + name);
  for (const auto& [name, formula] : options.maxima) take(name, "maxima." + name);
  std::set<std::string> spectra{"time", "wavenumber", "row_checksum"};
  for (std::size_t i = 0; i < options.spectra.size(); ++i) {
    check_is_name(options.spectra[i].name, fmt::format("spectra.{}.name", i));
    QUINTET_CHECK(spectra.insert(options.spectra[i].name).second,
                  "spectra.{}.name: '{}' is taken; choose another name", i, options.spectra[i].name);
  }
}

using Column = RunColumn<FlowRow>;

Column of_flows(const std::string& name, const std::string& text, std::uint64_t n_flows,
                const std::function<double(const FlowSample&)>& value) {
  const auto entry = [value](const FlowRow& row) {
    std::vector<double> values;
    for (const auto& sample : row.samples) values.push_back(value(sample));
    return values;
  };
  return {name, "1", text, {}, entry, {n_flows}, {"flow"}};
}

std::vector<Column> history_columns(const FlowOptions& options) {
  const std::uint64_t n = options.seeds.size();
  std::vector<Column> all{{"time", "1", "Time", [](const FlowRow& row) { return row.time; }},
                          {"step", "1", "Steps done", [](const FlowRow& row) { return row.step; }},
                          {"dt", "1", "Last time step", [](const FlowRow& row) { return row.dt; }}};
  for (std::size_t i = 0; i < options.means.size(); ++i)
    all.push_back(of_flows(options.means[i].first, "Mean of " + options.means[i].second.text, n,
                           [i](const FlowSample& sample) { return sample.means[i]; }));
  for (std::size_t i = 0; i < options.maxima.size(); ++i)
    all.push_back(of_flows(options.maxima[i].first, "Greatest " + options.maxima[i].second.text, n,
                           [i](const FlowSample& sample) { return sample.maxima[i]; }));
  all.push_back(of_flows("spectrum_tail",
                         "Greatest share of a variable's variance beyond two thirds of its waves", n,
                         [](const FlowSample& sample) { return sample.tail; }));
  return all;
}

std::vector<Column> spectra_columns(const FlowOptions& options, std::uint64_t n_shells) {
  std::vector<Column> all{{"time", "1", "Time", [](const FlowRow& row) { return row.time; }}};
  for (std::size_t i = 0; i < options.spectra.size(); ++i) {
    const auto entry = [i](const FlowRow& row) {
      std::vector<double> values;
      for (const auto& sample : row.samples)
        values.insert(values.end(), sample.spectra[i].begin(), sample.spectra[i].end());
      return values;
    };
    all.push_back({options.spectra[i].name,
                   "1",
                   "Half the mean square of the waves of each shell",
                   {},
                   entry,
                   {options.seeds.size(), n_shells},
                   {"flow", "shell"}});
  }
  return all;
}

}  // namespace

FlowLook::FlowLook(const FlowSimulation& simulation)
    : n_means_(simulation.options().means.size()), waves_(simulation.flow().grid().make_modes()) {
  const FlowOptions& options = simulation.options();
  check_names(options);
  FlowReader reader = simulation.flow().reader();
  std::vector<FlowValue> outputs;
  for (const auto& text : flow_texts(options.means, "means")) {
    outputs.push_back(reader.read(text));
    names_.push_back(text.name);
  }
  for (const auto& text : flow_texts(options.maxima, "maxima")) {
    outputs.push_back(reader.program().on_points(reader.read(text)));
    names_.push_back(text.name);
  }
  for (std::size_t i = 0; i < options.spectra.size(); ++i) {
    const auto& of = options.spectra[i].of;
    for (std::size_t j = 0; j < of.size(); ++j)
      outputs.push_back(reader.read(flow_text("", of[j], fmt::format("spectra.{}.of.{}", i, j))));
    sizes_.push_back(of.size());
  }
  machine_ = std::make_unique<FlowMachine>(simulation.flow().grid(), reader.program(), std::move(outputs));
  n_shells_ = shell_spectrum(simulation.flow().grid(), waves_).size();
  shell_width_ = spectral::shell_width(simulation.flow().grid());
}

FlowSample FlowLook::sample(const FlowSimulation& simulation, int member) {
  const PeriodicFlow& flow = simulation.flow();
  machine_->run(flow.state(member), flow.time());
  FlowSample made;
  int output = 0;
  for (const auto& name : names_) {
    const bool is_mean = made.means.size() < n_means_;
    const double value = is_mean ? machine_->mean(output) : machine_->maximum(output);
    if (!std::isfinite(value))
      throw NumericalError(fmt::format("step {}, time {:.6g}: {}.{} is not finite", flow.step(), flow.time(),
                                       is_mean ? "means" : "maxima", name));
    (is_mean ? made.means : made.maxima).push_back(value);
    ++output;
  }
  for (const auto size : sizes_) {
    std::vector<double> sum(n_shells_);
    for (std::size_t j = 0; j < size; ++j) {
      machine_->to_modes(output++, waves_);
      const auto shells = shell_spectrum(flow.grid(), waves_);
      for (std::size_t s = 0; s < shells.size(); ++s) sum[s] += 0.5 * shells[s];
    }
    made.spectra.push_back(std::move(sum));
  }
  for (const auto& modes : flow.state(member))
    made.tail = std::max(made.tail, tail_share(flow.grid(), modes));
  return made;
}

FlowHistory::FlowHistory(Context& context, const FlowSimulation& simulation, const FlowLook& look)
    : n_flows_(simulation.options().seeds.size()),
      table_(context, {"history"}, history_columns(simulation.options()), simulation.step()),
      spectra_(context, {.group = "spectra", .key = "time"},
               spectra_columns(simulation.options(), look.n_shells()), simulation.time()) {
  for (std::size_t s = 0; s < look.n_shells(); ++s) wavenumbers_.push_back(look.shell_width() * s);
  context.results().root().group("spectra").write<double>("wavenumber", wavenumbers_, {wavenumbers_.size()},
                                                          {"1", {"shell"}, "Middle of each shell"});
}

void FlowHistory::add(const std::vector<FlowSample>& samples, const FlowSimulation& simulation) {
  const FlowRow row{samples, simulation.time(), static_cast<double>(simulation.step()), simulation.last_dt()};
  table_.add(row);
  spectra_.add(row);
}

std::vector<double> FlowHistory::column(const std::string& name, int flow) const {
  const auto& values = table_.column(name);
  std::vector<double> result;
  for (std::size_t i = flow; i < values.size(); i += n_flows_) result.push_back(values[i]);
  return result;
}

std::vector<double> FlowHistory::mean_spectrum(const std::string& name) const {
  const auto& values = spectra_.column(name);
  const std::size_t n = spectra_.size(), first = n / 2, stride = n_flows_ * wavenumbers_.size();
  std::vector<double> mean(wavenumbers_.size());
  for (std::size_t i = first; i < n; ++i)
    for (std::size_t s = 0; s < mean.size(); ++s) mean[s] += values[i * stride + s] / (n - first);
  return mean;
}

void FlowHealth::check(const std::vector<FlowSample>& samples, const FlowSimulation& simulation) {
  double tail = 0;
  for (const auto& sample : samples) tail = std::max(tail, sample.tail);
  worst_ = std::max(worst_, tail / (warns_at * limit_));
  if (limit_ >= 1) return;
  if (tail > limit_)
    throw NumericalError(fmt::format(
        "step {}, time {:.6g}: waves beyond two thirds of those kept hold {:.4g} of a variable's variance, "
        "above limits.spectrum_tail = {:g}: the cells do not resolve the flow; more of them, or more "
        "dissipation help",
        simulation.step(), simulation.time(), tail, limit_));
  if (tail > warns_at * limit_ && !warned_) {
    warned_ = true;
    log::warning(
        "step {}, time {:.6g}: waves beyond two thirds of those kept hold {:.4g} of a variable's variance: "
        "the cells "
        "hardly resolve the flow (the run stops above limits.spectrum_tail = {:g})",
        simulation.step(), simulation.time(), tail, limit_);
  }
}

}  // namespace quintet::meshfreeflow::periodic
