#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <tuple>

#include <fmt/format.h>

#include "io/log/error.hpp"
#include "physics/kernels/random.hpp"
#include "surrogates/planning/stages.hpp"
#include "surrogates/sequence/network/network.hpp"
#include "surrogates/sequence/training/start_parameters.hpp"
#include "surrogates/sequence/training/training.hpp"
#include "tests/unit/sequence/network_cases.hpp"
#include "tests/unit/sequence/waves.hpp"

/// A network that ranks train together, whoever holds its arrays.
namespace quintet::sequence {
namespace {

/// 4 700 parameters: more than an item of a file holds.
Architecture network() {
  return test::network_of({{NodeKind::lstm, 24}, {NodeKind::lstm, 11}}, {{0, 2}}, Head::lstm, 2, 2, steps);
}

TrainingOptions options_of(std::int64_t epochs, Precision precision) {
  TrainingOptions options;
  options.epochs = epochs;
  options.batch = 16;
  options.learning_rate = 5e-3;
  options.weight_decay = 0.1;
  options.twin_biases = true;
  options.precision = precision;
  return options;
}

TrainingRanks ranks_of(int stage, Holder holder, OffloadKind kind = OffloadKind::none, bool delays = false) {
  TrainingRanks ranks{Comm::world()};
  ranks.parallel.holder = holder;
  ranks.parallel = ranks.parallel.at_stage(stage);
  ranks.offload.optimiser = kind;
  if (kind == OffloadKind::file) {
    ranks.offload.path = ".";
    ranks.offload.budget.host = 2e-6 * sizeof(float) *  // a quarter of the moments
                                graph_of(network()).n_parameters / 4;
  }
  if (delays) ranks.offload.delayed_update = DelayedUpdateOptions{2};
  return ranks;
}

/// 50 windows in batches of 16, 16, 16 and 2: of three ranks one has nothing of the last.
class Lesson {
 public:
  explicit Lesson(Precision precision, std::int64_t epochs = 3) : options(options_of(epochs, precision)) {}
  [[nodiscard]] Trainer trainer(const TrainingRanks& ranks) const {
    return {network(), steps, training_.data(), validation_.data(), options, 3, ranks};
  }
  [[nodiscard]] const SequenceData data() const { return training_.data(); }
  TrainingOptions options;

