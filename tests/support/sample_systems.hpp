#pragma once

#include <random>

#include "physics/particles/atoms/configuration.hpp"

/// n atoms of n_types types at random fractional places of a box (the same on every rank), from `seed`.
inline quintet::Configuration random_configuration(const quintet::Box& box, int n, int n_types, unsigned seed,
                                                   double lower = 0, double upper = 1) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(lower, upper);
  quintet::Configuration c;
  c.box = box;
  for (int t = 0; t < n_types; ++t) {
    c.type_names.push_back(std::string(1, static_cast<char>('A' + t)));
    c.masses.push_back(1.0 + t);
  }
  for (int i = 0; i < n; ++i) {
    c.positions.push_back(box.to_cartesian({uniform(random), uniform(random), uniform(random)}));
    c.velocities.push_back({uniform(random), uniform(random), uniform(random)});
    c.types.push_back(random() % n_types);
    c.ids.push_back(i + 1);
  }
  return c;
}

/// n^3 atoms on a simple cubic lattice with constant a (angstrom), displaced by up to `jitter` a each way.
inline quintet::Configuration cubic_lattice(int n, double a, double jitter, unsigned seed) {
  const double length = n * a;
  auto c = random_configuration(quintet::Box({length, 0, 0, 0, length, 0, 0, 0, length}, {true, true, true}),
                                n * n * n, 1, seed, -1, 1);
  for (int i = 0; i < n * n * n; ++i) {
    const int cell[3] = {i / (n * n), i / n % n, i % n};
    for (int l = 0; l < 3; ++l) c.positions[i][l] = a * (cell[l] + 0.25) + jitter * a * c.velocities[i][l];
  }
  return c;
}
