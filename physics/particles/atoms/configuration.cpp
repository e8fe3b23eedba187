#include "physics/particles/atoms/configuration.hpp"

#include <limits>

#include "io/log/error.hpp"

namespace quintet {

Configuration replicated(const Configuration& c, const std::array<int, 3>& n) {
  double copies = 1;
  for (int k = 0; k < 3; ++k) {
    QUINTET_CHECK(n[k] >= 1, "replicate [{}, {}, {}]: expected 1 or more copies along each direction", n[0],
                  n[1], n[2]);
    QUINTET_CHECK(n[k] == 1 || c.box.periodic()[k],
                  "replicate [{}, {}, {}]: direction {} is open and cannot be repeated; give 1 for it", n[0],
                  n[1], n[2], k);
    copies *= n[k];
  }
  constexpr double most_atoms = std::numeric_limits<int>::max();
  QUINTET_CHECK(copies * static_cast<double>(c.n_atoms()) < most_atoms,
                "replicate [{}, {}, {}] makes {:.3g} atoms of {}; expected fewer than {:.3g}", n[0], n[1],
                n[2], copies * static_cast<double>(c.n_atoms()), c.n_atoms(), most_atoms);
  Configuration result;
  Mat3 rows = c.box.rows();
  for (int i = 0; i < 9; ++i) rows[i] *= n[i / 3];
  result.box = Box(rows, c.box.periodic(), c.box.origin());
  result.type_names = c.type_names;
  result.masses = c.masses;
  const auto append = [](auto& to, const auto& from) { to.insert(to.end(), from.begin(), from.end()); };
  for (int i = 0; i < n[0]; ++i)
    for (int j = 0; j < n[1]; ++j)
      for (int k = 0; k < n[2]; ++k) {
        append(result.types, c.types);
        append(result.velocities, c.velocities);
        append(result.forces, c.forces);
        const double copy[3] = {double(i), double(j), double(k)};
        for (Vec3 x : c.positions) {
          for (int r = 0; r < 3; ++r)
            for (int l = 0; l < 3; ++l) x[l] += copy[r] * c.box.rows()[3 * r + l];
          result.positions.push_back(x);
        }
      }
  if (c.energy) result.energy = *c.energy * copies;
  if (c.virial) {
    result.virial = c.virial;
    for (double& v : *result.virial) v *= copies;
  }
  return result;
}

}  // namespace quintet