 private:
  Waves training_{50}, validation_{20, 50};
};

void finish(Trainer& trainer) {
  while (trainer.stopped() == Stopped::not_yet) trainer.advance();
}

/// Losses and arrays, to the bit; arrays are on rank 0.
void expect_same(const TrainingState& a, const TrainingState& b, const std::string& what) {
  EXPECT_EQ(a.arrays.values, b.arrays.values) << what;
  EXPECT_EQ(a.arrays.states, b.arrays.states) << what;
  EXPECT_EQ(a.arrays.pending.t, b.arrays.pending.t) << what;
  EXPECT_EQ(a.arrays.pending.gradient, b.arrays.pending.gradient) << what;
  EXPECT_EQ(a.best, b.best) << what;
  EXPECT_EQ(a.best_loss, b.best_loss) << what;
  ASSERT_EQ(a.history.size(), b.history.size()) << what;
  for (std::size_t i = 1; i < a.history.size(); ++i) {
    EXPECT_EQ(a.history[i].training, b.history[i].training) << what;
    EXPECT_EQ(a.history[i].validation, b.history[i].validation) << what;
  }
}

/// As a checkpoint gives it: to all ranks.
TrainingState everywhere(TrainingState state) {
  const Comm comm = Comm::world();
  const auto send = [&](std::vector<double>& values) {
    values.resize(graph_of(network()).n_parameters);
    comm.broadcast(std::span<double>(values));
  };
  send(state.arrays.values);
  for (auto& values : state.arrays.states) send(values);
  if (state.arrays.pending.t > 0) send(state.arrays.pending.gradient);
  send(state.best);
  return state;
}

const auto places = {
    std::tuple(0, Holder::node, OffloadKind::file), std::tuple(0, Holder::rank, OffloadKind::host),
    std::tuple(1, Holder::node, OffloadKind::none), std::tuple(1, Holder::rank, OffloadKind::file),
    std::tuple(2, Holder::node, OffloadKind::file), std::tuple(2, Holder::rank, OffloadKind::none)};

std::string text(const std::tuple<int, Holder, OffloadKind>& place) {
  const auto& [stage, holder, kind] = place;
  return fmt::format("stage {}, holder {}, offload {}", stage, static_cast<int>(holder),
                     static_cast<int>(kind));
}

TEST(TrainingRanks, stages_holders_and_files_change_no_bit) {
  for (const Precision precision : {Precision::float32, Precision::float64}) {
    const Lesson lesson(precision);
    auto plain = lesson.trainer(ranks_of(0, Holder::node));
    finish(plain);
    for (const auto& place : places) {
      const auto& [stage, holder, kind] = place;
      auto divided = lesson.trainer(ranks_of(stage, holder, kind));
      finish(divided);
      expect_same(divided.state(), plain.state(), text(place));
    }
  }
}

TEST(TrainingRanks, train_what_one_does_to_round_off) {
  for (const auto& [precision, tolerance] :
       {std::pair(Precision::float32, 1e-4), std::pair(Precision::float64, 1e-12)}) {
    const Lesson lesson(precision);
    auto alone = lesson.trainer({}), all = lesson.trainer(ranks_of(0, Holder::node));
    finish(alone), finish(all);
    const auto a = alone.result().history, b = all.result().history;
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (i > 0) {
        EXPECT_NEAR(b[i].training, a[i].training, tolerance * a[i].training);
      }
      EXPECT_NEAR(b[i].validation, a[i].validation, tolerance * a[i].validation);
    }
    if (Comm::world().size() == 1) expect_same(all.state(), alone.state(), "one rank");
  }
}

TEST(TrainingRanks, go_on_at_another_stage_and_place_to_the_bit) {
  for (const bool delays : {false, true}) {
    const Lesson lesson(Precision::float32, 4);
    const OffloadKind memory = delays ? OffloadKind::host : OffloadKind::none;
    auto whole = lesson.trainer(ranks_of(0, Holder::node, memory, delays));
    whole.advance(), whole.advance();
    const auto half = everywhere(whole.state());
    EXPECT_EQ(half.arrays.pending.t, delays ? 8 : 0);
    finish(whole);
    for (const auto& [stage, holder, kind] : places) {
      if (delays && kind == OffloadKind::none) continue;
      auto second = lesson.trainer(ranks_of(stage, holder, kind, delays));
      second.restore(half);
      finish(second);
      expect_same(second.state(), whole.state(), text({stage, holder, kind}));
    }
    auto forgetful = lesson.trainer(ranks_of(0, Holder::node));
    if (delays) {
      EXPECT_THROW(forgetful.restore(half), InputError);
    }
  }
}

/// The loop that is one step late, by hand, on one rank: w(t + 1) = w(t) - Adam(g(w(t - 1))).
TEST(TrainingRanks, delayed_is_the_serial_loop_that_is_one_step_late_to_the_bit) {
  const Lesson lesson(Precision::float32);
  auto ranks = ranks_of(0, Holder::node, OffloadKind::file, true);
  ranks.comm = Comm::self();
  ranks.offload.rank = Comm::world().rank();
  auto trainer = lesson.trainer(ranks);
  finish(trainer);

  const auto& options = lesson.options;
  const auto after = ranks.offload.delayed_update->after;
  const auto graph = graph_of(network());
  Network<float> passes(network(), steps);
  const auto start = start_parameters(graph, options.start, options.zero_head, 3);
  std::vector<float> weights(start.begin(), start.end()), first(start.size()), second(start.size());
  std::vector<float> gradient(start.size()), late;
  std::int64_t t = 0, late_t = 0;
  const auto update = [&](std::int64_t number, std::vector<float>& of) {
    const auto before = weights;
    optimiser_step<float>(optimiser_of(options), number, options.learning_rate,
                          {weights, of, {first, second}});
    const float keep = 1 - options.learning_rate * options.weight_decay;
    for (const auto& operation : graph.operations) {
      if (operation.kind != Operation::Kind::lstm) continue;
      const std::size_t end = operation.first + operation.n_parameters;
      for (std::size_t i = end - 4 * std::int64_t{operation.n_out}; i < end; ++i) {
        const float began = keep * before[i];
        weights[i] += weights[i] - began;
      }
    }
  };
  const auto data = lesson.data();
  for (int epoch = 1; epoch <= options.epochs; ++epoch) {
    std::vector<int> order(data.n);
    std::iota(order.begin(), order.end(), 0);
    for (int i = data.n - 1; i > 0; --i) {
      double u = 0, v = 0;
      uniform_pair(3, 0x5e02, i, epoch, u, v);
      std::swap(order[i], order[u * (i + 1)]);
    }
    for (int begin = 0; begin < data.n; begin += 16) {
      const int n = std::min(16, data.n - begin);
      std::vector<float> inputs, targets;
      for (int i = 0; i < n; ++i) {
        const std::size_t from = std::int64_t{order[begin + i]} * 2 * steps;
        for (std::size_t k = from; k < from + 2 * steps; ++k) {
          inputs.push_back(data.inputs[k]);
          targets.push_back(data.targets[k]);
        }
      }
      passes.refresh(weights.data());
      passes.loss_and_gradient(inputs.data(), targets.data(), n, gradient.data());
      ++t;
      if (late_t > 0) update(std::exchange(late_t, 0), late);
      if (t > after) {
        late = gradient, late_t = t;
        std::fill(gradient.begin(), gradient.end(), 0.0f);
      } else {
        update(t, gradient);
      }
    }
  }
  const auto state = trainer.state();
  EXPECT_EQ(state.arrays.values, std::vector<double>(weights.begin(), weights.end()));
  EXPECT_EQ(state.arrays.states[0], std::vector<double>(first.begin(), first.end()));
  EXPECT_EQ(state.arrays.pending.t, late_t);
  EXPECT_EQ(state.arrays.pending.gradient, std::vector<double>(late.begin(), late.end()));
  auto plain = lesson.trainer({});
  finish(plain);
  EXPECT_NE(plain.state().arrays.values, state.arrays.values);
}

TEST(TrainingRanks, a_loss_that_is_no_number_on_one_of_them_stops_all_with_the_weights_of_before) {
  for (const bool delays : {false, true}) {
    Waves training(16);
    training.targets[5] = 1e200;  // its square is none
    auto options = options_of(3, Precision::float64);
    Trainer trainer(network(), steps, training.data(), {}, options, 3,
                    ranks_of(2, Holder::rank, delays ? OffloadKind::host : OffloadKind::none, delays));
    const auto before = trainer.state();
    EXPECT_THROW(trainer.advance(), NumericalError);
    EXPECT_EQ(trainer.state().arrays.values, before.arrays.values);
  }
}

TEST(TrainingRanks, what_cannot_be_divided_is_refused) {
  const Lesson lesson(Precision::float32);
  auto three = ranks_of(3, Holder::rank);
  if (Comm::world().size() > 1) {
    EXPECT_THROW((void)lesson.trainer(three), InputError);
    auto few = lesson;
    few.options.batch = 1;
    EXPECT_THROW((void)few.trainer(ranks_of(0, Holder::node)), InputError);
  }
  auto full = ranks_of(1, Holder::rank, OffloadKind::host);
  full.offload.budget.host = 1e-3;
  EXPECT_THROW((void)lesson.trainer(full), ResourceError);
}

TEST(TrainingRanks, hold_and_send_what_plans_say) {
  const Comm comm = Comm::world();
  const Lesson lesson(Precision::float64, 1);
  for (const bool delays : {false, true})
    for (const auto& place : places) {
      const auto& [stage, holder, kind] = place;
      if (delays && kind == OffloadKind::none) continue;
      const auto ranks = ranks_of(stage, holder, kind, delays);
      auto trainer = lesson.trainer(ranks);
      planning::Division division{.units = {double(graph_of(network()).n_parameters)}, .bytes_per_number = 8};
      division.states_place = {.in_file = kind == OffloadKind::file, .delayed = delays};
      if (ranks.offload.budget.host) division.states_place.host = 1e6 * *ranks.offload.budget.host;
      const auto& row = planning::stages()[comm.size() == 1 ? 0 : static_cast<std::size_t>(stage)];
      const int per_holder = holder == Holder::node ? comm.node_size() : 1;
      const auto planned = planning::rank_bytes(division, row, comm.size(), per_holder);
      const auto account = trainer.account();
      const auto peak = [&](Tier tier, ByteCategory category) {
        return static_cast<double>(account.ledger.peak(tier, category));
      };
      EXPECT_EQ(peak(Tier::host, ByteCategory::parameters), planned.parameters) << text(place);
      EXPECT_EQ(peak(Tier::host, ByteCategory::gradients), planned.gradients) << text(place);
      EXPECT_EQ(peak(Tier::host, ByteCategory::optimiser), planned.optimiser) << text(place);
      EXPECT_EQ(peak(Tier::host, ByteCategory::staging), planned.staging) << text(place);
      EXPECT_EQ(peak(Tier::host, ByteCategory::workspace), planned.workspace) << text(place);
      EXPECT_EQ(peak(Tier::file, ByteCategory::optimiser), planned.file) << text(place);
      EXPECT_EQ(planned.file > 0, kind == OffloadKind::file);
      if (delays) continue;  // the last update's values are yet to be sent
      trainer.advance();     // four batches
      EXPECT_EQ(static_cast<double>(trainer.account().bytes_sent),
                4 * row.traffic(division, comm.size(), per_holder).bytes)
          << text(place);
    }
}

}  // namespace
}  // namespace quintet::sequence
