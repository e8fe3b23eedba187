#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kinetics/advection/exterior.hpp"
#include "physics/kinetics/device/resident_operator.hpp"
#include "physics/kinetics/device/vlasov_large_sweeps.hpp"
#include "physics/kinetics/moments/moments.hpp"
#include "tests/support/stretched_cells.hpp"
#include "tests/verification/kinetics/advection/vlasov_operator_case.hpp"
#include "tests/verification/kinetics/device/device_case.hpp"
#include "tests/verification/kinetics/device/device_factory.hpp"

/// The device's operator against VlasovOperator: stages, walls, moments, whole
/// steps, for every basis, flux and kind of edge, on equal and on stretched velocity cells.
namespace quintet::kinetics {
namespace {

double difference(const ConfField& a, const ConfField& b) {
  double value = 0, scale = 1e-300;
  for (std::size_t i = 0; i < a.size(); ++i) {
    value = std::max(value, std::abs(a.data()[i] - b.data()[i]));
    scale = std::max(scale, std::abs(a.data()[i]));
  }
  return value / scale;
}

struct Setting {
  Flux flux;
  Boundary boundary;
  bool stretched, magnetic;
  DeviceSweep sweep = DeviceSweep::automatic;
  bool emits = false;  ///< absorbing walls
};

/// Both operators on one case, each with three distributions.
struct Pair {
  OperatorCase c;
  Species species;
  Decomposition decomposition;
  std::unique_ptr<VlasovOperator> host;
  std::unique_ptr<ResidentOperator> device;
  std::vector<Exterior> host_exterior, device_exterior;
  std::vector<Distribution> here, there;
  ConfField host_moments, device_moments;

  Pair(const BasisRow& b, const Setting& s)
      : c(make_case(b, s)), species(make_species(c, s)), decomposition(Comm::self(), c.block.grid, {}) {
    const auto open = open_edges(decomposition, species);
    host = VlasovOperator::make(c.basis, c.block, s.flux, open);
    auto options = device_vlasov_options(c.basis, c.block, s.flux, open);
    options.sweep = s.sweep;
    device = std::make_unique<ResidentOperator>(c.block, s.flux, open, make_engine(options));
    host_exterior.emplace_back(decomposition, c.basis, species, *host);
    device_exterior.emplace_back(decomposition, c.basis, species, *device);
    for (int i = 0; i < 3; ++i) {
      here.emplace_back("f", c.block, c.basis.size());
      there.emplace_back("f", c.block, c.basis.size());
      device->hold(there[i]);
    }
    const int n = c.block.n_conf(), modes = c.basis.conf().size();
    host_moments = ConfField("moments", n, 1 + b.vdim, modes);
    device_moments = ConfField("moments", n, 1 + b.vdim, modes);
    Kokkos::deep_copy(here[0].data, c.f.data);
    Kokkos::deep_copy(there[0].data, c.f.data);
    // The second has other coefficients: the first's in reverse.
    for (int conf = 0; conf < c.block.n_conf(); ++conf)
      for (int row = 0; row < c.block.n_rows(); ++row)
        for (int j = 0; j < c.block.n_last(); ++j)
          for (int m = 0; m < c.basis.size(); ++m)
            here[1].at(conf, row, j, m) = there[1].at(conf, row, j, m) =
                c.f.at(conf, c.block.n_rows() - 1 - row, c.block.n_last() - 1 - j, m);
    host_exterior[0].hold(Exec(), here[0]);
    for (int i = 0; i < 2; ++i) device->upload(there[i]);
    device_exterior[0].hold(Exec(), there[0]);
  }

