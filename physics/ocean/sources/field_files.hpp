#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "io/parallel/comm_fwd.hpp"
#include "physics/ocean/sources/field_source.hpp"

/// Records of thousands of files: looked at by all ranks together, and once.
namespace quintet::ocean {

/// Files of one grid that were looked at before, by their names without folders.
struct KnownFiles {
  OceanGrid grid;
  std::map<std::string, FieldFile> files;
};

/// Look at files, each rank at its share of them; all ranks get all. The first file alone has its grid, which
/// the others share. Files that are known, and have size and date of change as then, are not opened.
/// Collective. Throws InputError that names the file, as look_at_fields(), or for another grid.
[[nodiscard]] std::vector<FieldFile> look_at_files(const Comm& comm, const std::vector<std::string>& paths,
                                                   const std::string& variable, const FieldOptions& options,
                                                   const KnownFiles& known = {});

/// Put files into the order of their first times. A preliminary one, as its name says, gives way to another
/// of the same time, as NOAA replaces them after two weeks. Returns what the user should know.
std::vector<std::string> put_in_order(std::vector<FieldFile>& files);

/// Write what is known of files, whole or not at all. @param settings what it depends on beside the files
void write_known_files(const std::string& path, const std::string& settings,
                       const std::vector<FieldFile>& files);
/// Read it; nothing where the file is absent, damaged, or of other settings: then the files are looked at.
[[nodiscard]] KnownFiles read_known_files(const std::string& path, const std::string& settings);

}  // namespace quintet::ocean
