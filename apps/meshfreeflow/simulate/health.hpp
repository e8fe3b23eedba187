#pragma once

#include <vector>

#include "apps/meshfreeflow/simulate/history.hpp"
#include "apps/meshfreeflow/simulate/simulation.hpp"

namespace quintet::meshfreeflow {

/// One of the measures of how well a flow is resolved.
struct Doubt {
  const char* what;  ///< key of `limits`
  double value = 0;  ///< 1 is the limit: the run stops beyond
  double warns_at = 1;
  std::string text;  ///< a sentence with the numbers and what helps
};

/// Watches whether the grid shows what the equations make: boundary layers, the smallest eddies, the ends of
/// spectra, the range of b, the budget of kinetic energy. Warns once of each, stops beyond the limits
/// (NumericalError). Restarted, it judges alike.
class Health {
 public:
  explicit Health(const Simulation& simulation, const History& history);
  /// After a row was added to the history. Collective.
  void check(const std::vector<convection::Sample>& samples);
  /// Warnings given so far, for the report.
  [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
  /// Everything that is measured of a flow now; empty before limits.judged_from. Collective.
  [[nodiscard]] std::vector<Doubt> doubts(int flow) const;

 private:
  const Simulation& simulation_;
  const History& history_;
  std::vector<std::string> warned_, warnings_;
};

}  // namespace quintet::meshfreeflow