  static OperatorCase make_case(const BasisRow& b, const Setting& s) {
    // 5 x 11 or 3 x 2 x 11 velocity cells: more than 32, and no multiple of it.
    std::vector<int> cells{3};
    if (b.cdim > 1) cells.push_back(2);
    if (b.cdim > 2) cells.push_back(2);
    if (b.vdim == 3) cells.push_back(3);
    if (b.vdim >= 2) cells.push_back(b.vdim == 2 ? 5 : 2);
    cells.push_back(b.vdim == 1 ? 37 : 11);
    auto c = make_operator_case(b.cdim, b.vdim, b.order, b.family, false, cells);
    for (int d = 0; d < b.vdim; ++d) {
      const int v = b.cdim + d;
      if (s.boundary == Boundary::reflecting || s.emits) c.block.grid.lower[v] = -c.block.grid.upper[v];
      if (s.stretched) map_velocity(c.block.grid, d, 1.2 + 0.2 * d);
    }
    for (int i = 0; i < b.cdim; ++i) c.block.grid.periodic[i] = s.boundary == Boundary::periodic;
    c.f.block = c.block;
    if (!s.magnetic)
      for (std::size_t conf = 0; conf < c.acceleration.extent(0); ++conf)
        for (std::size_t k = 3; k < 6; ++k)
          for (std::size_t m = 0; m < c.acceleration.extent(2); ++m) c.acceleration(conf, k, m) = 0;
    return c;
  }
  static Species make_species(const OperatorCase& c, const Setting& s) {
    Species species;
    species.grid = c.block.grid;
    for (int i = 0; i < c.basis.cdim(); ++i) {
      species.boundary[i] = {s.boundary, s.boundary};
      if (s.emits)
        species.emission[i] = {
            Emission{.flux = [](double t) { return 0.3 + t; }, .yield = {0.4}, .reflection = 0.2},
            Emission{.thermal_speed = 0.8, .flux = {}, .yield = {}, .reflection = 0.6}};
    }
    return species;
  }

