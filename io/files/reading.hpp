#pragma once

#include <string>
#include <vector>

namespace quintet {

/// Assumptions of a reader about a file, and parts of the file that it did not use.
///
/// Every reader hands it over beside its data; the application prints it once. Nothing in a file is passed
/// over without standing in `not_used`.
struct Reading {
  /// Statements with what changes them: "periodic in x y z (the file does not say; system.periodic changes
  /// it)".
  std::vector<std::string> assumed;
  std::vector<std::string> not_used;  ///< names of what was passed over: "charges", "section Bonds"

  /// Add to `assumed` or `not_used` what is not yet there.
  void assume(std::string what);
  void leave(std::string what);
  /// Add what another frame or file of the same data says.
  void add(const Reading& other);
  [[nodiscard]] bool empty() const { return assumed.empty() && not_used.empty(); }
  /// One line without the file's name: "types O H by mass; not used: charges, image flags".
  [[nodiscard]] std::string text() const;
};

}  // namespace quintet
