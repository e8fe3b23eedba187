#include "apps/podlstm/setup/with_slepc.hpp"

#ifdef QUINTET_WITH_SLEPC
#include "physics/solvers/lanczos_svd.hpp"
#include "physics/solvers/petsc_subsystem.hpp"
#endif

namespace quintet::podlstm {

#ifdef QUINTET_WITH_SLEPC

std::vector<Subsystem> subsystems() { return {petsc_subsystem()}; }

std::function<ocean::SingularTriplets(const Comm&, const ocean::TallMatrix&, int)> lanczos_svd() {
  return [](const Comm& comm, const ocean::TallMatrix& x, int k) { return quintet::lanczos_svd(comm, x, k); };
}

#else

std::vector<Subsystem> subsystems() { return {}; }

std::function<ocean::SingularTriplets(const Comm&, const ocean::TallMatrix&, int)> lanczos_svd() {
  return {};
}

#endif

}  // namespace quintet::podlstm
