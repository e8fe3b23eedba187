#include "surrogates/sequence/network/network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "surrogates/sequence/network/lstm_cell.hpp"
#include "surrogates/sequence/network/lstm_layer.hpp"
#include "tests/unit/sequence/network_cases.hpp"

namespace quintet::sequence {
namespace {

using test::numbers;

constexpr int steps = 8, n = 70;  // a block of 64 and a rest; no multiple of a tile

template <class Real>
void outputs_equal_plain_loops(double tolerance) {
  for (const Architecture& architecture : test::some_networks()) {
    Network<Real> network(architecture, steps);
    const auto parameters = numbers<double>(network.n_parameters(), 0.3, 0.5);
    const std::vector<Real> rounded(parameters.begin(), parameters.end());
    const auto windows = numbers<Real>(std::int64_t{n} * steps * architecture.n_inputs, 1.0);
    std::vector<Real> outputs(std::int64_t{n} * network.n_outputs());
    network.refresh(rounded.data());
    network.forward(windows.data(), n, outputs.data());
    const std::vector<double> exact(rounded.begin(), rounded.end()), input(windows.begin(), windows.end());
    for (int b = 0; b < n; ++b) {
      const auto plain =
          test::plain_outputs(architecture, steps, exact, input.data() + b * steps * architecture.n_inputs);
      ASSERT_EQ(static_cast<int>(plain.size()), network.n_outputs());
      for (int i = 0; i < network.n_outputs(); ++i)
        ASSERT_NEAR(outputs[b * network.n_outputs() + i], plain[i], tolerance)
            << summary(architecture) << ", window " << b << ", output " << i;
    }
  }
}

TEST(Network, outputs_equal_plain_loops_in_double) { outputs_equal_plain_loops<double>(1e-13); }
TEST(Network, outputs_equal_plain_loops_in_float) { outputs_equal_plain_loops<float>(1e-5); }

double loss_of(Network<double>& network, const std::vector<double>& parameters,
               const std::vector<double>& windows, const std::vector<double>& targets) {
  std::vector<double> outputs(targets.size());
  network.refresh(parameters.data());
  network.forward(windows.data(), n, outputs.data());
  double loss = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) loss += std::pow(outputs[i] - targets[i], 2);
  return loss / outputs.size();
}

TEST(Network, gradients_are_finite_differences_of_the_loss) {
  for (const Architecture& architecture : test::some_networks()) {
    Network<double> network(architecture, steps);
    auto parameters = numbers<double>(network.n_parameters(), 0.3, 0.5);
    const auto windows = numbers<double>(std::int64_t{n} * steps * architecture.n_inputs, 1.0);
    const auto targets = numbers<double>(std::int64_t{n} * network.n_outputs(), 2.0);
    std::vector<double> gradient(parameters.size(), 1.0);  // it is added to
    network.refresh(parameters.data());
    const double loss = network.loss_and_gradient(windows.data(), targets.data(), n, gradient.data());
    ASSERT_NEAR(loss, loss_of(network, parameters, windows, targets), 1e-14);
    double largest = 0;
    for (double& g : gradient) largest = std::max(largest, std::abs(g -= 1));
    constexpr double h = 1e-5;
    for (std::size_t i = 0; i < parameters.size(); i += 1 + parameters.size() / 400) {
      const double at = parameters[i];
      parameters[i] = at + h;
      double slope = loss_of(network, parameters, windows, targets);
      parameters[i] = at - h;
      slope = (slope - loss_of(network, parameters, windows, targets)) / (2 * h);
      parameters[i] = at;
      // h^2 of the third derivative; a relu's kink that lies within h would be seen as 1e-5.
      ASSERT_NEAR(gradient[i], slope, 1e-8 + 1e-7 * largest) << summary(architecture) << ", parameter " << i;
    }
  }
}

TEST(Network, gradients_in_float_are_those_in_double) {
  for (const Architecture& architecture : test::some_networks()) {
    Network<double> exact(architecture, steps);
    Network<float> network(architecture, steps);
    const auto parameters = numbers<float>(network.n_parameters(), 0.3, 0.5);
    const auto windows = numbers<float>(std::int64_t{n} * steps * architecture.n_inputs, 1.0);
    const auto targets = numbers<float>(std::int64_t{n} * network.n_outputs(), 2.0);
    std::vector<float> gradient(parameters.size(), 0);
    std::vector<double> wanted(parameters.size(), 0);
    const auto wide = [](const std::vector<float>& values) {
      return std::vector<double>(values.begin(), values.end());
    };
    network.refresh(parameters.data());
    exact.refresh(wide(parameters).data());
    const double loss = network.loss_and_gradient(windows.data(), targets.data(), n, gradient.data());
    EXPECT_NEAR(loss, exact.loss_and_gradient(wide(windows).data(), wide(targets).data(), n, wanted.data()),
                1e-6 * loss);
    double largest = 0;
    for (const double g : wanted) largest = std::max(largest, std::abs(g));
    for (std::size_t i = 0; i < gradient.size(); ++i)
      ASSERT_NEAR(gradient[i], wanted[i], 2e-6 * largest) << summary(architecture) << ", parameter " << i;
  }
}

double relative_error(const std::vector<float>& values, const std::vector<double>& exact) {
  double error = 0, size = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    error += std::pow(values[i] - exact[i], 2);
    size += exact[i] * exact[i];
  }
  return std::sqrt(error / size);
}

