#include "surrogates/experts/network_router.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "io/config/schema.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/experts/router.hpp"
#include "tests/unit/experts/samples.hpp"

namespace quintet::experts {
namespace {

/// Who is best changes at a slanted line in log Ra and Pr, which no ranges can say.
RouterExamples slanted(unsigned seed, int n) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> log_ra(4, 8), pr(0.5, 2);
  RouterExamples examples{{"Ra", "Pr"}, {"a", "b"}, {}, {}};
  for (int i = 0; i < n; ++i) {
    const double x = log_ra(random), y = pr(random);
    examples.rows.insert(examples.rows.end(), {std::pow(10, x), y});
    examples.labels.push_back(x + 2 * y > 8.5 ? 1 : 0);
  }
  return examples;
}

TEST(NetworkRouter, gradient_is_that_of_differences) {
  const auto examples = slanted(1, 20);
  std::mt19937_64 random(2);
  std::normal_distribution<double> normal;
  NetworkRouter network{"app", examples.by, examples.ids, {true, false}, {13, 1}, {3, 0.5}, 4, {}};
  for (std::size_t i = 0; i < network.n_weights(); ++i) network.weights.push_back(normal(random));
  const auto gradient = loss_and_gradient(network, examples).second;
  for (std::size_t i = 0; i < network.weights.size(); ++i) {
    auto more = network, less = network;
    more.weights[i] += 1e-5, less.weights[i] -= 1e-5;
    const double difference =
        (loss_and_gradient(more, examples).first - loss_and_gradient(less, examples).first) / 2e-5;
    EXPECT_NEAR(gradient[i], difference, 1e-8);
  }
}

TEST(NetworkRouter, learns_what_ranges_cannot_say_and_is_the_same_each_time) {
  const auto examples = slanted(1, 150);
  const auto network = train_router("app", examples);
  EXPECT_GT(accuracy(network, examples), 0.98);
  EXPECT_GT(accuracy(network, slanted(2, 200)), 0.93);
  EXPECT_EQ(network.weights, train_router("app", examples).weights);
  EXPECT_EQ(network.logarithms, (std::vector<bool>{true, false}));
  const auto p = network.probabilities({{"Ra", 1e4}, {"Pr", 0.5}});
  EXPECT_NEAR(p[0] + p[1], 1, 1e-14);
}

TEST(NetworkRouter, refuses_examples_of_which_nothing_is_learnt) {
  EXPECT_THROW(static_cast<void>(train_router("app", {{"Ra"}, {"a", "b"}, {}, {}})), InputError);
  EXPECT_THROW(static_cast<void>(train_router("app", {{"Ra"}, {"a"}, {1}, {0}})), InputError);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(static_cast<void>(train_router("app", {{"Ra"}, {"a", "b"}, {1, nan}, {0, 1}})), InputError);
}

TEST(NetworkRouter, chooses_among_those_whose_range_holds_the_request) {
  const Scratch scratch("network_router");
  const auto path = scratch / "registry.h5", model = write_model(scratch, 1);
  for (const auto* id : {"a", "b", "c"}) {
    Expert expert;
    expert.id = id, expert.app = "meshfreeflow", expert.memory = 1;
    expert.range = {{"Ra", 1e4, 1e8, "1"}, {"Pr", 0.5, id[0] == 'c' ? 20.0 : 2.0, "1"}};
    add_expert(path, expert, model, false, maker());
  }
  RouterOptions options;
  options.kind = RouterKind::network;
  const auto read = [&] { return Registry::read(Comm::self(), path); };
  const auto bare = read();
  EXPECT_THROW(Router(bare, "meshfreeflow", options), InputError);
  const auto network = train_router("meshfreeflow", slanted(1, 150));
  write_router(path, network);
  const auto registry = read();
  ASSERT_TRUE(registry.router());
  EXPECT_EQ(registry.router()->weights, network.weights);
  EXPECT_EQ(registry.experts().size(), 3u);
  const Router router(registry, "meshfreeflow", options);
  const auto asked = [&](double ra, double pr) {
    const auto choice = router.choose({"run", {{"Ra", ra}, {"Pr", pr}}, {}});
    return registry.experts()[choice.expert].id;
  };
  EXPECT_EQ(asked(2e4, 0.6), "a");
  EXPECT_EQ(asked(5e7, 1.8), "b");
  EXPECT_THROW(static_cast<void>(asked(1e9, 1)), InputError);   // outside
  EXPECT_THROW(static_cast<void>(asked(1e6, 10)), InputError);  // c alone, whom the network does not know
  EXPECT_THROW(Router(registry, "dpmd", options), InputError);
}

TEST(NetworkRouter, one_that_makes_no_sense_is_refused_with_its_registry) {
  const auto with = [](const std::function<void(hdf5::Group&)>& change) {
    const Scratch scratch("bad_router");
    const auto path = scratch / "registry.h5";
    add_expert(path, water("a"), write_model(scratch, 1), false, maker());
    add_expert(path, water("b"), write_model(scratch, 2), false, maker());
    write_router(path, train_router("dpmd", {{"x"}, {"a", "b"}, {0, 1}, {0, 1}}));
    auto file = hdf5::File::open_for_update(Comm::self(), path);
    auto group = file.root().open_group("router");
    change(group);
    file.close();
    static_cast<void>(Registry::read(Comm::self(), path));
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  with([](auto&) {});
  EXPECT_THROW(with([](auto& r) { r.set_attribute("hidden", std::int64_t{1} << 40); }), InputError);
  EXPECT_THROW(with([](auto& r) { r.set_attribute("hidden", 3); }), InputError);
  EXPECT_THROW(with([](auto& r) { r.set_attribute("kind", "tree"); }), InputError);
  EXPECT_THROW(with([&](auto& r) { r.template write<double>("mean", std::vector<double>{nan}, {1}, {}); }),
               InputError);
  EXPECT_THROW(with([](auto& r) { r.template write<double>("scale", std::vector<double>{0}, {1}, {}); }),
               InputError);
}

}  // namespace
}  // namespace quintet::experts
