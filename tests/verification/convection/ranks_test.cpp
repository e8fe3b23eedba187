#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "physics/convection/centred.hpp"
#include "physics/convection/slab_needs.hpp"
#include "physics/convection/spectra.hpp"
#include "tests/support/convection_cases.hpp"

using namespace quintet;
using namespace quintet::convection;
using namespace quintet::convection::testing;

TEST(Ranks, give_the_flow_of_one_to_round_off) {
  for (const Problem& problem : all_walls()) {
    if (problem.bottom != problem.top) continue;
    Start start;
    start.roll = 0.1;
    start.noise = 1e-2;
    const auto run = [&](const Comm& comm) {
      Boussinesq flow = make_flow(problem, make_grid(comm, problem, 1.5, 20, 14), start, 3);
      std::vector<double> warm, cold;
      for (int i = 0; i < (problem.heated == Heated::plates ? 20 : 14); ++i)
        warm.push_back(0.3 * std::sin(0.9 * i)), cold.push_back(0.2 * std::cos(0.8 * i));
      std::vector<double> heat;
      for (int i = 0; i < (problem.heated == Heated::plates ? 14 : 20); ++i)
        heat.push_back(0.4 + 0.5 * std::sin(0.7 * i));
      if (problem.sides == Sides::periodic) heat.clear();
      flow.set_walls({warm, cold, heat, heat});
      advance_to(flow, 2, 0.05);
      return flow;
    };
    Boussinesq alone = run(Comm::self()), together = run(Comm::world());
    const Grid& grid = together.grid();
    for (Field BoussinesqState::*field :
         {&BoussinesqState::u, &BoussinesqState::w, &BoussinesqState::b, &BoussinesqState::p})
      for (int j = 0; j < grid.rows_here(); ++j)
        for (int i = 0; i < grid.x.n(); ++i)
          ASSERT_NEAR((together.state(0).*field).row(j)[i],
                      (alone.state(0).*field).row(grid.first_row() + j)[i], 1e-13);
    const Sample one = sample(Exec(), alone, 0), many = sample(Exec(), together, 0);
    for (double Sample::*number : {&Sample::nusselt_volume, &Sample::nusselt_warm, &Sample::nusselt_cold,
                                   &Sample::dissipation, &Sample::thermal_dissipation, &Sample::profile_heat,
                                   &Sample::warm_excess, &Sample::u_max, &Sample::b_min})
      EXPECT_NEAR(one.*number, many.*number, 1e-12);
    const Centred of_one = centred(Exec(), alone, 0), of_many = centred(Exec(), together, 0);
    const auto w = gathered(grid, of_many.w), p = gathered(grid, of_many.p);
    for (std::size_t i = 0; i < w.size(); ++i) {
      ASSERT_NEAR(w[i], of_one.w[i], 1e-12);
      ASSERT_NEAR(p[i], of_one.p[i], 1e-12);
    }
    const Spectra spectra_of_one = spectra(Exec(), alone, 0), spectra_of_many = spectra(Exec(), together, 0);
    for (std::size_t m = 0; m < spectra_of_one.wavenumber.size(); ++m)
      EXPECT_NEAR(spectra_of_one.kinetic_volume[m], spectra_of_many.kinetic_volume[m], 1e-13);
  }
}

TEST(Ranks, send_what_a_plan_says) {
  Problem problem;
  Start start;
  start.noise = 1e-2;
  const Comm comm = Comm::world();
  Boussinesq flow = make_flow(problem, make_grid(comm, problem, 2, 24, 15), start);
  flow.advance(Exec(), 1e-3);
  comm.reset_counters();

  flow.advance(Exec(), 1e-3);  // as long as the one before: nothing is factorised anew
  static_cast<void>(flow.courant_rate(Exec()));

  const SlabNeeds needs = slab_needs(24, 15, 1, comm.size());
  const auto total = [&](Comm::Call call, auto number) {
    return static_cast<double>(comm.maximum(static_cast<long>(comm.counter(call).*number)));
  };
  const double messages = total(Comm::Call::point_to_point, &Comm::Counter::messages),
               bytes = total(Comm::Call::point_to_point, &Comm::Counter::bytes);
  const double sums = static_cast<double>(comm.counter(Comm::Call::reduce).messages) - 2;  // those of `total`
  EXPECT_EQ(messages, needs.messages);
  EXPECT_EQ(bytes, needs.bytes_sent);
  EXPECT_EQ(sums, needs.sums);
  EXPECT_EQ(needs.cells, 24 * ((15 + comm.size() - 1) / comm.size()));
}

TEST(Spectra, add_up_to_the_energy) {
  Problem problem;
  Start start;
  start.roll = 0.1;
  Boussinesq flow = make_flow(problem, make_grid(Comm::world(), problem, 2, 16, 12), start);
  advance_to(flow, 3, 0.05);
  const Spectra power = spectra(Exec(), flow, 0);
  double kinetic = 0, buoyancy = 0;
  for (std::size_t m = 0; m < power.wavenumber.size(); ++m)
    kinetic += power.kinetic_volume[m], buoyancy += power.buoyancy_volume[m];
  const Sample now = sample(Exec(), flow, 0);
  EXPECT_NEAR(kinetic, now.kinetic_energy, 1e-14);
  EXPECT_NEAR(buoyancy, now.buoyancy_variance, 1e-14);
}

TEST(CentredFields, are_of_fourth_order_on_equal_cells) {
  const auto error = [](int n) {
    Problem problem;
    const Grid grid = make_grid(Comm::world(), problem, 2, 2 * n, n, 0);
    Boussinesq flow(problem, grid, make_transform_solver(problem, grid), 1);
    const auto u = [](double x, double z) { return std::sin(M_PI * x) * std::cos(M_PI * z); };
    for (int j = 0; j < grid.rows_here(); ++j)
      for (int i = 0; i < grid.x.n(); ++i)
        flow.state(0).u.row(j)[i] = u(grid.x.faces[i], grid.z.centres[grid.first_row() + j]);
    flow.resume(0, 0);
    const Centred fields = centred(Exec(), flow, 0);
    double most = 0;
    for (int j = 0; j < grid.rows_here(); ++j)
      for (int i = 0; i < grid.x.n(); ++i)
        most = std::max(most, std::abs(fields.u[std::int64_t{j} * grid.x.n() + i] -
                                       u(grid.x.centres[i], grid.z.centres[grid.first_row() + j])));
    return grid.comm().maximum(most);
  };
  EXPECT_NEAR(std::log2(error(16) / error(32)), 4, 0.2);
}
