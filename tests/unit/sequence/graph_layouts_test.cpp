#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/sparse/layout.hpp"
#include "surrogates/sequence/forecast/train_forecast.hpp"
#include "surrogates/sequence/graph/graph_needs.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/sequence/graph_cases.hpp"

using namespace quintet;
using namespace quintet::sequence;

namespace {

/// Kinds that share out over so many ranks.
std::vector<SpmmKind> kinds_on(int n_ranks) {
  std::vector<SpmmKind> kinds;
  for (const auto& layout : layouts_of(SpmmKind::automatic, n_ranks))
    if (kinds.empty() || kinds.back() != layout.kind) kinds.push_back(layout.kind);
  return kinds;
}

/// The first p ranks, p = 1 to as many as there are; more than four leave one to four to the entry of four
/// ranks.
void on_any_number_of_ranks(const std::function<void(const Comm&)>& action) {
  const Comm world = Comm::world();
  for (int p = world.size() > 4 ? 5 : 1; p <= world.size(); ++p) {
    const Comm some = world.split(world.rank() < p ? 0 : 1, world.rank());
    if (world.rank() < p) action(some);
  }
}

ForecastTraining training_of(const Comm& comm, const SeaCase& c, SpmmKind kind,
                             Precision precision = Precision::float64) {
  auto options = graph_options(c.modes);
  options.network.graph->precision = precision;
  options.network.graph->spmm = kind;
  options.members = 1;
  return {comm, c.modes.series, c.split, Irregular::avoid, options, {}};
}

const SeaCase& short_case() {
  static const SeaCase c("1990-12-01", "1992-03-31");
  return c;
}

}  // namespace

/// Passes in float64 on one rank, and those of all layouts within `bound` of them.
void expect_passes_of_one_rank(Precision precision, double bound, int features) {
  for (const int coarsen : {1, 3}) {
    auto plain = network_of(sea_nodes(small_sea({}), coarsen));
    plain.options.features = features;
    const auto exact = std::make_shared<const GraphNetwork>(plain);
    plain.options.precision = precision;
    const auto network = std::make_shared<const GraphNetwork>(std::move(plain));
    const auto windows = waves(std::size_t{3} * 3 * 4, 1), target = waves(std::size_t{2} * 2, 2);
    const auto run_of = [&](const Comm& comm, SpmmKind kind, const auto& of) {
      const auto passes = graph_passes(comm, of, kind);
      if (kind != SpmmKind::automatic) {
        EXPECT_EQ(passes->layout().kind, kind);
      }
      passes->refresh(waves(passes->n_parameters(), 0.4).data());
      auto all = passes->forward(windows);
      std::vector<double> gradient(passes->n_parameters(), 0.0);
      all.push_back(comm.sum(passes->loss_and_gradient(windows.data(), target.data(), 0.5, gradient.data())));
      comm.reduce(std::span<double>(gradient), Comm::Reduction::sum);
      all.insert(all.end(), gradient.begin(), gradient.end());
      return all;
    };
    const auto run = [&](const Comm& comm, SpmmKind kind) { return run_of(comm, kind, network); };
    const auto one = run_of(Comm::self(), SpmmKind::automatic, exact);
    on_any_number_of_ranks([&](const Comm& comm) {
      for (const auto kind : kinds_on(comm.size())) {
        const auto many = run(comm, kind);
        EXPECT_EQ(many.size(), one.size());
        double worst = 0;
        for (std::size_t i = 0; i < std::min(many.size(), one.size()); ++i)
          worst = std::max(worst, std::abs(many[i] - one[i]) / (1 + std::abs(one[i])));
        EXPECT_LT(worst, bound) << comm.size() << " ranks, kind " << static_cast<int>(kind);
        EXPECT_EQ(run(comm, kind), many);
      }
    });
  }
}

/// More columns of a layout than leads (2) or features (1: some ranks have none), and boxes of nodes that
/// fill blocks of rows and do not.
TEST(graph_layouts, passes_are_those_of_one_rank) {
  for (const int features : {6, 1}) {
    expect_passes_of_one_rank(Precision::float64, 1e-11, features);
    expect_passes_of_one_rank(Precision::float32, 2e-6, features);
  }
}

