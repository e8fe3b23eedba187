#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "physics/convection/centred.hpp"
#include "surrogates/flow/data/coarsen.hpp"
#include "surrogates/flow/data/interpolate.hpp"
#include "surrogates/flow/evaluation/flow_statistics.hpp"
#include "surrogates/flow/evaluation/scores.hpp"
#include "tests/support/convection_cases.hpp"

/// What `evaluate` measures, on flows of every kind: each has other walls, another length, another Prandtl
/// number or another way of moving than those that the inputs train on.
using namespace quintet;
using namespace quintet::convection;
using namespace quintet::convection::testing;

namespace {

enum Channel { p, b, w, u, n_channels };

struct Kind {
  const char* name;
  Problem problem;
  double length;
  int nx, nz;
  double strength, strength_x;
  double start, dt;  ///< time of the first frame; step
  int n_frames, steps_a_frame;
};

/// A series of frames with what the simulation itself says of each.
struct Series {
  Kind kind;
  flow::FieldBlock block;
  std::vector<Sample> samples;

  [[nodiscard]] flow::RectilinearGrid grid() const {
    const auto axis = [](const char* name, const flow::BlockAxis& a) {
      return FieldAxis{name, "1", a.coordinates, a.periodic, a.lower, a.upper};
    };
    return flow::RectilinearGrid({axis("z", block.axes[1]), axis("x", block.axes[2])});
  }
  [[nodiscard]] std::vector<double> field(const flow::FieldBlock& of, int channel, int frame) const {
    const std::size_t n = of.n_points() / of.axes[0].coordinates.size();
    const auto begin = of.values.begin() + ((channel * of.axes[0].coordinates.size() + frame) * n);
    return {begin, begin + static_cast<std::ptrdiff_t>(n)};
  }
  /// [field][axis] as section `flow.walls` says it.
  [[nodiscard]] std::vector<flow::FieldWalls> walls() const {
    std::vector<flow::FieldWalls> known(n_channels, flow::FieldWalls(2));
    const auto& problem = kind.problem;
    for (const int component : {u, w}) {
      known[component][0] = {0.0, 0.0};
      if (problem.sides == Sides::no_slip) known[component][1] = {0.0, 0.0};
    }
    known[b][problem.heated == Heated::plates ? 0 : 1] = {0.5, -0.5};
    return known;
  }
  [[nodiscard]] flow::FlowSample flow_sample(const flow::FieldBlock& of, int frame) const {
    std::vector<std::vector<double>> fields;
    for (int channel = 0; channel < n_channels; ++channel) fields.push_back(field(of, channel, frame));
    return flow::flow_sample(grid(), {fields.begin(), fields.end()}, walls(), {{w, u}, b},
                             {kind.problem.viscosity(), kind.problem.thermal_diffusivity()});
  }
  /// The series at low resolution, between whose nodes is interpolated.
  [[nodiscard]] flow::FieldBlock trilinear(const std::array<int, 3>& factor) const {
    flow::Coarsening how;
    how.factor = factor;
    how.filter[0] = flow::LowResolutionFilter::point;
    const auto low = flow::coarsen(flow::BlockView(block), how);
    auto axes = block.axes;
    axes[0] = low.axes[0];  // frames that both have
    return interpolate(flow::BlockView(low), axes);
  }
  /// Error of a field over the truth's deviation; frames of `other` are every so many of ours from `first`
  /// on.
  [[nodiscard]] double error(const flow::FieldBlock& other, int channel, int first = 0, int every = 1) const {
    flow::PointErrors errors;
    const auto where = grid();
    for (int frame = 0; frame < other.axes[0].size(); ++frame)
      errors.add(where, field(block, channel, first + frame * every), field(other, channel, frame));
    return errors.scaled();
  }
};

flow::BlockAxis block_axis(const Axis& axis) {
  flow::BlockAxis result{axis.centres,      axis.periodic,  axis.faces.front(),
                         axis.faces.back(), !axis.periodic, !axis.periodic};
  result.widths = axis.widths;
  return result;
}

Series simulated(const Kind& kind) {
  const Grid grid =
      make_grid(Comm::self(), kind.problem, kind.length, kind.nx, kind.nz, kind.strength, kind.strength_x);
  Start start;
  start.roll = 0.1;
  Boussinesq system = make_flow(kind.problem, grid, start);
  advance_to(system, kind.start, kind.dt);
  Series series{kind, {}, {}};
  std::array<std::vector<float>, n_channels> values;
  for (int frame = 0; frame < kind.n_frames; ++frame) {
    const Centred now = centred(Exec(), system, 0);
    values[p].insert(values[p].end(), now.p.begin(), now.p.end());
    values[b].insert(values[b].end(), now.b.begin(), now.b.end());
    values[w].insert(values[w].end(), now.w.begin(), now.w.end());
    values[u].insert(values[u].end(), now.u.begin(), now.u.end());
    series.block.axes[0].coordinates.push_back(system.time());
    series.samples.push_back(sample(Exec(), system, 0));
    for (int step = 0; step < kind.steps_a_frame; ++step) system.advance(Exec(), kind.dt);
  }
  auto& time = series.block.axes[0];
  time.lower = time.coordinates.front(), time.upper = time.coordinates.back();
  series.block.axes[1] = block_axis(grid.z), series.block.axes[2] = block_axis(grid.x);
  series.block.n_fields = n_channels;
  for (const auto& one : values)
    series.block.values.insert(series.block.values.end(), one.begin(), one.end());
  return series;
}

constexpr Wall rough = Wall::no_slip;
const Kind kinds[] = {{"AspectRatioOfThree",
                       {1e5, 1, rough, rough, Sides::periodic, Heated::plates},
                       3,
                       192,
                       64,
                       1.2,
                       0,
                       30,
                       0.025,
                       24,
                       4},
                      {"SideWalls",
                       {1e5, 1, rough, rough, Sides::no_slip, Heated::plates},
                       1.5,
                       96,
                       64,
                       1.2,
                       0,
                       30,
                       0.025,
                       24,
                       4},
                      {"HeatedSides",
                       {1e5, 0.71, rough, rough, Sides::no_slip, Heated::sides},
                       1,
                       96,
                       64,
                       1,
                       0,
                       60,
                       0.025,
                       24,
                       4},
                      {"LimitCycle",
                       {1e6, 1, rough, rough, Sides::periodic, Heated::plates},
                       2,
                       128,
                       64,
                       1.4,
                       0,
                       120,
                       0.0125,
                       96,
                       8},
                      {"PrandtlOfATenth",
                       {1e5, 0.1, rough, rough, Sides::periodic, Heated::plates},
                       2,
                       128,
                       64,
                       1.2,
                       0,
                       30,
                       0.01,
                       24,
                       10},
                      {"PrandtlOfTen",
                       {1e5, 10, rough, rough, Sides::periodic, Heated::plates},
                       2,
                       128,
                       64,
                       1.2,
                       0,
                       60,
                       0.025,
                       24,
                       4}};

std::ostream& operator<<(std::ostream& out, const Kind& kind) { return out << kind.name; }

/// Simulated once for all tests.
const Series& series_of(const Kind& kind) {
  static std::map<std::string, Series> made;
  const auto found = made.find(kind.name);
  return (found != made.end() ? found : made.emplace(kind.name, simulated(kind)).first)->second;
}

class UnlikeFlows : public ::testing::TestWithParam<Kind> {
 protected:
  void SetUp() override { series_ = &series_of(GetParam()); }
  [[nodiscard]] int n() const { return GetParam().n_frames; }

