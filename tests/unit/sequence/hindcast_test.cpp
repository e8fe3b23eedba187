#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/sequence/hindcast/combine.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/sequence/hindcast_cases.hpp"

using namespace quintet;
using namespace quintet::sequence;

using namespace quintet::sequence::hindcasts;

TEST(hindcast, origins_cut_training_before_them_and_share_out_the_windows) {
  const auto series = sea();
  const auto origins = make_origins(series, from_1992(), shape, Irregular::avoid, 0);
  ASSERT_EQ(origins.size(), 8U);
  std::vector<int> last_seen;
  for (const auto& origin : origins) {
    EXPECT_EQ(ocean::date_of(origin.date).month, 1);
    EXPECT_LT(series.time[origin.training.end - 1], origin.date);
    EXPECT_GE(series.time[origin.training.end], origin.date);
    for (int w = 0; w < origin.windows.size(); ++w) {
      EXPECT_GE(origin.windows.dates_of(w)[0], origin.date);
      last_seen.push_back(origin.windows.origins[w]);
    }
  }
  for (std::size_t i = 1; i < last_seen.size(); ++i) EXPECT_EQ(last_seen[i], last_seen[i - 1] + 1);
  EXPECT_EQ(last_seen.back(), weeks - 1 - shape.out);
}

TEST(hindcast, origins_follow_the_modes_and_ten_years_unless_they_are_given) {
  const auto series = sea();
  OriginOptions options;
  EXPECT_EQ(ocean::date_text(make_origins(series, options, shape, Irregular::avoid, 0)[0].date),
            "1992-01-01");
  const double modes_until = ocean::day_of({1994, 6, 1});
  EXPECT_EQ(ocean::date_text(make_origins(series, options, shape, Irregular::avoid, modes_until)[0].date),
            "1995-01-01");
}

TEST(hindcast, origins_that_cannot_be_are_refused_with_the_remedy) {
  const auto series = sea();
  const auto refused = [&](OriginOptions options) {
    EXPECT_THROW(static_cast<void>(make_origins(series, options, shape, Irregular::avoid, 0)), InputError);
  };
  const auto fine = [&](OriginOptions options) {
    EXPECT_FALSE(make_origins(series, options, shape, Irregular::avoid, 0).empty());
  };
  OriginOptions options;
  options.from = "1986-10-01", refused(options);  // 4.9 years of training
  options.from = "1986-11-01", fine(options);     // 5.0
  options.from = "1999-02-01", refused(options);  // after the record
  options.from = "1992-01-01";
  options.warm_up = 8, refused(options);  // of eight origins
  options.warm_up = 7, fine(options);
  options.until = "1991-12-31", refused(options);
  options.until = "1994-12-31", options.warm_up = 2, fine(options);
  options.train_from = "2030-01-01", refused(options);
}

TEST(hindcast, no_method_sees_what_comes_after_its_windows) {
  const auto series = sea();
  const auto origins = make_origins(series, from_1992(), shape, Irregular::avoid, 0);
  for (const int row : {origins[3].training.end - 1, origins[3].training.end + 20}) {
    const auto all = make_methods(methods());
    EXPECT_EQ(changed_until(row, plain_hindcast(), hindcast(with_another_future(series, row), all)), 0);
  }
}

TEST(hindcast, networks_see_nothing_after_their_windows_however_often_they_are_trained) {
  const auto series = sea();
  const auto origins = make_origins(series, from_1992(), shape, Irregular::avoid, 0);
  for (const int every : {1, 3}) {
    const auto all = make_methods(with_networks(every));
    ASSERT_EQ(all.back().name, "networks");
    const auto done = hindcast(series, all);
    for (const int row : {origins[3].training.end - 1, origins[4].training.end - 1})
      EXPECT_EQ(changed_until(row, done, hindcast(with_another_future(series, row), all)), 0);
    // They are trained, and correct the base.
    EXPECT_NE(done[4].methods[1].mean, done[4].methods[0].mean);
  }
}

TEST(hindcast, networks_stay_from_a_training_to_the_next_and_their_base_does_not) {
  const auto series = sea();
  const auto correction = [&](const std::vector<OriginForecasts>& done, std::size_t i) {
    auto difference = done[i].methods[1].mean;
    for (std::size_t k = 0; k < difference.size(); ++k) difference[k] -= done[i].methods[0].mean[k];
    return difference;
  };
  const auto often = hindcast(series, make_methods(with_networks(1))),
             seldom = hindcast(series, make_methods(with_networks(3)));
  for (std::size_t i = 0; i < often.size(); ++i) {
    EXPECT_EQ(often[i].methods[0].mean, seldom[i].methods[0].mean);
    EXPECT_EQ(often[i].methods[1].mean == seldom[i].methods[1].mean, i % 3 == 0) << i;
  }
  // What was learned at origin 3 corrects alike at origin 5, whatever came between; the base does not.
  auto changed = series;
  const int row = make_origins(series, from_1992(), shape, Irregular::avoid, 0)[3].training.end;
  for (int t = row; t < row + 20; ++t) changed.row(t)[0] += 5;
  const auto other = hindcast(changed, make_methods(with_networks(3)));
  const auto mine = correction(seldom, 5), theirs = correction(other, 5);
  double most = 0;
  for (std::size_t k = 0; k < mine.size(); ++k) {
    EXPECT_NEAR(mine[k], theirs[k], 1e-9);
    most = std::max(most, std::abs(mine[k]));
  }
  EXPECT_GT(most, 1e-6);
  EXPECT_NE(seldom[5].methods[0].mean, other[5].methods[0].mean);
}

