#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <numbers>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/sequence/forecast/forecast_file.hpp"
#include "surrogates/sequence/forecast/quantised_forecast.hpp"
#include "surrogates/sequence/forecast/train_forecast.hpp"
#include "surrogates/sequence/graph/graph_training.hpp"
#include "surrogates/sequence/hindcast/hindcast.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/sequence/graph_cases.hpp"
#include "tests/unit/sequence/series_cases.hpp"

using namespace quintet;
using namespace quintet::sequence;

namespace {

std::set<std::pair<int, int>> pairs_of(const SeaEdges& edges) {
  std::set<std::pair<int, int>> pairs;
  for (int i = 0; i + 1 < std::ssize(edges.row_begin); ++i)
    for (auto p = edges.row_begin[i]; p < edges.row_begin[i + 1]; ++p) pairs.emplace(i, edges.column[p]);
  return pairs;
}

int parts_of(const SeaEdges& edges) {
  const int n = static_cast<int>(edges.row_begin.size()) - 1;
  std::vector<int> part(n, -1);
  int parts = 0;
  for (int start = 0; start < n; ++start) {
    if (part[start] >= 0) continue;
    std::vector<int> left{start};
    part[start] = parts;
    while (!left.empty()) {
      const int i = left.back();
      left.pop_back();
      for (auto p = edges.row_begin[i]; p < edges.row_begin[i + 1]; ++p) {
        const int j = edges.column[p];
        if (part[j] >= 0) continue;
        part[j] = parts;
        left.push_back(j);
      }
    }
    ++parts;
  }
  return parts;
}

/// Nodes in another order: node k of the new ones is order[k] of the old ones.
SeaNodes in_order(const SeaNodes& nodes, const std::vector<int>& order) {
  SeaNodes other;
  other.n_modes = nodes.n_modes, other.spacing = nodes.spacing;
  for (const int i : order) {
    other.latitude.push_back(nodes.latitude[i]), other.longitude.push_back(nodes.longitude[i]);
    other.area.push_back(nodes.area[i]), other.weight.push_back(nodes.weight[i]);
    for (int m = 0; m < nodes.n_modes; ++m)
      other.modes.push_back(nodes.modes[std::int64_t{i} * nodes.n_modes + m]);
  }
  return other;
}

std::vector<int> mixed(int n) {
  std::vector<int> order;
  for (int i = 0; i < n; ++i) order.push_back((std::int64_t{i} * 7 + 3) % n);
  EXPECT_EQ(std::set<int>(order.begin(), order.end()).size(), order.size());
  return order;
}

int node_at(const SeaNodes& nodes, double latitude, double longitude) {
  for (int i = 0; i < nodes.size(); ++i)
    if (std::abs(nodes.latitude[i] - latitude) < 1e-6 && std::abs(nodes.longitude[i] - longitude) < 1e-6)
      return i;
  ADD_FAILURE() << "no node at " << latitude << " " << longitude;
  return 0;
}

}  // namespace

TEST(sea_graph, has_each_edge_at_both_ends_and_one_part_across_date_line_and_poles) {
  const auto nodes = sea_nodes(small_sea({}), 1);
  for (const int mesh : {0, 20}) {
    const auto edges = sea_edges(nodes, 8, mesh);
    const auto pairs = pairs_of(edges);
    EXPECT_EQ(pairs.size(), edges.column.size());
    for (const auto& [i, j] : pairs) {
      EXPECT_NE(i, j);
      EXPECT_TRUE(pairs.count({j, i})) << i << " " << j;
    }
    EXPECT_EQ(parts_of(edges), 1);
    const auto joined = [&](double lat, double lon, double other_lat, double other_lon) {
      return pairs.count({node_at(nodes, lat, lon), node_at(nodes, other_lat, other_lon)}) > 0;
    };
    EXPECT_TRUE(joined(5, 355, 5, 5));
    EXPECT_TRUE(joined(5, 355, 15, 5));
    EXPECT_TRUE(joined(5, 175, 5, 185));
    bool across = false;  // the nearest in the sector about north
    for (const double lon : {145.0, 155.0, 165.0, 175.0, 185.0}) across = across || joined(85, 5, 85, lon);
    EXPECT_TRUE(across || joined(85, 5, 85, 225)) << "across the pole";
    EXPECT_TRUE(joined(75, 5, 65, 5)) << "where meridians converge";
    if (mesh > 0) continue;  // hubs join what is far
    EXPECT_FALSE(joined(5, 5, 5, 25));
    EXPECT_FALSE(joined(5, 55, 5, 115)) << "through the continent";
  }
}

