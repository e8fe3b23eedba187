#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "io/parallel/comm_fwd.hpp"
#include "surrogates/environments/environment.hpp"

namespace quintet::environments {

struct EnvironmentPoolOptions {
  int batch = 0;    ///< M, rows of a batch: 1 ... N. N: synchronous, rows in the order of sending
  int threads = 1;  ///< that step; of a synchronous pool the caller of receive() is one of them
  std::uint64_t seed = 0;
  std::int64_t first_episode =
      0;  ///< number of every environment's first: goes on where another pool left off
  /// Ranks that share the environments of a synchronous pool: number e is stepped by rank e modulo their
  /// number, and receive() gives all rows to all. Null: this rank steps all.
  std::shared_ptr<const Comm> comm{};
};

/// Results of M environments, in arrays of the pool's; valid until the next receive().
struct Batch {
  std::span<const int> ids;                             ///< [M]
  std::span<const float> observations;                  ///< [M, n_observed]
  std::span<const float> reward;                        ///< [M]; 0 of a reset
  std::span<const std::uint8_t> terminated, truncated;  ///< [M]
  std::span<const double> episode_return;               ///< [M] sum of rewards since the reset
  std::span<const int> episode_length;                  ///< [M] steps since the reset
};

/// Steps N environments by threads. send() gives actions to some, receive() gives the first M that are ready,
/// each row written in place by the thread that stepped it.
///
/// The first send to an environment, and the first after it was done, resets it; that action is dropped (the
/// NEXT_STEP mode of gymnasium). An environment is not sent again before its result was received. What an
/// environment gives depends on (seed, id, episode) and its own actions alone; of a synchronous pool every
/// batch is the same, bitwise, on any number of threads. Of an asynchronous one the order is the clock's: who
/// wants it again records Batch::ids.
///
/// send() and receive() are called from one thread. An exception of an environment is thrown by the next
/// receive() or send(); the pool is of no use then. Source of the design: EnvPool (Weng et al. 2022, NeurIPS
/// Datasets and Benchmarks).
class EnvironmentPool {
 public:
  /// Throws InputError: no environments, unequal sizes, M or the number of threads out of range, an
  /// asynchronous pool of several ranks; ResourceError where a thread cannot be made.
  EnvironmentPool(std::vector<std::unique_ptr<Environment>> environments,
                  const EnvironmentPoolOptions& options);
  ~EnvironmentPool();
  EnvironmentPool(const EnvironmentPool&) = delete;
  EnvironmentPool& operator=(const EnvironmentPool&) = delete;

  [[nodiscard]] int size() const;  ///< N
  [[nodiscard]] int n_observed() const;
  [[nodiscard]] int n_actions() const;
  [[nodiscard]] bool synchronous() const;

  /// Give actions [n, n_actions] to environments ids [n]. Throws InputError for an unknown id, one that waits
  /// for receive() or is given twice, or another number of actions; then nothing was sent.
  void send(std::span<const float> actions, std::span<const int> ids);
  /// Reset all that are not under way: send() with actions that are dropped. Before the first send only.
  void start();
  /// Throws InputError where fewer than M environments are under way: it would wait for ever. Collective
  /// over the ranks that share them, who sent the same actions.
  [[nodiscard]] Batch receive();

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace quintet::environments
