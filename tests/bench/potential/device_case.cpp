#include <cstdio>
#include <cstdlib>
#include <memory>

#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/particles/formats/lammps/lammps_data.hpp"
#include "surrogates/potential/device/device_tables.hpp"
#include "surrogates/potential/model/repulsion/repulsion.hpp"
#include "tests/bench/device/archive.hpp"
#include "tests/bench/device/dpmd_case.hpp"
#include "tests/bench/potential/driver_arguments.hpp"
#include "tests/support/deep_potential_case.hpp"

/// dpmd_device_case --model M.dp --cell C.lmp --output CASE: model, cell, and the energies that the SIMD
/// engine finds, for build/tests/bench/device_dpmd.
namespace {

using namespace quintet;

dpmd_case::Reference reference_of(ForceField& field, const Configuration& cell) {
  const Evaluated found = evaluate(Comm::self(), field, cell);
  return {found.energy, found.virial, found.force};
}

dpmd_case::Case make_case(const std::string& model_path, const std::string& cell_path) {
  const auto model = potential::read_dp(model_path);
  LammpsDataOptions names;
  names.type_names = {"O", "H"};
  const Configuration cell = read_lammps_data(cell_path, names);
  dpmd_case::Case c;
  auto& s = c.system;
  s.rows = cell.box.rows();
  s.inverse = cell.box.inverse();
  s.origin = cell.box.origin();
  for (std::size_t i = 0; i < cell.n_atoms(); ++i) {
    for (int l = 0; l < 3; ++l) {
      s.position.push_back(cell.positions[i][l]);
      s.velocity.push_back(0);
    }
    s.type.push_back(cell.types[i]);
    s.id.push_back(static_cast<std::int64_t>(i) + 1);
  }
  s.mass = {15.999, 1.008};
  const potential::RepulsionOptions repulsion{0.6, 1.2};  // O and H of a molecule are within its reach
  c.repulsion = potential::nuclear_pairs(model.type_names, model.rcut, repulsion);
  for (int p = 0; p < 2; ++p) {
    potential::DeepPotentialOptions options;
    options.precision = p == 0 ? potential::Precision::fp64 : potential::Precision::mixed;
    c.model[p] = potential::device_model(model, options);
    auto field = std::make_unique<potential::DeepPotential>(model, options);
    c.reference[p] = reference_of(*field, cell);
    std::printf("%s\n", field->description().c_str());
    for (const auto& part : c.model[p].parts)
      std::printf("order %d, intervals %d, dense %d\n", part.order, part.n_intervals, part.n_dense);
    potential::Repulsion repelled(std::move(field), repulsion);
    c.repelled[p] = reference_of(repelled, cell);
  }
  return c;
}

}  // namespace

int main(int argc, char** argv) {
  quintet::Runtime runtime(argc, argv, 1, {});
  try {
    const DriverArguments arguments(argc, argv);
    auto c = make_case(arguments.text("--model"), arguments.text("--cell"));
    device_bench::write_cases(c, arguments.text("--output"));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "dpmd_device_case: %s\n", error.what());
    std::_Exit(1);
  }
}
