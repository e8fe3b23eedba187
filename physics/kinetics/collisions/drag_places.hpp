#pragma once

namespace quintet::kinetics {

/// Which components of CollisionMoments make B and D (CollisionMoments::solve()); plain data.
struct DragPlaces {
  bool star = false;                              ///< v^2 is not in the basis
  int drag = 1, end = 0, energy = 0, spread = 0;  ///< P, F, E and what makes G
};

}  // namespace quintet::kinetics
