#include "surrogates/sequence/hindcast/method.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/ranges.h>

#include "io/config/schema.hpp"
#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/sequence/forecast/train_forecast.hpp"

namespace quintet::sequence {

namespace {

constexpr const char* cyclostationary_name = "cyclostationary_lim";
constexpr const char* analogues_name = "analogues";
constexpr double validation_share = 0.15;  // of the training that chooses networks' best epochs

/// Mean and spread of a method that gives means alone: the covariance of its errors in training, by season.
Forecaster with_spread(const FitData& data, double half_width,
                       std::function<std::vector<double>(const CoefficientSeries&, const Windows&)> mean_of) {
  auto errors = targets(data.series, data.windows);
  const auto forecast = mean_of(data.series, data.windows);
  for (std::size_t i = 0; i < errors.size(); ++i) errors[i] -= forecast[i];
  const auto spread = std::make_shared<const SeasonalSpread>(
      errors, starts_of(data.series, data.windows), data.windows.shape.out, data.series.n_modes, half_width);
  return [spread, mean_of = std::move(mean_of)](const CoefficientSeries& known, const Windows& windows) {
    Predictive result{mean_of(known, windows), {}};
    for (const double day : starts_of(known, windows)) {
      const double* covariance = spread->at(day);
      result.covariance.insert(result.covariance.end(), covariance, covariance + spread->size());
    }
    return result;
  };
}

Method reference_method(const ReferenceRow& row, const MethodOptions& options) {
  return {row.name, row.doc, [row, options](const FitData& data) {
            auto f = row.fit(data, options.references);
            f.name = row.name;
            return with_spread(data, options.spread_half_width,
                               [f](const CoefficientSeries& known, const Windows& windows) {
                                 return f.forecast(known, windows);
                               });
          }};
}

/// The base fitted to all of the training, and the correction of networks that were trained on a part of it.
Fit networks_fit(const MethodOptions& options, ForecastModel trained) {
  const auto model = std::make_shared<const ForecastModel>(std::move(trained));
  return [options, model](const FitData& data) {
    const auto base = fit_reference(options.networks->forecast.base, data, options.references);
    return with_spread(data, options.spread_half_width,
                       [model, base](const CoefficientSeries& known, const Windows& windows) {
                         auto sum = base.forecast(known, windows);
                         const auto partial = model->base.forecast(known, windows),
                                    corrected = forecast(*model, known, windows).mean;
                         for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += corrected[i] - partial[i];
                         return sum;
                       });
  };
}

Method network_method(const MethodOptions& options) {
  Method method{"networks", "the base, corrected by networks", {}};
  method.every = options.networks->every;
  method.learn = [options](const Comm& comm, const FitData& data,
                           const std::shared_ptr<const SeaNodes>& sea) {
    auto forecast = options.networks->forecast;
    forecast.network.sea = sea;
    return networks_fit(options, train_forecast(comm, data.series, networks_split(data), data.irregular,
                                                forecast, networks_references(options.references))
                                     .model);
  };
  return method;
}

Method method_of(const std::string& name, const MethodOptions& options) {
  if (name == cyclostationary_name)
    return {name, "linear inverse model whose operators and noise change through the year",
            [options](const FitData& data) -> Forecaster {
              const auto lim = std::make_shared<const CyclostationaryLim>(
                  data, options.references.climatology, options.cyclostationary);
              return [lim](const CoefficientSeries& known, const Windows& windows) {
                return lim->forecast(known, windows);
              };
            }};
  if (name == analogues_name)
    return {name, "damped persistence and its mean error after similar states of the season",
            [options](const FitData& data) {
              return fit_analogues(data, options.references, options.analogues);
            }};
  for (const auto& row : references())
    if (name == row.name) return reference_method(row, options);
  throw InternalError("a method without a row");
}

}  // namespace

Split networks_split(const FitData& data) {
  const auto& shape = data.windows.shape;
  const int last = data.rows.end - static_cast<int>(validation_share * data.rows.size());
  Split split;
  split.constants = {data.rows.begin, last};
  split.validation_rows = {last, data.rows.end};
  split.train = windows_of(data.series, shape, split.constants, data.irregular);
  split.validation = windows_of(data.series, shape, split.validation_rows, data.irregular);
  QUINTET_CHECK(split.train.size() > 0 && split.validation.size() > 0,
                "networks: {} times before an origin are too few to train and choose networks; begin later "
                "(origins.from)",
                data.rows.size());
  return split;
}

ReferenceOptions networks_references(ReferenceOptions references) {
  auto& years = references.climatology.valid_years;
  constexpr double at_least = 100;
  years = std::max(years.value_or(at_least), at_least);
  return references;
}

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const auto& row : references()) names.emplace_back(row.name);
  names.emplace_back(cyclostationary_name);
  names.emplace_back(analogues_name);
  return names;
}

void describe(Schema& schema, NetworksAtOrigins& options) {
  describe_without_trial(schema, options.forecast);
  schema
      .integer("every", options.every,
               "Origins from a training of the networks to the next; between them the networks stay, and "
               "their base alone is fitted anew")
      .at_least(1)
      .at_most(1000);
}

void describe(Schema& schema, MethodOptions& options) {
  schema
      .texts("methods", options.names,
             "Who forecasts: references, cyclostationary_lim (operators and noise by season), analogues")
      .length(1);
  schema.section("references", options.references, "The linear forecasts");
  schema.section("cyclostationary", options.cyclostationary, "Of cyclostationary_lim");
  schema.section("analogues", options.analogues, "Of analogues");
  schema
      .number("spread_half_width", options.spread_half_width,
              "Days from the middle of a season at which errors count half for the spread of forecasts that "
              "begin there")
      .at_least(10)
      .at_most(180);
  schema.section("networks", options.networks,
                 "Networks that correct a base, trained anew at origins, as a further method; absent: none. "
                 "Keys are those of `forecast` in `podlstm train`, but for keep_networks and origins: the "
                 "method networks_if_earned decides so at each origin. The last 15 % of the training choose "
                 "their best epochs");
  schema.check([&options]() -> std::optional<std::string> {
    const auto known = method_names();
    for (std::size_t i = 0; i < options.names.size(); ++i) {
      const auto& name = options.names[i];
      if (std::find(known.begin(), known.end(), name) == known.end())
        return fmt::format("methods: '{}' is no method; expected some of {}", name, fmt::join(known, ", "));
      if (std::find(options.names.begin(), options.names.begin() + i, name) != options.names.begin() + i)
        return fmt::format("methods: '{}' comes twice", name);
    }
    if (options.networks && options.networks->forecast.kind != ForecastKind::hybrid)
      return "networks.kind: networks of raw coefficients have no base to correct; expected hybrid";
    if (options.networks && options.networks->forecast.members < 1)
      return "networks.members: is 0; expected at least 1, or no section networks";
    return std::nullopt;
  });
}

std::vector<Method> make_methods(const MethodOptions& options) {
  std::vector<Method> methods;
  for (const auto& name : options.names) methods.push_back(method_of(name, options));
  if (options.networks) methods.push_back(network_method(options));
  return methods;
}

}  // namespace quintet::sequence
