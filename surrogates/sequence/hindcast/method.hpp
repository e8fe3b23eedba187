#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/config/schema_fwd.hpp"
#include "io/parallel/comm_fwd.hpp"
#include "surrogates/sequence/forecast/forecast_options.hpp"
#include "surrogates/sequence/reference/analogues.hpp"
#include "surrogates/sequence/reference/cyclostationary.hpp"
#include "surrogates/sequence/reference/predictive.hpp"
#include "surrogates/sequence/reference/references.hpp"
#include "surrogates/sequence/windows/split.hpp"

namespace quintet::sequence {

/// Fit of a method to data that end at an origin.
using Fit = std::function<Forecaster(const FitData& data)>;

/// A way to forecast, to be fitted at each origin to data that end there.
struct Method {
  std::string name, doc;
  Fit fit;
  /// What takes too long for each origin: learned at the first and at each `every`-th after it, from data
  /// that end there, it gives the fit of that origin and of those until the next. Absent: `fit`. Collective.
  /// @param sea nodes of the origin's modes, for networks of a graph
  std::function<Fit(const Comm& comm, const FitData& data, const std::shared_ptr<const SeaNodes>& sea)>
      learn = {};
  int every = 1;
};

/// Networks that correct a base at rolling origins.
struct NetworksAtOrigins {
  ForecastOptions forecast;
  int every = 1;  ///< origins from a training to the next
};
void describe(Schema& schema, NetworksAtOrigins& options);

struct MethodOptions {
  ReferenceOptions references;
  CyclostationaryOptions cyclostationary;
  AnalogueOptions analogues;
  double spread_half_width = 60;  ///< of the season that a spread is taken from (days)
  std::vector<std::string> names = {"climatology",    "damped_persistence",  "lim",      "seasonal_ridge",
                                    "ridge_ensemble", "cyclostationary_lim", "analogues"};
  std::optional<NetworksAtOrigins> networks;  ///< a method `networks` beside them
};
/// The keys of a section that holds them, `networks` among them.
void describe(Schema& schema, MethodOptions& options);

/// All methods by name: the references, cyclostationary_lim and analogues.
[[nodiscard]] std::vector<std::string> method_names();

/// The methods of the options, in their order; `networks` last.
///
/// The spread of references is that of their errors on the training windows, by season.
[[nodiscard]] std::vector<Method> make_methods(const MethodOptions& options);

/// Training of networks at an origin: the last 15 % of what is known chooses their best epochs. Throws
/// InputError where that is too little for a window.
[[nodiscard]] Split networks_split(const FitData& data);
/// References as networks are trained on: the climatology of a part of the training holds for 100 years,
/// since it stands in no result.
[[nodiscard]] ReferenceOptions networks_references(ReferenceOptions references);

}  // namespace quintet::sequence
