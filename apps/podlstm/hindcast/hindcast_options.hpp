#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/podlstm/setup/fit_options.hpp"
#include "apps/podlstm/setup/forecast_input.hpp"
#include "io/config/schema_fwd.hpp"
#include "surrogates/sequence/hindcast/hindcast.hpp"

/// Input of `podlstm hindcast`.
namespace quintet::podlstm {

/// Methods that are made of others.
inline constexpr const char *mixture_name = "mixture", *earned_name = "networks_if_earned";

/// Section `mixture`.
struct MixtureOptions {
  std::vector<std::string> of = {"ridge_ensemble", "cyclostationary_lim", "analogues"};
  double pull = 0.1;  ///< towards equal weights
};
void describe(Schema& schema, MixtureOptions& options);

/// Section `maps`.
struct MapsOptions {
  std::vector<std::int64_t> leads;  ///< empty: the first and last of those judged together
};
void describe(Schema& schema, MapsOptions& options);

struct HindcastOptions {
  HindcastOptions();

  std::string modes;
  std::optional<FieldsOptions> fields;
  PodSection pod;
  std::optional<std::int64_t> points;
  sequence::WindowShape window;
  sequence::OriginOptions origins;
  sequence::Irregular irregular = sequence::Irregular::avoid;
  sequence::MethodOptions methods;
  std::optional<MixtureOptions> mixture;
  sequence::ClimatologyOptions verification;
  sequence::Span block = "364 day";
  int draws = 1000;
  std::string against = "seasonal_ridge";
  std::vector<std::int64_t> leads;
  std::vector<std::string> indices;
  std::vector<SkillRegion> regions;
  std::optional<MapsOptions> maps = MapsOptions();
  int members = 50;
  std::int64_t seed = 1;
  CheckpointOptions checkpoints{.interval = 1};  ///< origins
};
void describe(Schema& schema, HindcastOptions& options);

/// The leads that are judged together: those of the input, else the second half of all.
[[nodiscard]] sequence::WindowShape leads_of(const HindcastOptions& options);

}  // namespace quintet::podlstm
