#pragma once

#include "apps/application/life/context_fwd.hpp"
#include "apps/dpmd/run/simulation.hpp"

namespace quintet::dpmd {

/// "108 Cu atoms", "192 atoms (64 O, 128 H)". Collective.
[[nodiscard]] std::string composition(const Comm& comm, const Atoms& atoms);
/// "10.8 x 10.8 x 10.8 Å", with angles where they are not right and with what is open.
[[nodiscard]] std::string cell_in_words(const Box& box);
/// "constant volume and temperature (NVT), 300 K by a Nose-Hoover chain".
[[nodiscard]] std::string ensemble_in_words(const IntegratorOptions& options);
/// "copper.dp, which drives, and 3 more": the models by name.
[[nodiscard]] std::string models_in_words(const PotentialOptions& options, const std::string& description);

/// Describe the run at the top of the report. Collective.
void describe_run(Context& context, const RunOptions& options, const Simulation& simulation);

}  // namespace quintet::dpmd
