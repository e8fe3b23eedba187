#pragma once

#include <random>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <gtest/gtest.h>

#include "surrogates/flow/decoder/decoder.hpp"

/// Decoders, grids and operators that the tests of the decoder share.
namespace quintet::flow {

struct DecoderCase {
  std::string name;
  DecoderOptions options;
  DecoderQueries queries;
  std::vector<double> parameters, latents;

  [[nodiscard]] int nodes() const {
    const auto& grid = queries.grids.front();
    return grid[0].size() * grid[1].size() * grid[2].size();
  }
  [[nodiscard]] std::size_t n_jets() const {
    return std::int64_t{queries.n_samples} * queries.n_points * queries.n_channels() * options.n_fields;
  }
};

inline std::vector<double> uniform_noise(std::size_t n, unsigned seed, double low, double high) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> uniform(low, high);
  std::vector<double> values(n);
  for (double& value : values) value = uniform(random);
  return values;
}

/// Time bounded with nodes at cell centres; z bounded, not uniform, nodes short of the walls; x periodic.
inline NodeGrid stretched_grid() {
  return {NodeAxis{{0.25, 0.75, 1.25}, false, 0.0, 1.5},
          NodeAxis{{-0.45, -0.3, 0.05, 0.38}, false, -0.5, 0.5},
          NodeAxis{{0.1, 0.8, 1.7, 2.4, 3.1}, true, 0.0, 4.0}};
}
/// The same numbers of nodes, evenly spaced, up to the ends, nothing periodic.
inline NodeGrid even_grid() {
  return {NodeAxis{{3.0, 3.5, 4.0}, false, 3.0, 4.0}, NodeAxis{{0.0, 0.1, 0.2, 0.3}, false, 0.0, 0.3},
          NodeAxis{{-2.0, -1.0, 0.0, 1.0, 2.0}, false, -2.0, 2.0}};
}

/// Points all over the domain (periodic axes: beyond it as well).
inline std::vector<double> points_in(const NodeGrid& grid, int n, unsigned seed) {
  const auto noise = uniform_noise(3 * std::int64_t{n}, seed, 0, 1);
  std::vector<double> points(noise.size());
  for (std::size_t i = 0; i < noise.size(); ++i) {
    const NodeAxis& axis = grid[i % 3];
    const double length = axis.upper - axis.lower;
    points[i] = axis.periodic ? axis.lower + length * (3 * noise[i] - 1) : axis.lower + length * noise[i];
  }
  return points;
}

/// d_t, d_z, d_x, an advection along (t, z, x), the Laplacian, each mixed derivative, and all at once.
inline std::vector<DifferentialOperator> every_operator(double scale) {
  return {{{1, 0, 0}, {}},
          {{0, scale, 0}, {}},
          {{0, 0, 1}, {}},
          {{1, 0.3 * scale, -0.7}, {}},
          {{}, {0, 1, scale, 0, 0, 0}},
          {{}, {0, 0, 0, 1, 0, 0}},
          {{}, {0, 0, 0, 0, scale, 0}},
          {{}, {0, 0, 0, 0, 0, 1}},
          {{1, 0.2, scale}, {0.3, -0.4 * scale, 0.5, 0.6, -0.7, 0.8}}};
}
/// What Rayleigh-Benard convection at P = R needs: d_t - P lap, d_z, d_x; P differs from sample to sample.
inline std::vector<DifferentialOperator> convection_operators(double diffusivity) {
  return {{{1, 0, 0}, {0, -diffusivity, -diffusivity, 0, 0, 0}}, {{0, 1, 0}, {}}, {{0, 0, 1}, {}}};
}

inline DecoderCase make_case(std::string name, DecoderOptions options, std::vector<NodeGrid> grids,
                             int n_samples, int n_points,
                             std::vector<std::vector<DifferentialOperator>> operators) {
  DecoderCase made{std::move(name), std::move(options), {}, {}, {}};
  auto& q = made.queries;
  q.grids = std::move(grids);
  q.n_samples = n_samples;
  q.n_points = n_points;
  q.operators = std::move(operators);
  for (int sample = 0; sample < n_samples; ++sample) {
    const auto points = points_in(q.grid(sample), n_points, 7 + sample);
    q.points.insert(q.points.end(), points.begin(), points.end());
  }
  const Decoder<double> decoder(made.options);
  made.parameters = uniform_noise(decoder.n_parameters(), 3, -0.5, 0.5);
  made.latents = uniform_noise(std::int64_t{n_samples} * made.nodes() * made.options.n_latent, 5, -1, 1);
  return made;
}

