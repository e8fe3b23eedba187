// A program outside the project: its own options, read by io/config, and a crystal made by physics/particles.
#include <cstdint>
#include <cstdio>

#include "io/config/schema.hpp"
#include "io/log/error.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/particles/atoms/configuration.hpp"
#include "physics/particles/domain/validate_configuration.hpp"

struct CrystalOptions {
  double lattice_constant = 0;
  int copies = 1;
};

void describe(quintet::Schema& schema, CrystalOptions& options) {
  schema.quantity("lattice_constant", options.lattice_constant, "angstrom", "Edge of the cubic cell")
      .required()
      .above(0);
  schema.integer("copies", options.copies, "Cells along each direction").at_least(1);
}

quintet::Configuration copper(const CrystalOptions& options) {
  const double a = options.lattice_constant, h = a / 2;
  quintet::Configuration cell;
  cell.box = quintet::Box({a, 0, 0, 0, a, 0, 0, 0, a}, {true, true, true});
  cell.type_names = {"Cu"};
  cell.types = {0, 0, 0, 0};
  cell.positions = {{0, 0, 0}, {0, h, h}, {h, 0, h}, {h, h, 0}};
  return quintet::replicated(cell, {options.copies, options.copies, options.copies});
}

int main(int argc, char** argv) {
  const quintet::Runtime runtime(argc, argv, 1, {});
  CrystalOptions options;
  const auto described = quintet::described(options);
  quintet::parse_options(quintet::parse_yaml("{lattice_constant: 0.36 nm, copies: 3}", "text"), described);
  const auto crystal = copper(options);
  quintet::validate(crystal);
  std::printf("%zu atoms, %.3f angstrom^3\n", crystal.n_atoms(), crystal.box.volume());
  try {
    quintet::parse_options(quintet::parse_yaml("lattice_constant: 3.6", "text"), described);
  } catch (const quintet::InputError& error) {
    std::printf("refused: %s\n", error.what());
    return 0;
  }
  return 1;
}