TEST(graph_layouts, losses_in_training_are_those_of_one_rank) {
  const SeaCase& c = short_case();
  const auto losses = [&](const Comm& comm, SpmmKind kind, Precision precision = Precision::float64) {
    auto training = training_of(comm, c, kind, precision);
    EXPECT_FALSE(training.shared_out().empty());
    while (!training.finished()) training.advance();
    std::vector<double> all;
    const auto trained = training.result();
    for (const auto& epoch : trained.history.front().epochs) {
      if (epoch.epoch > 0) all.push_back(epoch.training);
      all.push_back(epoch.validation);
    }
    return all;
  };
  const auto one = losses(Comm::self(), SpmmKind::automatic);
  EXPECT_NE(one[0], one[2]);  // it learns
  const Comm world = Comm::world();
  for (const auto kind : kinds_on(world.size())) {
    const auto many = losses(world, kind);
    ASSERT_EQ(many.size(), one.size());
    for (std::size_t i = 0; i < one.size(); ++i)
      EXPECT_NEAR(many[i], one[i], 1e-9 * one[i]) << "kind " << static_cast<int>(kind) << ", " << i;
    const auto single = losses(world, kind, Precision::float32);
    ASSERT_EQ(single.size(), one.size());
    for (std::size_t i = 0; i < one.size(); ++i)
      EXPECT_NEAR(single[i], one[i], 1e-5 * one[i])
          << "float32, kind " << static_cast<int>(kind) << ", " << i;
  }
}

/// Each kind goes on to the bit, and on half of the ranks in another layout, each layout there in its turn.
void expect_to_go_on(const std::vector<SpmmKind>& kinds, Precision precision, double bound) {
  const SeaCase& c = short_case();
  const Comm world = Comm::world();
  const Scratch scratch("graph_layouts");
  const auto path = world.broadcast(scratch / "state.h5");
  const auto end = [](ForecastTraining training) {
    while (!training.finished()) training.advance();
    return training.result().model.members.front();
  };
  const auto go_on = [&](const Comm& comm, SpmmKind kind) {
    auto training = training_of(comm, c, kind, precision);
    training.restore(hdf5::File::open(comm, path).root());
    return end(std::move(training));
  };
  const int half = std::max(1, world.size() / 2);
  const auto others = kinds_on(half);
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const SpmmKind kind = kinds[k], other = others[k % others.size()];
    const auto whole = end(training_of(world, c, kind, precision));
    auto first = training_of(world, c, kind, precision);
    first.advance();
    auto file = hdf5::File::create(world, path);
    first.save(file.root());
    file.close();
    EXPECT_EQ(go_on(world, kind), whole) << static_cast<int>(kind);
    world.barrier();
    const Comm some = world.split(world.rank() < half ? 0 : 1, world.rank());
    if (world.rank() < half) {
      const auto close = go_on(some, other);
      double worst = 0;
      for (std::size_t i = 0; i < whole.size(); ++i) worst = std::max(worst, std::abs(close[i] - whole[i]));
      EXPECT_LT(worst, bound) << static_cast<int>(kind) << " to " << static_cast<int>(other);
    }
    world.barrier();
  }
}

/// Sums over ranks are made once a batch, whatever it has of windows.
TEST(graph_layouts, a_training_sums_over_ranks_as_often_as_a_plan_says) {
  const SeaCase& c = short_case();
  const Comm world = Comm::world();
  for (const auto& [kind, batch] :
       {std::pair<SpmmKind, std::int64_t>{SpmmKind::automatic, 1000}, {kinds_on(world.size()).back(), 7}}) {
    auto options = graph_options(c.modes);
    options.network.graph->spmm = kind;
    options.members = 2, options.training.epochs = 2, options.training.batch = batch;
    ForecastTraining training(world, c.modes.series, c.split, Irregular::avoid, options, {});
    world.reset_counters();
    training.advance();
    const auto needs = graph_team_needs(1, training.set(), batch);
    const auto& sums = world.counter(Comm::Call::reduce);
    EXPECT_EQ(static_cast<double>(sums.messages), needs.sums) << training.shared_out() << ", " << batch;
    EXPECT_EQ(static_cast<double>(sums.bytes), needs.bytes_summed) << training.shared_out() << ", " << batch;
  }
}