  const Series* series_ = nullptr;
};

}  // namespace

TEST_P(UnlikeFlows, have_the_statistics_that_the_simulation_knows_of_itself) {
  for (const int frame : {0, n() - 1}) {
    const auto& known = series_->samples[frame];
    const auto found = series_->flow_sample(series_->block, frame);
    const auto near = [&](double ours, double its, double share, const char* what) {
      EXPECT_NEAR(ours, its, share * std::abs(its)) << what << " of frame " << frame;
    };
    near(found.kinetic_energy, known.kinetic_energy, 2e-3, "kinetic energy");
    near(found.dissipation, known.dissipation, 1e-2, "dissipation");
    near(found.strain_dissipation, known.dissipation, 1e-2, "dissipation by strain");
    near(found.scalar_dissipation, known.thermal_dissipation, 1e-2, "thermal dissipation");
    near(found.nusselt_volume, known.nusselt_volume, 5e-3, "Nu of the volume");
    near(found.nusselt_lower, known.nusselt_warm, 1e-2, "Nu of the warm wall");
    near(found.nusselt_upper, known.nusselt_cold, 1e-2, "Nu of the cold wall");
  }
}

TEST_P(UnlikeFlows, keep_their_walls) {
  for (const int frame : {0, n() - 1}) {
    const auto found = series_->flow_sample(series_->block, frame);
    EXPECT_LT(found.scalar_wall_error, 2e-3);
    EXPECT_LT(found.velocity_wall_error, 2e-2 * std::sqrt(2 * found.kinetic_energy));
  }
}

TEST_P(UnlikeFlows, close_their_budgets) {
  const auto& problem = series_->kind.problem;
  const double heat = problem.thermal_diffusivity(),
               length = problem.heated == Heated::plates ? 1 : series_->kind.length;
  // Means over the frames by the trapezoidal rule, and what changed between the first and the last one.
  double dissipation = 0, work = 0, scalar_dissipation = 0, conducted = 0;
  const auto where = series_->grid();
  for (int frame = 0; frame < n(); ++frame) {
    const double weight = (frame == 0 || frame == n() - 1 ? 0.5 : 1.0) / (n() - 1);
    const auto now = series_->flow_sample(series_->block, frame);
    dissipation += weight * now.dissipation;
    work += weight *
            where.mean(series_->field(series_->block, w, frame), series_->field(series_->block, b, frame));
    scalar_dissipation += weight * now.scalar_dissipation;
    conducted += weight * heat * 0.5 * (now.nusselt_lower + now.nusselt_upper) / (length * length);
  }
  const auto& times = series_->block.axes[0];
  const auto variance = [&](int frame) {
    const auto values = series_->field(series_->block, b, frame);
    return 0.5 * where.mean(values, values);
  };
  const double period = times.upper - times.lower;
  const double gain = (series_->flow_sample(series_->block, n() - 1).kinetic_energy -
                       series_->flow_sample(series_->block, 0).kinetic_energy) /
                      period;
  EXPECT_NEAR(work - dissipation, gain, 1e-2 * work);
  EXPECT_NEAR(conducted - scalar_dissipation, (variance(n() - 1) - variance(0)) / period, 1e-2 * conducted);
}

