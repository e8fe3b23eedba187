#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "apps/quintet/submit/sweep.hpp"
#include "io/config/schema.hpp"

namespace quintet::campaign {

/// One of `stages`: a command, run once for each of its items.
struct StageOptions {
  std::string name;
  std::vector<std::string> command;  ///< words; {key} stands for what an item has under that name
  std::vector<std::string> again;    ///< words after those where an item goes on (it ended with 75)
  std::string each;                  ///< a stage or a pattern of files: an item for each of them; "": one
  std::vector<std::string> needs;    ///< stages of which all items must be done
  std::vector<std::string> inputs;   ///< patterns of files whose contents count
  std::vector<std::string> outputs;  ///< patterns of what must be there in the end
  std::string slot = "cpu";
  std::int64_t ranks = 1;          ///< slots that an item takes
  std::optional<double> walltime;  ///< (s)
  std::int64_t tries = 2;
  std::vector<SweepPoint> points;  ///< of `sweep`
};
void describe(Schema& schema, StageOptions& options);

/// The file of a campaign.
struct CampaignOptions {
  std::map<std::string, std::int64_t> slots{{"cpu", 1}};  ///< of each class
  std::vector<StageOptions> stages;
};
void describe(Schema& schema, CampaignOptions& options);

/// Throws InputError with the place of all that is wrong.
[[nodiscard]] CampaignOptions read_campaign(const std::string& path);

}  // namespace quintet::campaign
