#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/hdf5/file_fwd.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/search/search_options.hpp"
#include "surrogates/search/space.hpp"
#include "surrogates/search/store.hpp"
#include "surrogates/search/trial.hpp"

namespace quintet::search {

/// Problem of a search.
struct Problem {
  Space space;
  Evaluate evaluate;
  /// Equal for candidates that are the same thing: those are evaluated once. Empty: equal genes.
  std::function<std::string(const Genes&)> key{};
  int most_epochs = 1;               ///< that an evaluation reports
  std::vector<std::string> facts{};  ///< names of the evaluator's own numbers
  std::string identity{};            ///< what else an evaluation depends on, such as its data, in words
};

/// A search: a method proposes, workers evaluate, a store remembers.
///
///   while a worker is free:  method.ask() -> trial -> store (running) -> worker
///   the first that ends:     store (ended) -> method.tell()
///
/// A candidate whose key had been evaluated takes that trial's objective; one whose twin is under evaluation
/// waits for it. What is proposed depends on seed, order of proposals and order of ends alone. The store
/// holds both, so a search goes on where a kill left it: trials that had not ended begin again, none that had
/// is repeated; with one worker it is the uninterrupted search to the last bit. With `replay` any number of
/// workers follow the order of another store.
///
/// State and method live on rank 0.
class Search {
 public:
  /// @param store path of the trial store: gone on with if `resume`, else made. Nothing is proposed yet.
  /// Collective. Throws InputError for a store of another space, search,
  /// seed or identity.
  Search(const Comm& comm, Problem problem, const SearchOptions& options, const std::string& store,
         bool resume, const hdf5::Provenance& provenance, int threads_per_rank = 1);
  ~Search();
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;

  /// Until one more evaluation has ended. Throws Interrupted on all ranks if `give_up` said so first on any
  /// of them: trials under evaluation are as after a kill. Collective.
  void advance(const std::function<bool()>& give_up = {});
  /// All trials have ended, or the time limit is reached: then trials under evaluation are as after a kill.
  [[nodiscard]] bool finished() const;

  /// Status of the search, the same on all ranks.
  struct Status {
    std::int64_t evaluations = 0;  ///< that have ended, failures included
    std::int64_t repeated = 0;     ///< candidates that had been evaluated before
    std::int64_t failed = 0;       ///< failed, lost or late
    std::int64_t best = -1;  ///< trial with the largest objective (the first of equal ones), -1: none yet
    double best_objective = 0;
    double utilisation = 0;  ///< busy time of workers / (workers x wall time), of this run
    double wall_s = 0;       ///< in the search's own time
    int workers = 0;
    bool exhausted = false;  ///< nothing but repeated candidates comes any more
    bool out_of_time = false;
  };
  [[nodiscard]] const Status& status() const { return status_; }

  /// All trials so far (rank 0; empty elsewhere).
  [[nodiscard]] const std::vector<Record>& records() const;
  /// The best evaluated trials, best first (rank 0).
  [[nodiscard]] std::vector<Record> leaderboard(std::size_t most) const;
  /// Letters between ranks (rank 0).
  [[nodiscard]] Comm::Counter traffic() const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> implementation_;
  Status status_;
};

/// Another search of a problem, as its store has it.
struct StoredSearch {
  std::string method;  ///< and its options, in words: SearchOptions::identity()
  std::vector<Record> records;
};
/// On one process. Throws InputError for a store of another space, of other facts or of another identity: its
/// objectives are not to be compared with those of this problem.
[[nodiscard]] StoredSearch read_search(const std::string& path, const Problem& problem);

}  // namespace quintet::search
