#include "apps/dpmd/learning/learn_errors.hpp"

#include <algorithm>
#include <cmath>

#include "apps/dpmd/dynamics/system.hpp"
#include "physics/particles/domain.hpp"
#include "surrogates/potential/deep_potential.hpp"

namespace quintet::dpmd {

FrameErrors frame_errors(const std::string& model, const std::vector<Configuration>& frames) {
  potential::DeepPotential field(potential::read_dp(model), {});
  const Exec exec;
  DomainOptions options;
  options.cutoff = field.cutoff();
  options.skin = 1e-3;  // one evaluation: no motion to allow for
  FrameErrors errors;
  double sum = 0, n = 0;
  for (const auto& labelled : frames) {
    const Configuration frame = with_types(labelled, field.type_names(), model);
    Domain domain(Comm::self(), options, frame.box);
    Atoms atoms = domain.distribute(frame);
    domain.rebuild(exec, atoms);
    (void)field.compute(exec, atoms, domain.list());
    domain.return_forces(exec, atoms);
    double largest = 0;
    for (int i = 0; i < atoms.n_local; ++i) {
      double square = 0;
      for (int k = 0; k < 3; ++k)
        square +=
            std::pow(atoms.force(i, k) - labelled.forces[static_cast<std::size_t>(atoms.id(i)) - 1][k], 2);
      largest = std::max(largest, std::sqrt(square));
      sum += square;
      n += 3;
    }
    errors.largest.push_back(largest);
  }
  errors.rmse = n > 0 ? std::sqrt(sum / n) : 0;
  return errors;
}

}  // namespace quintet::dpmd
