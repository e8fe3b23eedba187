#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "bridges/c/guarded.hpp"
#include "tests/support/scratch.hpp"
#include "tests/unit/bridges/host.hpp"

/// What a host gets wrong comes back as a text, and the handle works on.
namespace {

using namespace quintet_c;

/// The last call failed with these words, and a right one after it works.
void expect_refused(const Handle& handle, int code, const std::string& words, int expected = QUINTET_INPUT) {
  EXPECT_EQ(code, expected);
  EXPECT_NE(handle.error().find(words), std::string::npos) << handle.error();
  const Water water(4.5);
  compute(handle, water.owned_types(), water.owned_positions(), water.cell);
  EXPECT_EQ(handle.error(), "");
}

int try_compute(const Handle& handle, const std::vector<int>& types, const std::vector<double>& positions,
                const std::vector<double>& cell, int model = 0) {
  double energy = 0;
  return quintet_potential_compute(handle.potential, model, types.size(), types.data(), positions.data(),
                                   cell.data(), &energy, nullptr, nullptr, nullptr, nullptr);
}

TEST(QuintetC, opening_what_is_no_model_says_why) {
  const Scratch scratch("bridges_mistakes");
  const std::string text = scratch / "text.dp";
  std::ofstream(text) << "not a model";
  const std::string cut = scratch / "cut.dp";
  std::filesystem::copy_file(data("oneside.dp"), cut);
  std::filesystem::resize_file(cut, 9000);
  EXPECT_NE(Handle({"nowhere.dp"}).error().find("nowhere.dp"), std::string::npos);
  EXPECT_NE(Handle({text}).error().find("text.dp"), std::string::npos);
  EXPECT_NE(Handle({cut}).error().find("cut.dp"), std::string::npos);
  EXPECT_NE(Handle({data("oneside.dp")}, "half").error().find("expected model, double or mixed"),
            std::string::npos);
  EXPECT_NE(Handle({data("atom_parameters.dp"), data("hybrid_atom_parameters.dp")})
                .error()
                .find("read 2 and 1 number of each atom (aparam)"),
            std::string::npos);
  EXPECT_NE(Handle({}).error().find("no model"), std::string::npos);
  const Handle other(
      {data("oneside.dp"), std::string(std::getenv("QUINTET_SOURCE_DIR")) + "/inputs/dpmd/copper/copper.dp"});
  EXPECT_NE(other.error().find("need the same"), std::string::npos) << other.error();
  EXPECT_EQ(quintet_potential_models(other.potential), 0);
  EXPECT_EQ(try_compute(other, {0}, {0, 0, 0}, {9, 0, 0, 0, 9, 0, 0, 0, 9}), QUINTET_INPUT);
  EXPECT_NE(other.error().find("need the same"), std::string::npos) << "later calls say why there is none";
}

TEST(QuintetC, null_pointers_are_refused) {
  const Handle handle({data("oneside.dp")});
  double energy = 0;
  const int type = 0;
  EXPECT_STREQ(quintet_potential_error(nullptr), "the handle is NULL");
  EXPECT_EQ(quintet_potential_compute(nullptr, 0, 1, &type, &energy, nullptr, &energy, nullptr, nullptr,
                                      nullptr, nullptr),
            QUINTET_INPUT);
  EXPECT_EQ(quintet_potential_types(nullptr), 0);
  EXPECT_EQ(quintet_potential_type_name(handle.potential, 2), nullptr);
  quintet_potential_close(nullptr);
  expect_refused(handle,
                 quintet_potential_compute(handle.potential, 0, 1, nullptr, &energy, nullptr, &energy,
                                           nullptr, nullptr, nullptr, nullptr),
                 "types is NULL");
  expect_refused(handle,
                 quintet_potential_compute(handle.potential, 0, 1, &type, nullptr, nullptr, &energy, nullptr,
                                           nullptr, nullptr, nullptr),
                 "positions is NULL");
  expect_refused(handle,
                 quintet_potential_compute(handle.potential, 0, -1, &type, &energy, nullptr, &energy, nullptr,
                                           nullptr, nullptr, nullptr),
                 "negative");
  expect_refused(
      handle, quintet_potential_set_neighbours(handle.potential, 1, 0, &type, 1, &type, nullptr, nullptr, ~0),
      "n_neighbours is NULL");
}

TEST(QuintetC, wrong_types_positions_and_cells_are_named) {
  const Handle handle({data("oneside.dp")});
  const std::vector<double> x{0, 0, 0, 1, 0, 0}, cell{9, 0, 0, 0, 9, 0, 0, 0, 9};
  expect_refused(handle, try_compute(handle, {0, 2}, x, cell),
                 "atom 1 has type 2; the model has types 0 to 1 (O, H)");
  expect_refused(handle, try_compute(handle, {-2, 0}, x, cell), "atom 0 has type -2");
  expect_refused(handle,
                 try_compute(handle, {0, 1}, {0, 0, 0, 1, std::numeric_limits<double>::quiet_NaN(), 0}, cell),
                 "position y of atom 1 is nan");
  expect_refused(handle, try_compute(handle, {0, 1}, x, cell, 1), "model 1 was asked for; there are 1");
  expect_refused(handle, try_compute(handle, {0, 1}, x, {9, 0, 0, 0, 9, 0, 0, 0, -9}), "");
  expect_refused(handle, try_compute(handle, {0, 1}, x, {0.2, 0, 0, 0, 9, 0, 0, 0, 9}),
                 "more than 20 images");
  EXPECT_EQ(try_compute(handle, {0}, x, {0.24, 0, 0, 0, 9, 0, 0, 0, 9}), QUINTET_OK)
      << handle.error();  // just wide enough
  expect_refused(handle, try_compute(handle, {0, 1}, {1, 1, 1, 1, 1, 1}, cell),
                 "came closer than 0.2 angstrom", QUINTET_NUMERICAL);
}

TEST(QuintetC, a_place_that_a_double_cannot_tell_is_refused) {
  const Handle handle({data("oneside.dp")});
  const Water water(4.5);
  const double right = compute(handle, water.owned_types(), water.owned_positions(), water.cell).energy;
  const auto moved = [&](double turns) {  // along the first row of the cell, which is that of x
    auto positions = water.owned_positions();
    positions[0] += turns * water.cell[0];
    return positions;
  };
  double energy = 0;
  const auto within = moved(std::floor(1e9 / water.cell[0]) - 1), beyond = moved(1e9 / water.cell[0] + 1);
  ASSERT_EQ(quintet_potential_compute(handle.potential, 0, water.n_owned, water.types.data(), within.data(),
                                      water.cell.data(), &energy, nullptr, nullptr, nullptr, nullptr),
            QUINTET_OK)
      << handle.error();
  EXPECT_NEAR(energy, right, 1e-5);
  for (const bool periodic : {true, false})
    expect_refused(handle,
                   quintet_potential_compute(handle.potential, 0, water.n_owned, water.types.data(),
                                             beyond.data(), periodic ? water.cell.data() : nullptr, &energy,
                                             nullptr, nullptr, nullptr, nullptr),
                   "position x of atom 0 is 1e+09 angstrom");
}

#ifdef __GLIBC__
/// A host that has invalid operations end it, as Fortran's -ffpe-trap does, goes on, and traps as before.
TEST(QuintetC, traps_of_the_host_are_put_aside_and_come_back) {
  constexpr int trapped = FE_INVALID | FE_DIVBYZERO | FE_OVERFLOW;
  const Water water(4.5);
  std::feclearexcept(FE_ALL_EXCEPT);
  feenableexcept(trapped);
  for (const char* const precision : {"double", "mixed"}) {
    const Handle handle({data("oneside.dp")}, precision);
    compute(handle, water.owned_types(), water.owned_positions(), water.cell);
  }
  const int kept = fegetexcept(), raised = std::fetestexcept(trapped);
  fedisableexcept(trapped);
  EXPECT_EQ(kept, trapped);
  EXPECT_EQ(raised, 0);
}
#endif

/// The text of Kokkos, which throws no std::bad_alloc, is a page long.
TEST(QuintetC, memory_that_runs_out_in_kokkos_is_told_as_such) {
  std::string text;
  const auto refused = [] {
    throw std::runtime_error("Kokkos failed to allocate memory for label \"x\".  Allocation using ...");
  };
  EXPECT_EQ(quintet::bridges::guarded(text, refused), QUINTET_RESOURCE);
  EXPECT_EQ(text, "out of memory");
  EXPECT_EQ(quintet::bridges::guarded(text, [] { throw std::bad_alloc(); }), QUINTET_RESOURCE);
  EXPECT_EQ(quintet::bridges::guarded(text, [] { throw std::runtime_error("of Kokkos"); }), QUINTET_INTERNAL);
}

TEST(QuintetC, refused_positions_leave_no_trace_in_later_energies) {
  const Handle handle({data("oneside.dp")});
  const Water water(4.5);
  const auto types = water.owned_types();
  const auto positions = water.owned_positions();
  const double before = compute(handle, types, positions, water.cell).energy;
  for (std::size_t i = 1; i < types.size(); ++i) {  // each atom on top of the first one, in a row of its own
    auto overlap = positions;
    std::copy_n(positions.begin(), 3, overlap.begin() + (3 * i));
    EXPECT_EQ(try_compute(handle, types, overlap, water.cell), QUINTET_NUMERICAL);
    EXPECT_EQ(compute(handle, types, positions, water.cell).energy, before) << i;
  }
}

TEST(QuintetC, lists_that_are_no_lists_are_refused) {
  const Handle handle({data("oneside.dp")});
  const auto refused = [&](const char* words, auto&& damage) {
    Water water(4.5);
    damage(water);
    expect_refused(handle, water.set(handle.potential), words);
  };
  refused("is atom 100000; there are", [](Water& w) { w.rows[2][0] = 100000; });
  refused("is atom -5; there are", [](Water& w) { w.rows[2][0] = -5; });
  refused("stands in its own row", [](Water& w) { w.rows[0][0] = w.atoms[0]; });
  refused("both of atom", [](Water& w) { w.atoms[1] = w.atoms[0]; });
  refused("24 atoms are owned", [](Water& w) { w.atoms[1] = 24; });
  refused("a full list is needed", [](Water& w) {
    for (std::size_t r = 0; r < w.rows.size(); ++r)
      std::erase_if(w.rows[r], [&](int j) { return j < w.atoms[r]; });
  });
  expect_refused(
      handle,
      [&] {
        Water water(4.5);
        for (int& t : water.types) t = 1;
        water.types[7] = 3;
        return water.set(handle.potential);
      }(),
      "atom 7 has type 3");
  double energy = 0;
  const double x[3] = {0, 0, 0};
  const Handle fresh({data("oneside.dp")});
  expect_refused(fresh,
                 quintet_potential_compute_neighbours(fresh.potential, 0, x, &energy, nullptr, nullptr,
                                                      nullptr, nullptr),
                 "no neighbour list");
}

/// Rows that hold atoms of no type, which have no rows of their own.
TEST(QuintetC, atoms_of_no_type_need_no_row) {
  const Handle handle({data("oneside.dp")});
  Water water(4.5);
  const int gone = water.atoms[1];
  water.types[gone] = -1;
  water.rows[1].clear();
  EXPECT_EQ(water.set(handle.potential), QUINTET_OK) << handle.error();
}

/// A pair within the cutoff that the list lacks is found; one that is a little farther away need not be
/// there.
TEST(QuintetC, a_pair_that_the_list_lacks_is_named) {
  const Handle handle({data("oneside.dp")});
  for (const bool within : {true, false}) {
    Water water(4.9);
    double wanted = within ? 0 : 9;
    int a = 0, b = 0;
    for (std::size_t r = 0; r < water.rows.size();
         ++r)  // the farthest pair within the cutoff, the nearest beyond it
      for (const int j : water.rows[r]) {
        const double d = water.distance(water.atoms[r], j);
        if (j >= water.n_owned || (within ? d >= 4.5 || d <= wanted : d <= 4.5 || d >= wanted)) continue;
        wanted = d;
        a = water.atoms[r];
        b = j;
      }
    for (std::size_t r = 0; r < water.rows.size(); ++r) {
      if (water.atoms[r] == a) std::erase(water.rows[r], b);
      if (water.atoms[r] == b) std::erase(water.rows[r], a);
    }
    ASSERT_EQ(water.set(handle.potential), QUINTET_OK) << handle.error();
    const int code = quintet_potential_check_neighbours(handle.potential, water.positions.data());
    EXPECT_EQ(code, within ? QUINTET_INPUT : QUINTET_OK) << handle.error();
    EXPECT_EQ(handle.error().find("the neighbour list lacks atom") != std::string::npos, within)
        << handle.error();
  }
}

/// A host may end without giving a handle back.
TEST(QuintetCDeathTest, a_host_that_never_closes_ends_as_it_wants) {
  const auto leave = [] {
    const std::string file = data("oneside.dp");
    const char* const name = file.c_str();
    static quintet_potential* const potential = quintet_potential_open(1, &name, "double");
    const Water water(4.5);
    double energy = 0;
    const int code =
        quintet_potential_compute(potential, 0, water.n_owned, water.types.data(), water.positions.data(),
                                  water.cell.data(), &energy, nullptr, nullptr, nullptr, nullptr);
    std::exit(code == QUINTET_OK && energy != 0 ? 17 : 1);
  };
  EXPECT_EXIT(leave(), testing::ExitedWithCode(17), "");
}

TEST(QuintetC, a_mask_leaves_the_index) {
  const Handle handle({data("oneside.dp")});
  Water plain(4.5), marked(4.5);
  marked.mask = 0x1FFFFFFF;
  for (auto& row : marked.rows)
    for (std::size_t k = 0; k < row.size(); k += 2) row[k] |= 1 << 30;
  double energies[2];
  for (auto* water : {&plain, &marked}) {
    ASSERT_EQ(water->set(handle.potential), QUINTET_OK) << handle.error();
    ASSERT_EQ(
        quintet_potential_compute_neighbours(handle.potential, 0, water->positions.data(),
                                             &energies[water == &marked], nullptr, nullptr, nullptr, nullptr),
        QUINTET_OK);
  }
  EXPECT_EQ(energies[0], energies[1]);
}

}  // namespace
