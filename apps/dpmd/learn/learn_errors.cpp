#include "apps/dpmd/learn/learn_errors.hpp"

#include <algorithm>
#include <cmath>

#include "apps/dpmd/setup/placed_frame.hpp"
#include "apps/dpmd/setup/system.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/potential/evaluation/deep_potential.hpp"

namespace quintet::dpmd {

FrameErrors frame_errors(const std::string& model, const std::vector<Configuration>& frames) {
  potential::DeepPotential field(potential::read_dp(model), {});
  FrameErrors errors;
  double sum = 0, n = 0;
  for (const auto& labelled : frames) {
    const Configuration frame = with_types(labelled, field.type_names(), model);
    PlacedFrame placed(Comm::self(), frame, field.cutoff());
    (void)placed.compute(field);
    const auto forces = placed.forces();
    double largest = 0;
    for (std::size_t i = 0; i < forces.size(); ++i) {
      double square = 0;
      for (int k = 0; k < 3; ++k) square += std::pow(forces[i][k] - labelled.forces[i][k], 2);
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
