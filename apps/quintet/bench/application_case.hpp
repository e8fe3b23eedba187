#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/config/tree.hpp"

/// Applications whose own step is measured: how a case is made smaller, and what its summary says of a step.
namespace quintet::bench {

/// A row of the table.
struct ApplicationCase {
  const char *name, *command;
  const char* size_key;  ///< a list of integers in its input that says how large the case is
  const char* unit;      ///< what a size counts: "cells"
  const char* size_in_summary;
  const char*
      way_in_summary;  ///< of computing a step, which must be one for all sizes; nullptr: there is one
  /// What else to set, so that n steps are made.
  std::vector<std::string> (*settings)(std::int64_t n);
  /// Seconds of a step.
  double (*step_s)(const Tree& summary);
  /// Work of a step, in whatever unit.
  double (*work)(const Tree& summary);
};

/// The row of this name. Throws InputError that names those there are.
[[nodiscard]] const ApplicationCase& application_case(const std::string& name);

/// The list at `size_key` of a document. Throws InputError if there is none.
[[nodiscard]] std::vector<std::int64_t> size_of(const ApplicationCase& row, const Tree& document);
/// The same with its largest number halved (rounded up); empty if all are 1.
[[nodiscard]] std::vector<std::int64_t> halved(std::vector<std::int64_t> size);

}  // namespace quintet::bench
