#pragma once

#include "physics/particles/atoms/configuration.hpp"

/// The atoms of a case in the open, where each has one image only.
inline quintet::Configuration in_the_open(quintet::Configuration configuration) {
  for (auto& x : configuration.positions) x = {x[0] + 20, x[1] + 20, x[2] + 20};
  configuration.box = quintet::Box({60, 0, 0, 0, 60, 0, 0, 0, 60}, {false, false, false});
  return configuration;
}
