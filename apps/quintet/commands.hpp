#pragma once

#include "apps/application/cli/application.hpp"

/// The commands of `quintet`.
namespace quintet::commands {

/// quintet inspect FILE: of an HDF5 file what it says of itself; any other goes to `dpmd inspect`, and this
/// does not return.
void inspect(const Application::Arguments& arguments);
/// quintet report DIR... --index PAGE --title TEXT
void report(const Application::Arguments& arguments);
/// quintet schema APP [COMMAND]: what the executable APP beside this one says; does not return if it exists.
void schema(const Application::Arguments& arguments);

}  // namespace quintet::commands
