#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/application/cli/application.hpp"
#include "io/config/schema_fwd.hpp"
#include "io/hdf5/file.hpp"

/// The commands of `quintet`.
namespace quintet::commands {

/// quintet inspect FILE: of an HDF5 file what it says of itself; any other goes to `dpmd inspect`, and this
/// does not return.
void inspect(const Application::Arguments& arguments);
/// Words of `quintet report`: `directories` by place.
struct ReportFlags {
  std::vector<std::string> directories;
  std::optional<std::string> index;
  std::string title = "Runs";
  bool converge = false;
};
void describe(Schema& schema, ReportFlags& flags);
/// quintet report DIR... --index PAGE --title TEXT
void report(const ReportFlags& flags);
/// quintet schema APP [COMMAND]: what the executable APP beside this one says; does not return if it exists.
void schema(const Application::Arguments& arguments);

}  // namespace quintet::commands