inline DecoderOptions small_decoder(Activation activation) {
  DecoderOptions options;
  options.n_latent = 5;
  options.n_fields = 3;
  options.widths = {17, 12, 9};
  options.activation = activation;
  return options;
}

/// Every kind of operator, activation, depth, blend and grid; odd numbers of points that end within a block.
inline std::vector<DecoderCase> decoder_cases() {
  const std::vector<NodeGrid> both = {stretched_grid(), even_grid()};
  const std::vector<std::vector<DifferentialOperator>> every = {every_operator(1.0), every_operator(-0.4)};
  std::vector<DecoderCase> cases;
  for (const auto activation :
       {Activation::softplus, Activation::tanh, Activation::silu, Activation::gelu, Activation::sigmoid})
    cases.push_back(make_case(fmt::format("activation {}", static_cast<int>(activation)),
                              small_decoder(activation), both, 2, 11, every));
  DecoderOptions options = small_decoder(Activation::softplus);
  cases.push_back(make_case("values alone", options, both, 2, 37, {}));
  cases.push_back(
      make_case("convection", options, both, 2, 21, {convection_operators(0.1), convection_operators(0.02)}));
  cases.push_back(make_case("first order alone", options, {stretched_grid()}, 1, 5,
                            {{{{1, 0, 0}, {}}, {{0, 1, 2}, {}}}}));
  options.repeat_input = false;
  cases.push_back(make_case("input read once", options, both, 2, 3, every));
  options = small_decoder(Activation::tanh);
  options.widths = {8};
  cases.push_back(make_case("one hidden layer", options, both, 2, 4, every));
  options.widths = {33, 5, 64, 2, 7};
  options.n_fields = 11;
  cases.push_back(make_case("five hidden layers", options, both, 2, 4, every));
  for (const auto blend : {Blend::cubic, Blend::quintic}) {
    options = small_decoder(Activation::softplus);
    options.blend = blend;
    cases.push_back(
        make_case(blend == Blend::cubic ? "cubic blend" : "quintic blend", options, both, 2, 10, every));
  }
  options = small_decoder(Activation::softplus);
  options.adds_known_fields = true;
  cases.push_back(make_case("known fields", options, both, 2, 10, every));
  cases.push_back(make_case("known fields, values alone", options, both, 2, 37, {}));
  options.blend = Blend::cubic;
  cases.push_back(make_case("known fields, cubic blend", options, both, 2, 10, every));
  return cases;
}

/// Jets of a case in the precision of Real.
template <class Real>
std::vector<Real> jets_of(const DecoderCase& of, DecoderTape<Real>* tape = nullptr) {
  Decoder<Real> decoder(of.options);
  decoder.refresh(of.parameters.data());
  const std::vector<Real> latents(of.latents.begin(), of.latents.end());
  std::vector<Real> jets(of.n_jets());
  decoder.forward(latents.data(), of.queries, jets.data(), tape);
  return jets;
}

/// Gradients of S = sum weights jets: of the parameters, then of the latents.
template <class Real>
std::vector<Real> gradient_of(const DecoderCase& of, const std::vector<double>& weights,
                              bool made_again = false) {
  Decoder<Real> decoder(of.options);
  decoder.refresh(of.parameters.data());
  const std::vector<Real> latents(of.latents.begin(), of.latents.end()), bar(weights.begin(), weights.end());
  std::vector<Real> jets(of.n_jets()), gradient(of.parameters.size() + latents.size());
  DecoderTape<Real> tape(made_again);
  decoder.forward(latents.data(), of.queries, jets.data(), &tape);
  EXPECT_EQ(tape.bytes(), made_again ? 0 : decoder.tape_bytes(of.queries)) << of.name;
  decoder.backward(latents.data(), of.queries, tape, bar.data(), gradient.data(),
                   gradient.data() + of.parameters.size());
  return gradient;
}

}  // namespace quintet::flow