  void stage(const Stage& stage, int from, int from0, int to) {
    const Exec exec;
    const auto advance = [&](VlasovOperator& vlasov, std::vector<Exterior>& exteriors,
                             std::vector<Distribution>& f, const ConfField& moments) {
      Exterior& exterior = exteriors[0];
      exterior.start(exec, f[from]);
      exterior.emit(exec, 0.2, exteriors);
      vlasov.apply(exec, stage, f[from], f[from0], c.acceleration, f[to], moments);
      vlasov.add_exterior(exec, stage, exterior.finish(exec), c.acceleration, f[to], moments);
      exec.fence();
    };
    advance(*host, host_exterior, here, host_moments);
    advance(*device, device_exterior, there, device_moments);
  }
  /// Greatest difference of a distribution, of its greatest value.
  double compare(int i) {
    device->download(there[i]);
    return difference(here[i], there[i]) / greatest(here[i]);
  }
};

std::string text(const BasisRow& b, const Setting& s) {
  return fmt::format("{}x{}v {} of order {}, flux {}, boundary {}{}{}{}", b.cdim, b.vdim, name(b.family),
                     b.order, static_cast<int>(s.flux), static_cast<int>(s.boundary),
                     s.stretched ? ", stretched" : "", s.magnetic ? "" : ", no B", s.emits ? ", emits" : "");
}

/// What leaves through all walls, and its particles as functions on them.
std::vector<double> outflow(const Pair& pair, const Exterior& exterior) {
  Budget budget;
  exterior.add_outflow(0.7, 1.5, budget);
  const auto counted = std::bit_cast<BudgetNumbers>(budget);
  std::vector<double> all(counted.begin(), counted.end());
  for (int d = 0; d < pair.c.basis.cdim(); ++d)
    for (const int side : {-1, 1}) {
      const auto particles = exterior.particle_outflow(d, side);
      all.insert(all.end(), particles.begin(), particles.end());
    }
  return all;
}

void expect_same_stage(const BasisRow& b, const Setting& s) {
  SCOPED_TRACE(text(b, s));
  Pair pair(b, s);
  EXPECT_LT(pair.compare(0), 1e-300);  // what went up comes down
  pair.stage({.keep = 0.75, .advance = 0.25, .dt = 0.3}, 0, 1, 2);
  EXPECT_GT(difference(pair.here[2], pair.here[0]), 0.1);
  const double round_off = test::bound(2e-14, 2e-13);
  EXPECT_LT(pair.compare(2), round_off);
  EXPECT_LT(difference(pair.host_moments, pair.device_moments), round_off);
  const auto left = outflow(pair, pair.host_exterior[0]), there = outflow(pair, pair.device_exterior[0]);
  const double most = std::abs(*std::max_element(
      left.begin(), left.end(), [](double a, double b) { return std::abs(a) < std::abs(b); }));
  EXPECT_EQ(most > 0, s.boundary != Boundary::periodic);
  ASSERT_EQ(left.size(), there.size());
  for (std::size_t i = 0; i < left.size(); ++i) EXPECT_NEAR(there[i], left[i], 5 * round_off * most);
  const double frequency = pair.host->frequency(Exec(), pair.c.acceleration);
  EXPECT_NEAR(pair.device->frequency(Exec(), pair.c.acceleration), frequency, round_off * frequency);
}

TEST(VlasovDevice, stages_of_every_basis_and_flux_are_those_of_the_host) {
  for (const auto& basis : bases())
    for (const auto flux : {Flux::upwind, Flux::lax_friedrichs, Flux::central})
      expect_same_stage(basis, {flux, Boundary::periodic, flux != Flux::central, true});
}

/// A null engine: the basis goes by cells.
std::unique_ptr<DeviceVlasov> make_engine(const BasisRow& b, const Setting& s) {
  const OperatorCase c = Pair::make_case(b, s);
  auto options = device_vlasov_options(
      c.basis, c.block, s.flux,
      open_edges(Decomposition(Comm::self(), c.block.grid, {}), Pair::make_species(c, s)));
  options.sweep = s.sweep;
  return kinetics::make_engine(options);
}

TEST(VlasovDevice, all_ways_to_share_out_a_cell_agree) {
  int n = 0, n_of_owners = 0;
  for (const auto& basis : bases())
    for (const auto sweep : {DeviceSweep::cells, DeviceSweep::groups, DeviceSweep::owners}) {
      const Setting setting{Flux::upwind, Boundary::periodic, true, n++ % 2 == 0, sweep};
      if (make_engine(basis, setting) == nullptr) {
        const int size = PhaseBasis(basis.cdim, basis.vdim, basis.order, basis.family).size();
        EXPECT_EQ(size > DeviceVlasov::most_modes_a_thread, sweep == DeviceSweep::cells)
            << text(basis, setting);
        continue;
      }
      if (sweep == DeviceSweep::owners) ++n_of_owners;
      expect_same_stage(basis, setting);
    }
  EXPECT_GE(n_of_owners, 10);
}

/// Owners and groups, with every flux and walls: a restart may go on with the other one.
TEST(VlasovDevice, sweeps_of_large_bases_give_the_same_bits) {
  int n = 0;
  for (const auto& basis : bases())
    for (const auto flux : {Flux::upwind, Flux::lax_friedrichs, Flux::central})
      for (const bool magnetic : {true, false}) {
        // what an upwind flux does with either walls, others do with one
        if (flux != Flux::upwind && magnetic == (flux == Flux::central)) continue;
        const auto wall = magnetic ? Boundary::periodic : Boundary::absorbing;
        Setting setting{flux, wall, true, magnetic, DeviceSweep::owners};
        if (make_engine(basis, setting) == nullptr) continue;
        SCOPED_TRACE(text(basis, setting));
        const DeviceVlasov::Stage stages[] = {{.dt = 0.3, .from = 0, .to = 1},
                                              {.keep = 0.75, .advance = 0.25, .dt = 0.3, .from = 1, .to = 2}};
        std::vector<std::vector<double>> results;
        for (const auto sweep : {DeviceSweep::owners, DeviceSweep::groups, DeviceSweep::measured}) {
          setting.sweep = sweep;
          const OperatorCase c = Pair::make_case(basis, setting);
          const auto engine = make_engine(basis, setting);
          engine->upload(0, c.f.data.data());
          for (const auto& stage : stages) engine->stage(stage, c.acceleration.data());
          const Distribution out("f", c.block, c.basis.size());
          engine->download(2, out.data.data());
          results.emplace_back(out.data.data(), out.data.data() + out.data.size());
          const auto times = engine->sweep_times();
          if (sweep != DeviceSweep::measured) {
            EXPECT_TRUE(times.empty());
            continue;
          }
          ASSERT_GE(times.size(), 2U);
          int n_chosen = 0;
          for (const auto& of : times) {
            EXPECT_TRUE(of.same_bits && of.fits && of.ns_per_cell > 0) << of.name << ", " << of.warps;
            n_chosen += of.is_chosen ? 1 : 0;
          }
          EXPECT_EQ(n_chosen, 1);
        }
        for (std::size_t i = 1; i < results.size(); ++i)
          EXPECT_TRUE(results[i] == results[0]) << i;  // zeros of either sign are the same
        ++n;
      }
  EXPECT_GE(n, 40);
}

TEST(VlasovDevice, a_sweep_that_does_not_fit_or_has_other_bits_is_not_chosen) {
  const SweepTime times[] = {{.name = "first", .ns_per_cell = 2},
                             {.name = "wrong", .same_bits = false, .ns_per_cell = 1},
                             {.name = "large", .fits = false},
                             {.name = "good", .ns_per_cell = 1.5},
                             {.name = "slower", .ns_per_cell = 1.7}};
  EXPECT_EQ(device::fastest(times), 3U);
  EXPECT_EQ(device::fastest(std::span(times).first(3)), 0U);
  // Bits are told apart by their place and value, not by the sign of a zero.
  const auto bits = [](std::vector<double> f) {
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < f.size(); ++i) device::BitSum{f.data()}(i, sum);
    return sum;
  };
  EXPECT_EQ(bits({0.0, 1.5, 2.5}), bits({-0.0, 1.5, 2.5}));
  EXPECT_NE(bits({0.0, 1.5, 2.5}), bits({0.0, 2.5, 1.5}));
  EXPECT_NE(bits({0.0, 1.5, 2.5}), bits({0.0, 1.5, std::nextafter(2.5, 3.0)}));
}

TEST(VlasovDevice, walls_of_every_kind_are_those_of_the_host) {
  for (const auto& basis : bases())
    for (const auto wall : {Boundary::reflecting, Boundary::absorbing, Boundary::open, Boundary::fixed})
      for (const auto flux : {Flux::upwind, Flux::lax_friedrichs}) {
        if (flux != Flux::upwind && wall != Boundary::reflecting) continue;
        expect_same_stage(basis, {flux, wall, basis.order != 1, true});
      }
}

TEST(VlasovDevice, walls_that_emit_are_those_of_the_host) {
  for (const auto& basis : bases())
    for (const auto flux : {Flux::upwind, Flux::lax_friedrichs})
      expect_same_stage(basis, {.flux = flux,
                                .boundary = Boundary::absorbing,
                                .stretched = basis.order != 1,
                                .magnetic = true,
                                .emits = true});
}

TEST(VlasovDevice, whole_steps_are_those_of_the_host) {
  for (const auto& basis : bases())
    for (const auto wall : {Boundary::periodic, Boundary::reflecting}) {
      const Setting setting{Flux::upwind, wall, true, true};
      SCOPED_TRACE(text(basis, setting));
      Pair pair(basis, setting);
      const double dt = 0.3 / (5 * pair.host->frequency(Exec(), pair.c.acceleration));
      for (int step = 0; step < 3; ++step) {
        pair.stage({.keep = 0, .advance = 1, .dt = dt}, 0, 0, 1);
        pair.stage({.keep = 0.75, .advance = 0.25, .dt = dt}, 1, 0, 2);
        pair.stage({.keep = 1.0 / 3, .advance = 2.0 / 3, .dt = dt}, 2, 0, 0);
      }
      EXPECT_LT(pair.compare(0), test::bound(1e-13, 1e-12));
      EXPECT_LT(difference(pair.host_moments, pair.device_moments), test::bound(1e-13, 1e-12));
    }
}

TEST(VlasovDevice, second_moments_are_those_of_the_host) {
  for (const auto& basis : bases()) {
    const Setting setting{Flux::upwind, Boundary::periodic, true, true};
    SCOPED_TRACE(text(basis, setting));
    Pair pair(basis, setting);
    const int n = pair.c.block.n_conf(), modes = pair.c.basis.conf().size();
    const ConfField second("second", n, 1, modes), all("all", n, 2 + basis.vdim, modes);
    moments(Exec(), pair.c.basis, pair.here[0], Moment::m2, second, 0);
    Exec().fence();
    pair.device->sum_moments(Exec(), pair.there[0], all);
    double worst = 0, scale = 0;
    for (int conf = 0; conf < n; ++conf)
      for (int m = 0; m < modes; ++m) {
        worst = std::max(worst, std::abs(all(conf, 1 + basis.vdim, m) - second(conf, 0, m)));
        scale = std::max(scale, std::abs(second(conf, 0, m)));
      }
    EXPECT_LT(worst, test::bound(1e-14, 1e-13) * scale);
  }
}

TEST(VlasovDevice, bytes_are_counted_before_they_are_taken) {
  const PhaseBasis basis(1, 1, 2, Family::serendipity);
  DeviceVlasovOptions options;
  options.order = 2;
  options.cells = {1000, 64, 1, 1, 1, 1};
  options.n_buffers = 3;
  const auto bytes = device_factory().bytes;
  const double three = bytes(options);
  options.n_buffers = 4;
  EXPECT_EQ(bytes(options) - three, 1000 * 64 * 8 * 8);
  const int n_on_its_way = test::on_gpu() ? 1 : 0;  // all of so small an f
  EXPECT_LT(three, 1.2 * (3 + n_on_its_way) * 1000 * 64 * 8 * 8);
  options.order = 7;
  EXPECT_EQ(bytes(options), -1);
  EXPECT_EQ(make_engine(options), nullptr);
}

TEST(VlasovDevice, summaries_of_every_basis_are_those_of_the_host) {
  for (const auto& b : bases())
    for (const bool stretched : {false, true}) {
      SCOPED_TRACE(fmt::format("{}x{}v {} of order {}", b.cdim, b.vdim, name(b.family), b.order));
      const Pair pair(b, {Flux::upwind, Boundary::periodic, stretched, true});
      const Distribution &f = pair.here[0], &there = pair.there[0];
      const Positivity positivity(pair.c.basis, pair.c.block);
      const auto expected = phase_integrals(Exec(), pair.c.basis, f);
      const auto found = pair.device->summarise(Exec(), positivity, there);
      const double round_off = test::bound(1e-13, 1e-12);
      EXPECT_NEAR(found.l2, expected.l2, round_off * expected.l2);
      EXPECT_DOUBLE_EQ(found.least_mean, expected.least_mean);
      EXPECT_DOUBLE_EQ(found.greatest_mean, expected.greatest_mean);
      const double negative = positivity.negative_part(Exec(), f);
      EXPECT_GT(negative, 0);
      EXPECT_NEAR(found.negative, negative, round_off * negative);
      const auto ends = velocity_end_sums(f);
      for (std::size_t conf = 0; conf < ends.size(); ++conf)
        for (std::size_t end = 0; end < 6; ++end)
          EXPECT_NEAR(found.at_ends[conf][end], ends[conf][end], round_off * ends[conf][end]);
    }
}

TEST(VlasovDevice, a_mean_that_is_no_number_is_the_least) {
  const Pair pair({1, 2, 1, Family::hybrid}, {Flux::upwind, Boundary::periodic, false, true});
  const Positivity positivity(pair.c.basis, pair.c.block);
  const double greatest = pair.device->summarise(Exec(), positivity, pair.there[0]).greatest_mean;
  pair.there[0].at(1, 2, 3, 0) = std::nan("");
  pair.device->upload(pair.there[0]);
  const auto found = pair.device->summarise(Exec(), positivity, pair.there[0]);
  EXPECT_TRUE(std::isnan(found.least_mean));
  EXPECT_LE(found.greatest_mean, greatest);
}

TEST(VlasovDevice, walls_where_nothing_comes_in_keep_no_trace_of_what_is_outside) {
  const Pair pair({1, 2, 2, Family::serendipity}, {Flux::upwind, Boundary::absorbing, false, true});
  const auto empty = empty_edges(pair.species);
  EXPECT_TRUE(empty[0][0] && empty[0][1]);
  auto options = device_vlasov_options(pair.c.basis, pair.c.block, Flux::upwind,
                                       open_edges(pair.decomposition, pair.species));
  const double both = DeviceVlasov::bytes(options);
  options.empty = empty;
  EXPECT_EQ(both - DeviceVlasov::bytes(options), 2 * 8.0 * pair.device->trace_size(0));
  Species emits = pair.species;
  emits.emission[0][1] = Emission();
  EXPECT_TRUE(empty_edges(emits)[0][0]);
  EXPECT_FALSE(empty_edges(emits)[0][1]);
  emits.boundary[0] = {Boundary::open, Boundary::reflecting};
  EXPECT_TRUE(empty_edges(emits)[0][0]);
  EXPECT_FALSE(empty_edges(emits)[0][1]);
}

}  // namespace
}  // namespace quintet::kinetics
