#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/hdf5/file_fwd.hpp"
#include "surrogates/search/trial.hpp"

namespace quintet::search {

/// All that is known of a trial.
struct Record {
  Trial trial;
  Outcome outcome;
};

/// The trials of a search in a file of HDF5 (schema `quintet.search_trials`): row i is trial i, one dataset a
/// column.
///
/// Rows are made beforehand and written in place: the file's structure does not change while trials come and
/// go. A row's state is written last, after all else is in the file. So a process that is killed at any
/// moment leaves a whole file, in which a trial is either as it ended or running. When rows run out a file
/// twice as long is written beside it and takes its name. Of one process.
class TrialStore {
 public:
  /// Contents that define a store.
  struct Contents {
    Space space;
    std::string search;              ///< method, seed and what else decides which trials come, in words
    std::size_t most_epochs = 1;     ///< room for curves
    std::vector<std::string> facts;  ///< names of the evaluator's own numbers
  };
  /// A new store, in place of what has this name. Throws ResourceError.
  static TrialStore create(const std::string& path, const Contents& contents,
                           const hdf5::Provenance& provenance);
  /// Go on with a store. Throws InputError if it is damaged, or of another space or search, with what
  /// differs.
  static TrialStore open(const std::string& path, const Contents& contents,
                         const hdf5::Provenance& provenance);
  ~TrialStore();
  TrialStore(TrialStore&&) noexcept;
  TrialStore& operator=(TrialStore&&) noexcept;

  /// The trials found by open(), by number.
  [[nodiscard]] const std::vector<Record>& found() const;
  /// Write trial record.trial.id, whose number is at most one more than those there, and hand it to the
  /// system. The row outlives this process, however that ends.
  void write(const Record& record);

 private:
  struct Implementation;
  explicit TrialStore(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

/// Size of a store with so many trials, without what HDF5 keeps beside its rows (bytes).
[[nodiscard]] double store_bytes(std::int64_t trials, const TrialStore::Contents& contents);
/// The trials of a store of this space, whatever its method. Throws InputError as TrialStore::open().
[[nodiscard]] std::vector<Record> read_trials(const std::string& path, const Space& space);
/// Settings that decided which trials came: Contents::search. Throws InputError.
[[nodiscard]] std::string read_search_words(const std::string& path);
/// The parts of a list in words that another list lacks.
[[nodiscard]] std::string what_differs(const std::string& text, const std::string& other);

/// One line a trial: number, state, objective, times, genes by name, facts.
void write_trials_csv(const std::string& path, const Space& space, const std::vector<std::string>& facts,
                      const std::vector<Record>& records);

}  // namespace quintet::search
