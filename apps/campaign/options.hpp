#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/campaign/sweep.hpp"
#include "io/config/schema.hpp"

namespace quintet::campaign {

/// How a program that runs again and again is started.
enum class Start {
  automatic,  ///< warm where that is known to gain
  warm,       ///< forked by a process that has loaded it once
  cold        ///< by itself
};

/// One of `stages`: a command, run once for each of its items.
struct StageOptions {
  std::string name;
  std::vector<std::string> command;     ///< words; {key} stands for what an item has under that name
  std::vector<std::string> again;       ///< words after those where an item goes on (it ended with 75)
  std::vector<std::string> aside;       ///< words after those that do not count: the result is the same
  std::string each;                     ///< a stage or a pattern of files: an item for each of them; "": one
  std::vector<std::string> needs;       ///< stages of which all items must be done (of rounds: of its own)
  std::vector<std::string> earlier;     ///< stages of which all items of the rounds before must be done
  std::vector<std::string> previous;    ///< stages of which the like items of the round before must be done
  std::vector<std::string> only_if;     ///< patterns of files; an item that finds none of them is not needed
  std::vector<std::string> inputs;      ///< patterns of files whose contents count
  std::vector<std::string> outputs;     ///< patterns of what must be there in the end
  std::vector<std::string> non_empty;   ///< those of them of which a file must hold something
  std::vector<std::int64_t> accepts{};  ///< exit codes beside 0 with which an item is done
  std::string slot = "cpu";
  std::int64_t ranks = 1, threads = 1;
  Start start = Start::automatic;
  std::int64_t buckets = 1;        ///< job arrays of the stage, by cost
  std::int64_t batch = 1;          ///< items that one task of a job array runs
  std::optional<double> memory;    ///< (B)
  std::optional<double> walltime;  ///< (s)
  FormulaText cost = "1";          ///< of an item beside others of its stage
  std::int64_t tries = 2;
  std::int64_t first_round = 0;  ///< of a stage of the rounds
  std::optional<std::int64_t> last_round;
  std::vector<SweepPoint> points;  ///< of `sweep`

  [[nodiscard]] bool on_gpus() const { return slot == "gpu"; }
  /// Slots that an item takes: GPUs, one a rank, or cores.
  [[nodiscard]] std::int64_t slots() const { return on_gpus() ? ranks : ranks * threads; }
};
void describe(Schema& schema, StageOptions& options);

/// Stages that are run several times, each time with what the times before have made.
struct RoundOptions {
  std::int64_t count = 1;
  std::vector<std::string> stages;
};
void describe(Schema& schema, RoundOptions& options);

/// The file of a campaign.
struct CampaignOptions {
  std::map<std::string, std::int64_t> slots{{"cpu", 1}};  ///< of each class
  std::optional<double> memory;                           ///< (B) for all items that run at once
  /// A line of shell in the place of {launch}. No binding: each mpirun would take the first cores, though
  /// items run side by side.
  std::string launch = "mpirun --bind-to none -np {ranks}";
  std::optional<RoundOptions> rounds;
  std::vector<StageOptions> stages;
};
void describe(Schema& schema, CampaignOptions& options);

/// Give each class of slots as many as an item takes at most: for items that run elsewhere.
void widen_slots(CampaignOptions& options);

/// Throws InputError with the place of all that is wrong.
[[nodiscard]] CampaignOptions read_campaign(const std::string& path);

}  // namespace quintet::campaign