TEST(sea_graph, is_that_of_the_same_nodes_in_another_order) {
  const auto nodes = sea_nodes(small_sea({}), 1);
  const auto order = mixed(nodes.size());
  const auto one = pairs_of(sea_edges(nodes, 8, 20));
  std::set<std::pair<int, int>> back;
  for (const auto& [i, j] : pairs_of(sea_edges(in_order(nodes, order), 8, 20)))
    back.emplace(order[i], order[j]);
  EXPECT_EQ(back, one);
}

TEST(sea_graph, hubs_join_seas_that_are_apart) {
  SeaNodes nodes;
  nodes.spacing = 1;
  for (const double lon : {0.0, 1.0, 2.0, 90.0, 91.0, 180.0})
    nodes.latitude.push_back(0), nodes.longitude.push_back(lon);
  EXPECT_EQ(parts_of(sea_edges(nodes, 8, 0)), 3);
  EXPECT_EQ(parts_of(sea_edges(nodes, 8, 3)), 1);
  EXPECT_EQ(parts_of(sea_edges(nodes, 8, 100)), 1);
}

TEST(sea_graph, boxes_have_the_sums_and_means_of_their_points) {
  const auto modes = small_sea({});
  const auto points = sea_nodes(modes, 1), boxes = sea_nodes(modes, 3);
  EXPECT_EQ(points.size(), static_cast<int>(modes.n_points()));
  EXPECT_LT(boxes.size(), points.size() / 7);
  EXPECT_DOUBLE_EQ(points.spacing, 10);
  EXPECT_DOUBLE_EQ(boxes.spacing, 30);
  const auto sum = [](const std::vector<double>& x) { return std::accumulate(x.begin(), x.end(), 0.0); };
  EXPECT_NEAR(sum(boxes.area), sum(points.area), 1e-10);
  EXPECT_NEAR(sum(boxes.weight), sum(modes.weights), 1e-10);
  for (int m = 0; m < 2; ++m) {
    double one = 0, other = 0;
    for (int i = 0; i < points.size(); ++i) one += points.area[i] * points.modes[2 * i + m];
    for (int i = 0; i < boxes.size(); ++i) other += boxes.area[i] * boxes.modes[2 * i + m];
    EXPECT_NEAR(one, other, 1e-10);
  }
  EXPECT_NO_THROW((void)sea_nodes(modes, 18));
  EXPECT_THROW((void)sea_nodes(modes, 36), InputError);
  ocean::OceanModes bare;
  EXPECT_THROW((void)sea_nodes(bare, 1), InputError);
}

/// Of features that fill packs and that do not, and of more nodes than are taken at once.
TEST(graph_passes, gradients_are_those_of_differences) {
  if (Comm::world().rank() > 0) return;
  struct Size {
    int coarsen, features;
    std::size_t every;  ///< so many parameters apart are differentiated
  };
  for (const auto& [coarsen, features, every] : {Size{3, 6, 1}, Size{3, 8, 1}, Size{1, 8, 11}}) {
    auto plain = network_of(sea_nodes(small_sea({}), coarsen));
    plain.options.features = features;
    const auto passes = graph_passes(Comm::self(), std::make_shared<const GraphNetwork>(std::move(plain)));
    auto parameters = waves(passes->n_parameters(), 0.4);
    for (double& x : parameters) x *= 0.4;
    const auto window = waves(3 * 4, 1), target = waves(2 * 2, 2);
    std::vector<double> gradient(parameters.size(), 0.0), unused(parameters.size());
    const auto loss = [&](double* to) {
      passes->refresh(parameters.data());
      return passes->loss_and_gradient(window.data(), target.data(), 1, to);
    };
    (void)loss(gradient.data());
    constexpr double h = 1e-5;
    for (std::size_t i = 0; i < parameters.size(); i += every) {
      const double at = parameters[i];
      parameters[i] = at + h;
      const double above = loss(unused.data());
      parameters[i] = at - h;
      const double difference = (above - loss(unused.data())) / (2 * h);
      parameters[i] = at;
      ASSERT_NEAR(gradient[i], difference, 1e-8 * (1 + std::abs(difference))) << features << " " << i;
    }
  }
}