TEST(Network, products_in_bf16_change_outputs_and_gradients_by_its_rounding) {
  for (const Architecture& architecture : test::some_networks()) {
    Network<double> exact(architecture, steps);
    Network<float> network(architecture, steps, Products::bf16);
    const auto parameters = numbers<float>(network.n_parameters(), 0.3, 0.5);
    const auto windows = numbers<float>(std::int64_t{n} * steps * architecture.n_inputs, 1.0);
    const auto targets = numbers<float>(std::int64_t{n} * network.n_outputs(), 2.0);
    const auto wide = [](const std::vector<float>& values) {
      return std::vector<double>(values.begin(), values.end());
    };
    std::vector<float> outputs(targets.size()), gradient(parameters.size(), 0);
    std::vector<double> wanted(targets.size()), wanted_gradient(parameters.size(), 0);
    network.refresh(parameters.data());
    exact.refresh(wide(parameters).data());
    network.forward(windows.data(), n, outputs.data());
    exact.forward(wide(windows).data(), n, wanted.data());
    const double loss = network.loss_and_gradient(windows.data(), targets.data(), n, gradient.data());
    EXPECT_NEAR(
        loss, exact.loss_and_gradient(wide(windows).data(), wide(targets).data(), n, wanted_gradient.data()),
        1e-2 * loss);
    // Numbers of 8 bits: 2^-9 each at most, of either sign.
    EXPECT_LT(relative_error(outputs, wanted), 6e-3) << summary(architecture);
    EXPECT_GT(relative_error(outputs, wanted), 1e-5) << summary(architecture);
    EXPECT_LT(relative_error(gradient, wanted_gradient), 2e-2) << summary(architecture);
    RecordProperty(summary(architecture), fmt::format("{:.2g} {:.2g}", relative_error(outputs, wanted),
                                                      relative_error(gradient, wanted_gradient)));
  }
}

TEST(Network, numbers_that_bf16_holds_go_through_a_layer_unchanged) {
  const auto architecture = test::network_of({}, {}, Head::dense);
  const auto held = [](std::vector<float> values) {
    for (float& value : values) value = from_bf16(to_bf16(value));
    return values;
  };
  Network<float> network(architecture, steps), rounding(architecture, steps, Products::bf16);
  const auto parameters = held(numbers<float>(network.n_parameters(), 0.3, 0.5));
  const auto windows = held(numbers<float>(std::int64_t{n} * steps * 5, 1.0));
  std::vector<float> outputs(std::int64_t{n} * network.n_outputs()), others(outputs);
  network.refresh(parameters.data());
  rounding.refresh(parameters.data());
  network.forward(windows.data(), n, outputs.data());
  rounding.forward(windows.data(), n, others.data());
  for (std::size_t i = 0; i < outputs.size(); ++i) ASSERT_NEAR(outputs[i], others[i], 1e-6);
}

