#include "surrogates/flow/decoder/place_series.hpp"

#include <algorithm>
#include <cmath>

#include "tests/unit/flow/decoder/decoder_cases.hpp"

namespace quintet::flow {
namespace {

/// Points of a few cells, many each: of a lattice within them, at one time if it is a frame.
std::vector<double> lattice(const NodeGrid& grid, bool frame) {
  std::vector<double> points;
  const std::array<int, n_axes> n{frame ? 1 : 5, 9, 7};
  for (int t = 0; t < n[0]; ++t)
    for (int z = 0; z < n[1]; ++z)
      for (int x = 0; x < n[2]; ++x) {
        const std::array<int, n_axes> at{t, z, x};
        for (int i = 0; i < n_axes; ++i) {
          const auto& axis = grid[i];
          const double length = axis.upper - axis.lower, shift = axis.periodic ? 2 * length : 0;
          points.push_back(axis.lower + shift + length * (at[i] + 0.37) / n[i] * 0.62);
        }
      }
  return points;
}

DecoderCase dense_case(Activation activation, const NodeGrid& grid, bool frame,
                       std::vector<std::vector<DifferentialOperator>> operators,
                       Blend blend = Blend::linear) {
  auto options = small_decoder(activation);
  options.widths = {131, 18, 9};
  options.blend = blend;
  auto of = make_case(fmt::format("activation {}, frame {}", static_cast<int>(activation), frame), options,
                      {grid}, 1, 1, std::move(operators));
  for (int i = 0; i < n_axes * options.widths[0]; ++i) of.parameters[i] *= 0.3;
  of.queries.points = lattice(grid, frame);
  of.queries.n_points = static_cast<int>(of.queries.points.size()) / n_axes;
  return of;
}

std::vector<float> rounded_jets(const DecoderCase& of, bool one_by_one) {
  const std::vector<float> parameters(of.parameters.begin(), of.parameters.end()),
      latents(of.latents.begin(), of.latents.end());
  Decoder<float> decoder(of.options);
  decoder.refresh(parameters.data());
  decoder.prepare_bf16(parameters.data());
  auto queries = of.queries;
  queries.bf16 = true;
  std::vector<float> jets(of.n_jets());
  if (!one_by_one) {
    decoder.forward(latents.data(), queries, jets.data());
    return jets;
  }
  const std::size_t row = jets.size() / of.queries.n_points;
  queries.n_points = 1;
  for (int p = 0; p < of.queries.n_points; ++p) {
    const double* x = of.queries.point(0, p);
    queries.points = {x, x + n_axes};
    decoder.forward(latents.data(), queries, jets.data() + p * row);
  }
  return jets;
}

/// Root mean square difference of each channel and field.
std::vector<double> errors_of(const DecoderCase& of, const std::vector<float>& jets,
                              const std::vector<double>& exact) {
  const std::size_t row = jets.size() / of.queries.n_points;
  std::vector<double> errors(row, 0);
  for (std::size_t i = 0; i < jets.size(); ++i) errors[i % row] += std::pow(jets[i] - exact[i], 2);
  for (double& error : errors) error = std::sqrt(error / of.queries.n_points);
  return errors;
}

TEST(PlaceSeries, changes_jets_by_no_more_than_rounded_products_do) {
  std::vector<DecoderCase> cases;
  for (const auto activation :
       {Activation::softplus, Activation::tanh, Activation::silu, Activation::sigmoid})
    for (const bool frame : {false, true}) {
      cases.push_back(dense_case(activation, stretched_grid(), frame, {every_operator(1.0)}));
      cases.push_back(dense_case(activation, even_grid(), frame, {}));
    }
  cases.push_back(dense_case(Activation::softplus, even_grid(), true, {convection_operators(0.1)}));
  cases.push_back(dense_case(Activation::tanh, even_grid(), false, {{{{1, 0, 0}, {}}, {{0, 1, 2}, {}}}}));
  cases.push_back(
      dense_case(Activation::softplus, stretched_grid(), false, {every_operator(-0.4)}, Blend::quintic));
  double of_all = 0;
  for (const auto& of : cases) {
    const auto exact = jets_of<double>(of);
    const auto by_series = rounded_jets(of, false), plain = rounded_jets(of, true);
    EXPECT_NE(by_series, plain) << of.name << ": no series was taken";
    const auto of_series = errors_of(of, by_series, exact), of_plain = errors_of(of, plain, exact);
    // Points of a cell share what C was rounded by, so that the few cells of a case are few samples of it.
    double squares = 0;
    for (std::size_t i = 0; i < of_plain.size(); ++i) {
      EXPECT_LT(of_series[i], 2.5 * of_plain[i]) << of.name << ", channel and field " << i;
      squares += std::pow(of_series[i] / of_plain[i], 2) / static_cast<double>(of_plain.size());
    }
    EXPECT_LT(std::sqrt(squares), 1.5) << of.name;
    of_all += squares / static_cast<double>(cases.size());
  }
  EXPECT_LT(std::sqrt(of_all), 1.15);
}

TEST(PlaceSeries, leaves_activations_without_one_and_places_far_apart_as_they_are) {
  for (auto of : {dense_case(Activation::gelu, even_grid(), false, {every_operator(1.0)}),
                  dense_case(Activation::relu, even_grid(), false, {})})
    EXPECT_EQ(rounded_jets(of, false), rounded_jets(of, true)) << of.name;
  auto of = dense_case(Activation::softplus, even_grid(), false, {});
  of.queries.points = points_in(even_grid(), 31, 3);
  of.queries.n_points = 31;
  EXPECT_EQ(rounded_jets(of, false), rounded_jets(of, true));
}

/// Units that all see the first axis alone, with the same weight.
struct Layers {
  DecoderLayer<float> first, second;
  JetPlan plan;
  Layers(int n_units, float weight) {
    first.activation = Activation::softplus;
    first.n_out = n_units;
    first.stride = padded(n_units, pack_width<float>);
    first.coordinates.assign(std::int64_t{n_axes} * first.stride, 0.0F);
    std::fill_n(first.coordinates.begin(), n_units, weight);
    second.n_hidden = n_units;
    second.n_out = second.stride = pack_width<float>;
    const std::vector<float> ones(std::int64_t{n_units} * second.n_out, 1.0F);
    second.hidden.assign(ones.data(), n_units, second.n_out);
    second.hidden_bf16.assign(ones.data(), second.n_out, n_units, second.n_out);
  }
  [[nodiscard]] PlaceSeries series() const { return {first, second, plan}; }
};
constexpr int plenty = 1 << 20;
const PlaceBox whole_cell{{0.5, 0.5, 0.5}, {0.5, 0.5, 0.5}};

TEST(PlaceSeries, takes_the_least_degree_whose_remainder_is_small_enough) {
  const auto largest = largest_derivatives(Activation::softplus);
  for (const int n : {3, 4, 6}) {
    const double reach = std::pow(PlaceSeries::tolerance * std::tgamma(n + 1) / largest[n], 1.0 / n);
    for (const double by : {0.999, 1.001}) {
      const Layers layers(512, static_cast<float>(2 * reach * by));
      auto series = layers.series();
      ASSERT_TRUE(series.choose(whole_cell, plenty));
      if (by < 1)
        EXPECT_LE(series.degree(), n - 1);
      else
        EXPECT_GE(series.degree(), n);
    }
  }
}

TEST(PlaceSeries, is_refused_where_no_degree_is_enough) {
  const int n = most_derivatives;
  const double reach = std::pow(
      PlaceSeries::tolerance * std::tgamma(n + 1) / largest_derivatives(Activation::softplus)[n], 1.0 / n);
  for (const double by : {0.999, 1.001}) {
    const Layers layers(2048, static_cast<float>(2 * reach * by));
    EXPECT_EQ(layers.series().choose(whole_cell, plenty), by < 1);
  }
}

TEST(PlaceSeries, is_refused_where_it_costs_more_than_the_product) {
  const int units = 64;
  const Layers layers(units, 0.4F);
  auto series = layers.series();
  ASSERT_TRUE(series.choose(whole_cell, plenty));
  const int d = series.degree(), powers = (d + 1) * (d + 2) * (d + 3) / 6;
  const int least = static_cast<int>(std::ceil(powers * units / (0.6 * units - powers)));
  EXPECT_TRUE(series.choose(whole_cell, least));
  EXPECT_FALSE(series.choose(whole_cell, least - 1));
}

TEST(PlaceSeries, needs_fewer_powers_along_an_axis_on_which_all_places_are_one) {
  const Layers layers(64, 0.4F);
  auto series = layers.series();
  EXPECT_TRUE(series.choose({{0.3, 0.5, 0.5}, {0, 0.5, 0.5}}, 8));  // no unit varies in this box
  EXPECT_EQ(series.degree(), 1);
}

TEST(PlaceSeries, encloses_places) {
  const std::vector<std::array<double, n_axes>> places{{0.1, 0.9, 1.5}, {0.3, 0.9, -0.5}, {0.2, 0.9, 0}};
  const auto box = PlaceBox::around(places);
  EXPECT_DOUBLE_EQ(box.centre[0], 0.2);
  EXPECT_DOUBLE_EQ(box.half_width[0], 0.1);
  EXPECT_EQ(box.half_width[1], 0);
  EXPECT_DOUBLE_EQ(box.centre[2], 0.5);
  EXPECT_DOUBLE_EQ(box.half_width[2], 1);
}

}  // namespace
}  // namespace quintet::flow
