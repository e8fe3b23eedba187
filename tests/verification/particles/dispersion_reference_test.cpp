#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "physics/particles/interactions/dispersion.hpp"
#include "tests/support/deep_potential_case.hpp"

/// The authors' program beside ours, on the elements' own tables, which we may not distribute:
/// QUINTET_D3_TABLE names them (dftd3_params.npz of torch-dftd). make_dispersion_reference.py has made the
/// values.
namespace quintet {
namespace {

constexpr double bohr = 0.529177210903;

struct Reference {
  Configuration configuration;
  DispersionOptions options;
  double energy = 0;
  std::vector<double> force, virial;
  std::string name;
};

std::vector<Reference> references() {
  std::vector<Reference> all;
  const std::string path =
      std::string(std::getenv("QUINTET_SOURCE_DIR")) + "/tests/verification/particles/dispersion.ref.json";
  const Tree document = read_yaml(path);
  for (const auto& tree : document.at("cases").items()) {
    Reference r;
    r.name = tree.at("name").as_text();
    auto& c = r.configuration;
    for (const auto& name : tree.at("types").items()) c.type_names.push_back(name.as_text());
    c.masses.assign(c.type_names.size(), 1.0);
    for (const double t : numbers(tree.find("type"))) c.types.push_back(t);
    const auto x = numbers(tree.find("coord"));
    for (std::size_t i = 0; i < x.size(); i += 3) c.positions.push_back({x[i], x[i + 1], x[i + 2]});
    Mat3 rows{40, 0, 0, 0, 40, 0, 0, 0, 40};
    const auto box = numbers(tree.find("box"));
    if (box.size() == 9) std::copy(box.begin(), box.end(), rows.begin());
    const auto& periodic = tree.at("periodic").items();
    c.box = Box(rows, {periodic[0].as_boolean(), periodic[1].as_boolean(), periodic[2].as_boolean()});
    const auto number = [&](const char* key) { return tree.at(key).as_number(); };
    r.options.damping = damping_of(tree.at("functional").as_text(), number("s9"));
    r.options.reach = {number("cutoff") * bohr, number("triple_cutoff") * bohr,
                       number("coordination_cutoff") * bohr, number("switch") * bohr};
    r.energy = number("energy");
    r.force = numbers(tree.find("force"));
    r.virial = numbers(tree.find("virial"));
    all.push_back(std::move(r));
  }
  return all;
}

TEST(DispersionReference, energies_forces_and_virials_are_those_of_the_authors_program) {
  const char* const table = std::getenv("QUINTET_D3_TABLE");
  if (table == nullptr) GTEST_SKIP() << "QUINTET_D3_TABLE names no table of D3: " << dispersion_table_cure;
  double worst[3]{};
  for (const auto& r : references()) {
    const auto& names = r.configuration.type_names;
    Dispersion field(names, read_dispersion_table(table, names), r.options);
    const auto found = evaluate(Comm::world(), field, r.configuration);
    double force = 0, virial = 0;
    for (const double f : r.force) force = std::max(force, std::abs(f));
    for (const double v : r.virial) virial = std::max(virial, std::abs(v));
    worst[0] = std::max(worst[0], std::abs(found.energy / r.energy - 1));
    EXPECT_NEAR(found.energy, r.energy, 1e-10 * std::abs(r.energy)) << r.name;
    for (std::size_t k = 0; k < r.force.size(); ++k) {
      EXPECT_NEAR(found.force[k], r.force[k], 1e-10 * force) << r.name << " " << k;
      worst[1] = std::max(worst[1], std::abs(found.force[k] - r.force[k]) / force);
    }
    for (int k = 0; k < 9; ++k) {
      EXPECT_NEAR(found.virial[k], r.virial[k], 1e-10 * virial) << r.name << " " << k;
      worst[2] = std::max(worst[2], std::abs(found.virial[k] - r.virial[k]) / virial);
    }
  }
  std::printf("largest relative differences: energies %.1e, forces %.1e, virials %.1e\n", worst[0], worst[1],
              worst[2]);
}

}  // namespace
}  // namespace quintet
