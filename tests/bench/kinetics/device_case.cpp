#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/config/table.hpp"
#include "io/parallel/comm.hpp"
#include "io/runtime/runtime.hpp"
#include "physics/kinetics/advection/exterior.hpp"
#include "physics/kinetics/collisions/collision_moments.hpp"
#include "physics/kinetics/collisions/species_exchange.hpp"
#include "physics/kinetics/device/resident_collisions.hpp"
#include "tests/bench/device/archive.hpp"
#include "tests/bench/device/collisions_case.hpp"
#include "tests/verification/kinetics/collisions/collisions_case.hpp"

/// vlasov_device_case FILE: one species that collides with itself, in several dimensions and by both
/// operators: what a device is asked for, and what the SIMD engine finds. For
/// build/tests/bench/device_collisions.
namespace quintet::kinetics {
namespace {

CollisionsCase* recorded = nullptr;  ///< a factory is a plain function

DeviceCollisions* record(const DeviceCollisionOptions& options, DeviceVlasov& vlasov) {
  recorded->options = options;
  return DeviceCollisions::make(options, vlasov).release();
}

/// As the block lays it out, zeros where it pads.
std::vector<double> numbers_of(const Distribution& f) {
  Distribution clean("f", f.block, f.n_modes);
  for (int conf = 0; conf < f.block.n_conf(); ++conf)
    for (int row = 0; row < f.block.n_rows(); ++row)
      for (int j = 0; j < f.block.n_last(); ++j)
        for (int m = 0; m < f.n_modes; ++m) clean.at(conf, row, j, m) = f.at(conf, row, j, m);
  return {clean.data.data(), clean.data.data() + clean.data.size()};
}

CollisionsCase make_case(int cdim, int vdim, const std::array<int, 3>& cells,
                         CollisionOptions::Operator kind) {
  CollisionsCase result;
  const bool drags = kind == CollisionOptions::Operator::lenard_bernstein;
  result.name = std::to_string(cdim) + "x" + std::to_string(vdim) + "v ser p2 " + (drags ? "LBO" : "BGK");
  result.weight = 0.7;
  const PhaseBasis basis(cdim, vdim, 2, Family::serendipity);
  const auto species = CollisionRun::make_species({collision_grid(cdim, vdim, cells, -5, 4.5, 1)}, {1});
  const Decomposition decomposition(Comm::self(), species[0].grid, {});
  const auto block = decomposition.block(species[0].grid);
  const auto open = open_edges(decomposition, species[0]);
  result.vlasov = device_vlasov_options(basis, block, Flux::upwind, open);
  auto options = self_collisions(0.5);
  options.kind = kind;

  const std::vector<Distribution> f{{"f", block, basis.size()}}, here{{"rate", block, basis.size()}};
  project_phase(
      basis, [&](std::span<const double> z) { return lumpy(cdim, z); }, f[0], "f");
  result.f = numbers_of(f[0]);
  Collisions host(decomposition, basis, species, options);
  host.add(Exec(), 0, f, result.weight, here);
  result.rate = numbers_of(here[0]);
  const auto components = CollisionMoments::components(basis, drags);
  const ConfField moments("moments", static_cast<std::size_t>(block.n_conf()), components.size(),
                          static_cast<std::size_t>(basis.conf().size()));
  host_collision_engines(decomposition, basis, species)
      ->moment_sums(0, components)
      ->run(Exec(), f[0], moments, 0);
  Exec().fence();
  result.moments.assign(moments.data(), moments.data() + moments.size());

  recorded = &result;
  ResidentOperator resident(block, Flux::upwind, open, DeviceVlasov::make(result.vlasov));
  const DeviceVlasovFactory factory{&quintet_make_device_vlasov, &quintet_device_vlasov_bytes, &record,
                                    &quintet_device_collision_bytes};
  const Collisions notes(decomposition, basis, species, options,
                         resident_collision_engines(decomposition, basis, species, {&resident}, factory));
  SpeciesExchange(basis, species, options)
      .compute_there(0, block, {{}},
                     [&](const ExchangeTables& tables, const auto&) { result.tables = tables; });
  return result;
}

}  // namespace
}  // namespace quintet::kinetics

int main(int argc, char** argv) {
  quintet::Runtime runtime(argc, argv, 1, {});
  using namespace quintet::kinetics;
  try {
    if (argc != 2) throw std::runtime_error("one argument is needed: the file to write");
    std::vector<CollisionsCase> cases;
    for (const auto kind : {CollisionOptions::Operator::lenard_bernstein, CollisionOptions::Operator::bgk}) {
      cases.push_back(make_case(1, 1, {127, 1, 1}, kind));
      cases.push_back(make_case(1, 2, {23, 25, 1}, kind));
      cases.push_back(make_case(2, 2, {15, 17, 1}, kind));
    }
    device_bench::write_cases(cases, argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "vlasov_device_case: %s\n", error.what());
    std::_Exit(1);
  }
}
