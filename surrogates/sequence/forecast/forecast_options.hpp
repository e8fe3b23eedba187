#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "io/config/schema_fwd.hpp"
#include "surrogates/sequence/forecast/forecast_model.hpp"
#include "surrogates/sequence/graph/graph_options.hpp"
#include "surrogates/sequence/graph/sea_graph.hpp"
#include "surrogates/sequence/reference/references.hpp"

namespace quintet::sequence {

/// A kind of model by its name in input files and models.
struct ForecastKindRow {
  ForecastKind value;
  const char* name;
};
[[nodiscard]] std::span<const ForecastKindRow> forecast_kinds();

/// Loss of the training of networks.
enum class Loss {
  degrees,    ///< as on the map: RMSE
  deviations  ///< each mode in units of the base's own errors: R2 of the paper, where all outputs count alike
};

/// When networks stay in a model that has a base without them.
enum class KeepNetworks {
  earned,  ///< where they beat the base after rolling origins by two standard errors
  always
};

/// Kind of networks.
enum class NetworkKind {
  recurrent,  ///< of the coefficients
  graph       ///< of the field, on a graph over the sea
};

/// Section `network`.
struct NetworkOptions : ArchitectureOptions {
  NetworkKind kind = NetworkKind::recurrent;
  std::optional<GraphOptions> graph;
  std::shared_ptr<const SeaNodes> sea;  ///< nodes of a graph; no key: whoever knows the modes file gives them

  [[nodiscard]] bool is_graph() const { return kind == NetworkKind::graph; }
  [[nodiscard]] GraphOptions graph_in_force() const { return graph.value_or(GraphOptions{}); }
};
void describe(Schema& schema, NetworkOptions& options);

/// Options of the model.
struct ForecastOptions {
  ForecastOptions();

  ForecastKind kind = ForecastKind::hybrid;
  Reference base = Reference::seasonal_ridge;
  int seasons = 1;  ///< harmonics of the year that hybrid networks are told
  Loss loss = Loss::degrees;
  int members = 5;        ///< networks; 0: the base alone
  std::int64_t seed = 1;  ///< of the first; the others follow
  KeepNetworks keep = KeepNetworks::earned;
  int origins = 5;  ///< rolling ones that decide so
  NetworkOptions network;
  TrainingOptions training;
};
void describe(Schema& schema, ForecastOptions& options);
/// The keys but those that decide whether networks stay: of a hindcast, which judges networks itself.
void describe_without_trial(Schema& schema, ForecastOptions& options);
/// The keys that do not say which networks and how many: of a search among them.
void describe_without_networks(Schema& schema, ForecastOptions& options);

}  // namespace quintet::sequence
