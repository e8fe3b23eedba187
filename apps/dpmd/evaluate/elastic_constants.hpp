#pragma once

#include <cstdint>

#include "apps/application/life/context_fwd.hpp"
#include "apps/dpmd/setup/run_options.hpp"

namespace quintet::dpmd {

struct ElasticOptions {
  SystemOptions system;
  PotentialOptions potential;
  DomainSection domain;
  double strain = 2e-3;  ///< the smaller of two
  bool relax = true, relax_cell = true;
  double force_tolerance = 1e-5;   ///< (eV/angstrom)
  double stress_tolerance = 6e-5;  ///< (eV/angstrom^3), 0.01 GPa
  std::int64_t relax_steps = 10000;
};
void describe(Schema& schema, ElasticOptions& options);

/// `dpmd elastic_constants`: of any crystal at rest; stability, averages. Source: this file; Born's criterion
/// (all eigenvalues of C positive): Mouhat and Coudert 2014 (PRB 90, 224104).
void elastic_constants(Context& context, const ElasticOptions& options);

}  // namespace quintet::dpmd