TEST(Network, products_in_bf16_are_for_float) {
  EXPECT_THROW(Network<double>(test::network_of({}, {}, Head::dense), steps, Products::bf16), InternalError);
}

template <class Real>
void windows_do_not_depend_on_their_neighbours(Products products = Products::exact) {
  for (const Architecture& architecture : test::some_networks()) {
    Network<Real> network(architecture, steps, products);
    const auto parameters = numbers<Real>(network.n_parameters(), 0.3, 0.5);
    const int window = steps * architecture.n_inputs, out = network.n_outputs();
    const auto windows = numbers<Real>(std::int64_t{n} * window, 1.0);
    std::vector<Real> all(std::int64_t{n} * out), alone(out);
    network.refresh(parameters.data());
    network.forward(windows.data(), n, all.data());
    for (int b = 0; b < n; ++b) {
      network.forward(windows.data() + b * window, 1, alone.data());
      for (int i = 0; i < out; ++i)
        ASSERT_EQ(alone[i], all[b * out + i]) << summary(architecture) << ", " << b;
    }
  }
}

TEST(Network, windows_do_not_depend_on_their_neighbours_in_double) {
  windows_do_not_depend_on_their_neighbours<double>();
}
TEST(Network, windows_do_not_depend_on_their_neighbours_in_float) {
  windows_do_not_depend_on_their_neighbours<float>();
}
TEST(Network, windows_do_not_depend_on_their_neighbours_in_bf16) {
  windows_do_not_depend_on_their_neighbours<float>(Products::bf16);
}

TEST(Network, heads_step_for_step_see_the_past_alone_and_the_last_state_all) {
  for (const Head head : {Head::lstm, Head::dense, Head::last_state}) {
    const auto architecture = test::network_of({{NodeKind::lstm, 16}, {NodeKind::lstm, 8}}, {{0, 2}}, head);
    Network<double> network(architecture, steps);
    const auto parameters = numbers<double>(network.n_parameters(), 0.3, 0.5);
    auto window = numbers<double>(steps * 5, 1.0);
    std::vector<double> before(steps * 5), after(steps * 5);
    network.refresh(parameters.data());
    network.forward(window.data(), 1, before.data());
    window[4 * 5 + 2] += 0.5;  // step 4, counted from 0
    network.forward(window.data(), 1, after.data());
    for (int i = 0; i < steps * 5; ++i) {
      if (head != Head::last_state && i < 4 * 5)
        EXPECT_EQ(before[i], after[i]);
      else
        EXPECT_NE(before[i], after[i]);
    }
  }
}

TEST(Network, steps_that_a_head_cannot_give_are_refused) {
  EXPECT_THROW(Network<float>(test::network_of({{}}, {}, Head::lstm), 6), InputError);
  EXPECT_THROW(Network<float>(test::network_of({{}}, {}, Head::dense), 9), InputError);
  EXPECT_THROW(Network<float>(test::network_of({{}}, {}, Head::last_state), 0), InputError);
  EXPECT_NO_THROW(Network<float>(test::network_of({{}}, {}, Head::last_state), 6));
}

void a_number_that_is_none_is_not_hidden(Products products) {
  for (const Architecture& architecture : test::some_networks()) {
    Network<float> network(architecture, steps, products);
    const auto parameters = numbers<float>(network.n_parameters(), 0.3, 0.5);
    auto windows = numbers<float>(2 * std::int64_t{steps} * architecture.n_inputs, 1.0);
    windows[(steps - 1) * architecture.n_inputs] = NAN;  // of the first window's last step
    std::vector<float> targets(2 * std::int64_t{network.n_outputs()}, 0), gradient(parameters.size(), 0);
    network.refresh(parameters.data());
    EXPECT_TRUE(std::isnan(network.loss_and_gradient(windows.data(), targets.data(), 2, gradient.data())));
  }
}

