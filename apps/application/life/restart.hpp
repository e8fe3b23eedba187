#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/application/life/request.hpp"
#include "io/config/schema_fwd.hpp"
#include "io/hdf5/file_fwd.hpp"
#include "io/parallel/comm_fwd.hpp"

namespace quintet {

/// Schema of run.h5.
inline constexpr const char* results_schema = "quintet_run";
inline constexpr int results_version = 1;

/// How far each table and file had come at a checkpoint, by name; see Context::record_rows().
using RowCounts = std::map<std::string, std::uint64_t>;
/// Write them as group `rows` of a checkpoint: an attribute each, and their `names`.
void write_row_counts(hdf5::Group& root, const RowCounts& rows);
/// Read the counts that write_row_counts() wrote; empty for a checkpoint without them. Throws InputError.
[[nodiscard]] RowCounts read_row_counts(const hdf5::Group& root);

/// Lost output of a run: the table or file, and the text to report; see Context::lose().
using Losses = std::vector<std::pair<std::string, std::string>>;
/// Write them as attributes `lost` and `lost_texts` of a checkpoint: later restarts must not forget them.
void write_losses(hdf5::Group& root, const Losses& losses);
[[nodiscard]] Losses read_losses(const hdf5::Group& root);

/// Why a run.h5 cannot be gone on with: its header, or an object in it, cannot be read; "" if it
/// can, or is absent. Collective. Throws InputError where the system does not let us look.
[[nodiscard]] std::string damage_of_results(const Comm& comm, const std::string& path);

/// Point from which a run goes on.
struct RestartPoint {
  std::optional<std::string> file;  ///< the checkpoint; none: the run begins
  std::string run;                  ///< name of the run that is continued
  std::string changes;              ///< all changes so far, as hdf5::Provenance::changes
  RowCounts rows;                   ///< of the checkpoint
  Losses losses;                    ///< before it
};

/// The checkpoint that --restart means. It must be whole, of this command and of a schema that is read. A key
/// whose value differs is treated by its rule (Key::on_restart), a file of another content by the rule of the
/// key that names it. Without a checkpoint, run.h5 is checked in the same way. Nothing is written.
/// Collective. Throws InputError.
[[nodiscard]] RestartPoint find_restart(const Comm& comm, const Request& request,
                                        const std::string& directory, const Describe& describe,
                                        const std::string& inputs);

}  // namespace quintet
