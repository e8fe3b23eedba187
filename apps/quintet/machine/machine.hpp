#pragma once

#include "apps/application/cli/application.hpp"

/// The commands `quintet machine` and `quintet measure`.
namespace quintet::commands {

/// quintet machine [NAME|FILE] [--print-config] [--calibrate] [--output FILE]
void machine(const Application::Arguments& arguments);
/// quintet measure [NAME|FILE] --output FILE --disk FOLDER: measure on the ranks that were started.
/// Collective.
void measure(const Comm& comm, const Application::Arguments& arguments);

/// Their flags.
[[nodiscard]] std::vector<Application::Flag> machine_flags();
[[nodiscard]] std::vector<Application::Flag> measure_flags();

}  // namespace quintet::commands
