#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "physics/particles/observables/bonds.hpp"
#include "physics/particles/observables/rdf.hpp"
#include "tests/unit/particles/dynamics/simulation.hpp"

/// Observables of pairs by the list of neighbours, and by the search of all atoms beyond it.
using namespace quintet;

namespace {

/// What an observer finds of a gas that has moved since neighbours were listed up to a cutoff.
struct Sample {
  std::vector<Table> tables;
  std::int64_t messages;  ///< between ranks
};
Sample sample(Observer& observer, double cutoff) {
  const Exec exec;
  const Comm comm = Comm::world();
  const auto configuration = gas(500, 16);
  Domain domain(comm, {.cutoff = cutoff, .skin = 0.8}, configuration.box);
  Atoms atoms = domain.distribute(configuration);
  domain.rebuild(exec, atoms);
  for (int i = 0; i < atoms.n_local; ++i)
    for (int k = 0; k < 3; ++k) atoms.position(i, k) += 0.2 * std::sin(12.9 * atoms.id(i) + k);
  EXPECT_FALSE(domain.refresh(exec, atoms));
  comm.reset_counters();
  observer.observe(exec, 0, atoms, domain);
  return {observer.tables(), comm.sum(comm.counter(Comm::Call::point_to_point).messages)};
}

/// The same numbers up to the cutoff, for which no atom travels, and just beyond it.
template <class MakeObserver>
void expect_the_same(const MakeObserver& make, double reach) {
  auto by_list = make(), by_search = make();
  const Sample listed = sample(*by_list, reach), searched = sample(*by_search, 0.99 * reach);
  EXPECT_EQ(listed.messages, 0);
  EXPECT_EQ(searched.messages > 0, Comm::world().size() > 1);
  ASSERT_EQ(listed.tables.size(), searched.tables.size());
  for (std::size_t t = 0; t < listed.tables.size(); ++t) {
    ASSERT_EQ(listed.tables[t].columns.size(), searched.tables[t].columns.size());
    for (std::size_t c = 0; c < listed.tables[t].columns.size(); ++c)
      EXPECT_EQ(listed.tables[t].columns[c].values, searched.tables[t].columns[c].values)
          << listed.tables[t].columns[c].name;
  }
}

}  // namespace

TEST(Observables, of_pairs_take_the_radial_distribution_from_the_list) {
  expect_the_same([] { return std::make_unique<RadialDistribution>(RdfOptions{1, 4.1, 0.1}); }, 4.1);
}

TEST(Observables, of_pairs_take_bonds_from_the_list) {
  const BondOptions options{1, 1.5, {{"Ne_Ne", 2.5}, {"Ar_Ne", 0.0}}, 0.05, 36};
  expect_the_same([&] { return std::make_unique<BondGeometry>(options); }, 2.5);
}
