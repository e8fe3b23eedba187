#include <algorithm>
#include <optional>
#include <string>

#include <fmt/ranges.h>

#include "io/config/schema.hpp"
#include "surrogates/sequence/reference/references.hpp"

namespace quintet::sequence {

std::vector<std::int64_t> steps_of(const std::vector<std::string>& spans, const TimeStep& step) {
  std::vector<std::int64_t> steps;
  for (const auto& span : spans) steps.push_back(Span(span).in_steps(step));
  return steps;
}

void describe(Schema& schema, RidgeOptions& options) {
  schema.text("lags", options.lags.text,
              "Past that the regression sees, at most that of the window: a number of steps, or a duration");
  schema.texts(
      "means", options.means,
      "Longer memories: means over so long a time up to the last step, as far as the series reaches; each a "
      "number of steps or a duration");
  schema
      .integer("seasons", options.seasons,
               "Harmonics of the year by which the weights of the last state vary; 0: constant over the year")
      .at_least(0)
      .at_most(12);
  schema
      .number("alpha", options.alpha,
              "Ridge penalty on the weights of standardised features, per training window")
      .at_least(0);
  schema.check([&options] {
    auto problem = options.lags.error("lags");
    for (const auto& mean : options.means)
      if (!problem) problem = Span(mean).error("means");
    return problem;
  });
}

void describe(Schema& schema, RidgeEnsembleOptions& options) {
  schema
      .texts("lags", options.lags,
             "Pasts that its members see, at most that of the window: each a number of steps or a duration")
      .length(1);
  schema.texts("more_means", options.more_means,
               "Longer memories that half of its members have beside those of seasonal_ridge");
  schema
      .numbers("alphas", options.alphas,
               "Ridge penalties of its members on the weights of standardised features, per training window")
      .length(1)
      .above(0);
  schema.check([&options] {
    std::optional<std::string> problem;
    for (const auto& lag : options.lags)
      if (!problem) problem = Span(lag).error("lags");
    for (const auto& mean : options.more_means)
      if (!problem) problem = Span(mean).error("more_means");
    return problem;
  });
}

void describe(Schema& schema, ReferenceOptions& options) {
  schema.section("climatology", options.climatology, "Normal values, from which anomalies are departures");
  schema.text("lim_lag", options.lim_lag.text,
              "Lag of the linear inverse model's covariance, a number of steps or a duration; one step, with "
              "a warning, "
              "where a mode decorrelates sooner");
  schema.number("ridge_alpha", options.ridge_alpha, "Penalty of ridge, in squared coefficients").at_least(0);
  schema.section("seasonal_ridge", options.seasonal,
                 "The regression seasonal_ridge, with longer memory and season");
  schema
      .number("seasonal_trend", options.seasonal_trend,
              "Share of the linear trend in the climatology of seasonal_ridge, whose longer means already "
              "follow slow changes")
      .at_least(0)
      .at_most(1);
  schema.section("ridge_ensemble", options.ensemble,
                 "The regressions whose mean ridge_ensemble is: all combinations of these, the harmonics "
                 "and means of seasonal_ridge");
  schema.integer("hankel_rank", options.hankel_rank, "Rank of hankel_dmd").at_least(1);
  schema
      .texts("left_out", options.left_out,
             "Names of references that stand in no table, such as raw_linear; the base stays what it is")
      .on_restart(OnRestart::free);
  schema.check([&options] { return options.lim_lag.error("lim_lag"); });
  schema.check([&options]() -> std::optional<std::string> {
    std::vector<std::string> names;
    for (const auto& row : references()) names.emplace_back(row.name);
    for (const auto& name : options.left_out)
      if (std::find(names.begin(), names.end(), name) == names.end())
        return fmt::format("left_out: '{}' is no reference; expected one of {}", name,
                           fmt::join(names, ", "));
    return std::nullopt;
  });
}

ReferenceOptions in_steps(ReferenceOptions options, const TimeStep& step) {
  options.lim_lag = options.lim_lag.in_steps(step);
  options.seasonal.lags = options.seasonal.lags.in_steps(step);
  for (auto* spans : {&options.ensemble.lags, &options.ensemble.more_means})
    for (auto& span : *spans) span = std::to_string(Span(span).in_steps(step));
  for (auto& mean : options.seasonal.means) mean = std::to_string(Span(mean).in_steps(step));
  return options;
}

std::string spans_text(const ReferenceOptions& options, const TimeStep& step) {
  return fmt::format("lags {}, means {}, lim_lag {}", options.seasonal.lags.in_steps(step),
                     fmt::join(steps_of(options.seasonal.means, step), ", "), options.lim_lag.in_steps(step));
}

}  // namespace quintet::sequence
