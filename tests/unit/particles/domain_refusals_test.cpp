#include <cmath>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "physics/particles/domain/domain.hpp"
#include "tests/support/sample_systems.hpp"
#include "tests/unit/particles/domain_cases.hpp"

using namespace quintet;

/// Sizes alone: nothing of these is allocated.
TEST(Domain, more_atoms_than_indices_count_are_refused_on_every_rank) {
  EXPECT_LE(std::int64_t{3} * most_rows, std::numeric_limits<int>::max());
  EXPECT_NO_THROW(require_fit(most_rows));
  EXPECT_THROW(require_fit(most_rows + 1), ResourceError);

  const Comm comm = Comm::world();
  const auto cell = random_configuration(skewed, 5, 1, 3);
  auto c = cell;
  c.ids.clear();
  const Copies copies{100000, 100000, 1000};  // 5e13 atoms
  Domain domain(comm, {.cutoff = 4, .skin = 1}, replicated(c.box, copies));
  const auto text = std::to_string(50000000000000 / comm.size());
  EXPECT_NE(message_of([&] {
              static_cast<void>(domain.distribute(c, copies));
            }).find("a rank would hold " + text + " atoms and ghosts"),
            std::string::npos);
  EXPECT_NE(message_of([&] { static_cast<void>(domain.distribute(cell, copies)); }).find("ids of its own"),
            std::string::npos);
}

TEST(Domain, atoms_that_are_not_finite_are_named_on_every_rank) {
  for (const double bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(), 1e30}) {
    Domain domain(Comm::world(), {.cutoff = 4, .skin = 1}, skewed);
    Atoms atoms = domain.distribute(random_configuration(skewed, 90, 1, 2));
    domain.rebuild(Exec(), atoms);
    int owner = 0;
    for (int i = 0; i < atoms.n_local; ++i)
      if (atoms.id(i) == 61) {
        atoms.position(i, 2) = bad;
        owner = Comm::world().rank();
      }
    owner = Comm::world().maximum(owner);

    try {
      domain.refresh(Exec(), atoms);
      ADD_FAILURE() << "nothing was thrown";
    } catch (const NumericalError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find("atom 61 at ("), std::string::npos) << message;
      EXPECT_NE(message.find("with velocity ("), std::string::npos) << message;
      EXPECT_EQ(rank_of(error), owner);
    }
  }
}

TEST(Domain, a_checkpoint_of_atoms_that_cannot_be_is_refused_on_every_rank) {
  const Comm comm = Comm::world();
  Domain domain(comm, {.cutoff = 4, .skin = 1}, skewed);
  Atoms atoms = domain.distribute(random_configuration(skewed, 90, 2, 2));
  domain.rebuild(Exec(), atoms);
  const auto refusal = [&](const std::function<void(Atoms&, Vectors&, int)>& damage) {
    Atoms copy = checkpoint_of(atoms);
    Vectors built("built", atoms.n_local);
    Kokkos::deep_copy(built, domain.built_positions());
    for (int i = 0; i < copy.n_local; ++i)
      if (copy.id(i) == 61) damage(copy, built, i);
    return message_of([&] { domain.restore(Exec(), copy, built, domain.built_box()); });
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();

  const auto says = [](const std::string& message, const char* text) {
    EXPECT_NE(message.find(text), std::string::npos) << message;
  };
  says(refusal([&](Atoms& a, Vectors&, int i) { a.position(i, 1) = nan; }), "is not finite");
  says(refusal([&](Atoms& a, Vectors&, int i) { a.velocity(i, 0) = nan; }), "atom 61 at (");
  says(refusal([&](Atoms&, Vectors& built, int i) { built(i, 2) = nan; }), "is not finite");
  says(refusal([&](Atoms& a, Vectors&, int i) { a.type(i) = 2; }),
       "atom 61 has type index 2; expected 0 to 1");
}

TEST(Domain, lost_atoms_are_noticed) {
  Domain domain(Comm::world(), {.cutoff = 4, .skin = 1}, skewed);
  Atoms atoms = domain.distribute(random_configuration(skewed, 90, 1, 2));
  if (domain.comm().is_root()) --atoms.n_local;

  const std::string message = message_of([&] { domain.rebuild(Exec(), atoms); });

  EXPECT_NE(message.find("89 of 90"), std::string::npos) << message;
}

TEST(Domain, what_does_not_fit_together_is_refused_on_every_rank) {
  Domain domain(Comm::world(), {.cutoff = 4, .skin = 1}, skewed);
  auto c = random_configuration(skewed, 9, 2, 2);
  c.types[4] = 2;
  EXPECT_NE(message_of([&] { static_cast<void>(domain.distribute(c)); }).find("atom 5 has type index 2"),
            std::string::npos);
  c.types.pop_back();
  EXPECT_NE(message_of([&] { static_cast<void>(domain.distribute(c)); }).find("8 types for 9 positions"),
            std::string::npos);
  EXPECT_NE(message_of([&] { Domain(Comm::world(), {.cutoff = -1, .skin = 1}, skewed); }).find("cutoff"),
            std::string::npos);
  EXPECT_NE(message_of([&] { Domain(Comm::world(), {.cutoff = 4, .skin = NAN}, skewed); }).find("skin"),
            std::string::npos);
  EXPECT_NE(message_of([&] { Domain(Comm::world(), {.cutoff = 600, .skin = 1}, skewed); }).find("too small"),
            std::string::npos);
}