TEST(graph_layouts, forecasts_of_ranks_that_share_out_the_graph_are_those_of_one) {
  const SeaCase& c = short_case();
  auto training = training_of(Comm::world(), c, SpmmKind::automatic);
  training.advance();
  const auto model = training.result().model;
  const auto one = forecast(model, c.modes.series, c.split.validation).mean;
  ASSERT_GT(one.size(), 0U);
  on_any_number_of_ranks([&](const Comm& comm) {
    const auto many = forecast(comm, model, c.modes.series, c.split.validation).mean;
    ASSERT_EQ(many.size(), one.size());
    for (std::size_t i = 0; i < one.size(); ++i)
      ASSERT_NEAR(many[i], one[i], comm.size() == 1 ? 0 : 1e-10 * (1 + std::abs(one[i]))) << comm.size();
  });
}

/// To the bit on the same ranks in the same layout, to round-off on half as many in another.
TEST(graph_layouts, a_training_goes_on_on_other_ranks_and_in_another_layout) {
  const auto kinds = kinds_on(Comm::world().size());
  expect_to_go_on(kinds, Precision::float64, 1e-7);
  expect_to_go_on({kinds.back()}, Precision::float32, 1e-4);
}

/// Arrays of a rank are those of its nodes and of its part of their features, filled up to packs.
void expect_memory(Precision precision) {
  constexpr int features = 64, layers = 2;
  auto plain = network_of(sea_nodes(small_sea({}), 1));
  plain.options.features = features, plain.options.layers = layers, plain.options.precision = precision;
  const auto network = std::make_shared<const GraphNetwork>(plain);
  plain.options.precision = Precision::float64;
  const auto exact = std::make_shared<const GraphNetwork>(std::move(plain));
  const auto run = [&](GraphPasses& passes) {
    passes.refresh(waves(passes.n_parameters(), 0.4).data());
    std::vector<double> gradient(passes.n_parameters(), 0.0);
    for (int window = 0; window < 3; ++window)
      static_cast<void>(passes.loss_and_gradient(waves(std::size_t{3} * 4, 1).data(), waves(4, 2).data(), 1,
                                                 gradient.data()));
  };
  const Comm world = Comm::world();
  for (const auto kind : kinds_on(world.size())) {
    const auto passes = graph_passes(world, network, kind);
    run(*passes);
    const PanelPart& part = passes->part();
    const int rows = part.n_rows();
    EXPECT_EQ(rows, passes->n_own());
    const auto arrays = static_cast<double>(passes->bytes().arrays);
    EXPECT_LE(arrays, bytes_of_arrays(*network, part)) << static_cast<int>(kind);
    EXPECT_GE(arrays, 0.7 * bytes_of_arrays(*network, part)) << static_cast<int>(kind);
    const double share =
                     static_cast<double>(rows) * part.n_columns(features) / features / network->nodes->size(),
                 copies = kind == SpmmKind::one_and_a_half_d ? 2 : 1;
    EXPECT_NEAR(share * world.size(), copies, 0.05) << static_cast<int>(kind);
    if (precision == Precision::float64) continue;
    const auto twice = graph_passes(world, exact, kind);
    run(*twice);
    EXPECT_NEAR(static_cast<double>(twice->bytes().arrays), 2 * arrays, 0.06 * arrays)
        << static_cast<int>(kind);
  }
}

TEST(graph_layouts, memory_is_that_of_a_rank_s_nodes_and_features) {
  expect_memory(Precision::float64);
  expect_memory(Precision::float32);
}