TEST(Network, a_number_that_is_none_is_not_hidden) { a_number_that_is_none_is_not_hidden(Products::exact); }
TEST(Network, a_number_that_is_none_is_not_hidden_in_bf16) {
  a_number_that_is_none_is_not_hidden(Products::bf16);
}

template <class Real>
Real first_lane(Pack<Real> pack) {
  Real lanes[pack_width<Real>];
  store<Real>(lanes, pack);
  return lanes[0];
}

template <class Real, bool share>
void functions_of_the_gates_keep_their_digits(double tolerance, double limit) {
  for (int i = -40000; i <= 40000; ++i) {
    const Real x = limit * std::pow(std::abs(i) / 40000.0, 3) * (i < 0 ? -1 : 1);
    const Pack<Real> all = broadcast<Real>(x), z[4] = {all, all, all, all}, c[1] = {all};
    Pack<Real> gates[4], tanh_c[1];
    pack_gates<Real, pack_width<Real>, share>(z, gates);
    pack_tanhs<Real, pack_width<Real>, 1>(c, tanh_c);
    const long double sigmoid = 1 / (1 + std::exp(-static_cast<long double>(x))),
                      tanh = std::tanh(static_cast<long double>(x));
    for (const int gate : {0, 1, 3})
      ASSERT_NEAR(first_lane<Real>(gates[gate]), sigmoid, tolerance * sigmoid) << x;
    ASSERT_NEAR(first_lane<Real>(gates[2]), tanh, tolerance * std::abs(tanh)) << x;
    ASSERT_NEAR(first_lane<Real>(tanh_c[0]), tanh, tolerance * std::abs(tanh)) << x;
  }
}

TEST(LstmCell, functions_of_the_gates_keep_1e_15_in_double) {
  functions_of_the_gates_keep_their_digits<double, false>(1e-15, 700);
  functions_of_the_gates_keep_their_digits<double, true>(1e-15, 700);
}
TEST(LstmCell, functions_of_the_gates_keep_4e_7_in_float) {
  functions_of_the_gates_keep_their_digits<float, false>(4e-7, 80);
  functions_of_the_gates_keep_their_digits<float, true>(4e-7, 80);
}

/// Gates are divided in pairs, each of which may be at another end than its partner.
template <class Real, bool share>
void gates_go_to_their_limits(Real most, double tolerance) {
  constexpr Real infinite = std::numeric_limits<Real>::infinity();
  for (const Real x : {Real(0), Real(1), most, 10 * most, std::numeric_limits<Real>::max(), infinite})
    for (int signs = 0; signs < 16; ++signs) {
      Pack<Real> z[4], gates[4];
      for (int q = 0; q < 4; ++q) z[q] = broadcast<Real>((signs >> q & 1) != 0 ? -x : x);
      pack_gates<Real, pack_width<Real>, share>(z, gates);
      for (int q = 0; q < 4; ++q) {
        const long double at = first_lane<Real>(z[q]);
        const long double exact = q == 2 ? std::tanh(at) : 1 / (1 + std::exp(-at));
        // Far out a gate stays at the value of its limit, below all that it is added to.
        ASSERT_NEAR(first_lane<Real>(gates[q]), exact, tolerance * std::max(1e-30L, std::abs(exact)))
            << q << " " << x << " " << signs;
      }
      ASSERT_EQ(std::signbit(first_lane<Real>(gates[2])), std::signbit(first_lane<Real>(z[2])));
    }
}

TEST(LstmCell, gates_go_to_their_limits) {
  gates_go_to_their_limits<float, false>(60, 4e-7);
  gates_go_to_their_limits<float, true>(60, 4e-7);
  gates_go_to_their_limits<double, false>(60, 1e-15);
  gates_go_to_their_limits<double, true>(60, 1e-15);
}

