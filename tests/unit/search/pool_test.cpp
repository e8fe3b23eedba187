#include "surrogates/search/pool.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <set>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "tests/unit/search/gate.hpp"

namespace quintet::search {
namespace {

/// A number that says what is to happen, in a task.
std::vector<std::byte> task(std::int64_t what) {
  std::vector<std::byte> bytes(sizeof what);
  std::memcpy(bytes.data(), &what, sizeof what);
  return bytes;
}
std::int64_t number(std::span<const std::byte> bytes) {
  std::int64_t value = 0;
  if (bytes.size() == sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

constexpr std::int64_t throws = -1, dies = -2, hangs = -3, crashes = -4, waits = -5;

/// For which tasks `waits` wait; set before a pool forks its workers.
const Gate* gate = nullptr;

/// The square of a number, after so many milliseconds / 1000.
std::size_t work(std::span<const std::byte> given, std::span<std::byte> result) {
  const auto what = number(given);
  if (what == throws) throw std::runtime_error("no square of this");
  if (what == dies) ::kill(::getpid(), SIGKILL);
  if (what == crashes) ::_exit(3);
  if (what == hangs) std::this_thread::sleep_for(std::chrono::hours(1));
  if (what == waits && !gate->wait()) throw std::runtime_error("nobody opened the gate");
  if (what >= 1000) std::this_thread::sleep_for(std::chrono::microseconds(what));
  const auto square = task(what * what);
  std::copy(square.begin(), square.end(), result.begin());
  return square.size();
}

PoolOptions options(WorkerKind kind, int workers = 2, double limit = 0) {
  return {kind, workers, sizeof(std::int64_t), sizeof(std::int64_t), limit};
}

/// What rank 0 does, while the others serve.
template <class Action>
void with_pool(const PoolOptions& options, const Action& action) {
  const Comm comm = Comm::world();
  Pool pool(comm, options, work);
  if (comm.is_root()) {
    action(pool);
    pool.release();
  } else {
    pool.serve();
  }
  comm.barrier();
}

class EveryKind : public ::testing::TestWithParam<WorkerKind> {};

TEST_P(EveryKind, gives_back_every_result_once) {
  with_pool(options(GetParam()), [](Pool& pool) {
    std::set<std::int64_t> seen;
    std::int64_t sent = 0;
    for (; sent < pool.n_workers() + 5; ++sent) pool.send(sent, task(sent));  // some must wait
    EXPECT_EQ(pool.n_free(), -5);
    while (pool.n_outstanding() > 0) {
      const int m = std::min({2, pool.n_workers(), pool.n_outstanding()});
      const auto ready = pool.receive(m);
      ASSERT_EQ(static_cast<int>(ready.size()), m);
      for (const auto& one : ready) {
        EXPECT_EQ(one.end, TaskEnd::done);
        EXPECT_EQ(number(one.result), one.id * one.id);
        EXPECT_TRUE(seen.insert(one.id).second);
        EXPECT_GE(one.worker, 0);
        EXPECT_LT(one.worker, pool.n_workers());
        if (sent < 40) {
          pool.send(sent, task(sent));
          ++sent;
        }
      }
    }
    EXPECT_EQ(std::ssize(seen), sent);
    EXPECT_EQ(pool.n_free(), pool.n_workers());
    EXPECT_THROW((void)pool.receive(1), InternalError);
  });
}

TEST_P(EveryKind, an_exception_is_a_result) {
  with_pool(options(GetParam()), [](Pool& pool) {
    pool.send(1, task(throws));
    const auto ready = pool.receive(1);
    EXPECT_EQ(ready[0].end, TaskEnd::threw);
    EXPECT_EQ(ready[0].message, "no square of this");
    pool.send(2, task(3));
    EXPECT_EQ(number(pool.receive(1)[0].result), 9);
  });
}

TEST_P(EveryKind, others_return_when_released_and_may_come_back) {
  const Comm comm = Comm::world();
  Pool pool(comm, options(GetParam()), work);
  std::int64_t sum = 0;
  for (int round = 0; round < 5; ++round) {
    if (comm.is_root()) {
      pool.send(round, task(round));
      for (const auto& one : pool.receive(1)) sum += number(one.result);
      pool.release();
    } else {
      pool.serve();
    }
    comm.barrier();  // all together in between
  }
  if (comm.is_root()) {
    EXPECT_EQ(sum, 0 + 1 + 4 + 9 + 16);
  }
}

TEST_P(EveryKind, counts_its_letters) {
  with_pool(options(GetParam(), 1), [](Pool& pool) {
    const auto before = pool.traffic().messages;
    for (std::int64_t i = 0; i < pool.n_workers(); ++i) pool.send(i, task(20000));
    for (int i = 0; i < pool.n_workers(); ++i) (void)pool.receive(1);
    const auto comm_size = Comm::world().size();
    // One letter a task to each rank but this one.
    EXPECT_EQ(pool.traffic().messages - before, comm_size - 1);
  });
}

TEST_P(EveryKind, stops_waiting_when_told) {
  const Gate shut;
  gate = &shut;
  with_pool(options(GetParam(), 1), [&](Pool& pool) {
    const bool is_here = GetParam() == WorkerKind::in_place && Comm::world().size() == 1;
    pool.send(0, task(is_here ? 1000 : waits));
    if (!is_here) {
      EXPECT_TRUE(pool.receive(1, [] { return true; }).empty());
    }
    shut.open();
    const auto ready = pool.receive(1);
    ASSERT_EQ(ready.size(), 1u);
    EXPECT_EQ(ready[0].end, TaskEnd::done);
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, EveryKind, ::testing::Values(WorkerKind::processes, WorkerKind::in_place));

TEST(ProcessWorkers, the_first_that_is_ready_comes_first) {
  const Gate shut;
  gate = &shut;
  with_pool(options(WorkerKind::processes), [&](Pool& pool) {
    pool.send(0, task(waits));
    for (int i = 1; i < pool.n_workers(); ++i) pool.send(i, task(2 + i));
    std::vector<std::int64_t> order;
    while (pool.n_outstanding() > 0) {
      if (pool.n_outstanding() == 1) shut.open();
      order.push_back(pool.receive(1)[0].id);
    }
    EXPECT_EQ(order.back(), 0);
  });
}

TEST(ProcessWorkers, one_that_dies_costs_its_task_alone) {
  with_pool(options(WorkerKind::processes), [](Pool& pool) {
    for (std::int64_t i = 0; i < 3 * pool.n_workers(); ++i) pool.send(i, task(i % 2 == 0 ? dies : i));
    while (pool.n_outstanding() > 0) {
      const auto one = pool.receive(1)[0];
      if (one.id % 2 == 0) {
        EXPECT_EQ(one.end, TaskEnd::died);
        EXPECT_NE(one.message.find("signal 9"), std::string::npos) << one.message;
      } else {
        EXPECT_EQ(number(one.result), one.id * one.id);
      }
    }
    pool.send(0, task(crashes));
    EXPECT_EQ(pool.receive(1)[0].message, "the worker ended with exit code 3");
  });
}

TEST(ProcessWorkers, one_that_hangs_is_replaced) {
  with_pool(options(WorkerKind::processes, 1, 0.3), [](Pool& pool) {
    for (std::int64_t i = 0; i < pool.n_workers(); ++i) pool.send(i, task(hangs));
    for (int i = 0; i < pool.n_workers(); ++i) {
      const auto one = pool.receive(1)[0];
      EXPECT_EQ(one.end, TaskEnd::late);
      EXPECT_LT(one.busy_s, 60);
    }
    pool.send(9, task(5));
    EXPECT_EQ(number(pool.receive(1)[0].result), 25);
  });
}

TEST(ProcessWorkers, end_with_their_pool) {
  const Comm comm = Comm::world();
  std::vector<pid_t> children;
  {
    const auto own = [](std::span<const std::byte>, std::span<std::byte> result) {
      const std::int64_t pid = ::getpid();
      std::memcpy(result.data(), &pid, sizeof pid);
      return sizeof pid;
    };
    Pool pool(Comm::self(), options(WorkerKind::processes, 2), own);
    for (int i = 0; i < 2; ++i) pool.send(i, task(0));
    for (const auto& one : pool.receive(2)) children.push_back(number(one.result));
  }
  ASSERT_EQ(children.size(), 2u);
  for (const pid_t child : children) EXPECT_EQ(::kill(child, 0), -1);
  comm.barrier();
}

TEST(Pool, busy_time_over_wall_time_is_the_utilisation) {
  with_pool(options(WorkerKind::processes, 1), [](Pool& pool) {
    const double begin = pool.now(), before = pool.busy_seconds();
    const auto microseconds = [](std::int64_t id) { return 20000 + 7000 * (id % 3); };
    std::int64_t id = 0;
    double slept_s = 0;
    for (; id < pool.n_workers(); ++id) pool.send(id, task(microseconds(id)));
    for (int n = 0; n < 20; ++n) {
      slept_s += 1e-6 * microseconds(pool.receive(1)[0].id);
      pool.send(id, task(microseconds(id)));
      ++id;
    }
    // A busy machine makes tasks longer, never shorter; that nobody waits for another is a search's test.
    const double busy = pool.busy_seconds() - before;
    EXPECT_GE(busy, slept_s);
    EXPECT_LE(busy, 1.02 * pool.n_workers() * (pool.now() - begin));
    while (pool.n_outstanding() > 0) (void)pool.receive(1);
  });
}

}  // namespace
}  // namespace quintet::search
