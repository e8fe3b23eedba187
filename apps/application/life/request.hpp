#pragma once

#include <optional>
#include <string>
#include <vector>

namespace quintet {

/// Request of the command line.
struct Request {
  std::string program;                ///< "dpmd run"
  std::string input;                  ///< the YAML file
  std::vector<std::string> settings;  ///< "key.path=value" of --set
  std::vector<std::string> without;   ///< keys at the top to leave out: quintet submit's `sweep`
  std::string restart;                ///< "", "auto" or a checkpoint
  std::string output;                 ///< "" for runs/<stem of input>
  std::optional<double> walltime_s;
  int threads = 0;  ///< 0: cores / ranks on the node
  bool overwrite = false, validate = false, print_configuration = false, quiet = false;
  bool restart_with_changes = false;
  bool measures = false;   ///< --cost, --step-times: no run, whatever its directory holds; with validate
  bool print_all = false;  ///< with print_configuration: also what experts alone set
};

}  // namespace quintet