template <class Real, bool share>
void a_gate_of_no_number_is_none() {
  for (int q = 0; q < 4; ++q)
    for (const Real sign : {Real(1), Real(-1)}) {
      Pack<Real> z[4] = {}, gates[4], c[1] = {broadcast<Real>(std::copysign(Real(NAN), sign))}, tanh_c[1];
      z[q] = c[0];
      pack_gates<Real, pack_width<Real>, share>(z, gates);
      pack_tanhs<Real, pack_width<Real>, 1>(c, tanh_c);
      EXPECT_TRUE(std::isnan(first_lane<Real>(gates[q]))) << q;
      EXPECT_TRUE(std::isnan(first_lane<Real>(tanh_c[0])));
    }
}

TEST(LstmCell, a_gate_of_no_number_is_none) {
  a_gate_of_no_number_is_none<float, false>();
  a_gate_of_no_number_is_none<float, true>();
  a_gate_of_no_number_is_none<double, false>();
  a_gate_of_no_number_is_none<double, true>();
}

/// More windows than a layer sums up before it steps their cells, and rests of all kinds.
TEST(LstmLayer, windows_beyond_those_stepped_together_are_those_alone) {
  constexpr int n_in = 3, units = 11, most = 75, few_steps = 3;
  LstmLayer<float> layer(n_in, units);
  const auto parameters = numbers<float>(layer.n_parameters(), 0.3, 0.5);
  const auto x = numbers<float>(std::size_t{few_steps} * most * n_in, 1.0);
  layer.refresh(parameters.data());
  const int stride = layer.stride();
  for (const int windows : {1, 31, 32, 33, 34, 37, 64, 65, 75}) {
    std::vector<float> h(std::size_t{few_steps} * windows * stride), alone(std::size_t{few_steps} * stride);
    layer.forward({x.data(), n_in}, few_steps, windows, h.data(), windows % 2 == 0);
    for (int b = 0; b < windows; ++b) {
      std::vector<float> own;
      for (int t = 0; t < few_steps; ++t)
        own.insert(own.end(), x.data() + (t * windows + b) * n_in, x.data() + (t * windows + b + 1) * n_in);
      layer.forward({own.data(), n_in}, few_steps, 1, alone.data(), false);
      for (int t = 0; t < few_steps; ++t)
        for (int i = 0; i < stride; ++i)
          ASSERT_EQ(h[(t * windows + b) * stride + i], alone[t * stride + i]) << windows << ", " << b;
    }
  }
}

/// A layer of few units in half packs makes the bits of one in whole packs, up to the last unit that fits.
template <class Real>
void narrow_layers_are_wide_ones(int n_in, int units, int windows) {
  constexpr int few_steps = 3;
  LstmLayer<Real> wide(n_in, units), narrow(n_in, units, Products::exact, true);
  const int half = quintet::detail::pack_bytes == 64 ? pack_width<Real> / 2 : pack_width<Real>;
  EXPECT_EQ(narrow.stride(), units <= half ? half : wide.stride()) << units;
  const auto parameters = numbers<Real>(wide.n_parameters(), 0.3, 0.5);
  const std::size_t rows = std::size_t(few_steps) * windows;
  const auto x = numbers<Real>(rows * n_in, 1.0), bar = numbers<Real>(rows * units, 0.7);
  const auto run = [&](LstmLayer<Real>& layer, bool keep) {
    const std::size_t stride = layer.stride();
    std::vector<Real> h(rows * stride), h_bar(rows * stride), all,
        x_bar(rows * padded(n_in, pack_width<Real>)), gradient(layer.n_parameters());
    layer.refresh(parameters.data());
    layer.forward({x.data(), n_in}, few_steps, windows, h.data(), keep);
    for (std::size_t row = 0; row < rows; ++row) {
      all.insert(all.end(), &h[row * stride], &h[row * stride] + units);
      std::copy_n(&bar[row * units], units, &h_bar[row * stride]);
      for (std::size_t i = units; i < stride; ++i) EXPECT_EQ(h[row * stride + i], 0);
    }
    if (!keep) return all;
    layer.backward({x.data(), n_in}, few_steps, windows, h.data(), h_bar.data(), x_bar.data(),
                   gradient.data());
    all.insert(all.end(), x_bar.begin(), x_bar.end());
    all.insert(all.end(), gradient.begin(), gradient.end());
    return all;
  };
  for (const bool keep : {false, true})
    EXPECT_EQ(run(narrow, keep), run(wide, keep)) << n_in << " " << units << " " << windows;
}

