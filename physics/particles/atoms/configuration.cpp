#include "physics/particles/atoms/configuration.hpp"

#include <limits>

#include "io/log/error.hpp"

namespace quintet {

Box replicated(const Box& box, const Copies& n) {
  for (int k = 0; k < 3; ++k) {
    QUINTET_CHECK(n[k] >= 1, "replicate [{}, {}, {}]: expected 1 or more copies along each direction", n[0],
                  n[1], n[2]);
    QUINTET_CHECK(n[k] == 1 || box.periodic()[k],
                  "replicate [{}, {}, {}]: direction {} is open and cannot be repeated; give 1 for it", n[0],
                  n[1], n[2], k);
  }
  Mat3 rows = box.rows();
  for (int i = 0; i < 9; ++i) rows[i] *= n[i / 3];
  return {rows, box.periodic(), box.origin()};
}

Configuration replicated(const Configuration& c, const Copies& n) {
  Configuration result;
  result.box = replicated(c.box, n);
  const double copies = double(n[0]) * n[1] * n[2];
  constexpr double most_atoms = std::numeric_limits<int>::max();
  QUINTET_CHECK(copies * c.n_atoms() < most_atoms,
                "replicate [{}, {}, {}] makes {:.3g} atoms of {}; expected fewer than {:.3g}", n[0], n[1],
                n[2], copies * c.n_atoms(), c.n_atoms(), most_atoms);
  result.type_names = c.type_names;
  result.masses = c.masses;
  const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  for (int i = 0; i < n[0]; ++i)
    for (int j = 0; j < n[1]; ++j)
      for (int k = 0; k < n[2]; ++k) {
        append(result.types, c.types);
        append(result.velocities, c.velocities);
        append(result.parameters, c.parameters);
        append(result.held, c.held);
        append(result.forces, c.forces);
        for (const Vec3& x : c.positions) result.positions.push_back(in_copy(x, c.box, i, j, k));
      }
  result.reading = c.reading;
  if (c.energy) result.energy = *c.energy * copies;
  if (c.virial) {
    result.virial = c.virial;
    for (double& v : *result.virial) v *= copies;
  }
  return result;
}

}  // namespace quintet