/// Plans of ranks that need not exist, beside ranks that do.
TEST(graph_layouts, needs_are_those_of_real_ranks) {
  for (const auto precision : {Precision::float64, Precision::float32}) {
    auto plain = network_of(sea_nodes(small_sea({}), 1));
    plain.options.features = 21, plain.options.precision = precision;
    const auto network = std::make_shared<const GraphNetwork>(std::move(plain));
    const auto matrix = whole_matrix(*network);
    on_any_number_of_ranks([&](const Comm& comm) {
      auto kinds = kinds_on(comm.size());
      kinds.push_back(SpmmKind::automatic);
      for (const auto kind : kinds) {
        const auto needs = graph_needs(*network, matrix.rows, comm.size(), kind);
        const auto passes = graph_passes(comm, network, kind);
        const auto what = fmt::format("{} ranks, {}", comm.size(), needs.layout.name());
        EXPECT_EQ(needs.layout.name(), passes->layout().name());
        passes->refresh(waves(passes->n_parameters(), 0.4).data());
        static_cast<void>(passes->forward(waves(std::size_t{3} * 4, 1)));
        EXPECT_EQ(passes->received(), needs.forward[comm.rank()]) << what;
        const double forecast = comm.maximum(double(passes->bytes().arrays + passes->bytes().products));
        EXPECT_LE(forecast, needs.forecast) << what;
        EXPECT_GE(forecast, 0.4 * needs.forecast) << what;
        EXPECT_LT(needs.forecast, needs.bytes()) << what;
        std::vector<double> gradient(passes->n_parameters(), 0.0);
        for (int window = 0; window < 3; ++window)
          static_cast<void>(passes->loss_and_gradient(waves(std::size_t{3} * 4, 1).data(), waves(4, 2).data(),
                                                      1, gradient.data()));
        EXPECT_EQ(passes->received(), needs.both[comm.rank()]) << what;
        const PanelPart& part = passes->part();
        EXPECT_DOUBLE_EQ(
            comm.maximum(double(part.n_rows()) * part.n_columns(21) / 21 / network->nodes->size()),
            needs.share)
            << what;
        const double arrays = comm.maximum(double(passes->bytes().arrays)),
                     products = comm.maximum(double(passes->bytes().products));
        EXPECT_LE(arrays, needs.arrays) << what;
        EXPECT_GE(arrays, 0.6 * needs.arrays) << what;
        EXPECT_LE(products, needs.products) << what;
        EXPECT_GE(products, 0.2 * needs.products) << what;
        EXPECT_EQ(needs.weights, 6.0 * 8 * double(passes->n_parameters()));
        EXPECT_EQ(needs.bytes(), needs.arrays + needs.products + needs.weights);
      }
    });
    const auto message = [&](int n_ranks, SpmmKind kind) -> std::string {
      try {
        static_cast<void>(graph_needs(*network, matrix.rows, n_ranks, kind));
      } catch (const InputError& error) {
        return error.what();
      }
      return "";
    };
    const int nodes = network->nodes->size();
    EXPECT_EQ(message(nodes, SpmmKind::one_d), "");
    EXPECT_NE(message(nodes + 1, SpmmKind::one_d), "");
    EXPECT_EQ(message(27, SpmmKind::three_d), "");
    EXPECT_NE(message(26, SpmmKind::three_d).find("nearest: 27"), std::string::npos);
  }
}

TEST(graph_layouts, one_that_does_not_fit_the_ranks_is_refused_with_the_nearest) {
  const SeaCase& c = short_case();
  const auto message = [&](SpmmKind kind) -> std::string {
    try {
      static_cast<void>(training_of(Comm::self(), c, kind));
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  for (const auto kind : {SpmmKind::automatic, SpmmKind::one_d, SpmmKind::sparse_1d})
    EXPECT_EQ(message(kind), "");
  for (const auto kind : {SpmmKind::one_and_a_half_d, SpmmKind::two_d})
    EXPECT_NE(message(kind).find("nearest: 4"), std::string::npos) << message(kind);
  EXPECT_NE(message(SpmmKind::three_d).find("nearest: 8"), std::string::npos) << message(SpmmKind::three_d);
}
