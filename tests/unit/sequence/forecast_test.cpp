#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>

#include "io/log/error.hpp"
#include "surrogates/sequence/forecast/forecast_file.hpp"
#include "surrogates/sequence/forecast/quantised_forecast.hpp"
#include "surrogates/sequence/forecast/train_forecast.hpp"
#include "surrogates/sequence/forecast/validity.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/sequence/series_cases.hpp"

using namespace quintet;
using namespace quintet::sequence;

namespace {

/// A seasonal cycle and anomalies of two modes; the second is driven by the square of the first, which
/// nothing linear sees.
CoefficientSeries curved(int n) {
  Deviates deviate(29);
  double x = 0, y = 0;
  return series_of(n, 2, ocean::day_of({1981, 10, 29}), 7, [&](double day, int m) {
    if (m == 0) {
      const double driven = 0.8 * y + 0.4 * (x * x - 1);
      x = 0.8 * x + 0.6 * deviate();
      y = driven + 0.1 * deviate();
    }
    return 10 * std::cos(2 * std::numbers::pi * day / 365.2425) + (m == 0 ? x : y);
  });
}

SplitOptions split_options() {
  SplitOptions options;
  options.train_until = "1999-12-31", options.validation_until = "2004-12-31",
  options.test_until = "2009-06-30";
  return options;
}

ForecastOptions quick() {
  ForecastOptions options;
  options.base = Reference::damped_persistence;
  options.members = 3;
  options.network.nodes = {"8"};
  options.training.epochs = 6;
  options.training.learning_rate = 3e-3;
  options.training.weight_decay = 0;
  return options;
}

struct Case {
  CoefficientSeries series = curved(1500);
  Split split = make_split(series, {8, 4}, split_options());
  TrainedForecast trained;
  explicit Case(const ForecastOptions& options = quick(), const Comm& comm = Comm::self())
      : trained(train_forecast(comm, series, split, Irregular::avoid, options, {})) {}
};

double mse(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum / a.size();
}

ocean::OceanModes modes_of(const CoefficientSeries& series) {
  ocean::OceanModes modes;
  modes.series = series;
  modes.singular_values.assign(series.n_modes, 1.0);
  modes.n_fit = 400;
  return modes;
}

template <class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST(forecast, without_networks_is_the_base) {
  auto options = quick();
  options.members = 0;
  const Case c(options);
  const auto ensemble = forecast(c.trained.model, c.series, c.split.test);
  EXPECT_EQ(ensemble.mean, c.trained.model.base.forecast(c.series, c.split.test));
  EXPECT_EQ(ensemble.members.size(), 1U);
}

TEST(forecast, networks_see_what_is_curved_and_their_mean_is_better_than_each) {
  auto options = quick();
  options.training.epochs = 60;
  const Case c(options);
  const auto truth = targets(c.series, c.split.test);
  const auto ensemble = forecast(c.trained.model, c.series, c.split.test);
  const double base = mse(c.trained.model.base.forecast(c.series, c.split.test), truth),
               ours = mse(ensemble.mean, truth);
  EXPECT_LT(ours, 0.93 * base);
  double members = 0;
  for (const auto& member : ensemble.members) members += mse(member, truth) / 3;
  EXPECT_LT(ours, members);
  // The mean over members of their errors' squares is that of the mean plus their spread.
  double spread = 0;
  for (const double s : ensemble.spread) spread += s * s * 2 / 3 / truth.size();
  EXPECT_NEAR(members, ours + spread, 1e-10);
}

TEST(forecast, validation_never_prefers_a_correction_that_is_worse_than_none) {
  auto options = quick();
  options.training.learning_rate = 3;  // far too large
  const Case c(options);
  const auto truth = targets(c.series, c.split.validation);
  const double base = mse(c.trained.model.base.forecast(c.series, c.split.validation), truth);
  for (const auto& member : forecast(c.trained.model, c.series, c.split.validation).members)
    EXPECT_LE(mse(member, truth), base * (1 + 1e-6));
}

TEST(forecast, ranks_train_the_same_networks_to_the_bit) {
  const Case alone(quick(), Comm::self()), shared(quick(), Comm::world());
  EXPECT_EQ(alone.trained.model.members, shared.trained.model.members);
  for (int k = 0; k < 3; ++k)
    EXPECT_EQ(alone.trained.history[k].epochs.size(), shared.trained.history[k].epochs.size());
  EXPECT_NE(alone.trained.model.members[0], alone.trained.model.members[1]);
}

TEST(forecast, ranks_send_what_a_plan_says) {
  const Comm comm = Comm::world();
  const auto series = curved(600);
  SplitOptions periods;
  periods.train_until = "1990-12-31", periods.validation_until = "1992-12-31";
  auto options = quick();
  options.members = 5;
  ForecastTraining training(comm, series, make_split(series, {8, 4}, periods), Irregular::avoid, options, {});
  comm.reset_counters();

  while (!training.finished()) training.advance();

  const auto needs = ensemble_needs(options.members, comm.size());
  const auto& sums = comm.counter(Comm::Call::reduce);
  EXPECT_EQ(needs.networks, comm.size() == 1 ? 5 : comm.size() == 2 ? 3 : 2);
  EXPECT_EQ(static_cast<double>(sums.messages), needs.sums * options.training.epochs);
  EXPECT_EQ(static_cast<double>(sums.bytes), needs.bytes_summed * options.training.epochs);
  EXPECT_EQ(comm.counter(Comm::Call::point_to_point).messages, 0);
}

/// All ranks train each network together.
TEST(forecast, a_team_sends_what_a_plan_says_and_goes_on_as_single_ranks_to_round_off) {
  const auto comm = Comm::world();
  const Scratch scratch("forecast");
  auto options = quick();
  options.members = 2;
  const Case c(options, comm);
  const auto training_of = [&](const ParallelOptions& parallel) {
    return ForecastTraining(comm, make_training_set(c.series, c.split, Irregular::avoid, options, {}),
                            options, parallel);
  };
  ParallelOptions sharded;
  sharded.holder = Holder::rank;
  auto team = training_of(ParallelOptions{}), divided = training_of(sharded.at_stage(1));
  comm.reset_counters();
  const std::int64_t some = options.training.epochs - 1;  // the second network has not begun
  while (team.step() < some) team.advance();
  const auto windows = team.set().n_training;
  const auto batch = std::min<std::int64_t>(options.training.batch, windows);
  const auto needs = team_needs(1, comm.size(), (windows + batch - 1) / batch);
  const auto& sums = comm.counter(Comm::Call::reduce);
  EXPECT_EQ(static_cast<double>(sums.messages), needs.sums * some);
  EXPECT_EQ(static_cast<double>(sums.bytes), needs.bytes_summed * some);
  const auto path = comm.broadcast(scratch / "state.h5");
  auto file = hdf5::File::create(comm, path);
  team.save(file.root());
  file.close();
  while (!team.finished()) team.advance();
  while (!divided.finished()) divided.advance();
  EXPECT_EQ(divided.result().model.members, team.result().model.members);
  EXPECT_EQ(team.step(), options.members * options.training.epochs);

  auto alone = training_of(ForecastTraining::by_members);
  alone.restore(hdf5::File::open(comm, path).root());
  while (!alone.finished()) alone.advance();
  for (const auto& other : {alone.result(), c.trained})
    for (int k = 0; k < options.members; ++k)
      for (std::size_t i = 0; i < other.model.members[k].size(); ++i)
        ASSERT_NEAR(other.model.members[k][i], team.result().model.members[k][i], 1e-3);
}

TEST(forecast, a_restart_at_any_step_is_the_uninterrupted_training) {
  const auto comm = Comm::world();
  const Scratch scratch("forecast");
  auto options = quick();
  options.training.patience = 2;  // networks end at epochs of their own
  const Case c(options, comm);
  const auto training_of = [&] {
    return ForecastTraining(comm, c.series, c.split, Irregular::avoid, options, {});
  };
  auto whole = training_of();
  while (!whole.finished()) whole.advance();
  for (std::int64_t stop = 0; stop <= whole.step(); stop += 3) {
    auto first = training_of();
    while (first.step() < stop) first.advance();
    const auto path = comm.broadcast(scratch / "state.h5");
    auto file = hdf5::File::create(comm, path);
    first.save(file.root());
    file.close();
    auto second = training_of();
    second.restore(hdf5::File::open(comm, path).root());
    EXPECT_EQ(second.step(), stop);
    while (!second.finished()) second.advance();
    EXPECT_EQ(second.step(), whole.step());
    EXPECT_EQ(second.result().model.members, c.trained.model.members) << stop;
    for (int k = 0; k < 3; ++k)
      EXPECT_EQ(second.result().history[k].best_epoch, c.trained.history[k].best_epoch);
  }
}

TEST(forecast, reads_nothing_after_the_origin) {
  const Case c;
  auto changed = c.series;
  for (int t = 1400; t < 1500; ++t) changed.row(t)[0] += 50;
  const auto window = window_at(c.series, {8, 4}, 1399, Irregular::avoid);
  EXPECT_EQ(forecast(c.trained.model, c.series, window).mean,
            forecast(c.trained.model, changed, window).mean);
}

TEST(forecast, raw_networks_see_numbers_between_0_and_1_and_no_season) {
  auto options = quick();
  options.kind = ForecastKind::raw;
  const Case c(options);
  const auto inputs = network_inputs(c.trained.model, c.series, c.split.train);
  EXPECT_EQ(inputs.size(), static_cast<std::size_t>(c.split.train.size()) * 8 * 2);
  EXPECT_GE(*std::min_element(inputs.begin(), inputs.end()), 0);
  EXPECT_LE(*std::max_element(inputs.begin(), inputs.end()), 1);
}

TEST(forecast, products_of_errors_are_those_of_each_lead) {
  // Two windows, two leads, two modes; errors 1 2, 3 4 and 5 6, 7 8.
  const std::vector<double> zero(8, 0.0), e = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(error_products(zero, e, 2, 2),
            (std::vector<double>{(1 + 25) / 2.0, (2 + 30) / 2.0, (2 + 30) / 2.0, (4 + 36) / 2.0,
                                 (9 + 49) / 2.0, (12 + 56) / 2.0, (12 + 56) / 2.0, (16 + 64) / 2.0}));
}

TEST(forecast_file, gives_back_the_forecasts_to_the_bit) {
  const auto comm = Comm::world();
  const Scratch scratch("forecast");
  for (const bool raw : {false, true}) {
    auto options = quick();
    options.members = 2;
    options.base = Reference::seasonal_ridge;
    if (raw) {
      options.kind = ForecastKind::raw, static_cast<ArchitectureOptions&>(options.network) = {
                                            {"8", "identity", "dense 4"}, {"0->2"}, Head::last_state};
      options.training.zero_head = false;
    }
    Case c(options);
    c.trained.model.modes = "0123";
    if (raw) c.trained.model.leaks = {"leak"};
    if (raw) c.trained.model.validation_errors.assign(4 * 2 * 2, 0.25);
    const auto path = comm.broadcast(scratch / "model.h5");
    write_forecast_model(comm, path, c.trained.model, hdf5::current_provenance());
    const auto read = read_forecast_model(comm, path);
    EXPECT_EQ(forecast(read, c.series, c.split.test).mean,
              forecast(c.trained.model, c.series, c.split.test).mean);
    EXPECT_EQ(read.leaks, c.trained.model.leaks);
    EXPECT_EQ(read.validation_errors, c.trained.model.validation_errors);
    EXPECT_EQ(read.modes, "0123");
    EXPECT_EQ(read.step, c.trained.model.step);
    EXPECT_EQ(read.trained_until, c.trained.model.trained_until);
    EXPECT_EQ(read.base.climatology.valid_until(), c.trained.model.base.climatology.valid_until());
  }
}

TEST(forecast_file, holds_networks_of_codes_in_their_bits) {
  const Case c;
  const QuantiseOptions options{{2, 8, 4}, CodeKernel::tables};
  const auto model = quantised(c.trained.model, options);
  // LSTM(8) of 4 inputs and a head from its state to 4 x 2: rows, inputs.
  std::size_t bytes = 4 * (4 * 8 + 8);
  for (const auto& [rows, inputs] : {std::pair{32, 4}, {32, 8}, {8, 8}})
    bytes += 2U * (rows * ((inputs + 7) / 8 + 4 * ((inputs + 7) / 8)));
  EXPECT_EQ(bytes_of_weights(model), 3 * bytes);
  const Scratch scratch("forecast_codes");
  write_forecast_model(Comm::self(), scratch / "model.h5", model, {});
  auto read = read_forecast_model(Comm::self(), scratch / "model.h5");
  read.kernel = CodeKernel::tables;
  EXPECT_EQ(forecast(read, c.series, c.split.test).mean, forecast(model, c.series, c.split.test).mean);
  EXPECT_NE(forecast(model, c.series, c.split.test).mean,
            forecast(c.trained.model, c.series, c.split.test).mean);
  EXPECT_NE(message_of([&] { (void)quantised(read, options); }).find("binary codes already"),
            std::string::npos);
  auto base_alone = c.trained.model;
  base_alone.members.clear();
  EXPECT_NE(message_of([&] { (void)quantised(base_alone, options); }).find("its base alone"),
            std::string::npos);
}

TEST(forecast_file, notices_a_byte_that_changed) {
  const Scratch scratch("forecast_sealed");
  const Case c;
  const std::string path = scratch / "model.h5";
  write_forecast_model(Comm::self(), path, c.trained.model, {});
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const std::streamoff size = std::filesystem::file_size(path);
  for (std::streamoff at = 7; at < size; at += 1 + size / 23) {
    const auto change = [&] {
      file.seekg(at);
      const char byte = file.get() ^ 4;
      file.seekp(at);
      file.put(byte);
      file.flush();
    };
    change();
    EXPECT_NE(message_of([&] { static_cast<void>(read_forecast_model(Comm::self(), path)); }).find("corrupt"),
              std::string::npos)
        << at;
    change();
  }
  EXPECT_EQ(read_forecast_model(Comm::self(), path).members, c.trained.model.members);
}

TEST(forecast_file, refuses_what_does_not_fit_together) {
  const auto comm = Comm::world();
  const Scratch scratch("forecast");
  const auto path = comm.broadcast(scratch / "model.h5");
  auto options = quick();
  options.members = 1, options.training.epochs = 1;
  const Case c(options);
  const auto spoil = [&](const auto& change) {
    write_forecast_model(comm, path, c.trained.model, hdf5::current_provenance());
    auto file = hdf5::File::open_for_update(comm, path);
    change(file.root());
    file.close();
    return message_of([&] { static_cast<void>(read_forecast_model(comm, path)); });
  };
  EXPECT_EQ(spoil([](hdf5::Group&) {}), "");
  EXPECT_NE(spoil([](hdf5::Group& root) { root.set_attribute("window_out", 5); }), "");
  EXPECT_NE(spoil([](hdf5::Group& root) { root.set_attribute("window_in", -1); }), "");
  EXPECT_NE(spoil([](hdf5::Group& root) { root.set_attribute("members", 2); }), "");
  EXPECT_NE(spoil([](hdf5::Group& root) { root.set_attribute("nodes", std::vector<std::string>{"9"}); }), "");
  EXPECT_NE(spoil([](hdf5::Group& root) { root.set_attribute("head", "tail"); }).find("'tail'"),
            std::string::npos);
  EXPECT_NE(spoil([](hdf5::Group& root) {
              root.write<double>("base_offset", std::vector<double>(8, std::nan("")), {4, 2}, {});
            }).find("not finite"),
            std::string::npos);
  EXPECT_NE(spoil([](hdf5::Group& root) { root.set_attribute("schema", "quintet.ocean_modes"); }), "");
}

TEST(forecast_file, refuses_more_features_than_an_int_counts) {
  const auto comm = Comm::world();
  const Scratch scratch("forecast");
  const auto path = comm.broadcast(scratch / "model.h5");
  constexpr int n_modes = 4096;  // times 2^20 lags is 2^32
  ForecastModel model;
  model.shape = {1, 1};
  model.base.climatology = Climatology(n_modes);
  model.base.out = 1;
  model.base.features.lags = 0;
  model.base.offset.assign(n_modes, 0.0);
  model.input = model.output = {std::vector<double>(n_modes, 0.0), std::vector<double>(n_modes, 1.0)};
  model.architecture = make_architecture({{}, {}, Head::last_state}, n_modes, n_modes, 1);
  write_forecast_model(comm, path, model, hdf5::current_provenance());
  EXPECT_EQ(read_forecast_model(comm, path).n_modes(), n_modes);
  {
    auto file = hdf5::File::open_for_update(comm, path);
    file.root().set_attribute("base_lags", 1 << 20);
    file.close();
  }
  EXPECT_NE(message_of([&] { static_cast<void>(read_forecast_model(comm, path)); }).find("linear base"),
            std::string::npos);
}

TEST(validity, other_modes_steps_and_periods_are_refused_and_new_weeks_are_not) {
  Case c;
  auto modes = modes_of(c.series);
  auto& model = c.trained.model;
  model.modes = fingerprint(modes, c.split.constants);
  check_valid(model, modes);
  auto longer = modes;
  longer.series = curved(1520);
  check_valid(model, longer);

  auto other = modes;
  other.series.row(3)[0] += 1e-6;
  EXPECT_NE(message_of([&] { check_valid(model, other); }).find("other modes"), std::string::npos);
  other = modes;
  other.mask = {1, 0};
  EXPECT_NE(message_of([&] { check_valid(model, other); }).find("other modes"), std::string::npos);
  other = modes;
  for (auto& day : other.series.time) day += 1;
  EXPECT_NE(message_of([&] { check_valid(model, other); }).find("lacks these dates"), std::string::npos);
  other = modes;
  for (int t = 0; t < other.series.n_times(); ++t) other.series.time[t] = other.series.time[0] + 30 * t;
  EXPECT_NE(message_of([&] { check_valid(model, other); }).find("steps of 30 days"), std::string::npos);
  other.series.n_modes = 1;
  EXPECT_NE(message_of([&] { check_valid(model, other); }).find("2 modes"), std::string::npos);
}

TEST(validity, what_leaks_is_named) {
  Case c;
  auto modes = modes_of(c.series);
  const auto& model = c.trained.model;
  EXPECT_TRUE(leaks_of(model, modes, c.split.test).empty());
  EXPECT_NE(leaks_of(model, modes, c.split.train).at(0).find("was trained on"), std::string::npos);
  EXPECT_NE(leaks_of(model, modes, c.split.validation).at(0).find("validation period"), std::string::npos);
  EXPECT_TRUE(leaks_of(model, modes, c.split.validation, Purpose::validation).empty());
  modes.n_fit = modes.series.n_times();
  EXPECT_NE(leaks_of(model, modes, c.split.test).at(0).find("modes and mean"), std::string::npos);
}

TEST(validity, forecasts_beyond_the_climatology_are_refused) {
  Case c;
  auto far = c.series;
  for (int t = 1400; t < 1500; ++t) far.time[t] += 3000;
  const auto window = window_at(far, {8, 4}, 1450, Irregular::cross);
  EXPECT_NE(message_of([&] {
              static_cast<void>(forecast(c.trained.model, far, window));
            }).find("beyond the climatology's validity"),
            std::string::npos);
}