/// Along a few directions, in steps that float32 can tell; and against float64 in each component.
TEST(graph_passes, gradients_in_float32_are_those_of_differences_and_of_float64) {
  if (Comm::world().rank() > 0) return;
  for (const int features : {6, 16, 21}) {
    auto plain = network_of(sea_nodes(small_sea({}), 1));
    plain.options.features = features;
    const auto exact = graph_passes(Comm::self(), std::make_shared<const GraphNetwork>(plain));
    plain.options.precision = Precision::float32;
    const auto passes = graph_passes(Comm::self(), std::make_shared<const GraphNetwork>(plain));
    auto parameters = waves(passes->n_parameters(), 0.4);
    for (double& x : parameters) x *= 0.4;
    const auto window = waves(3 * 4, 1), target = waves(2 * 2, 2);
    const auto loss = [&](GraphPasses& of, std::vector<double>& to) {
      to.assign(parameters.size(), 0.0);
      of.refresh(parameters.data());
      return of.loss_and_gradient(window.data(), target.data(), 1, to.data());
    };
    std::vector<double> gradient, reference, unused;
    const double one = loss(*passes, gradient), other = loss(*exact, reference);
    EXPECT_NEAR(one, other, 1e-6 * other);
    EXPECT_NE(one, other);
    double size = 0;
    for (const double x : reference) size = std::max(size, std::abs(x));
    for (std::size_t i = 0; i < gradient.size(); ++i)
      ASSERT_NEAR(gradient[i], reference[i], 2e-6 * size) << i;
    for (const double phase : {0.1, 1.1, 2.3}) {
      const auto direction = waves(parameters.size(), phase);
      const auto start = parameters;
      constexpr double h = 2e-3;
      const auto at = [&](double step) {
        for (std::size_t i = 0; i < start.size(); ++i) parameters[i] = start[i] + step * direction[i];
        return loss(*passes, unused);
      };
      const double difference = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h);
      parameters = start;
      double slope = 0;
      for (std::size_t i = 0; i < start.size(); ++i) slope += gradient[i] * direction[i];
      EXPECT_NEAR(slope, difference, 2e-4 * (std::abs(difference) + size)) << features << " " << phase;
    }
  }
}

TEST(graph_passes, are_the_same_in_another_order_of_nodes_and_on_any_number_of_ranks) {
  const auto nodes = sea_nodes(small_sea({}), 2);
  const auto windows = waves(5 * 3 * 4, 1), target = waves(2 * 2, 2);
  const auto run = [&](const Comm& comm, SeaNodes own) {
    const auto passes = graph_passes(comm, std::make_shared<const GraphNetwork>(network_of(std::move(own))));
    auto parameters = waves(passes->n_parameters(), 0.4);
    passes->refresh(parameters.data());
    auto all = passes->forward(windows);
    std::vector<double> gradient(parameters.size(), 0.0);
    all.push_back(comm.sum(passes->loss_and_gradient(windows.data(), target.data(), 0.5, gradient.data())));
    comm.reduce(std::span<double>(gradient), Comm::Reduction::sum);
    all.insert(all.end(), gradient.begin(), gradient.end());
    return all;
  };
  const auto one = run(Comm::self(), nodes);
  for (const auto& other :
       {run(Comm::self(), in_order(nodes, mixed(nodes.size()))), run(Comm::world(), nodes)}) {
    ASSERT_EQ(other.size(), one.size());
    for (std::size_t i = 0; i < one.size(); ++i)
      ASSERT_NEAR(other[i], one[i], 1e-11 * (1 + std::abs(one[i]))) << i;
  }
  EXPECT_EQ(run(Comm::self(), nodes), one);
}

TEST(graph_passes, modes_that_boxes_cannot_tell_apart_are_refused) {
  auto nodes = sea_nodes(small_sea({}), 3);
  for (int i = 0; i < nodes.size(); ++i) nodes.modes[2 * i + 1] = 2 * nodes.modes[2 * i];
  EXPECT_THROW((void)graph_passes(Comm::self(), std::make_shared<const GraphNetwork>(network_of(nodes))),
               InputError);
}

/// What the head gives everywhere comes back as the coefficients of such a field.
TEST(graph_passes, fields_of_the_modes_come_back_as_their_coefficients) {
  if (Comm::world().rank() > 0) return;
  auto nodes = sea_nodes(small_sea({}), 1);
  const int n = nodes.size();
  for (int i = 0; i < n; ++i) nodes.modes[2 * i] = 0.25;  // a mode that is the same at all nodes
  const auto network = std::make_shared<const GraphNetwork>(network_of(nodes));
  const auto passes = graph_passes(Comm::self(), network);
  std::vector<double> parameters(passes->n_parameters(), 0.0);
  parameters[parameters.size() - 2] = 1, parameters[parameters.size() - 1] = -2;  // biases of the head
  passes->refresh(parameters.data());
  const auto one = passes->forward(waves(3 * 4, 1));
  EXPECT_NEAR(one[1], 0, 1e-10);
  EXPECT_NEAR(one[3], 0, 1e-10);
  EXPECT_GT(one[0], 0);
  EXPECT_NEAR(one[2], -2 * one[0], 1e-10);
  const std::vector<double> target{one[0], one[1], one[2], one[3]};
  std::vector<double> gradient(parameters.size(), 0.0);
  EXPECT_NEAR(passes->loss_and_gradient(waves(3 * 4, 1).data(), target.data(), 1, gradient.data()), 0, 1e-20);
}

