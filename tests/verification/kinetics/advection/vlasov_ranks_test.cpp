#include <gtest/gtest.h>

#include <cmath>

#include "io/parallel/comm.hpp"
#include "physics/kinetics/advection/exterior.hpp"

/// The operator on shares of phase space against the same on one rank that holds all.
namespace quintet::kinetics {
namespace {

struct Setting {
  int cdim, vdim;
  std::array<int, 6> ranks;
  bool walls;
};

/// A smooth-less function of the global cell and mode.
double noise(const std::array<int, 6>& cell, int mode) {
  double phase = 1.7 * mode;
  for (std::size_t d = 0; d < 6; ++d) phase += (2.3 + 1.1 * d) * cell[d];
  return std::sin(phase) + (mode == 0 ? 2 : 0);
}

std::array<int, 6> global_cell(const PhaseBlock& block, int conf, int row, int last) {
  std::array<int, 6> cell{};
  const int cdim = block.grid.cdim, dim = block.grid.dim();
  const auto x = block.conf_index(conf), v = block.row_index(row);
  for (int d = 0; d < dim; ++d) {
    const std::size_t i = d;
    cell[i] = block.begin[i] + (d < cdim ? x[i] : d + 1 < dim ? v[d - cdim] : last);
  }
  return cell;
}

Species make_species(const Setting& s) {
  Species species;
  species.grid.cdim = s.cdim;
  species.grid.vdim = s.vdim;
  for (int d = 0; d < s.cdim + s.vdim; ++d) {
    const std::size_t i = d;
    species.grid.lower[i] = d < s.cdim ? 0 : -3;
    species.grid.upper[i] = 3;
    species.grid.cells[i] = d + 1 == s.cdim + s.vdim ? 21 : 5 - d;
    species.grid.periodic[i] = d < s.cdim && !(s.walls && d == 0);
    if (d < s.cdim)
      species.boundary[i] = s.walls && d == 0 ? std::array{Boundary::reflecting, Boundary::open}
                                              : std::array{Boundary::periodic, Boundary::periodic};
  }
  return species;
}

/// One stage on `comm`; f holds the result, by global cell.
struct Result {
  PhaseBlock block;
  Distribution out;
  ConfField moments;
};
Result advance(const Comm& comm, const Setting& s, const std::array<int, 6>& ranks) {
  const PhaseBasis basis(s.cdim, s.vdim, 2, Family::serendipity);
  const auto species = make_species(s);
  const Decomposition decomposition(comm, species.grid, ranks);
  const auto block = decomposition.block(species.grid);
  Distribution f("f", block, basis.size()), out("out", block, basis.size());
  const std::size_t n_conf = block.n_conf();
  const std::size_t n_modes = basis.conf().size();
  ConfField acceleration("a", n_conf, 6, n_modes),
      moments("m", n_conf, static_cast<std::size_t>(1 + s.vdim), n_modes);
  for (int conf = 0; conf < block.n_conf(); ++conf) {
    for (int row = 0; row < block.n_rows(); ++row)
      for (int j = 0; j < block.n_last(); ++j)
        for (int m = 0; m < basis.size(); ++m)
          f.at(conf, row, j, m) = noise(global_cell(block, conf, row, j), m);
    auto x = global_cell(block, conf, 0, 0);
    for (int d = s.cdim; d < 6; ++d) x[d] = 0;
    for (int c = 0; c < 6; ++c)
      for (std::size_t m = 0; m < n_modes; ++m)
        acceleration(conf, c, m) = 0.8 * noise(x, 10 * c + static_cast<int>(m) + 1);
  }
  const auto vlasov = VlasovOperator::make(basis, block, Flux::upwind, open_edges(decomposition, species));
  Exterior exterior(decomposition, basis, species, *vlasov);
  const Stage stage{.keep = 0.75, .advance = 0.25, .dt = 0.02};

  comm.reset_counters();
  exterior.start(Exec(), f);
  vlasov->apply(Exec(), stage, f, f, acceleration, out, moments);
  vlasov->add_exterior(Exec(), stage, exterior.finish(Exec()), acceleration, out, moments);

  EXPECT_EQ(comm.counter(Comm::Call::point_to_point).bytes,
            static_cast<std::int64_t>(8 * exterior.doubles_sent()));
  decomposition.velocity_comm().reduce(std::span<double>(moments.data(), moments.size()),
                                       Comm::Reduction::sum);
  return {block, out, moments};
}

void compare(const Setting& s) {
  const auto whole = advance(Comm::self(), s, {});
  const auto part = advance(Comm::world(), s, s.ranks);

  const int n_modes = whole.out.n_modes;
  double error = 0;
  for (int conf = 0; conf < part.block.n_conf(); ++conf) {
    std::array<int, 3> x{};
    const auto local = part.block.conf_index(conf);
    for (std::size_t d = 0; d < static_cast<std::size_t>(s.cdim); ++d) x[d] = part.block.begin[d] + local[d];
    const int conf_whole = whole.block.conf_number(x);
    for (int row = 0; row < part.block.n_rows(); ++row)
      for (int j = 0; j < part.block.n_last(); ++j) {
        const auto cell = global_cell(part.block, conf, row, j);
        std::array<int, 3> v{};
        for (int d = 0; d + 1 < s.vdim; ++d) v[d] = cell[s.cdim + d];
        for (int m = 0; m < n_modes; ++m)
          error = std::max(error, std::abs(part.out.at(conf, row, j, m) -
                                           whole.out.at(conf_whole, whole.block.row_number(v),
                                                        cell[s.cdim + s.vdim - 1], m)));
      }
    for (std::size_t c = 0; c < part.moments.extent(1); ++c)
      for (std::size_t m = 0; m < part.moments.extent(2); ++m)
        EXPECT_NEAR(part.moments(conf, c, m), whole.moments(conf_whole, c, m), 1e-11);
  }
  EXPECT_LT(error, 1e-13);
}

/// All ways to give n ranks to the directions.
std::vector<std::array<int, 6>> splits(int dim, int n) {
  std::vector<std::array<int, 6>> result;
  for (int d = 0; d < dim; ++d) {
    std::array<int, 6> ranks{1, 1, 1, 1, 1, 1};
    ranks[d] = n;
    result.push_back(ranks);
    if (n == 4 && d + 1 < dim) {
      ranks[d] = ranks[d + 1] = 2;
      result.push_back(ranks);
    }
  }
  return result;
}

TEST(VlasovRanks, every_split_of_phase_space_gives_the_same) {
  const int n = Comm::world().size();
  for (const auto& [cdim, vdim] : {std::pair{1, 1}, {1, 2}, {2, 2}, {1, 3}, {2, 3}})
    for (const auto& ranks : splits(cdim + vdim, n)) {
      const auto grid = make_species({cdim, vdim, {}, false}).grid;
      bool fits = true;
      for (std::size_t d = 0; d < 6; ++d) fits = fits && ranks[d] <= grid.cells[d];
      if (fits) compare({cdim, vdim, ranks, false});
    }
}

TEST(VlasovRanks, walls_are_the_same_on_any_ranks) {
  const int n = Comm::world().size();
  compare({1, 1, {n, 1}, true});
  compare({1, 2, {n, 1, 1}, true});
  if (n <= 3) compare({1, 2, {1, 1, n}, true});
  if (n <= 4) compare({2, 2, {1, n, 1, 1}, true});
}

}  // namespace
}  // namespace quintet::kinetics
