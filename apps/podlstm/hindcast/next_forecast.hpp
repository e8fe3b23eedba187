#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/podlstm/hindcast/indices.hpp"
#include "physics/ocean/modes_file.hpp"
#include "surrogates/sequence/hindcast/combine.hpp"

namespace quintet::podlstm {

/// The forecast after the record's end by one method.
struct NextForecast {
  const ocean::OceanModes& modes;
  const sequence::OriginForecasts& origin;  ///< the last one, of a single window
  int method = 0;
  std::string name;
  const std::vector<SeaIndex>& indices;
};

/// Courses of an ensemble, [members, out, modes]: those of cyclostationary_lim's noise, which knows how
/// errors go on from lead to lead, shifted and scaled for each lead and mode so that mean and spread are the
/// method's.
[[nodiscard]] std::vector<double> ensemble_members(const NextForecast& next, const sequence::FitData& data,
                                                   const sequence::MethodOptions& options, int members,
                                                   std::uint64_t seed);

/// Write forecast.nc, and into the report dates, indices with bands, and maps of the last lead.
void report_next(Context& context, const NextForecast& next, const std::vector<double>& members);

}  // namespace quintet::podlstm
