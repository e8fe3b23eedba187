#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "apps/application/life/context_fwd.hpp"
#include "apps/podlstm/hindcast/hindcast_options.hpp"
#include "physics/ocean/modes_file.hpp"
#include "surrogates/sequence/hindcast/hindcast.hpp"

namespace quintet::podlstm {

/// Where modes come from: one file, or a record to which they are fitted at each origin.
class ModesAtOrigins {
 public:
  /// Collective. Throws InputError, and ResourceError where the fields of a fit need more memory than there
  /// is.
  ModesAtOrigins(Context& context, const HindcastOptions& options);

  /// Dates of the record; with the values of the modes where they are fixed.
  [[nodiscard]] const CoefficientSeries& times() const { return times_; }
  /// Last day behind the modes, where they are fixed.
  [[nodiscard]] double known_until() const;
  /// Points of the sea; 0: only coefficients are known.
  [[nodiscard]] std::size_t n_points() const;
  /// Modes that know nothing of the origin's date and later, made once. Collective.
  [[nodiscard]] std::shared_ptr<const ocean::OceanModes> at(const sequence::Origin& origin) const;
  /// What the modes have seen of the times that are judged; empty: nothing.
  [[nodiscard]] std::string leak(const std::vector<sequence::Origin>& origins) const;

 private:
  Context& context_;
  const HindcastOptions& options_;
  std::shared_ptr<const ocean::OceanModes> fixed_;
  std::vector<OpenRecord> records_;
  CoefficientSeries times_;
  mutable std::map<double, std::shared_ptr<const ocean::OceanModes>> made_;  ///< by the origin's date
};

}  // namespace quintet::podlstm