TEST(graph_forecast, begins_as_the_base_and_learns_what_is_curved) {
  if (Comm::world().rank() > 0) return;
  const SeaCase c;
  auto options = graph_options(c.modes);
  options.members = 1;
  options.training.epochs = 30;
  options.training.batch = 16;
  options.training.learning_rate = 1e-2;
  options.network.graph->features = 16;
  const auto trained = train_forecast(Comm::self(), c.modes.series, c.split, Irregular::avoid, options, {});
  const auto& epochs = trained.history.front().epochs;
  ASSERT_EQ(epochs.size(), 31U);
  const auto truth = targets(c.modes.series, c.split.validation);
  const auto square = [&](const std::vector<double>& forecast) {
    double sum = 0;
    for (std::size_t i = 0; i < truth.size(); ++i) sum += std::pow(forecast[i] - truth[i], 2);
    return sum / static_cast<double>(truth.size());
  };
  const auto& model = trained.model;
  const double base = square(model.base.forecast(c.modes.series, c.split.validation)),
               ours = square(forecast(model, c.modes.series, c.split.validation).mean);
  EXPECT_NEAR(epochs.front().validation, base / std::pow(model.output.scale[0], 2), 1e-9);
  EXPECT_LT(ours, 0.9 * base);
  EXPECT_NEAR(ours / base, epochs[trained.history.front().best_epoch].validation / epochs[0].validation,
              1e-9);
}

TEST(graph_forecast, a_restart_at_any_step_is_the_uninterrupted_training) {
  const auto comm = Comm::world();
  const Scratch scratch("graph");
  const SeaCase c("1989-06-01");
  const auto options = graph_options(c.modes);
  const auto training_of = [&] {
    return ForecastTraining(comm, c.modes.series, c.split, Irregular::avoid, options, {});
  };
  auto whole = training_of();
  while (!whole.finished()) whole.advance();
  EXPECT_EQ(whole.step(), 4);
  const auto expected = whole.result();
  for (const int stop : {1, 2, 3}) {
    auto first = training_of();
    while (first.step() < stop) first.advance();
    const auto path = comm.broadcast(scratch / "state.h5");
    auto file = hdf5::File::create(comm, path);
    first.save(file.root());
    file.close();
    auto second = training_of();
    second.restore(hdf5::File::open(comm, path).root());
    while (!second.finished()) second.advance();
    EXPECT_EQ(second.result().model.members, expected.model.members) << stop;
  }
  const auto alone = train_forecast(Comm::self(), c.modes.series, c.split, Irregular::avoid, options, {});
  for (std::size_t k = 0; k < 2; ++k)
    for (std::size_t i = 0; i < alone.model.members[k].size(); ++i)
      ASSERT_NEAR(expected.model.members[k][i], alone.model.members[k][i], 1e-7);
}

TEST(graph_forecast, reads_nothing_after_the_origin) {
  const SeaCase c;
  const auto options = graph_options(c.modes);
  const auto model =
      train_forecast(Comm::self(), c.modes.series, c.split, Irregular::avoid, options, {}).model;
  auto later = c.modes.series;
  const int origin = c.split.test.origins.front();
  const auto window = window_at(later, model.shape, origin, Irregular::avoid);
  const auto before = forecast(model, later, window).mean;
  for (std::size_t t = origin + 1; t < later.time.size(); ++t)
    for (int m = 0; m < 2; ++m) later.values[2 * t + m] += 100;
  EXPECT_EQ(forecast(model, later, window).mean, before);
}

