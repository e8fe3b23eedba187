#include "physics/particles/forces/evaluation_memory.hpp"

#include <memory>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "physics/particles/interactions/sum_of_fields.hpp"
#include "tests/unit/particles/dynamics/simulation.hpp"

namespace quintet {
namespace {

struct Calls {
  int asked = 0, computed = 0;
};

/// No forces, but arrays of so many bytes an atom on the last rank.
class Greedy final : public NoForces {
 public:
  Greedy(double bytes, Calls& calls) : bytes_(bytes), calls_(calls) {}
  using ForceField::compute;
  std::optional<double> memory_needed(const Exec&, const Atoms& atoms, const NeighbourList&) override {
    ++calls_.asked;
    const Comm comm = Comm::world();
    return comm.rank() == comm.size() - 1 ? bytes_ * atoms.n_local : 0;
  }
  Energetics compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                     const ByAtom& by_atom) override {
    ++calls_.computed;
    return NoForces::compute(exec, atoms, list, by_atom);
  }

 private:
  double bytes_;
  Calls& calls_;
};

constexpr double too_much = 1e16, little = 10;

TEST(EvaluationMemory, what_does_not_fit_is_refused_on_all_ranks_before_it_begins) {
  for (const double bytes : {little, too_much}) {
    Calls calls;
    Simulation run(Comm::world(), gas(300, 20), std::make_unique<Greedy>(bytes, calls));
    if (bytes == little)
      EXPECT_NO_THROW(run.system.update_forces(run.exec));
    else
      EXPECT_THROW(run.system.update_forces(run.exec), ResourceError);
    EXPECT_EQ(calls.computed, bytes == little ? 1 : 0);
  }
}

TEST(EvaluationMemory, is_asked_for_with_each_list) {
  Calls calls;
  Simulation run(Comm::world(), gas(300, 20), std::make_unique<Greedy>(little, calls));
  for (int i = 0; i < 3; ++i) run.system.update_forces(run.exec);
  EXPECT_EQ(calls.asked, 1);
  run.domain.rebuild(run.exec, run.atoms);
  for (int i = 0; i < 3; ++i) run.system.update_forces(run.exec);
  EXPECT_EQ(calls.asked, 2);
  EXPECT_EQ(calls.computed, 6);
}

/// What a sum of fields says it needs for a gas.
std::optional<double> needed_by(std::vector<FieldTerm> terms) {
  Simulation run(Comm::world(), gas(300, 20), std::make_unique<SumOfFields>(std::move(terms)));
  const auto bytes = run.field->memory_needed(run.exec, run.atoms, run.domain.list());
  return bytes ? std::optional(Comm::world().maximum(*bytes)) : bytes;
}

TEST(EvaluationMemory, of_a_sum_is_that_of_the_term_that_needs_most) {
  Calls calls;
  const auto field = [&](double bytes) { return std::make_unique<Greedy>(bytes, calls); };
  std::vector<FieldTerm> none, three;
  none.push_back({std::make_unique<NoForces>()});
  EXPECT_FALSE(needed_by(std::move(none)).has_value());

  three.push_back({field(1)});
  three.push_back({field(3)});
  three.push_back({std::make_unique<NoForces>()});
  const auto all = needed_by(std::move(three));
  ASSERT_TRUE(all.has_value());
  EXPECT_GT(*all, 0);

  // A third of the atoms are neon.
  std::vector<FieldTerm> part;
  part.push_back({field(1)});
  part.push_back({field(3), {"Ne"}});
  const auto of_neon = needed_by(std::move(part));
  ASSERT_TRUE(of_neon.has_value());
  EXPECT_LT(*of_neon, 0.7 * *all);
}

}  // namespace
}  // namespace quintet
