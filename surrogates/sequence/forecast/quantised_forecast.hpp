#pragma once

#include <cstddef>
#include <string>

#include "io/parallel/comm_fwd.hpp"
#include "physics/codes/coded_matrix.hpp"
#include "surrogates/sequence/forecast/forecast_model.hpp"

namespace quintet::sequence {

/// The model with all matrices of its networks as binary codes; they compute in float32, biases stay; errors
/// of validation are not known any more. Throws InputError for a model without networks, and for one that
/// consists of codes already.
[[nodiscard]] ForecastModel quantised(const ForecastModel& model, const QuantiseOptions& options);

/// Bytes of the networks' weights: codes with their scales, and 4 for each other number.
[[nodiscard]] std::size_t bytes_of_weights(const ForecastModel& model);

/// "" or " of 3 bits a weight", after the word networks.
[[nodiscard]] std::string codes_text(const ForecastModel& model);

/// Give all ranks the forecasts of rank 0: what a timed choice multiplies with may differ from rank to rank.
/// Collective.
void share(const Comm& comm, Ensemble& ensemble);

/// Names of the kernels that multiply one window's numbers by each matrix of the first network: "tables",
/// "bf16, fp32".
[[nodiscard]] std::string kernels_of(const ForecastModel& model);

/// CPU seconds of a forecast from one window by one network, the least of some; without the linear base.
[[nodiscard]] double seconds_of_window(const ForecastModel& model);

}  // namespace quintet::sequence
