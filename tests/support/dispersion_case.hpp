#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "physics/particles/atoms/configuration.hpp"
#include "physics/particles/interactions/dispersion.hpp"
#include "tests/support/zip_writer.hpp"

/// D3 dispersion without anybody's tables: made-up references of the first elements, and the energy by plain
/// sums over images, as the papers have it.
namespace dispersion_case {

inline constexpr int n_rows = 30, most = 3;

/// What a made-up archive holds, in atomic units.
struct Made {
  std::vector<double> c6, covalent, moment, radius;
  double& entry(int z, int y, int a, int b, int c) {
    return c6[(((std::size_t(z) * n_rows + y) * most + a) * most + b) * 3 + c];
  }
};

/// References that an element has.
inline int count(int z) { return 1 + z % 3; }

inline Made made() {
  Made m;
  m.c6.assign(std::size_t(n_rows) * n_rows * most * most * 3, -1.0);
  m.covalent.assign(n_rows, 0);
  m.moment.assign(n_rows, 0);
  m.radius.assign(n_rows * n_rows, 0);
  for (int z = 1; z < n_rows; ++z) {
    m.covalent[z] = 0.7 + 0.05 * z;
    m.moment[z] = 2.0 + 0.13 * z;
    for (int y = 1; y < n_rows; ++y) {
      m.radius[z * n_rows + y] = 3.1 + 0.05 * (z + y) + 0.01 * z * y / (z + y);
      for (int a = 0; a < count(z); ++a)
        for (int b = 0; b < count(y); ++b) {
          m.entry(z, y, a, b, 0) = (8.0 + 2 * z - 1.5 * a) * (8.0 + 2 * y - 1.5 * b) / 20;
          m.entry(z, y, a, b, 1) = 0.97 * a + 0.01 * z;
          m.entry(z, y, a, b, 2) = 0.97 * b + 0.01 * y;
        }
    }
  }
  return m;
}

inline void write(const std::string& path, const Made& m) {
  const auto n = std::to_string(n_rows), k = std::to_string(most);
  zip::write(
      path,
      zip::archive({{"c6ab.npy", zip::npy("<f8", "(" + n + ", " + n + ", " + k + ", " + k + ", 3)", m.c6)},
                    {"rcov.npy", zip::npy("<f8", "(" + n + ",)", m.covalent)},
                    {"r2r4.npy", zip::npy("<f8", "(" + n + ",)", m.moment)},
                    {"r0ab.npy", zip::npy("<f8", "(" + n + ", " + n + ")", m.radius)}},
                   true, true));
}

/// All atoms of a configuration and of its images around (bohr).
struct Images {
  std::vector<quintet::Vec3> x;
  std::vector<int> owner;
};
inline Images images_of(const quintet::Configuration& c, double bohr, const quintet::Vec3& copies) {
  Images images;
  int n[3];
  for (int k = 0; k < 3; ++k) n[k] = c.box.periodic()[k] ? static_cast<int>(copies[k]) : 0;
  for (int a = -n[0]; a <= n[0]; ++a)
    for (int b = -n[1]; b <= n[1]; ++b)
      for (int d = -n[2]; d <= n[2]; ++d)
        for (std::size_t i = 0; i < c.n_atoms(); ++i) {
          quintet::Vec3 x = c.positions[i];
          for (int l = 0; l < 3; ++l)
            x[l] = (x[l] + a * c.box.rows()[l] + b * c.box.rows()[3 + l] + d * c.box.rows()[6 + l]) / bohr;
          images.x.push_back(x);
          images.owner.push_back(i);
        }
  return images;
}

inline double distance(const quintet::Vec3& a, const quintet::Vec3& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

inline double faded(double r, double cutoff, double width) {
  const double u = width > 0 ? std::min(1.0, std::max(0.0, (r - cutoff + width) / width)) : 0.0;
  return r > cutoff ? 0 : 1 - 10 * std::pow(u, 3) + 15 * std::pow(u, 4) - 6 * std::pow(u, 5);
}

/// Energy of a configuration (hartree) by sums over all pairs and triples of images, with the functions of
/// the papers written out. `copies`: images on either side.
inline double energy(const quintet::Configuration& c, const quintet::DispersionTable& table,
                     const quintet::DispersionOptions& options, const quintet::Vec3& copies) {
  constexpr double bohr = 0.529177210903;
  const auto all = images_of(c, bohr, copies);
  const auto own = images_of(c, bohr, {0, 0, 0});
  const int n = c.n_atoms(), m = table.most_references, n_all = all.x.size();
  const auto& [damping, reach] = options;
  const double to_pairs = reach.pairs / bohr, to_triples = reach.triples / bohr,
               width = reach.switch_width / bohr;

  std::vector<std::vector<double>> weights(n);
  for (int i = 0; i < n; ++i) {
    double bonds = 0;
    for (int j = 0; j < n_all; ++j) {
      const double r = distance(own.x[i], all.x[j]);
      if (r < 1e-9 || r > reach.coordination / bohr) continue;
      const double radius = table.covalent_radius[c.types[i]] + table.covalent_radius[c.types[all.owner[j]]];
      bonds += 1 / (1 + std::exp(-16 * (radius / r - 1)));
    }
    double sum = 0;
    for (int a = 0; a < table.n_references[c.types[i]]; ++a) {
      weights[i].push_back(std::exp(-4 * std::pow(bonds - table.coordination[c.types[i] * m + a], 2)));
      sum += weights[i].back();
    }
    for (double& w : weights[i]) w /= sum;
  }
  const auto c6 = [&](int i, int j) {
    double sum = 0;
    for (std::size_t a = 0; a < weights[i].size(); ++a)
      for (std::size_t b = 0; b < weights[j].size(); ++b)
        sum += weights[i][a] * weights[j][b] *
               table.c6[((std::size_t(c.types[i]) * table.n_types + c.types[j]) * m + a) * m + b];
    return sum;
  };
  double pairs = 0, triples = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n_all; ++j) {
      const double r = distance(own.x[i], all.x[j]);
      const int oj = all.owner[j];
      if (r < 1e-9) continue;
      const double qq = table.moment_ratio[c.types[i]] * table.moment_ratio[c.types[oj]];
      const double radius = damping.a1 * std::sqrt(3 * qq) + damping.a2;
      pairs -= 0.5 * faded(r, to_pairs, width) * c6(i, oj) *
               (damping.s6 / (std::pow(r, 6) + std::pow(radius, 6)) +
                damping.s8 * 3 * qq / (std::pow(r, 8) + std::pow(radius, 8)));
      if (damping.s9 == 0 || r > to_triples) continue;
      for (int k = 0; k < n_all; ++k) {
        const int ok = all.owner[k];
        const double s = distance(own.x[i], all.x[k]), t = distance(all.x[j], all.x[k]);
        if (s < 1e-9 || t < 1e-9 || s > to_triples || t > to_triples) continue;
        const auto radius_of = [&](int a, int b) {
          return 4.0 / 3 * table.triple_radius[c.types[a] * table.n_types + c.types[b]];
        };
        const double d =
            std::pow(radius_of(i, oj) * radius_of(i, ok) * radius_of(oj, ok) / (r * s * t), 16.0 / 3);
        const double cosines = (r * r + s * s - t * t) / (2 * r * s) * (r * r + t * t - s * s) / (2 * r * t) *
                               (s * s + t * t - r * r) / (2 * s * t);
        triples += damping.s9 / 6 * std::sqrt(c6(i, oj) * c6(i, ok) * c6(oj, ok)) * (3 * cosines + 1) /
                   std::pow(r * s * t, 3) / (1 + 6 * d) * faded(r, to_triples, width) *
                   faded(s, to_triples, width) * faded(t, to_triples, width);
      }
    }
  return pairs + triples;
}

}  // namespace dispersion_case
