#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/config/schema_fwd.hpp"

namespace quintet::commands {

/// Words of `quintet campaign`: `files` by place.
struct CampaignFlags {
  std::optional<std::string> output, machine, account, queue, chain, jobs, nodes, slots, items, walltime,
      path;
  bool dry_run = false, verify = false, repair = false, share = false, pilot = false;
  std::vector<std::string> files;
};
void describe(Schema& schema, CampaignFlags& flags);
/// quintet campaign [status] FILE [--output DIR] [--dry-run] [--verify] [--repair] [--share]
/// [--machine M [--pilot]]
void campaign(const CampaignFlags& flags);
/// All keys of its file, for `quintet reference`.
[[nodiscard]] std::string campaign_page();

}  // namespace quintet::commands
