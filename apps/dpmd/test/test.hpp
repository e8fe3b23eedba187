#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/dpmd/setup/labels_options.hpp"
#include "apps/dpmd/setup/run_options.hpp"

namespace quintet::dpmd {

/// Words of `dpmd test`: `systems` by place, the prefix of labels as --labels.
struct TestOptions {
  std::string model;
  std::string output = "test";
  std::optional<std::string> detail;
  std::int64_t frames = 0;
  potential::DeepPotentialOptions evaluation;
  bool overwrite = false;
  LabelsOptions labels;
  std::vector<std::string> systems;
};
void describe(Schema& schema, TestOptions& options);
/// `dpmd test --model M SYSTEM...`: how far a model is from the labels of systems, in NAME.json and, with
/// parity plots, in NAME.html; value by value in the files of `--detail`. Frames are shared over the ranks.
/// Collective.
void test(const Comm& comm, const TestOptions& options);

}  // namespace quintet::dpmd