TEST(graph_forecast, a_file_gives_back_precision_and_forecasts_to_the_bit_and_codes_are_refused) {
  const auto comm = Comm::world();
  const Scratch scratch("graph");
  const SeaCase c;
  auto options = graph_options(c.modes);
  options.training.epochs = 1;
  for (const auto precision : {Precision::float64, Precision::float32}) {
    options.network.graph->precision = precision;
    auto model = train_forecast(comm, c.modes.series, c.split, Irregular::avoid, options, {}).model;
    model.modes = "0123";
    const auto path = comm.broadcast(scratch / "model.h5");
    write_forecast_model(comm, path, model, hdf5::current_provenance());
    const auto read = read_forecast_model(comm, path);
    EXPECT_EQ(network_text(read), network_text(model));
    EXPECT_EQ(read.precision, precision);
    EXPECT_EQ(read.graph->options.precision, precision);
    EXPECT_EQ(forecast(read, c.modes.series, c.split.test).mean,
              forecast(model, c.modes.series, c.split.test).mean);
    EXPECT_THROW((void)quantised(read, {}), InputError);
    model.members.clear();  // the base alone has no graph
    write_forecast_model(comm, path, model, hdf5::current_provenance());
    EXPECT_FALSE(read_forecast_model(comm, path).graph);
  }
}

namespace {

/// A base, and a graph network that is trained anew at every second origin, on modes of each origin.
HindcastRun graph_hindcast(const Comm& comm, const ocean::OceanModes& modes) {
  MethodOptions methods;
  methods.names = {"damped_persistence"};
  auto& networks = methods.networks.emplace();
  networks.every = 2;
  networks.forecast = graph_options(modes);
  networks.forecast.network.sea = nullptr;
  networks.forecast.members = 1;
  OriginOptions origins;
  origins.from = "1989-01-01";
  return {comm,
          make_origins(modes.series, origins, {4, 2}, Irregular::avoid, 0),
          make_methods(methods),
          Irregular::avoid,
          {},
          [modes](const Origin&) {
            return OriginSeries{
                modes.series, {{1, 0, 0, 1}}, {{}}, std::make_shared<const SeaNodes>(sea_nodes(modes, 3))};
          }};
}

/// Origins from 1989 to 1992, and two trainings.
ocean::OceanModes four_origins() { return small_sea(driven(580)); }

std::vector<OriginForecasts> finished(HindcastRun run) {
  while (!run.finished()) run.advance();
  return run.done();
}

}  // namespace

TEST(graph_hindcast, sees_nothing_after_its_windows) {
  if (Comm::world().rank() > 0) return;
  const auto modes = four_origins();
  const auto done = finished(graph_hindcast(Comm::self(), modes));
  ASSERT_GE(done.size(), 4U);
  EXPECT_NE(done[3].methods[1].mean, done[3].methods[0].mean);  // it corrects the base
  for (const int row : {done[2].origin.training.end - 1, done[3].origin.training.end + 10}) {
    auto other = modes;
    for (int t = row + 1; t < other.series.n_times(); ++t)
      for (int m = 0; m < 2; ++m) other.series.row(t)[m] = 50 - 3 * other.series.row(t)[m];
    const auto changed = finished(graph_hindcast(Comm::self(), other));
    int same = 0;
    for (std::size_t i = 0; i < done.size(); ++i)
      for (int w = 0; w < done[i].origin.windows.size(); ++w) {
        if (done[i].origin.windows.origins[w] > row) continue;
        const auto width = static_cast<std::ptrdiff_t>(done[i].out()) * 2;
        const auto &x = done[i].methods[1].mean, &y = changed[i].methods[1].mean;
        EXPECT_TRUE(std::equal(x.begin() + w * width, x.begin() + (w + 1) * width, y.begin() + w * width))
            << i << " " << w;
        ++same;
      }
    EXPECT_GT(same, 50);
  }
}

TEST(graph_hindcast, is_the_same_after_a_restart_and_to_round_off_on_any_number_of_ranks) {
  const auto modes = four_origins();
  const auto comm = Comm::world();
  const auto expected = finished(graph_hindcast(comm, modes));
  const Scratch scratch("graph_hindcast");
  const auto path = comm.broadcast(scratch / "state.h5");
  auto first = graph_hindcast(comm, modes);
  for (int i = 0; i < 3; ++i) first.advance();  // within the second training's origins
  {
    auto file = hdf5::File::create(comm, path);
    first.save(file.root());
    file.close();
  }
  auto second = graph_hindcast(comm, modes);
  second.restore(hdf5::File::open(comm, path).root());
  const auto gone_on = finished(std::move(second));
  const auto alone = finished(graph_hindcast(Comm::self(), modes));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(gone_on[i].methods[1].mean, expected[i].methods[1].mean) << i;
    EXPECT_EQ(gone_on[i].methods[1].covariance, expected[i].methods[1].covariance) << i;
    for (std::size_t k = 0; k < expected[i].methods[1].mean.size(); ++k)
      ASSERT_NEAR(expected[i].methods[1].mean[k], alone[i].methods[1].mean[k], 1e-7);
  }
}
