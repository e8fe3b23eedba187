#include <gtest/gtest.h>

#include <cmath>

#include "vlasov_operator_case.hpp"

/// What the operator conserves, and what moments it sums on the way.
namespace quintet::kinetics {
namespace {

/// f vanishes in the outermost velocity cells, so that nothing happens at the ends of velocity space.
void empty_velocity_edges(OperatorCase& c) {
  const int vdim = c.basis.vdim();
  for (int row = 0; row < c.block.n_rows(); ++row) {
    bool edge = false;
    const auto index = c.block.row_index(row);
    for (int d = 0; d + 1 < vdim; ++d) {
      const std::size_t i = d;
      const int n = c.block.extent[c.basis.cdim() + d];
      edge = edge || index[i] == 0 || index[i] == n - 1;
    }
    for (int conf = 0; conf < c.block.n_conf(); ++conf)
      for (int j = 0; j < c.block.n_last(); ++j)
        if (edge || j == 0 || j == c.block.n_last() - 1)
          for (int m = 0; m < c.basis.size(); ++m) c.f.at(conf, row, j, m) = 0;
  }
}

/// sum over cells of g f and its greatest term: int f R(f) up to a factor.
std::pair<double, double> inner_product(const Distribution& f, const Distribution& g) {
  double sum = 0, scale = 0;
  for (std::size_t i = 0; i < f.data.size(); ++i) {
    sum += f.data(i) * g.data(i);
    scale += std::abs(f.data(i) * g.data(i));
  }
  return {sum, scale};
}

Distribution rate(const OperatorCase& c, Flux flux) {
  Distribution out("rate", c.block, c.basis.size());
  VlasovOperator::make(c.basis, c.block, flux, {})
      ->apply(Exec(), {.keep = -1, .advance = 1, .dt = 1}, c.f, c.f, c.acceleration, out, {});
  return out;
}

const std::vector<std::tuple<int, int, int, Family>> bases{
    {1, 1, 2, Family::serendipity}, {1, 2, 1, Family::hybrid},      {1, 2, 3, Family::tensor},
    {2, 2, 2, Family::serendipity}, {1, 3, 2, Family::serendipity}, {2, 3, 2, Family::tensor},
    {3, 3, 1, Family::serendipity}};

std::vector<int> cells(int cdim, int vdim) {
  std::vector<int> n(cdim, 2);
  n.insert(n.end(), static_cast<std::size_t>(vdim - 1), vdim == 3 ? 3 : 5);
  n.push_back(11);
  return n;
}

TEST(VlasovOperator, particles_are_conserved) {
  for (const auto& [cdim, vdim, order, family] : bases)
    for (const auto flux : {Flux::upwind, Flux::lax_friedrichs, Flux::central}) {
      const auto c = make_operator_case(cdim, vdim, order, family, false, cells(cdim, vdim));

      const auto df = rate(c, flux);

      double sum = 0, scale = 0;
      for (int conf = 0; conf < c.block.n_conf(); ++conf)
        for (int row = 0; row < c.block.n_rows(); ++row)
          for (int j = 0; j < c.block.n_last(); ++j) {
            sum += df.at(conf, row, j, 0);
            scale += std::abs(df.at(conf, row, j, 0));
          }
      EXPECT_GT(scale, 1);
      EXPECT_LT(std::abs(sum), 1e-14 * scale);
    }
}

TEST(VlasovOperator, central_flux_keeps_the_square_of_f_and_upwinding_lowers_it) {
  for (const auto& [cdim, vdim, order, family] : bases) {
    auto c = make_operator_case(cdim, vdim, order, family, false, cells(cdim, vdim));
    empty_velocity_edges(c);

    const auto [central, scale] = inner_product(c.f, rate(c, Flux::central));
    const auto [upwind, scale_u] = inner_product(c.f, rate(c, Flux::upwind));
    const auto [lax, scale_l] = inner_product(c.f, rate(c, Flux::lax_friedrichs));

    EXPECT_LT(std::abs(central), 1e-13 * scale);
    EXPECT_LT(upwind, -1e-3 * scale_u);
    EXPECT_LT(lax, upwind);
  }
}

TEST(VlasovOperator, moments_summed_on_the_way_are_those_of_the_result) {
  for (const auto& [cdim, vdim, order, family] : bases) {
    const auto c = make_operator_case(cdim, vdim, order, family, false, cells(cdim, vdim));
    const auto vlasov = VlasovOperator::make(c.basis, c.block, Flux::upwind, {});
    Distribution out("out", c.block, c.basis.size());
    ConfField fused("fused", c.acceleration.extent(0), static_cast<std::size_t>(1 + vdim),
                    c.acceleration.extent(2));
    ConfField afresh("afresh", c.acceleration.extent(0), static_cast<std::size_t>(1 + vdim),
                     c.acceleration.extent(2));

    vlasov->apply(Exec(), {.keep = 0.75, .advance = 0.25, .dt = 0.01}, c.f, c.f, c.acceleration, out, fused);
    vlasov->sum_moments(Exec(), out, afresh);

    double greatest = 0;
    for (std::size_t i = 0; i < fused.size(); ++i) greatest = std::max(greatest, std::abs(afresh.data()[i]));
    EXPECT_GT(greatest, 1);
    for (std::size_t i = 0; i < fused.size(); ++i)
      EXPECT_NEAR(fused.data()[i], afresh.data()[i], 1e-13 * greatest);
  }
}

TEST(VlasovOperator, cells_that_pad_a_pack_stay_zero) {
  const auto c = make_operator_case(1, 2, 2, Family::serendipity, false);
  const auto df = rate(c, Flux::upwind);

  for (int conf = 0; conf < c.block.n_conf(); ++conf)
    for (int row = 0; row < c.block.n_rows(); ++row)
      for (int j = c.block.n_last(); j < c.block.n_packs() * PhaseBlock::lanes; ++j)
        for (int m = 0; m < c.basis.size(); ++m) EXPECT_EQ(df.at(conf, row, j, m), 0);
}

}  // namespace
}  // namespace quintet::kinetics
