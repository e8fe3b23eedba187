#include "tests/unit/networks/chain_cases.hpp"

#include <numeric>

#include <gtest/gtest.h>

namespace quintet::networks {
namespace {

/// The fitting case: 6 inputs tied to 4, then 6 -> 16 -> 16 -> sum, time steps and skips in layers 1 and 3.
TEST(description, costs_are_those_counted_by_hand) {
  const auto of = cases()[1];
  const auto d = of.chain<double>().describe(Keep::adjoint);
  ASSERT_EQ(d.blocks.size(), 4u);
  EXPECT_EQ(d.input, "x");
  EXPECT_EQ(d.n_in, 4);
  const auto &a = d.blocks[0], &b = d.blocks[1], &c = d.blocks[2], &e = d.blocks[3];
  EXPECT_EQ(a.inputs, (std::vector<std::string>{"x", "x"}));
  EXPECT_EQ(b.inputs, (std::vector<std::string>{"a"}));
  EXPECT_EQ(a.kind, "dense tanh");
  EXPECT_EQ(e.kind, "sum");
  EXPECT_EQ(a.n_in, 4);
  EXPECT_EQ(a.n_weights_in, 6);
  EXPECT_EQ(a.parameters, 6u * 6 + 6 + 6);
  EXPECT_EQ(b.parameters, 6u * 16 + 16);
  EXPECT_EQ(c.parameters, 16u * 16 + 16 + 16);
  EXPECT_EQ(e.parameters, 16u + 1);
  // Product of 4 inputs; bias, activation, time step and skip of 6 outputs.
  EXPECT_EQ(a.forward_flops, 2 * 4 * 6 + 4 * 6);
  EXPECT_EQ(b.forward_flops, 2 * 6 * 16 + 3 * 16);
  EXPECT_EQ(e.forward_flops, 2 * 16 + 1);
  EXPECT_EQ(a.adjoint_flops, 2 * 4 * 6 + 3 * 6);  // slope, time step, skip
  EXPECT_EQ(e.adjoint_flops, 0);
  EXPECT_EQ(d.total().parameters, of.n_parameters);
  EXPECT_EQ(d.total().parameter_bytes, 8 * of.n_parameters);
  EXPECT_EQ(of.chain<float>().describe(Keep::adjoint).total().parameter_bytes, 4 * of.n_parameters);
}

/// What the description says is kept is what the tape holds after a pass.
template <class Real>
void expect_kept(const Case& of, Keep keep) {
  constexpr int n = 3;
  auto chain = of.chain<Real>();
  chain.refresh(std::vector<Real>(of.n_parameters, Real(0.1)).data());
  const Input<Real> x(of, n, 5);
  Tape<Real> tape;
  chain.forward(x.rows(), n, keep, tape);
  const auto description = chain.describe(keep);
  std::size_t kept = tape.sum.size() * sizeof(double);
  for (std::size_t l = 0; l < tape.layers.size(); ++l) {
    const auto& t = tape.layers[l];
    const std::size_t numbers = t.y.size() + t.phi.size() + t.slope.size() + t.curvature.size() + t.a.size() +
                                t.alpha.size() + t.z_dot.size() + t.y_dot.size() + t.y_bar.size() +
                                t.z_bar.size();
    EXPECT_EQ(numbers * sizeof(Real), n * description.blocks[l].kept_bytes) << of.name << " " << l;
    EXPECT_EQ(t.y.size() * sizeof(Real), n * description.blocks[l].output_bytes) << of.name << " " << l;
    kept += numbers * sizeof(Real);
  }
  EXPECT_EQ(kept, n * description.total().kept_bytes) << of.name;
}

TEST(description, bytes_kept_are_those_of_the_tape) {
  for (const auto& of : cases())
    for (const Keep keep : {Keep::adjoint, Keep::gradient, Keep::tangent}) {
      expect_kept<float>(of, keep);
      expect_kept<double>(of, keep);
    }
}

TEST(description, table_has_a_line_a_block_and_the_total) {
  const auto of = cases()[2];
  const auto text = of.chain<double>().describe(Keep::tangent).table();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 6 + 1);
  EXPECT_NE(text.find("dense softplus  b + a"), std::string::npos) << text;
  EXPECT_NE(text.find("9 x 20"), std::string::npos) << text;
  EXPECT_NE(text.find("total"), std::string::npos) << text;
}

}  // namespace
}  // namespace quintet::networks
