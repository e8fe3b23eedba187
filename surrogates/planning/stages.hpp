#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "surrogates/planning/links.hpp"
#include "surrogates/training/flat_layout.hpp"

namespace quintet::planning {

/// Where the optimiser's states are.
struct StatesPlace {
  bool in_file = false;                  ///< but for what the budget holds
  std::optional<double> host{}, file{};  ///< (bytes) that a rank may take; absent: all (in a file: none), any
  bool delayed = false;                  ///< a gradient waits for its update
};

/// Arrays that a training divides among its ranks: values, gradients and the optimiser's states of all
/// parameters.
struct Division {
  std::vector<UnitSize> units{};   ///< parameters of each, which are summed and gathered at once
  double bytes_per_number = 4;     ///< (bytes)
  double low_bytes = 0;            ///< of a value's: kept with the states, not gathered; it computes with all
  double states = 2;               ///< of the optimiser, a number each for a parameter
  bool shares_node = true;         ///< the ranks of a node hold one copy; else each rank its own
  bool overlaps = true;            ///< stage 3: the values of the next unit travel while one computes
  int most_stage = 3;              ///< that the trainer has
  std::optional<double> memory{};  ///< what a rank may take, where the user said so (bytes)
  StatesPlace states_place{};

  [[nodiscard]] double parameters() const;
  /// Ranks of a holder, of p ranks on nodes that take so many: nodes of unequal numbers share nothing.
  [[nodiscard]] int per_holder(int ranks, int ranks_per_node) const;
};

/// Bytes that a rank holds of it, by tier and category as its Ledger counts them: tests compare.
struct RankBytes {
  double parameters = 0, gradients = 0, optimiser = 0, workspace = 0, staging = 0;  ///< in memory
  double file = 0;   ///< two generations of states
  double moved = 0;  ///< of states, that a step reads from the file, and writes
  [[nodiscard]] double host() const { return parameters + gradients + optimiser + workspace + staging; }
};

/// One row a stage that the trainers can run, least first; `parallel.strategy: auto` and plans take it from
/// there. N ranks, p of a holder (which share memory), n = N/p holders. A unit of Y_k parameters has slices
/// of s_k = 16 ceil(Y_k/(16 N)) numbers.
///
/// | stage | a rank holds, numbers | sends, a step |
/// |---|---|---|
/// | 0 | N sum s (1/p + 1 + states/p), workspace (n - 1) max s | 2 (n - 1) slices of each unit |
/// | 1 | N sum s (1/p + 1) + states sum s, workspace | the same |
/// | 2 | N sum s/p + (1 + states) sum s + N max s, workspace | the same |
/// | 3 | (2 + states) sum s + N max s + N max (s_k + s_k+1), workspace; p = 1 | 3 (n - 1) slices |
///
/// Of a layer in parts one part counts beside the rest of its block (slice_numbers()).
///
/// Of values kept as bf16 with their low halves among the states, values and what is gathered are shorter by
/// low_bytes, states longer; a unit at hand, of N max s numbers, is expanded.
///
/// Source: Rajbhandari et al. 2020 (SC), sections 5 and 7; FlatParameters, which tests compare. Without
/// padding and workspace, and with p = 1, these are the formulas of zero.hpp.
struct StageRow {
  int value;
  const char *name, *yaml;  ///< in words; as the user would write it
  /// Where states are in memory and nothing is delayed.
  RankBytes (*parts)(const Division&, double n_ranks, double per_holder);
  [[nodiscard]] double bytes(const Division& division, double n_ranks, double per_holder) const {
    return parts(division, n_ranks, per_holder).host();
  }
  /// Numbers that a rank updates.
  double (*updated)(const Division&, double n_ranks, double per_holder);
  Traffic (*traffic)(const Division&, double n_ranks, double per_holder);
};
[[nodiscard]] std::span<const StageRow> stages();
/// Stages that a training can take: values that ranks of a node share are not divided, nor what its trainer
/// does not divide.
[[nodiscard]] std::span<const StageRow> stages(const Division& division);

/// Bytes that a rank holds, with states where the division has them.
[[nodiscard]] RankBytes rank_bytes(const Division& division, const StageRow& stage, double n_ranks,
                                   double per_holder);
/// Why a budget does not hold it, or "".
[[nodiscard]] std::string beyond_budget(const Division& division, const RankBytes& bytes);

/// Rates of a machine that updates from a file depend on (bytes/s); of a rank.
struct DiskRates {
  double read = 0, write = 0;
  double copy = 0;  ///< of main memory, read and written
};
/// Cost in a step of states in a file.
struct DiskWait {
  double disk = 0;    ///< (s) of its busier direction
  double hidden = 0;  ///< share of it behind work
  [[nodiscard]] double extra() const { return (1 - hidden) * disk; }
};
/// Reads and writes run beside each other and beside the update, which sweeps over values, gradients and
/// states once; a delayed update beside the whole step:
///
///     disk = max(S/read, S/write),  hidden = min(1, work/disk)
///
/// @param step seconds of a step without the disk
[[nodiscard]] DiskWait disk_wait(const Division& division, const StageRow& stage, double n_ranks,
                                 double per_holder, const DiskRates& rates, double step);

/// A stage for a rank that may take so many bytes.
struct StageChoice {
  const StageRow* stage = nullptr;  ///< null: none fits
  std::string reason{};  ///< bytes of those before it, of itself and of what there is; if none fits, of all
};
/// The least stage that fits, with states where the division has them, and keeps to their budget: it changes
/// no number, and what is divided less is sent and waited for less.
/// @param besides what a rank needs beside the arrays that are divided (bytes) @param share infinity: unknown
[[nodiscard]] StageChoice choose_stage(const Division& division, int n_ranks, int per_holder, double besides,
                                       double share);

}  // namespace quintet::planning
