#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/config/schema_fwd.hpp"
#include "surrogates/search/search_options.hpp"
#include "surrogates/sequence/forecast/forecast_options.hpp"
#include "surrogates/sequence/network/architecture.hpp"
#include "surrogates/sequence/windows/span.hpp"
#include "surrogates/sequence/windows/split.hpp"

/// Options of `podlstm search`.
namespace quintet::podlstm {

/// Options common to all candidates, whatever their networks.
struct CandidateOptions {
  sequence::ForecastOptions forecast;  ///< network, members and seed are not the user's
};
void describe(Schema& schema, CandidateOptions& options);

/// Space of a search: networks and, where lists are given, their training.
struct SpaceOptions {
  sequence::ArchitectureSpace networks;
  std::vector<double> learning_rates;
  std::vector<std::int64_t> batches;
};
void describe(Schema& schema, SpaceOptions& options);

/// The best is trained again, from new seeds.
struct RetrainOptions {
  int members = 5;          ///< 0: no model is made
  std::int64_t epochs = 0;  ///< 0: as in the search
  std::int64_t seed = 1;
};
void describe(Schema& schema, RetrainOptions& options);

struct SearchInput {
  SearchInput();

  std::string modes;
  std::optional<std::int64_t> points;
  sequence::WindowShape window;
  sequence::SplitOptions split;
  CandidateOptions candidate;
  SpaceOptions space;
  search::SearchOptions search;
  int judged = 3;  ///< best candidates that rolling origins judge
  RetrainOptions retrain;
  std::vector<std::string> beside;  ///< trial stores of other searches
  int leaderboard = 10;             ///< rows
  sequence::Span block = "168 day";
  sequence::ReferenceOptions references;
};
void describe(Schema& schema, SearchInput& input);

}  // namespace quintet::podlstm
