#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apps/application/cli/application.hpp"
#include "apps/application/cli/pages.hpp"
#include "apps/application/life/request.hpp"

/// The words behind a command: which there are, what --help says of them, and their values.
namespace quintet {

/// Which words a command takes.
struct CommandGrammar {
  std::string who;  ///< "dpmd run"
  std::vector<Application::Flag> flags;
  std::optional<Describe> describe{};            ///< of a command with a YAML file
  bool is_plain = false;                         ///< has flags of its own and runs with MPI
  bool takes_threads = false;                    ///< --threads and --quiet
  bool takes_cost = false, takes_sizes = false;  ///< hidden: --cost, --step-times
  bool has_instead = false;                      ///< flags[0] stands in place of the YAML file
};

/// Arguments of a command, as CLI11 has parsed them.
struct CommandLine {
  Request request;
  std::string walltime;
  std::string print;               ///< of --print-config: common or all
  std::vector<int> cost_ranks;     ///< of --cost
  std::vector<double> step_times;  ///< of --step-times: rounds, seconds
  bool help = false;
  Application::Arguments arguments;
};

inline const FlagText help_flag = {"--help", "", "show this text"};

/// Whether a flag has no dashes.
[[nodiscard]] bool is_positional(const Application::Flag& flag);
/// "FILE", or "[FILE]" if it may be absent.
[[nodiscard]] std::string usage_name(const Application::Flag& flag);
/// All flags that --help names.
[[nodiscard]] std::vector<FlagText> flag_texts(const CommandGrammar& grammar);
/// The flags as lines of --help.
[[nodiscard]] std::string flag_table(const std::vector<FlagText>& flags);
/// Throw a UsageError: "dpmd run: problem", and where help is.
[[noreturn]] void refuse_usage(const std::string& who, const std::string& problem);

/// Parse argv behind the command, and refuse with UsageError what it does not take, what contradicts itself
/// and what is missing. With --help nothing else is looked at.
[[nodiscard]] CommandLine parse_command_line(const CommandGrammar& grammar, int argc, char** argv);

}  // namespace quintet
