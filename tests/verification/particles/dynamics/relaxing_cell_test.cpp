#include "physics/particles/dynamics/relaxing_cell.hpp"

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/atoms/units.hpp"
#include "physics/particles/dynamics/flexible_cell.hpp"
#include "physics/particles/dynamics/integrators.hpp"
#include "tests/unit/particles/dynamics/simulation.hpp"

using namespace quintet;

namespace {

/// Options that relax the cell as far as double precision lets it.
IntegratorOptions to_rest(const RelaxingCellOptions& cell) {
  IntegratorOptions options{.ensemble = Ensemble::minimise};
  options.minimiser.force_tolerance = 1e-7;
  options.minimiser.cell = cell;
  return options;
}

RelaxingCellOptions cell_options(double pressure = 0, CellCoupling coupling = CellCoupling::triclinic) {
  RelaxingCellOptions cell;
  cell.pressure = pressure;
  cell.coupling = coupling;
  cell.stress_tolerance = 1e-3;
  return cell;
}

/// Argon whose cell and atoms are deformed; `shake` (angstrom) moves atoms off their places.
Configuration deformed_argon(const Mat3& deformation, double shake = 0, int n = 3) {
  Configuration c = argon(n, 5.3, shake);
  const Box box = c.box.deformed(deformation);
  for (auto& x : c.positions) x = box.to_cartesian(c.box.to_fractional(x));
  c.box = box;
  return c;
}

constexpr Mat3 skewed{1.02, 0.03, -0.01, 0.01, 0.97, 0.02, -0.02, 0.01, 1.01};

/// Energy + pressure * volume (eV).
double enthalpy(const ParticleSystem& system, double pressure) {
  return system.total.energy + pressure / units::ev_per_a3_to_bar * system.atoms.box.volume();
}

/// xx yy zz xy xz yz (bar) of atoms at rest.
SymmetricTensor pressure(const ParticleSystem& system) {
  auto p = pressure_tensor({}, system.total.virial, system.atoms.box.volume());
  for (double& component : p) component *= units::ev_per_a3_to_bar;
  return p;
}

/// A system that has come to rest, and how many steps it took.
struct Relaxed {
  Relaxed(const Comm& comm, const Configuration& start, const IntegratorOptions& options, int most = 3000)
      : s(comm, start, argon_forces(), 2) {
    s.system.update_forces(s.exec);
    auto fire = make_integrator(options, {0.01, 0}, 1, s.system);
    for (; steps < most && !fire->finished(); ++steps) fire->step(s.exec, s.system, steps);
    finished = fire->finished();
  }
  Simulation s;
  int steps = 0;
  bool finished = false;
};

double length_of_row(const Box& box, int k) {
  const Mat3& r = box.rows();
  return std::hypot(r[3 * k], r[3 * k + 1], r[3 * k + 2]);
}

/// Lattice constant at which the pressure of the perfect crystal is `wanted` (bar), by bisection.
double lattice_constant(double wanted) {
  double low = 4.9, high = 5.6;
  for (int i = 0; i < 40; ++i) {
    const double middle = 0.5 * (low + high);
    Simulation s(Comm::world(), argon(3, middle), argon_forces());
    s.system.update_forces(s.exec);
    (pressure(s.system)[0] > wanted ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace

TEST(RelaxingCell, finds_the_crystal_from_a_skewed_cell_of_shaken_atoms) {
  const Relaxed r(Comm::world(), deformed_argon(skewed, 0.1), to_rest(cell_options()));

  ASSERT_TRUE(r.finished);
  EXPECT_LT(r.steps, 1500);
  const double lattice = lattice_constant(0);
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(length_of_row(r.s.atoms.box, k) / 3, lattice, 1e-6 * lattice);
    EXPECT_NEAR(squareness(r.s.atoms.box), 1, 1e-8);
  }
  for (const double component : pressure(r.s.system)) EXPECT_NEAR(component, 0, 1.001e-3);
  EXPECT_EQ(total_kinetic_energy(r.s.exec, r.s.system), 0);
}

TEST(RelaxingCell, comes_to_a_pressure_by_less_enthalpy) {
  for (const double wanted : {2000.0, -300.0}) {
    Simulation before(Comm::world(), deformed_argon(skewed, 0.1), argon_forces());
    before.system.update_forces(before.exec);
    const Relaxed r(Comm::world(), deformed_argon(skewed, 0.1), to_rest(cell_options(wanted)));

    ASSERT_TRUE(r.finished) << wanted;
    EXPECT_LT(enthalpy(r.s.system, wanted), enthalpy(before.system, wanted) - 0.01);
    const double lattice = lattice_constant(wanted);
    EXPECT_NEAR(std::cbrt(r.s.atoms.box.volume()) / 3, lattice, 1e-6 * lattice);
    const auto p = pressure(r.s.system);
    for (int c = 0; c < 6; ++c) EXPECT_NEAR(p[c], c < 3 ? wanted : 0, 1.001e-3) << c;
  }
}

TEST(RelaxingCell, is_driven_by_the_derivative_of_the_enthalpy) {
  // dH/de along the force S itself: -S:S, and S:S/L^2 is what products() counts.
  constexpr double wanted = 1500;
  const auto start = deformed_argon(skewed, 0.1);
  const auto at = [&](const SymmetricTensor& e, double h) {
    Mat3 d{1 + h * e[0], h * e[3], h * e[4], h * e[3],    1 + h * e[1],
           h * e[5],     h * e[4], h * e[5], 1 + h * e[2]};
    auto c = start;
    c.box = start.box.deformed(d);
    for (std::size_t i = 0; i < c.n_atoms(); ++i)
      c.positions[i] = c.box.to_cartesian(start.box.to_fractional(start.positions[i]));
    Simulation s(Comm::world(), c, argon_forces());
    s.system.update_forces(s.exec);
    return enthalpy(s.system, wanted);
  };
  Simulation s(Comm::world(), start, argon_forces());
  s.system.update_forces(s.exec);
  const double volume = s.atoms.box.volume(), n = 108, square = n * std::pow(volume / n, 2.0 / 3);
  auto direction = pressure(s.system);
  for (int c = 0; c < 6; ++c)
    direction[c] = (direction[c] - (c < 3 ? wanted : 0)) * volume / units::ev_per_a3_to_bar;
  SymmetricTensor target{};
  for (int k = 0; k < 3; ++k) target[k] = wanted / units::ev_per_a3_to_bar;
  RelaxingCell cell({{CellCoupling::triclinic}, target, 1});
  cell.begin(s.exec, s.system);

  const double slope = (at(direction, 1e-6) - at(direction, -1e-6)) / 2e-6;

  const double force = cell.products(s.system)[2] * square;
  EXPECT_NEAR(-slope, force, 1e-6 * force);
}

TEST(RelaxingCell, of_an_isotropic_coupling_keeps_its_shape_and_of_axes_the_others) {
  const Box start = deformed_argon(skewed).box;
  const Relaxed isotropic(Comm::world(), deformed_argon(skewed),
                          to_rest(cell_options(0, CellCoupling::isotropic)));
  ASSERT_TRUE(isotropic.finished);
  const double scale = isotropic.s.atoms.box.rows()[0] / start.rows()[0];
  for (int k = 0; k < 9; ++k) EXPECT_NEAR(isotropic.s.atoms.box.rows()[k], scale * start.rows()[k], 1e-10);
  const auto p = pressure(isotropic.s.system);
  EXPECT_NEAR(p[0] + p[1] + p[2], 0, 3.01e-3);
  EXPECT_GT(std::abs(p[0]), 100);

  auto x_alone = cell_options(0, CellCoupling::anisotropic);
  x_alone.axes = {"x"};
  const Relaxed along(Comm::world(), argon(3, 5.2), to_rest(x_alone));
  ASSERT_TRUE(along.finished);
  EXPECT_EQ(along.s.atoms.box.rows()[4], 3 * 5.2);
  EXPECT_EQ(along.s.atoms.box.rows()[8], 3 * 5.2);
  EXPECT_GT(along.s.atoms.box.rows()[0], 15.61);
  EXPECT_NEAR(pressure(along.s.system)[0], 0, 1.001e-3);
  EXPECT_GT(std::abs(pressure(along.s.system)[1]), 10);
}

TEST(RelaxingCell, comes_to_a_tensor_of_pressure) {
  auto options = cell_options();
  options.pressure_tensor = {300, -100, 200, 50, -80, 20};
  const Relaxed r(Comm::world(), argon(3), to_rest(options));

  ASSERT_TRUE(r.finished);
  const auto p = pressure(r.s.system);
  for (int c = 0; c < 6; ++c) EXPECT_NEAR(p[c], options.pressure_tensor[c], 1.001e-3) << c;
}

TEST(RelaxingCell, turns_with_the_start) {
  const double c = std::cos(0.7), s = std::sin(0.7), d = std::cos(0.4), e = std::sin(0.4);
  const Mat3 turn = product(Mat3{c, s, 0, -s, c, 0, 0, 0, 1}, Mat3{1, 0, 0, 0, d, e, 0, -e, d});
  auto options = to_rest(cell_options(500));
  options.minimiser.force_tolerance = 1e-5;
  options.minimiser.cell->stress_tolerance = 0.1;

  const Relaxed straight(Comm::world(), deformed_argon(skewed, 0.1), options),
      turned(Comm::world(), deformed_argon(product(skewed, turn), 0.1), options);

  ASSERT_TRUE(straight.finished && turned.finished);
  EXPECT_NEAR(straight.s.system.total.energy, turned.s.system.total.energy, 1e-8);
  const Mat3 expected = product(straight.s.atoms.box.rows(), turn);
  for (int k = 0; k < 9; ++k) EXPECT_NEAR(turned.s.atoms.box.rows()[k], expected[k], 1e-4) << k;
}

TEST(RelaxingCell, is_the_same_on_any_number_of_ranks) {
  auto options = to_rest(cell_options(500));
  const Relaxed together(Comm::world(), deformed_argon(skewed, 0.1), options, 60),
      alone(Comm::self(), deformed_argon(skewed, 0.1), options, 60);

  EXPECT_EQ(together.steps, 60);
  for (int k = 0; k < 9; ++k)
    EXPECT_NEAR(together.s.atoms.box.rows()[k], alone.s.atoms.box.rows()[k], 1e-9) << k;
  EXPECT_NEAR(together.s.system.total.energy, alone.s.system.total.energy, 1e-9);
}

TEST(RelaxingCell, takes_as_many_steps_however_many_atoms_there_are) {
  const auto options = to_rest(cell_options());
  const Relaxed few(Comm::world(), deformed_argon(skewed, 0, 3), options),
      many(Comm::world(), deformed_argon(skewed, 0, 5), options);

  ASSERT_TRUE(few.finished && many.finished);
  EXPECT_NEAR(few.steps, many.steps, 0.1 * few.steps);
}

TEST(RelaxingCell, refuses_what_has_no_rest) {
  const Relaxed held(Comm::world(), argon(3), to_rest(cell_options(-400)));
  EXPECT_TRUE(held.finished);
  EXPECT_THROW(Relaxed(Comm::world(), argon(3), to_rest(cell_options(-4000))), NumericalError);
}

TEST(RelaxingCell, refuses_frozen_atoms_and_open_directions) {
  Simulation s(Comm::world(), argon(2), argon_forces());
  s.system.frozen = FrozenAtoms({1});
  EXPECT_THROW((void)make_integrator(to_rest(cell_options()), {0.01, 0}, 1, s.system), InputError);
  Simulation open(Comm::world(), gas(9, 30, false), std::make_unique<NoForces>());
  EXPECT_THROW((void)make_integrator(to_rest(cell_options()), {0.01, 0}, 1, open.system), InputError);
  auto options = to_rest(cell_options());
  Simulation slab(Comm::world(), argon(2), argon_forces());
  slab.atoms.box = Box(slab.atoms.box.rows(), {true, true, false});
  EXPECT_THROW((void)make_integrator(options, {0.01, 0}, 1, slab.system), InputError);
  options.minimiser.cell->axes = {"x", "y"};
  EXPECT_NO_THROW((void)make_integrator(options, {0.01, 0}, 1, slab.system));
}

TEST(RelaxingCell, refuses_axes_and_tensors_that_are_none) {
  const auto problem = [](const RelaxingCellOptions& cell) { return problem_of(to_rest(cell)).has_value(); };
  EXPECT_FALSE(problem(cell_options()));
  auto cell = cell_options();
  cell.axes = {"x", "w"};
  EXPECT_TRUE(problem(cell));
  cell.axes = {"x", "x"};
  EXPECT_TRUE(problem(cell));
  cell = cell_options();
  cell.pressure_tensor = {1, 1, 1};
  EXPECT_TRUE(problem(cell));
  cell.coupling = CellCoupling::anisotropic;
  EXPECT_FALSE(problem(cell));
  cell.coupling = CellCoupling::isotropic;
  EXPECT_TRUE(problem(cell));
}
