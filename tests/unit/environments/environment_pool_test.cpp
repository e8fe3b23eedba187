#include "surrogates/environments/environment_pool.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <utility>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "tests/support/cart_pole.hpp"

namespace quintet::environments {
namespace {

std::vector<std::unique_ptr<Environment>> cart_poles(int n) {
  std::vector<std::unique_ptr<Environment>> worlds;
  for (int i = 0; i < n; ++i) worlds.push_back(std::make_unique<CartPole>());
  return worlds;
}

/// All that a row of a batch says.
struct Row {
  int id = 0;
  std::vector<float> observation;
  float reward = 0;
  int terminated = 0, truncated = 0, length = 0;
  double total = 0;
  bool operator==(const Row&) const = default;
};

Row row_of(const Batch& batch, std::size_t k) {
  const auto o = batch.observations.size() / batch.ids.size();
  const auto seen = batch.observations.subspan(k * o, o);
  return {batch.ids[k],       {seen.begin(), seen.end()}, batch.reward[k],        batch.terminated[k],
          batch.truncated[k], batch.episode_length[k],    batch.episode_return[k]};
}

/// Pushes to where the pole leans, whatever its speed, now and then to the other side: it falls after some
/// tens of steps, sooner or later.
float push(const Row& row, std::size_t turn) {
  const bool right = row.observation[2] > 0;
  return right != ((turn + row.id) % 7 == 0) ? 1.0F : 0.0F;
}

std::vector<Row> synchronous_run(int threads, int n, int turns) {
  EnvironmentPool pool(cart_poles(n), {n, threads, 7});
  pool.start();
  std::vector<Row> rows;
  for (int turn = 0; turn < turns; ++turn) {
    const Batch batch = pool.receive();
    std::vector<float> actions;
    std::vector<int> ids;
    for (std::size_t k = 0; k < batch.ids.size(); ++k) {
      rows.push_back(row_of(batch, k));
      actions.push_back(push(rows.back(), turn));
      ids.push_back(batch.ids[k]);
    }
    pool.send(actions, ids);
  }
  return rows;
}

TEST(EnvironmentPool, synchronous_batches_do_not_depend_on_threads) {
  const auto one = synchronous_run(1, 37, 300);
  EXPECT_EQ(one, synchronous_run(2, 37, 300));
  EXPECT_EQ(one, synchronous_run(5, 37, 300));
  int ends = 0;
  for (const auto& row : one) ends += row.terminated;
  EXPECT_GT(ends, 100);  // resets are part of it
}

TEST(EnvironmentPool, rows_of_a_synchronous_pool_are_in_the_order_of_sending) {
  EnvironmentPool pool(cart_poles(4), {4, 2, 1});
  const std::vector<int> order{2, 0, 3, 1};
  for (int turn = 0; turn < 20; ++turn) {
    pool.send(std::array<float, 2>{0, 1}, std::span(order).first(2));
    pool.send(std::array<float, 2>{1, 0}, std::span(order).subspan(2));
    const Batch batch = pool.receive();
    EXPECT_EQ(std::vector<int>(batch.ids.begin(), batch.ids.end()), order);
  }
}

TEST(EnvironmentPool, what_the_first_of_n_give_is_replayed_by_a_plain_loop) {
  constexpr int n = 23, m = 5;
  std::vector<std::vector<std::pair<float, Row>>> told(n);  // action and what came of it, by environment
  EnvironmentPool pool(cart_poles(n), {m, 3, 11});
  pool.start();
  std::vector<float> last(n, 0.0F);
  for (std::size_t turn = 0; turn < 2000; ++turn) {
    const Batch batch = pool.receive();
    std::vector<float> actions;
    const std::vector<int> ids(batch.ids.begin(), batch.ids.end());
    for (std::size_t k = 0; k < ids.size(); ++k) {
      const Row row = row_of(batch, k);
      const std::size_t id = row.id;
      told[id].emplace_back(last[id], row);
      last[id] = push(row, turn);
      actions.push_back(last[id]);
    }
    pool.send(actions, ids);
  }
  std::size_t rows = 0;
  for (int id = 0; id < n; ++id) {
    CartPole world;
    Outcome outcome{0, true, false};
    Row now{id, std::vector<float>(4)};
    std::int64_t episode = -1;
    for (const auto& [action, row] : told[id]) {
      if (outcome.done()) {
        world.reset({11, id, ++episode});
        outcome = {};
        now.length = 0, now.total = 0;
      } else {
        outcome = world.step(std::array<float, 1>{action});
        ++now.length, now.total += outcome.reward;
      }
      world.observe(now.observation);
      now.reward = outcome.reward;
      now.terminated = outcome.terminated ? 1 : 0, now.truncated = outcome.truncated ? 1 : 0;
      ASSERT_EQ(row, now) << "environment " << id;
      ++rows;
    }
    EXPECT_GT(episode, 0);
  }
  EXPECT_EQ(rows, 2000U * m);
}

/// Takes as long as its number says, or throws.
struct Worker : Environment {
  int n_observed() const override { return 1; }
  int n_actions() const override { return 1; }
  void reset(const EpisodeKey& key) override { id = key.environment; }
  Outcome step(std::span<const float> action) override {
    if (action[0] < 0) throw std::runtime_error("environment " + std::to_string(id) + " broke");
    std::this_thread::sleep_for(std::chrono::milliseconds(static_cast<int>(action[0])));
    return {1, false, false};
  }
  void observe(std::span<float> observation) const override { observation[0] = id; }
  int id = -1;
};

std::vector<std::unique_ptr<Environment>> workers(int n) {
  std::vector<std::unique_ptr<Environment>> worlds;
  for (int i = 0; i < n; ++i) worlds.push_back(std::make_unique<Worker>());
  return worlds;
}

TEST(EnvironmentPool, does_not_wait_for_the_slowest) {
  EnvironmentPool pool(workers(3), {2, 2, 0});
  pool.send(std::array<float, 2>{0, 0}, std::array<int, 2>{0, 1});
  (void)pool.receive();
  pool.send(std::array<float, 3>{2000, 0, 0}, std::array<int, 3>{0, 1, 2});
  const Batch batch = pool.receive();
  EXPECT_EQ(batch.ids[0] + batch.ids[1], 3);  // 1 and 2, while 0 sleeps
  EXPECT_EQ(batch.observations[0], static_cast<float>(batch.ids[0]));
}

TEST(EnvironmentPool, does_not_wait_for_the_slowest_of_many) {
  constexpr int n = 64, m = 60;
  EnvironmentPool pool(workers(n), {m, 2, 0});
  pool.start();
  const auto first = pool.receive().ids;
  const std::vector<int> ids(first.begin(), first.end());
  std::vector<float> actions(ids.size(), 0.0F);
  actions[10] = 1000;  // in the midst of others
  pool.send(actions, ids);
  for (const int id : pool.receive().ids) EXPECT_NE(id, ids[10]);
}

TEST(EnvironmentPool, an_error_of_an_environment_reaches_the_caller) {
  for (const int batch : {3, 1}) {
    EnvironmentPool pool(workers(3), {batch, 2, 0});
    pool.start();
    for (int k = 0; k < 3 / batch; ++k) (void)pool.receive();
    pool.send(std::array<float, 1>{-1}, std::array<int, 1>{1});
    if (batch == 3) pool.send(std::array<float, 2>{0, 0}, std::array<int, 2>{0, 2});
    try {
      (void)pool.receive();
      FAIL() << "no error";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "environment 1 broke");
    }
    EXPECT_THROW((void)pool.send(std::array<float, 0>{}, std::array<int, 0>{}), std::runtime_error);
  }
}

TEST(EnvironmentPool, refuses_what_cannot_be_and_sends_nothing_then) {
  EnvironmentPool pool(cart_poles(3), {3, 1, 0});
  const std::array<float, 2> two{};
  EXPECT_THROW(pool.send(two, std::array<int, 2>{0, 3}), InputError);
  EXPECT_THROW(pool.send(two, std::array<int, 2>{-1, 0}), InputError);
  EXPECT_THROW(pool.send(two, std::array<int, 2>{1, 1}), InputError);
  EXPECT_THROW(pool.send(two, std::array<int, 1>{1}), InputError);
  EXPECT_THROW((void)pool.receive(), InputError);
  pool.start();  // none of those above is under way
  EXPECT_THROW(pool.start(), InputError);
  EXPECT_THROW(pool.send(std::array<float, 1>{}, std::array<int, 1>{2}), InputError);
  EXPECT_EQ(pool.receive().ids.size(), 3U);
  EXPECT_THROW(EnvironmentPool({}, {1, 1, 0}), InputError);
  EXPECT_THROW(EnvironmentPool(cart_poles(2), {3, 1, 0}), InputError);
  EXPECT_THROW(EnvironmentPool(cart_poles(2), {0, 1, 0}), InputError);
  EXPECT_THROW(EnvironmentPool(cart_poles(2), {1, 0, 0}), InputError);
}

/// Knows how many there are, and how many are being stepped.
struct Counted : CartPole {
  Counted() { ++n_alive; }
  ~Counted() override {
    if (is_stepped) ++n_gone_in_a_step;
    --n_alive;
  }
  void reset(const EpisodeKey& key) override {
    is_stepped = true;
    CartPole::reset(key);
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    is_stepped = false;
  }
  std::atomic<bool> is_stepped = false;
  static inline std::atomic<int> n_alive = 0, n_gone_in_a_step = 0;
};

int threads_of_this_process() {
  const std::filesystem::directory_iterator threads("/proc/self/task");
  return std::distance(begin(threads), end(threads));
}

TEST(EnvironmentPool, ends_while_environments_are_under_way_with_its_threads_and_no_step_cut_short) {
  const int n_threads = threads_of_this_process();
  for (int k = 0; k < 50; ++k) {
    std::vector<std::unique_ptr<Environment>> worlds;
    for (int i = 0; i < 16; ++i) worlds.push_back(std::make_unique<Counted>());
    EnvironmentPool pool(std::move(worlds), {4, 3, 0});
    pool.start();
    if (k % 2 == 0) (void)pool.receive();
    EXPECT_EQ(Counted::n_alive, 16);
  }
  EXPECT_EQ(Counted::n_alive, 0);
  EXPECT_EQ(Counted::n_gone_in_a_step, 0);
  // A thread that was joined may be listed a little longer.
  for (int wait = 0; wait < 1000 && threads_of_this_process() > n_threads; ++wait)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_EQ(threads_of_this_process(), n_threads);
}

}  // namespace
}  // namespace quintet::environments
