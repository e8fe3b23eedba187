#include "surrogates/flow/decoder/decoder.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "physics/kernels/gemm_bf16.hpp"
#include "tests/unit/flow/decoder/decoder_cases.hpp"

namespace quintet::flow {
namespace {

double phi(Activation activation, double x) {
  Pack<double> y, dy;
  with_activation(activation, [&]<Activation A>() {
    activate<A, double, pack_width<double>>(broadcast<double>(x), y, dy);
  });
  return y[0];
}

/// What a node with latents q says at place xi: the network, plainly.
std::vector<double> network(const DecoderOptions& options, const std::vector<double>& parameters,
                            const std::array<double, 3>& xi, const double* q) {
  std::vector<double> input(xi.begin(), xi.end());
  input.insert(input.end(), q, q + options.n_latent);
  std::vector<double> h;
  const double* weight = parameters.data();
  for (std::size_t l = 0; l <= options.widths.size(); ++l) {
    const bool last = l == options.widths.size();
    if (l == 0 || (options.repeat_input && !last)) h.insert(h.end(), input.begin(), input.end());
    const int n_out = last ? options.n_fields : options.widths[l];
    const double* bias = weight + h.size() * n_out;
    std::vector<double> y(bias, bias + n_out);
    for (int o = 0; o < n_out; ++o) {
      for (std::size_t i = 0; i < h.size(); ++i) y[o] += h[i] * weight[i * n_out + o];
      if (!last) y[o] = phi(options.activation, y[o]);
    }
    weight = bias + n_out;
    h = y;
  }
  return h;
}

double upper_weight(Blend blend, double r) {
  if (blend == Blend::linear) return r;
  r = std::clamp(r, 0.0, 1.0);
  return blend == Blend::cubic ? r * r * (3 - 2 * r) : r * r * r * (10 - 15 * r + 6 * r * r);
}

/// Fields at a point, plainly.
std::vector<double> plain_fields(const DecoderCase& of, int sample, const std::array<double, 3>& x) {
  const NodeGrid& grid = of.queries.grid(sample);
  std::array<AxisCell, 3> cell;
  for (int i = 0; i < 3; ++i) cell[i] = locate(grid[i], x[i]);
  std::vector<double> fields(of.options.n_fields, 0.0);
  for (int corner = 0; corner < 8; ++corner) {
    std::array<double, 3> xi{};
    double weight = 1;
    int node = 0;
    for (int i = 0; i < 3; ++i) {
      const int side = corner >> i & 1;
      xi[i] = cell[i].r - side;
      const double upper = upper_weight(of.options.blend, cell[i].r);
      weight *= side == 1 ? upper : 1 - upper;
      node = node * grid[i].size() + cell[i].node[side];
    }
    const double* q = of.latents.data() + (sample * of.nodes() + node) * of.options.n_latent;
    auto g = network(of.options, of.parameters, xi, q);
    const double* known = q + of.options.n_latent - of.options.n_fields;
    for (int f = 0; f < of.options.n_fields; ++f) {
      if (of.options.adds_known_fields) g[f] += known[f];
      fields[f] += weight * g[f];
    }
  }
  return fields;
}

std::array<double, 3> point_of(const DecoderCase& of, int sample, int p) {
  const double* x = of.queries.points.data() + (sample * of.queries.n_points + p) * 3;
  return {x[0], x[1], x[2]};
}

double largest(const std::vector<double>& values) {
  double size = 0;
  for (const double value : values) size = std::max(size, std::abs(value));
  return size;
}

TEST(Decoder, values_are_those_of_the_plain_formula) {
  for (const auto& of : decoder_cases()) {
    const auto jets = jets_of<double>(of);
    for (int sample = 0; sample < of.queries.n_samples; ++sample)
      for (int p = 0; p < of.queries.n_points; ++p) {
        const auto expected = plain_fields(of, sample, point_of(of, sample, p));
        const double* found =
            jets.data() + (sample * of.queries.n_points + p) * of.queries.n_channels() * of.options.n_fields;
        for (int f = 0; f < of.options.n_fields; ++f)
          ASSERT_NEAR(found[f], expected[f], 1e-12 * std::max(1.0, largest(expected)))
              << of.name << " sample " << sample << " point " << p << " field " << f;
      }
  }
}

/// D of the plain fields by central differences, or nothing where they would leave the cell.
std::vector<double> differences(const DecoderCase& of, int sample, const std::array<double, 3>& x,
                                const DifferentialOperator& d) {
  const NodeGrid& grid = of.queries.grid(sample);
  std::array<double, 3> h;
  for (int i = 0; i < 3; ++i) {
    const AxisCell cell = locate(grid[i], x[i]);
    h[i] = 1e-3 * cell.spacing;
    for (const double side : {-1.0, 1.0}) {
      const double moved = x[i] + side * h[i];
      if (!grid[i].periodic && (moved < grid[i].lower || moved > grid[i].upper)) return {};
      if (locate(grid[i], moved).node[0] != cell.node[0]) return {};
      if (of.options.blend != Blend::linear && (cell.r < 2e-3 || cell.r > 1 - 2e-3)) return {};
    }
  }
  const auto at = [&](double a, double b, int i, int j) {
    auto moved = x;
    moved[i] += a * h[i];
    moved[j] += b * h[j];
    return plain_fields(of, sample, moved);
  };
  std::vector<double> sum(of.options.n_fields, 0.0);
  const auto add = [&](double factor, const std::vector<double>& values) {
    for (std::size_t f = 0; f < sum.size(); ++f) sum[f] += factor * values[f];
  };
  for (int i = 0; i < 3; ++i)
    for (const double side : {-1.0, 1.0}) add(d.first[i] * side / (2 * h[i]), at(side, 0, i, i));
  for (int ij = 0; ij < n_second; ++ij) {
    const auto [i, j] = second_axes[ij];
    for (const double a : {-1.0, 1.0}) {
      if (i == j) {
        add(d.second[ij] / (h[i] * h[i]), at(a, 0, i, i));
        add(-d.second[ij] / (h[i] * h[i]), at(0, 0, i, i));
        continue;
      }
      for (const double b : {-1.0, 1.0}) add(d.second[ij] * a * b / (4 * h[i] * h[j]), at(a, b, i, j));
    }
  }
  return sum;
}

TEST(Decoder, operators_are_those_of_finite_differences) {
  int compared = 0;
  for (const auto& of : decoder_cases()) {
    const auto jets = jets_of<double>(of);
    for (int sample = 0; sample < of.queries.n_samples; ++sample)
      for (int p = 0; p < of.queries.n_points; ++p)
        for (int k = 0; k + 1 < of.queries.n_channels(); ++k) {
          const auto expected =
              differences(of, sample, point_of(of, sample, p), of.queries.operators_of(sample)[k]);
          if (expected.empty()) continue;
          ++compared;
          const double* found =
              jets.data() +
              ((sample * of.queries.n_points + p) * of.queries.n_channels() + 1 + k) * of.options.n_fields;
          for (int f = 0; f < of.options.n_fields; ++f)
            ASSERT_NEAR(found[f], expected[f], 3e-4 * std::max(1.0, largest(expected)))
                << of.name << " sample " << sample << " point " << p << " operator " << k << " field " << f;
        }
  }
  EXPECT_GT(compared, 1000);
}

TEST(Decoder, gradients_are_those_of_finite_differences) {
  for (auto& of : decoder_cases()) {
    const auto weights = uniform_noise(of.n_jets(), 13, -1, 1);
    const auto gradient = gradient_of<double>(of, weights);
    const double size = largest(gradient), h = 1e-5;
    const auto sum = [&] {
      const auto jets = jets_of<double>(of);
      return std::inner_product(jets.begin(), jets.end(), weights.begin(), 0.0);
    };
    const std::size_t n = gradient.size();
    for (std::size_t i = 0; i < n; i += 1 + n / 60) {
      double& number = i < of.parameters.size() ? of.parameters[i] : of.latents[i - of.parameters.size()];
      const double start = number;
      number = start + h;
      const double above = sum();
      number = start - h;
      const double below = sum();
      number = start;
      ASSERT_NEAR(gradient[i], (above - below) / (2 * h), 1e-7 * size)
          << of.name << " number " << i << " of " << n;
    }
  }
}

TEST(Decoder, a_tape_that_is_made_again_gives_the_bits_of_one_that_is_kept) {
  auto cases = decoder_cases();
  cases.push_back(make_case("three tasks", small_decoder(Activation::softplus), {stretched_grid()}, 1, 1203,
                            {convection_operators(0.1)}));
  for (const auto& of : cases) {
    DecoderTape<float> kept, again(true);
    EXPECT_EQ(jets_of<float>(of, &again), jets_of<float>(of, &kept)) << of.name;
    std::vector<double> weights(of.n_jets());
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = std::sin(1.0 + i);
    EXPECT_EQ(gradient_of<float>(of, weights, true), gradient_of<float>(of, weights)) << of.name;
    EXPECT_EQ(gradient_of<double>(of, weights, true), gradient_of<double>(of, weights)) << of.name;
  }
}

TEST(Decoder, a_point_has_the_same_bits_alone_among_others_and_with_a_tape) {
  const auto of = make_case("many", small_decoder(Activation::softplus), {stretched_grid()}, 1, 1203,
                            {convection_operators(0.1)});
  const auto together = jets_of<float>(of);
  DecoderTape<float> tape;
  EXPECT_EQ(jets_of<float>(of, &tape), together);
  const std::size_t row = together.size() / of.queries.n_points;
  for (const int p : {0, 511, 512, 1202}) {
    auto alone = of;
    alone.queries.n_points = 1;
    const auto x = point_of(of, 0, p);
    alone.queries.points = {x.begin(), x.end()};
    const auto one = jets_of<float>(alone);
    EXPECT_TRUE(std::equal(one.begin(), one.end(), together.begin() + p * row)) << p;
  }
}

TEST(Decoder, gradients_of_many_points_are_the_sum_of_those_of_their_parts) {
  const auto of = make_case("many", small_decoder(Activation::softplus), {stretched_grid()}, 1, 1203,
                            {convection_operators(0.1)});
  const auto weights = uniform_noise(of.n_jets(), 13, -1, 1);
  const auto whole = gradient_of<double>(of, weights);
  std::vector<double> sum(whole.size(), 0.0);
  const int cut[] = {0, 100, 1203};
  const std::size_t row = of.n_jets() / of.queries.n_points;
  for (int part = 0; part < 2; ++part) {
    auto some = of;
    const auto slice = [&](const std::vector<double>& from, std::size_t width) {
      return std::vector<double>(from.begin() + cut[part] * width, from.begin() + cut[part + 1] * width);
    };
    some.queries.n_points = cut[part + 1] - cut[part];
    some.queries.points = slice(of.queries.points, 3);
    const auto gradient = gradient_of<double>(some, slice(weights, row));
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += gradient[i];
  }
  for (std::size_t i = 0; i < sum.size(); ++i) ASSERT_NEAR(whole[i], sum[i], 1e-12 * largest(whole));
}

TEST(Decoder, single_precision_agrees_with_double) {
  for (const auto& of : decoder_cases()) {
    const auto weights = uniform_noise(of.n_jets(), 13, -1, 1);
    const auto exact = jets_of<double>(of), gradient = gradient_of<double>(of, weights);
    const auto found = jets_of<float>(of), single = gradient_of<float>(of, weights);
    for (std::size_t i = 0; i < exact.size(); ++i)
      ASSERT_NEAR(found[i], exact[i], 2e-5 * largest(exact)) << of.name;
    for (std::size_t i = 0; i < gradient.size(); ++i)
      ASSERT_NEAR(single[i], gradient[i], 2e-5 * largest(gradient)) << of.name << " number " << i;
  }
}

/// A network without hidden units to speak of: g = q + slope . xi, with one latent and one field.
DecoderCase linear_case(Blend blend, const NodeGrid& grid, const std::array<double, 3>& slope) {
  DecoderOptions options;
  options.n_latent = options.n_fields = 1;
  options.widths = {1};
  options.activation = Activation::linear;
  options.blend = blend;
  auto of =
      make_case("linear", options, {grid}, 1, 101, {{{{1, 0, 0}, {}}, {{0, 1, 0}, {}}, {{0, 0, 1}, {}}}});
  of.parameters = {slope[0], slope[1], slope[2], 1, 0, 1, 0};  // W_xi, W_q, c; W, c
  return of;
}

/// F = 0.7 + 1.3 t - 2.1 z + 0.4 x at the nodes; jets must be F and its gradient.
void expect_linear_field(DecoderCase of) {
  const NodeGrid& grid = of.queries.grids[0];
  of.latents.clear();
  for (const double t : grid[0].nodes)
    for (const double z : grid[1].nodes)
      for (const double x : grid[2].nodes) of.latents.push_back(0.7 + 1.3 * t - 2.1 * z + 0.4 * x);
  const auto jets = jets_of<double>(of);
  for (int p = 0; p < of.queries.n_points; ++p) {
    const auto [t, z, x] = point_of(of, 0, p);
    const double expected[] = {0.7 + 1.3 * t - 2.1 * z + 0.4 * x, 1.3, -2.1, 0.4};
    for (int c = 0; c < 4; ++c)
      ASSERT_NEAR(jets[4 * p + c], expected[c], 1e-12) << "point " << p << " channel " << c;
  }
}

TEST(Decoder, reproduces_fields_linear_in_space_and_time_on_any_nodes_and_beyond_them) {
  NodeGrid grid = stretched_grid();
  grid[2].periodic = false;
  grid[2].lower = -0.5;
  expect_linear_field(linear_case(Blend::linear, grid, {0, 0, 0}));
}

TEST(Decoder, reproduces_linear_fields_by_any_blend_where_nodes_know_the_gradient) {
  for (const auto blend : {Blend::linear, Blend::cubic, Blend::quintic})
    expect_linear_field(linear_case(blend, even_grid(), {1.3 * 0.5, -2.1 * 0.1, 0.4 * 1.0}));
}

TEST(Decoder, interpolates_known_fields_before_it_is_trained) {
  DecoderOptions options;
  options.n_latent = 4;
  options.n_fields = 1;
  options.widths = {9, 7};
  options.adds_known_fields = true;
  NodeGrid grid = stretched_grid();
  grid[2].periodic = false;
  grid[2].lower = -0.5;
  auto of = make_case("untrained", options, {grid}, 1, 101,
                      {{{{1, 0, 0}, {}}, {{0, 1, 0}, {}}, {{0, 0, 1}, {}}, {{}, {1, 1, 1, 1, 1, 1}}}});
  of.parameters = Decoder<double>(options).initial_parameters(3);
  std::vector<double> field;
  for (const double t : grid[0].nodes)
    for (const double z : grid[1].nodes)
      for (const double x : grid[2].nodes) field.push_back(0.7 + 1.3 * t - 2.1 * z + 0.4 * x);
  for (std::size_t node = 0; node < field.size(); ++node) of.latents[4 * node + 3] = field[node];
  const auto jets = jets_of<double>(of);
  for (int p = 0; p < of.queries.n_points; ++p) {
    const auto [t, z, x] = point_of(of, 0, p);
    const double expected[] = {0.7 + 1.3 * t - 2.1 * z + 0.4 * x, 1.3, -2.1, 0.4, 0};
    for (int c = 0; c < 5; ++c)
      ASSERT_NEAR(jets[5 * p + c], expected[c], 1e-12) << "point " << p << " channel " << c;
  }
}

/// Pairs of units get opposite gradients, so that no step moves all of a layer one way; and all layers learn.
TEST(Decoder, an_untrained_correction_teaches_pairs_of_units_opposite_things) {
  for (const int width : {8, 9}) {
    DecoderOptions options = small_decoder(Activation::softplus);
    options.adds_known_fields = true;
    options.widths = {17, width};
    auto of = make_case("untrained", options, {stretched_grid()}, 1, 37, {});
    of.parameters = Decoder<double>(options).initial_parameters(3);
    const auto gradient = gradient_of<double>(of, std::vector<double>(of.n_jets(), 1));
    const int n_fields = options.n_fields, rows = 17 + n_axes + options.n_latent + 1;
    const std::size_t last = of.parameters.size() - std::size_t(width + 1) * n_fields,
                      hidden = last - std::size_t(rows) * width;
    double largest = 0;
    for (std::size_t i = 0; i < hidden; ++i) largest = std::max(largest, std::abs(gradient[i]));
    EXPECT_GT(largest, 0) << "the first layer learns nothing";
    for (int row = 0; row < rows; ++row)
      for (int unit = 0; unit < width; ++unit) {
        const double one = gradient[hidden + row * width + unit];
        if (unit == width - 1 && width % 2 == 1) {
          EXPECT_EQ(one, 0) << "what nobody reads";
        } else {
          const double twin = gradient[hidden + row * width + (unit ^ 1)];
          EXPECT_GT(std::abs(one), 0);
          EXPECT_NEAR(one, -twin, 1e-12 * (1 + std::abs(one))) << "row " << row << ", unit " << unit;
        }
      }
  }
}

TEST(Decoder, a_period_changes_nothing) {
  auto of = make_case("periodic", small_decoder(Activation::softplus), {stretched_grid()}, 1, 50,
                      {convection_operators(0.1)});
  const auto here = jets_of<double>(of);
  for (int p = 0; p < 50; ++p) of.queries.points[3 * p + 2] += (p % 5 - 2) * 4.0;
  const auto there = jets_of<double>(of);
  for (std::size_t i = 0; i < here.size(); ++i) ASSERT_NEAR(here[i], there[i], 1e-10);
}

TEST(Decoder, values_are_continuous_across_nodes_and_smooth_blends_have_continuous_derivatives) {
  const double step = 1e-9;
  for (const auto blend : {Blend::linear, Blend::cubic, Blend::quintic}) {
    auto options = small_decoder(Activation::softplus);
    options.blend = blend;
    auto of =
        make_case("across", options, {even_grid()}, 1, 2, {{{{0, 0, 1}, {}}, {{}, {0, 0, 1, 0, 0, 0}}}});
    of.queries.points = {3.2, 0.13, -step, 3.2, 0.13, step};  // both sides of the node x = 0
    const auto jets = jets_of<double>(of);
    const std::size_t fields = options.n_fields;
    for (std::size_t f = 0; f < fields; ++f) {
      const double* left = jets.data() + f;
      const double* right = left + 3 * fields;
      EXPECT_NEAR(left[0], right[0], 1e-7);
      const double jump = std::abs(left[fields] - right[fields]);
      const double jump_of_second = std::abs(left[2 * fields] - right[2 * fields]);
      if (blend == Blend::linear) {
        EXPECT_GT(jump, 1e-3);
      } else {
        EXPECT_LT(jump, 1e-6);
      }
      if (blend == Blend::quintic) {
        EXPECT_LT(jump_of_second, 1e-5);
      }
    }
  }
}

/// Jets in float, by products in bfloat16 or not.
std::vector<float> jets_in_float(const DecoderCase& of, bool bf16) {
  Decoder<float> decoder(of.options);
  const std::vector<float> parameters(of.parameters.begin(), of.parameters.end()),
      latents(of.latents.begin(), of.latents.end());
  decoder.refresh(parameters.data());
  if (bf16) decoder.prepare_bf16(parameters.data());
  DecoderQueries queries = of.queries;
  queries.bf16 = bf16;
  std::vector<float> jets(of.n_jets());
  decoder.forward(latents.data(), queries, jets.data());
  return jets;
}

TEST(Decoder, products_in_bf16_differ_by_what_bf16_rounds) {
  for (const auto& of : decoder_cases()) {
    const auto exact = jets_in_float(of, false), rounded = jets_in_float(of, true);
    EXPECT_NE(exact, rounded) << of.name;
    const std::vector<double> all(exact.begin(), exact.end());
    for (std::size_t i = 0; i < exact.size(); ++i)
      ASSERT_NEAR(rounded[i], exact[i], 0.05 * largest(all)) << of.name;
  }
  // One unit that passes 1/3 on: its product is by 1/3 rounded, all else is not.
  auto of = linear_case(Blend::linear, even_grid(), {0, 0, 0});
  of.latents.assign(of.nodes(), 1 / 3.0);
  for (const bool bf16 : {false, true}) {
    const auto jets = jets_in_float(of, bf16);
    const float expected = bf16 ? from_bf16(to_bf16(1 / 3.0F)) : 1 / 3.0F;
    for (std::size_t p = 0; p < jets.size(); p += 4) ASSERT_NEAR(jets[p], expected, 1e-7);
  }
}

TEST(Decoder, refuses_bf16_without_weights_or_with_a_way_back) {
  const auto of = decoder_cases().front();
  const std::vector<float> parameters(of.parameters.begin(), of.parameters.end()),
      latents(of.latents.begin(), of.latents.end());
  Decoder<float> decoder(of.options);
  decoder.refresh(parameters.data());
  DecoderQueries queries = of.queries;
  queries.bf16 = true;
  std::vector<float> jets(of.n_jets());
  EXPECT_THROW(decoder.forward(latents.data(), queries, jets.data()), InternalError);
  decoder.prepare_bf16(parameters.data());
  DecoderTape<float> tape;
  EXPECT_THROW(decoder.forward(latents.data(), queries, jets.data(), &tape), InternalError);
  decoder.refresh(parameters.data());  // what was rounded is out of date
  EXPECT_THROW(decoder.forward(latents.data(), queries, jets.data()), InternalError);
}

TEST(Decoder, has_the_size_of_the_reference_by_default) {
  const Decoder<float> decoder{DecoderOptions{}};
  EXPECT_EQ(decoder.n_parameters(), 209924u);
  const auto total = decoder.describe().total();
  EXPECT_EQ(total.parameters, 209924u);
  EXPECT_EQ(decoder.describe().blocks[1].n_in, 547);
  EXPECT_EQ(decoder.initial_parameters(1), decoder.initial_parameters(1));
  EXPECT_NE(decoder.initial_parameters(1), decoder.initial_parameters(2));
  EXPECT_LE(largest(decoder.initial_parameters(1)), 1 / std::sqrt(32.0));
}

/// The message that a case is refused with.
std::string refusal(const DecoderCase& of) {
  try {
    (void)jets_of<double>(of);
  } catch (const InputError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(Decoder, refuses_what_it_cannot_do_right) {
  const auto right = make_case("right", small_decoder(Activation::softplus), {stretched_grid()}, 1, 3,
                               {convection_operators(0.1)});
  const auto expect = [&](const char* message, auto&& change) {
    auto of = right;
    change(of);
    EXPECT_NE(refusal(of).find(message), std::string::npos) << refusal(of);
  };
  expect("outside the domain [-0.5, 0.5]", [](DecoderCase& of) { of.queries.points[4] = 0.501; });
  expect("not a number",
         [](DecoderCase& of) { of.queries.points[5] = std::numeric_limits<double>::quiet_NaN(); });
  expect("not a number",
         [](DecoderCase& of) { of.queries.points[8] = std::numeric_limits<double>::infinity(); });
  for (const double far : {1e8, -1e17, 1e300})
    expect("too many periods of 4 away", [&](DecoderCase& of) { of.queries.points[5] = far; });
  expect("no second derivative", [](DecoderCase& of) { of.options.activation = Activation::relu; });
  expect("do not increase", [](DecoderCase& of) { of.queries.grids[0][1].nodes[2] = -0.3; });
  expect("outside its domain", [](DecoderCase& of) { of.queries.grids[0][0].upper = 1.2; });
  expect("has 1 node", [](DecoderCase& of) { of.queries.grids[0][0].nodes = {0.5}; });
  expect("image", [](DecoderCase& of) { of.queries.grids[0][2].nodes = {0, 1, 2, 3, 4}; });
  expect("no hidden layer", [](DecoderCase& of) { of.options.widths = {}; });
  expect("must be 1 at least", [](DecoderCase& of) { of.options.widths = {4, 0}; });
}

}  // namespace
}  // namespace quintet::flow