TEST_P(UnlikeFlows, are_predicted_by_themselves_without_error) {
  flow::PointErrors errors;
  std::vector<flow::FlowSample> samples;
  const auto where = series_->grid();
  for (int frame = 0; frame < n(); ++frame) {
    const auto values = series_->field(series_->block, b, frame);
    errors.add(where, values, values);
    samples.push_back(series_->flow_sample(series_->block, frame));
  }
  EXPECT_EQ(errors.scaled(), 0);
  EXPECT_EQ(errors.r2(), 1);
  for (const auto& statistic : flow::turbulence_statistics()) {
    std::vector<double> values;
    for (const auto& one : samples)
      values.push_back(statistic.value(one, series_->kind.problem.viscosity(), flow::space_turbulence));
    if (std::isnan(values.front())) {  // lengths of a spectrum, of which walls leave none
      EXPECT_NE(series_->kind.problem.sides, Sides::periodic) << statistic.key;
      continue;
    }
    const auto score = flow::series_score(values, values);
    EXPECT_EQ(score.nmae, 0) << statistic.key;
    EXPECT_TRUE(score.r2 == 1 || std::isnan(score.r2)) << statistic.key;
  }
}

TEST_P(UnlikeFlows, are_interpolated_at_second_order) {
  for (const int channel : {b, w, u}) {
    const double fine = series_->error(series_->trilinear({1, 2, 2}), channel),
                 coarse = series_->error(series_->trilinear({1, 4, 4}), channel);
    EXPECT_NEAR(std::log2(coarse / fine), 2, 0.4) << "channel " << channel << ": " << coarse << ", " << fine;
    EXPECT_LT(fine, 0.04);
  }
}

TEST_P(UnlikeFlows, lose_energy_when_interpolated_less_so_between_finer_nodes) {
  const auto score = [&](int factor) {
    const auto low = series_->trilinear({1, factor, factor});
    std::vector<double> truth, prediction;
    for (int frame = 0; frame < n(); ++frame) {
      truth.push_back(series_->flow_sample(series_->block, frame).kinetic_energy);
      prediction.push_back(series_->flow_sample(low, frame).kinetic_energy);
      EXPECT_LT(prediction.back(), truth.back());
    }
    return flow::series_score(truth, prediction);
  };
  const auto fine = score(2), coarse = score(4);
  EXPECT_NEAR(std::log2(coarse.nmae / fine.nmae), 2, 0.4) << coarse.nmae << ", " << fine.nmae;
}

INSTANTIATE_TEST_SUITE_P(Kinds, UnlikeFlows, ::testing::ValuesIn(kinds),
                         [](const auto& info) { return info.param.name; });

namespace {

/// Nodes at each `factor`-th frame from the first on, and the error between them.
double error_between_frames(const Series& series, int factor, int channel) {
  flow::Coarsening how;
  how.factor = {factor, 1, 1};
  how.filter[0] = flow::LowResolutionFilter::point;
  const auto low = flow::coarsen(flow::BlockView(series.block), how);
  flow::PointErrors errors;
  const auto where = series.grid();
  const auto& times = series.block.axes[0].coordinates;
  auto axes = series.block.axes;
  const int first = (factor - 1) / 2, end = first + (low.axes[0].size() - 1) * factor;
  for (int frame = first; frame <= end; ++frame) {
    axes[0].coordinates = {times[frame]};
    const auto values = flow::interpolate(flow::BlockView(low), axes);
    errors.add(where, series.field(series.block, channel, frame), series.field(values, channel, 0));
  }
  return errors.scaled();
}

}  // namespace

TEST(LimitCycle, swings_and_is_interpolated_in_time_at_second_order) {
  const Series& series = series_of(kinds[3]);
  double least = 1e9, most = 0;
  for (int frame = 0; frame < series.kind.n_frames; ++frame) {
    const double nusselt = series.flow_sample(series.block, frame).nusselt_lower;
    least = std::min(least, nusselt), most = std::max(most, nusselt);
  }
  EXPECT_GT(most - least, 1) << "this is no oscillating state";
  for (const int channel : {b, w, u}) {
    const double fine = error_between_frames(series, 2, channel),
                 coarse = error_between_frames(series, 4, channel);
    EXPECT_NEAR(std::log2(coarse / fine), 2, 0.4) << "channel " << channel << ": " << coarse << ", " << fine;
  }
}