TEST(hindcast, networks_are_the_same_on_any_number_of_ranks_and_after_a_restart) {
  const auto series = sea();
  const auto make = [&](const Comm& comm) {
    return HindcastRun(comm, make_origins(series, from_1992(), shape, Irregular::avoid, 0),
                       make_methods(with_networks(3)), Irregular::avoid, {},
                       [&](const Origin&) { return measured(series); });
  };
  auto alone = make(Comm::self());
  while (!alone.finished()) alone.advance();
  const Scratch scratch("networks_hindcast");
  const auto path = Comm::world().broadcast(scratch / "state.h5");
  auto first = make(Comm::world());
  for (int i = 0; i < 5; ++i) first.advance();  // within the second training's origins
  {
    auto file = hdf5::File::create(Comm::world(), path);
    first.save(file.root());
    file.close();
  }
  auto second = make(Comm::world());
  second.restore(hdf5::File::open(Comm::world(), path).root());
  while (!second.finished()) second.advance();
  EXPECT_EQ(changed_until(weeks, alone.done(), second.done()), 0);
}

TEST(hindcast, networks_that_cannot_be_trained_end_nothing) {
  auto options = with_networks(2);
  options.networks->forecast.training.learning_rate = 1e30;
  options.networks->forecast.network.nodes = {"4"};
  const auto done = hindcast(sea(), make_methods(options), Comm::world());
  for (const auto& one : done) {
    EXPECT_TRUE(has_forecast(one, 0, 0));
    EXPECT_FALSE(has_forecast(one, 1, 0));
  }
}

TEST(hindcast, a_leak_would_be_seen) {
  const auto series = sea();
  const int row = make_origins(series, from_1992(), shape, Irregular::avoid, 0)[3].training.end - 1;
  // A climatology of the whole record, as careless evaluations have it.
  const auto leaky = [](const CoefficientSeries& whole) {
    return Method{"leaky", "", [&whole](const FitData&) -> Forecaster {
                    return [&whole](const CoefficientSeries&, const Windows& windows) {
                      const Climatology climatology(whole, {0, whole.n_times()}, {.valid_years = 50});
                      Predictive result{std::vector<double>(windows.dates.size() * whole.n_modes),
                                        std::vector<double>(windows.dates.size() * 4, 1.0)};
                      for (std::size_t i = 0; i < windows.dates.size(); ++i)
                        climatology.evaluate(windows.dates[i], result.mean.data() + i * whole.n_modes);
                      return result;
                    };
                  }};
  };
  const auto other = with_another_future(series, row);
  EXPECT_GT(changed_until(row, hindcast(series, {leaky(series)}), hindcast(other, {leaky(other)})), 100);
}

TEST(hindcast, what_is_learned_comes_from_before_the_origin) {
  const auto series = sea();
  const int row = make_origins(series, from_1992(), shape, Irregular::avoid, 0)[5].training.end - 1;
  const auto learned = [](std::vector<OriginForecasts> origins) {
    Hindcasts all{{}, std::move(origins)};
    for (const auto& method : make_methods(methods())) all.names.push_back(method.name);
    for (int k = 0; k < 7; ++k) calibrate(all, k, 100);
    add_mixture(all, "mixture", {2, 3, 5}, 0.1, 100);
    add_earned(all, "earned", 3, 1, 26);
    return all.origins;
  };
  const auto a = learned(plain_hindcast()),
             b = learned(hindcast(with_another_future(series, row), make_methods(methods())));
  EXPECT_EQ(changed_until(row, a, b), 0);
  EXPECT_GT(changed_until(weeks, a, b), 0);
}

TEST(hindcast, is_the_same_on_any_number_of_ranks_and_after_a_restart) {
  const auto series = sea();
  const auto& alone = plain_hindcast();
  const auto shared = hindcast(series, make_methods(methods()), Comm::world());
  EXPECT_EQ(changed_until(weeks, alone, shared), 0);

  const auto make = [&] {
    return HindcastRun(Comm::world(), make_origins(series, from_1992(), shape, Irregular::avoid, 0),
                       make_methods(methods()), Irregular::avoid, {},
                       [&](const Origin&) { return measured(series); });
  };
  const Scratch scratch("hindcast");
  const auto path = Comm::world().broadcast(scratch / "state.h5");
  auto first = make();
  for (int i = 0; i < 3; ++i) first.advance();
  {
    auto file = hdf5::File::create(Comm::world(), path);
    first.save(file.root());
    file.close();
  }
  auto second = make();
  second.restore(hdf5::File::open(Comm::world(), path).root());
  EXPECT_EQ(second.step(), 3);
  while (!second.finished()) second.advance();
  EXPECT_EQ(changed_until(weeks, alone, second.done()), 0);
  for (std::size_t i = 0; i < alone.size(); ++i) {
    EXPECT_EQ(alone[i].truth, second.done()[i].truth);
    EXPECT_EQ(alone[i].normal, second.done()[i].normal);
    EXPECT_EQ(alone[i].indices, second.done()[i].indices);
  }
  auto fewer = methods();
  fewer.names.pop_back();
  HindcastRun other(Comm::world(), make_origins(series, from_1992(), shape, Irregular::avoid, 0),
                    make_methods(fewer), Irregular::avoid, {},
                    [&](const Origin&) { return measured(series); });
  EXPECT_THROW(other.restore(hdf5::File::open(Comm::world(), path).root()), InputError);
}

TEST(hindcast, a_method_that_cannot_be_fitted_ends_nothing) {
  auto options = methods();
  options.names = {"climatology", "analogues"};
  options.analogues.neighbours = 5000;
  const auto done = hindcast(sea(), make_methods(options));
  EXPECT_FALSE(std::isnan(done[0].methods[0].mean[0]));
  for (const auto& one : done)
    for (const double value : one.methods[1].mean) EXPECT_TRUE(std::isnan(value));
}
