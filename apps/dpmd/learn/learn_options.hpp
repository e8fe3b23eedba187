#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/dpmd/label/label_options.hpp"
#include "apps/dpmd/setup/selection_options.hpp"
#include "io/config/schema_fwd.hpp"

/// Options in the YAML file of `dpmd learn`.
namespace quintet::dpmd {

/// Section `train`: how the models of an iteration are made.
struct LearnTraining {
  std::string input;               ///< YAML file of `dpmd train`
  std::vector<std::string> set{};  ///< key.path=value
  bool reuse = false;
};
void describe(Schema& schema, LearnTraining& options);

/// An element of `explore`: molecular dynamics that looks for frames worth a label.
struct Exploration {
  std::string input;                  ///< YAML file of `dpmd run`
  std::vector<std::string> starts{};  ///< absent: the input's own system.file
  std::vector<std::string> set{};     ///< key.path=value
  std::int64_t first_iteration = 0;
  std::optional<std::int64_t> last_iteration{};
};
void describe(Schema& schema, Exploration& options);

struct LearnOptions {
  std::vector<std::string> data;
  std::int64_t iterations = 1;
  int models = 4;
  LearnTraining train;
  std::vector<Exploration> explore;
  SelectionOptions selection;
  LabelOptions label;
  double enough_accurate = 1;
  bool final_training = true;
  std::optional<std::int64_t> at_once{};  ///< trainings, or runs; absent: as many as there are cores
  std::string launcher;
  std::int64_t seed = 1;
};
void describe(Schema& schema, LearnOptions& options);

}  // namespace quintet::dpmd
