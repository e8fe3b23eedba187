#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "surrogates/flow/data/block.hpp"
#include "surrogates/flow/data/data_options.hpp"
#include "surrogates/flow/evaluation/truth_check.hpp"
#include "surrogates/flow/model/flow_equations.hpp"

/// Whether fields obey what they are said to obey, before anything is learned from them or judged by them.
namespace quintet::meshfreeflow {

/// A sample to be asked.
struct AskedSample {
  std::string name;
  const flow::BlockAxes* axes = nullptr;
  std::span<const float> values;  ///< [field][t][z][x], of volumes [field][z][y][x]
  std::map<std::string, double> parameters;
};

/// Behind the name of an equation: another one, whose residual is the error that differences of frames make
/// in the first.
inline constexpr const char* error_of_frames = " by other frames";

/// The grid of a sample's axes of space; of volumes without the first.
[[nodiscard]] flow::RectilinearGrid grid_of(const flow::BlockAxes& axes,
                                            const std::array<std::string, flow::n_axes>& names);

/// Residuals of equations and walls on samples, by term, into log and report; for each condition those of the
/// sample that obeys it least. Collective.
/// @param key "data.check": named where data are refused
/// Throws InputError where a residual is more than a tenth of its largest term, beyond the error of
/// differences, and the choice is to refuse.
void check_truth(Context& context, const flow::FlowEquations& equations,
                 const std::vector<AskedSample>& samples, flow::DataCheck choice, const std::string& key);

}  // namespace quintet::meshfreeflow
