#include "surrogates/sequence/forecast/quantised_forecast.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kernels/core_rate.hpp"
#include "surrogates/sequence/network/network.hpp"

namespace quintet::sequence {

ForecastModel quantised(const ForecastModel& model, const QuantiseOptions& options) {
  QUINTET_CHECK(!model.members.empty(),
                "quantise: the model is its base alone: there are no networks to quantise "
                "(forecast.keep_networks: always keeps them in training)");
  QUINTET_CHECK(model.codes.empty(),
                "quantise: the model's networks are binary codes already; leave the section out");
  QUINTET_CHECK(
      !model.graph,
      "quantise: the model's networks are of a graph over the sea, a few weights for all nodes; codes "
      "are for recurrent networks. Leave the section out");
  const Graph graph = graph_of(model.architecture);
  ForecastModel result = model;
  result.kernel = options.kernel;
  result.validation_errors.clear();
  for (auto& member : result.members) {
    result.codes.push_back(encode_matrices(graph, member, options.codes));
    for (double& parameter : member) parameter = static_cast<float>(parameter);
    member = decode_matrices(graph, member, result.codes.back());
  }
  return result;
}

std::size_t bytes_of_weights(const ForecastModel& model) {
  const Graph graph = graph_of(model.architecture);
  std::size_t bytes = 0;
  for (std::size_t k = 0; k < model.members.size(); ++k) {
    if (model.codes.empty()) {
      bytes += 4 * model.members[k].size();
      continue;
    }
    bytes += 4 * biases_of(graph, model.members[k]).size();
    for (const auto& [name, codes] : model.codes[k]) bytes += codes.bytes();
  }
  return bytes;
}

std::string codes_text(const ForecastModel& model) {
  if (model.codes.empty()) return "";
  const int bits = model.codes.front().front().codes.bits;
  return fmt::format(" of {} bit{} a weight", bits, bits == 1 ? "" : "s");
}

void share(const Comm& comm, Ensemble& ensemble) {
  comm.broadcast(std::span(ensemble.mean));
  comm.broadcast(std::span(ensemble.spread));
  for (auto& member : ensemble.members) comm.broadcast(std::span(member));
}

std::string kernels_of(const ForecastModel& model) {
  std::set<std::string> names;
  if (!model.codes.empty())
    for (const auto& [name, codes] : model.codes.front())
      names.insert(
          name_of(CodedMatrix(codes, model.kernel).kernel_for(name.ends_with(".W") ? model.shape.in : 1)));
  return fmt::format("{}", fmt::join(names, ", "));
}

double seconds_of_window(const ForecastModel& model) {
  constexpr int samples = 15, calls = 20;
  Network<float> network(model.architecture, model.shape.in);
  const std::vector<float> weights(model.members.at(0).begin(), model.members[0].end());
  std::vector<float> window(std::int64_t{model.shape.in} * model.n_inputs()), outputs(network.n_outputs());
  for (std::size_t i = 0; i < window.size(); ++i) window[i] = static_cast<float>(std::cos(0.37 * i));
  network.refresh(weights.data());
  if (!model.codes.empty()) network.take_codes(model.codes[0], model.kernel);
  network.forward(window.data(), 1, outputs.data());
  double least = HUGE_VAL;
  for (int sample = 0; sample < samples; ++sample)
    least = std::min(least, timed([&] {
                              for (int i = 0; i < calls; ++i)
                                network.forward(window.data(), 1, outputs.data());
                            }) / calls);
  return least;
}

}  // namespace quintet::sequence
