#include "apps/podlstm/hindcast/hindcast.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/application/loop/interrupt_of.hpp"
#include "apps/application/loop/run_loop.hpp"
#include "apps/application/report/report.hpp"
#include "apps/podlstm/hindcast/indices.hpp"
#include "apps/podlstm/hindcast/modes_at_origins.hpp"
#include "apps/podlstm/hindcast/networks_at_origins.hpp"
#include "apps/podlstm/hindcast/next_forecast.hpp"
#include "apps/podlstm/hindcast/score_tables.hpp"
#include "apps/podlstm/hindcast/sea_judgement.hpp"
#include "io/config/table.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/interrupt.hpp"
#include "physics/ocean/coordinates/calendar.hpp"
#include "surrogates/sequence/hindcast/pooled_scores.hpp"

namespace quintet::podlstm {

namespace {

/// Indices of modes; the pattern of the PDO is that of anomalies about the verifying climatology.
std::vector<SeaIndex> indices_at(const ocean::OceanModes& modes, const HindcastOptions& options) {
  const auto normal = sequence::verifying_climatology(modes.series, 0, options.verification);
  return indices_of(modes, options.indices, options.regions, anomalies(modes.series, normal).values);
}

sequence::OriginSeries series_at(const Comm& comm, const ocean::OceanModes& modes,
                                 const HindcastOptions& options) {
  sequence::OriginSeries own{
      modes.series, {metric_of(modes, options.points).gram}, {{}}, nodes_of(comm, options, modes)};
  for (const auto& index : indices_at(modes, options)) {
    std::vector<double> gram;
    for (const double a : index.weights)
      for (const double b : index.weights) gram.push_back(a * b);
    own.grams.push_back(std::move(gram));
    own.indices.push_back(index.weights);
  }
  return own;
}

/// What earlier origins teach: spreads, the mixture, networks where they earn it.
struct Learned {
  sequence::Hindcasts hindcasts;
  std::vector<sequence::MixtureWeights> weights;
  std::vector<sequence::Earned> earned;
};

/// Base of the networks and its place among the methods, -1: not among them.
std::pair<std::string, int> base_of_networks(const HindcastOptions& options,
                                             const sequence::Hindcasts& hindcasts) {
  const std::string name = row_of(sequence::references(), options.methods.networks->forecast.base).name;
  return {name, hindcasts.find(name)};
}

/// Nothing of the origin that is next, or of later ones, is used: so weights can be judged there. `may_end`
/// throws where the run must stop.
Learned learn(const sequence::HindcastRun& run, const HindcastOptions& options, int block,
              const std::function<void()>& may_end) {
  constexpr int least_years = 3;
  Learned learned;
  auto& all = learned.hindcasts;
  for (const auto& method : run.methods()) all.names.push_back(method.name);
  all.origins = run.done();
  int windows = 0;
  for (const auto& origin : all.origins) windows = std::max(windows, origin.origin.windows.size());
  const int least = std::max(1, (least_years - 1) * windows / std::max(1, options.origins.every));
  for (std::size_t k = 0; k < all.names.size(); ++k) {
    may_end();
    calibrate(all, static_cast<int>(k), least);
  }
  may_end();
  if (options.methods.networks) {
    const auto [name, base] = base_of_networks(options, all);
    if (base >= 0)
      learned.earned = add_earned(all, earned_name, all.find("networks"), base, block);
    else
      log::warning(
          "networks: their base, {}, is not among the methods, so whether they earn their place is "
          "not judged; add it to methods",
          name);
  }
  may_end();
  if (options.mixture) {
    std::vector<int> parts;
    for (const auto& name : options.mixture->of) parts.push_back(all.find(name));
    learned.weights = add_mixture(all, mixture_name, parts, options.mixture->pull, least);
    calibrate(all, static_cast<int>(all.names.size()) - 1, least);
  }
  return learned;
}

void write_forecasts(Context& context, const sequence::Hindcasts& hindcasts) {
  auto forecasts = context.results().root().group("hindcasts");
  for (const auto& one : hindcasts.origins) {
    const std::uint64_t n = one.origin.windows.size(), out = one.out(), modes = one.modes;
    auto group = forecasts.group(ocean::date_text(one.origin.date));
    group.write<double>("time", one.origin.windows.dates, {n, out},
                        {"days since 1800-01-01 00:00:00", {"window", "lead"}, "Dates that are forecast"});
    const auto write = [&](const std::string& name, const std::vector<double>& values,
                           const std::string& text) {
      group.write<double>(name, values, {n, out, modes},
                          {"degree_Celsius", {"window", "lead", "mode"}, text});
    };
    write("truth", one.truth, "What came; NaN: nobody knows yet");
    write("verifying_climatology", one.normal, "Of the whole record");
    for (std::size_t k = 0; k < hindcasts.names.size(); ++k) {
      write(hindcasts.names[k], one.methods[k].mean, "Mean of the forecast");
      group.write<double>(
          hindcasts.names[k] + "_covariance", one.methods[k].covariance, {n, out, modes, modes},
          {"degree_Celsius^2", {"window", "lead", "mode", "mode"}, "Of the forecast's errors"});
    }
  }
}

Judged judged_of(const HindcastOptions& options, const sequence::Hindcasts& hindcasts,
                 const std::vector<SeaIndex>& indices, const std::string& unit, const std::string& leak) {
  const auto leads = leads_of(options);
  Judged judged{{"all points"},
                {unit},
                hindcasts.find(options.against),
                hindcasts.find("climatology"),
                {leads.in, leads.out},
                "",
                leak};
  for (const auto& index : indices) {
    judged.measures.push_back(index.name);
    judged.units.push_back(index.unit);
  }
  double first = std::numeric_limits<double>::infinity(), last = 0;
  int n = 0;
  for (std::size_t i = options.origins.warm_up; i < hindcasts.origins.size(); ++i) {
    const auto& one = hindcasts.origins[i];
    if (!one.origin.judged) continue;
    ++n;
    first = std::min(first, one.origin.windows.dates.front());
    last = std::max(last, one.origin.windows.dates.back());
  }
  judged.period = fmt::format("Forecasts for {} to {}, after {}.", ocean::date_text(first),
                              ocean::date_text(last), counted(n, "origin"));
  return judged;
}

/// The method that the report shows: the mixture, else the last one.
int headliner(const sequence::Hindcasts& hindcasts) {
  const int mixture = hindcasts.find(mixture_name);
  return mixture >= 0 ? mixture : static_cast<int>(hindcasts.names.size()) - 1;
}

void headlines(Context& context, const sequence::PooledScores& scores, const Learned& learned,
               const Judged& judged) {
  const auto& names = learned.hindcasts.names;
  const int best = headliner(learned.hindcasts);
  const auto& year = sequence::start_seasons()[0];
  const auto ours = scores.sums(best, 0, year), theirs = scores.sums(judged.against, 0, year);
  const auto& rmse = sequence::score_row("rmse");
  const auto put = [&](const std::string& name, const sequence::Estimate& value, const std::string& unit) {
    std::string text = "-";
    if (!std::isnan(value.value)) text = fmt::format("{:.4f}", value.value);
    if (!std::isnan(value.error)) text += fmt::format(" ± {:.4f}", value.error);
    context.headline(name, text == "-" ? text : text + unit, judged.leak);
  };
  put(fmt::format("RMSE of {}, leads {} to {}", names[best], judged.leads.first, judged.leads.last),
      scores.score(ours, rmse, judged.leads), " " + judged.units[0]);
  put(fmt::format("gain over {}", names[judged.against]), scores.gain(ours, theirs, rmse, judged.leads),
      " " + judged.units[0]);
  put("spread/error", scores.score(ours, sequence::score_row("spread_error"), judged.leads), "");
}

/// Networks beside their base over all judged windows: a sentence of log and report, and numbers.
std::string judge_networks_at_origins(Context& context, const HindcastOptions& options,
                                      const sequence::Hindcasts& hindcasts,
                                      const sequence::PooledScores& scores, const Judged& judged) {
  if (!options.methods.networks) return "";
  const auto [name, base] = base_of_networks(options, hindcasts);
  if (base < 0) return "";
  const auto& year = sequence::start_seasons()[0];
  const auto gain = scores.gain(scores.sums(hindcasts.find("networks"), 0, year), scores.sums(base, 0, year),
                                sequence::score_row("rmse"), judged.leads);
  context.summarise("networks_gain_over_base", gain.value, "RMSE of the base minus that with networks");
  context.summarise("networks_gain_over_base_error", gain.error);
  const auto text = networks_verdict(
      name, gain, fmt::format("leads {} to {}", judged.leads.first, judged.leads.last), judged.units[0]);
  log::info("{}", text);
  return text + ".";
}

/// The last origin lies after the record's end: its forecast is for dates to come.
void forecast_next(Context& context, const ModesAtOrigins& source, const sequence::Hindcasts& hindcasts,
                   const HindcastOptions& options) {
  const auto& last = hindcasts.origins.back();
  if (last.origin.judged || options.members == 0) return;
  const auto made = source.at(last.origin);
  const auto& modes = *made;
  const auto indices = indices_at(modes, options);
  const int mixture = hindcasts.find(mixture_name),
            method = mixture >= 0 ? mixture : hindcasts.find(options.against);
  if (!sequence::has_forecast(last, method, 0)) {
    log::warning("no forecast.nc: {} could not be fitted after {}", hindcasts.names[method],
                 ocean::date_text(last.origin.date));
    return;
  }
  const NextForecast next{modes, last, method, hindcasts.names[method], indices};
  const auto trained_on =
      sequence::windows_of(modes.series, options.window, last.origin.training, options.irregular);
  std::vector<double> members;
  try {
    members = ensemble_members(next, {modes.series, last.origin.training, trained_on, options.irregular},
                               options.methods, options.members, options.seed);
  } catch (const InputError& error) {
    log::warning("no forecast.nc: the ensemble needs cyclostationary_lim, and {}", error.what());
    return;
  }
  report_next(context, next, members);
}

}  // namespace

void hindcast(Context& context, const HindcastOptions& options) {
  check_ranks_of_graph(options, context.comm().size());
  const ModesAtOrigins source(context, options);
  const auto& times = source.times();
  auto origins =
      make_origins(times, options.origins, options.window, options.irregular, source.known_until());
  const auto leak = source.leak(origins);
  if (!leak.empty()) log::warning("Leaks: {}", leak);
  if (options.origins.until.empty())
    origins.push_back(origin_after(times, options.origins, options.window, options.irregular));
  const int block = options.block.in_steps(sequence::time_step_of(times.time));
  context.describe_run("record",
                       fmt::format("{}, {} to {}, steps of {}", counted(times.n_times(), "time"),
                                   ocean::date_text(times.time.front()), ocean::date_text(times.time.back()),
                                   sequence::time_step_of(times.time).text()));
  context.describe_run(
      "origins", fmt::format("{}, {} to {}, the first {} of them to learn from", origins.size(),
                             ocean::date_text(origins.front().date), ocean::date_text(origins.back().date),
                             options.origins.warm_up));
  if (options.methods.networks)
    context.describe_run(
        "networks", fmt::format("{} at {}", options.methods.networks->forecast.members,
                                counted(networks_ahead(options, origins, 0, 1).origins.size(), "origin")));
  if (!options.modes.empty()) require_networks(context, options, *source.at(origins.front()));
  const auto run = std::make_shared<sequence::HindcastRun>(
      context.comm(), origins, make_methods(options.methods), options.irregular, options.verification,
      [&](const sequence::Origin& origin) { return series_at(context.comm(), *source.at(origin), options); });
  if (context.restart_file()) run->restore(hdf5::File::open(context.comm(), *context.restart_file()).root());
  announce_restart(context, run->step(), run->last_step(), "origins.until");
  require_maps(context, source, options, run->last_step());
  if (!context.go_ahead({"scores.csv", "forecast.nc", "skill_maps.nc"})) return;

  if (options.methods.networks && !run->finished()) {
    const auto ahead = networks_ahead(options, origins, run->step(), context.comm().size());
    announce_networks(context, options, origins, ahead, *source.at(origins[ahead.origins.front()]));
  }
  run_loop(context, run, options.checkpoints, {});
  context.report().title("podlstm hindcast", "forecasts of the past as they would have been made");
  if (context.stopped_early()) {
    context.report().paragraph("Stopped before its end: there are no scores yet.");
    return;
  }
  const auto timer = context.phase("judge");
  const auto may_end = [&] { give_up_if_asked(context.comm(), interrupt_of(context)); };
  may_end();
  const auto learned = learn(*run, options, block, may_end);
  may_end();
  const sequence::PooledScores scores(learned.hindcasts, options.origins.warm_up, block, options.draws);
  const auto made = source.at(learned.hindcasts.origins.back().origin);
  const auto& modes = *made;
  may_end();
  const auto judged = judged_of(options, learned.hindcasts, indices_at(modes, options),
                                error_unit(modes, options.points), leak);
  const auto& names = learned.hindcasts.names;
  may_end();
  const auto sea = judge_sea(context, source, learned.hindcasts, judged, options);
  may_end();
  if (!leak.empty()) context.report().warning(fmt::format("Leaks: {}.", leak));
  context.report().paragraph(judged.period);
  headlines(context, scores, learned, judged);
  report_scores(context, learned.hindcasts, scores, judged, sea ? sea_lines(*sea, names) : "");
  may_end();
  if (sea) report_sea(context, *sea, modes, names, headliner(learned.hindcasts), judged);
  report_learned(context, options.mixture ? options.mixture->of : std::vector<std::string>{}, learned.weights,
                 learned.earned, judged.units[0],
                 judge_networks_at_origins(context, options, learned.hindcasts, scores, judged));
  may_end();
  write_forecasts(context, learned.hindcasts);
  if (sea) write_maps(context, *sea, modes, names, judged);
  may_end();
  forecast_next(context, source, learned.hindcasts, options);
}

}  // namespace quintet::podlstm
