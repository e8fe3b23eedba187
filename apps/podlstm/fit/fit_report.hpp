#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "physics/ocean/pod.hpp"

namespace quintet::podlstm {

/// Tiles, singular values and the numbers of summary.json.
void report_fit(Context& context, const ocean::OceanModes& modes);

/// Report on the fields: captured variance, what modes miss, maps, and notes on the record for the user.
void report_fields(Context& context, const ocean::Pod& pod, const std::vector<std::string>& notes);

/// Curves of the first few.
void report_coefficients(Context& context, const ocean::OceanModes& modes);

}  // namespace quintet::podlstm
