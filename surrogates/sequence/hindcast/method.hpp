#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "io/config/schema_fwd.hpp"
#include "surrogates/sequence/forecast/forecast_options.hpp"
#include "surrogates/sequence/reference/analogues.hpp"
#include "surrogates/sequence/reference/cyclostationary.hpp"
#include "surrogates/sequence/reference/predictive.hpp"
#include "surrogates/sequence/reference/references.hpp"

namespace quintet::sequence {

/// A way to forecast, to be fitted at each origin to data that end there.
struct Method {
  std::string name, doc;
  std::function<Forecaster(const FitData& data)> fit;
};

struct MethodOptions {
  ReferenceOptions references;
  CyclostationaryOptions cyclostationary;
  AnalogueOptions analogues;
  double spread_half_width = 60;  ///< of the season that a spread is taken from (days)
  std::vector<std::string> names = {"climatology",    "damped_persistence",  "lim",      "seasonal_ridge",
                                    "ridge_ensemble", "cyclostationary_lim", "analogues"};
  std::optional<ForecastOptions> networks;  ///< a method `networks` beside them
};
/// The keys of a section that holds them, `networks` among them.
void describe(Schema& schema, MethodOptions& options);

/// All methods by name: the references, cyclostationary_lim and analogues.
[[nodiscard]] std::vector<std::string> method_names();

/// The methods of the options, in their order; `networks` last.
///
/// The spread of references is that of their errors on the training windows, by season.
[[nodiscard]] std::vector<Method> make_methods(const MethodOptions& options);

}  // namespace quintet::sequence