TEST(LstmLayer, narrow_layers_are_wide_ones) {
  for (const int units : {1, 3, 4, 5, 8, 9, 17})
    for (const auto& [n_in, windows] : {std::pair{5, 1}, {80, 7}, {21, 32}, {3, 45}}) {
      narrow_layers_are_wide_ones<float>(n_in, units, windows);
      narrow_layers_are_wide_ones<double>(n_in, units, windows);
    }
}

/// Gradients of many windows are the sums of those of each alone, wherever strips of rows and steps end: the
/// sums are the same in another order. A window's dL/dx is the same to the bit.
template <class Real>
void gradients_are_sums_over_windows(int n_in, int units, int windows, int few_steps, double tolerance) {
  constexpr int w = pack_width<Real>;
  LstmLayer<Real> layer(n_in, units);
  layer.refresh(numbers<Real>(layer.n_parameters(), 0.3, 0.5).data());
  const int stride = layer.stride(), row_in = padded(n_in, w);
  const auto rows_of = [&](const std::vector<Real>& all, int width, int b) {
    std::vector<Real> own;
    for (int t = 0; t < few_steps; ++t)
      own.insert(own.end(), all.data() + (t * windows + b) * width,
                 all.data() + (t * windows + b + 1) * width);
    return own;
  };
  const auto x = numbers<Real>(std::size_t(few_steps) * windows * n_in, 1.0);
  auto h_bar = numbers<Real>(std::size_t(few_steps) * windows * stride, 0.7);
  for (std::size_t i = 0; i < h_bar.size(); ++i)
    if (static_cast<int>(i % stride) >= units) h_bar[i] = 0;
  const auto run = [&](int n, const std::vector<Real>& in, const std::vector<Real>& bar,
                       std::vector<Real>& x_bar, std::vector<Real>& gradient) {
    std::vector<Real> h(std::size_t(few_steps) * n * stride);
    x_bar.resize(std::size_t(few_steps) * n * row_in);
    layer.forward({in.data(), n_in}, few_steps, n, h.data(), true);
    layer.backward({in.data(), n_in}, few_steps, n, h.data(), bar.data(), x_bar.data(), gradient.data());
  };
  std::vector<Real> together(layer.n_parameters()), alone(layer.n_parameters()), x_bar, own_x_bar;
  run(windows, x, h_bar, x_bar, together);
  for (int b = 0; b < windows; ++b) {
    run(1, rows_of(x, n_in, b), rows_of(h_bar, stride, b), own_x_bar, alone);
    ASSERT_EQ(rows_of(x_bar, row_in, b), own_x_bar) << windows << ", " << b;
  }
  double size = 0;
  for (const Real g : alone) size = std::max(size, std::abs(static_cast<double>(g)));
  for (std::size_t i = 0; i < alone.size(); ++i)
    ASSERT_NEAR(together[i], alone[i], tolerance * size) << windows << ", " << units << ", " << i;
}

TEST(LstmLayer, gradients_are_sums_over_windows) {
  for (const auto& [windows, few_steps] : {std::pair{1, 150}, {7, 20}, {32, 9}, {65, 2}, {129, 1}, {150, 2}})
    for (const auto& [n_in, units] : {std::pair{5, 16}, {3, 13}, {20, 5}}) {
      gradients_are_sums_over_windows<double>(n_in, units, windows, few_steps, 1e-13);
      gradients_are_sums_over_windows<float>(n_in, units, windows, few_steps, 1e-4);
    }
}

}  // namespace
}  // namespace quintet::sequence
