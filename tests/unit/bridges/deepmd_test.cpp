#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/scratch.hpp"
#include "tests/unit/bridges/host.hpp"

/// What DeePMD-kit's LAMMPS plugin and CP2K call, of the stand-in for its library.
extern "C" {
struct DP_Nlist;
DP_Nlist* DP_NewNlist(int, int*, int*, int**);
void DP_NlistSetMask(DP_Nlist*, int);
void DP_DeleteNlist(DP_Nlist*);
void* DP_NewDeepPot(const char*);
void* DP_NewDeepPotWithParam2(const char*, int, const char*, int);
void* DP_NewDeepPotModelDeviWithParam(const char**, int, int, const char**, int, const int*);
void DP_DeleteDeepPot(void*);
const char* DP_DeepPotCheckOK(void*);
void DP_DeleteChar(const char*);
double DP_DeepBaseModelGetCutoff(void*);
int DP_DeepBaseModelGetNumbTypes(void*);
int DP_DeepPotGetDimAParam(void*);
const char* DP_DeepBaseModelGetTypeMap(void*);
const char* DP_ReadFileToChar2(const char*, int*);
void DP_DeepPotCompute(void*, int, const double*, const int*, const double*, double*, double*, double*,
                       double*, double*);
void DP_DeepPotCompute2(void*, int, int, const double*, const int*, const double*, const double*,
                        const double*, double*, double*, double*, double*, double*);
void DP_DeepPotComputeNList2(void*, int, int, const double*, const int*, const double*, int, const DP_Nlist*,
                             int, const double*, const double*, double*, double*, double*, double*, double*);
void DP_DeepPotModelDeviComputeNList2(void*, int, int, const double*, const int*, const double*, int,
                                      const DP_Nlist*, int, const double*, const double*, double*, double*,
                                      double*, double*, double*);
void* DP_NewDeepSpinWithParam2(const char*, int, const char*, int);
const char* DP_DeepSpinCheckOK(void*);
const char* DP_DipoleChargeModifierCheckOK(void*);
}

namespace {

using namespace quintet_c;

std::string taken(const char* text) {
  std::string copy = text;
  DP_DeleteChar(text);
  return copy;
}

/// A model, given back.
struct Pot {
  explicit Pot(const std::string& file) : dp(DP_NewDeepPotWithParam2(file.c_str(), 0, "", 0)) {}
  explicit Pot(void* made) : dp(made) {}
  ~Pot() { DP_DeleteDeepPot(dp); }
  Pot(const Pot&) = delete;
  Pot& operator=(const Pot&) = delete;
  [[nodiscard]] std::string error() const { return taken(DP_DeepPotCheckOK(dp)); }
  void* dp;
};

/// The list of a Water as LAMMPS hands it over.
struct List {
  explicit List(Water& water) {
    for (auto& row : water.rows) {
      starts.push_back(row.data());
      lengths.push_back(row.size());
    }
    list = DP_NewNlist(water.rows.size(), water.atoms.data(), lengths.data(), starts.data());
  }
  ~List() { DP_DeleteNlist(list); }
  List(const List&) = delete;
  List& operator=(const List&) = delete;
  std::vector<int*> starts;
  std::vector<int> lengths;
  DP_Nlist* list;
};

double energy_with_list(const Pot& pot, Water& water, int ago, double* force = nullptr) {
  double energy = 0;
  const List list(water);
  DP_DeepPotComputeNList2(pot.dp, 1, water.types.size(), water.positions.data(), water.types.data(),
                          water.cell.data(), water.n_ghosts(), list.list, ago, nullptr, nullptr, &energy,
                          force, nullptr, nullptr, nullptr);
  return energy;
}

TEST(QuintetDeepmd, finds_what_the_library_below_finds) {
  Water water(5.0);
  const Handle handle({data("oneside.dp")});
  const Found expected = compute(handle, water.owned_types(), water.owned_positions(), water.cell);
  const Pot pot(DP_NewDeepPot(data("oneside.dp").c_str()));
  ASSERT_EQ(pot.error(), "");
  EXPECT_EQ(DP_DeepBaseModelGetCutoff(pot.dp), 4.5);
  EXPECT_EQ(DP_DeepBaseModelGetNumbTypes(pot.dp), 2);
  EXPECT_EQ(taken(DP_DeepBaseModelGetTypeMap(pot.dp)), "O H");

  Found found(water.n_owned);
  DP_DeepPotCompute(pot.dp, water.n_owned, water.positions.data(), water.types.data(), water.cell.data(),
                    &found.energy, found.forces.data(), found.virial.data(), found.energies.data(),
                    found.virials.data());

  EXPECT_EQ(pot.error(), "");
  EXPECT_EQ(found.energy, expected.energy);
  EXPECT_EQ(found.forces, expected.forces);
  EXPECT_EQ(found.virial, expected.virial);
  EXPECT_EQ(found.virials, expected.virials);
  EXPECT_NEAR(energy_with_list(pot, water, 0), expected.energy, 1e-12);
  EXPECT_EQ(pot.error(), "");
}

TEST(QuintetDeepmd, models_together_are_those_one_by_one) {
  Water water(5.0);
  const std::string one = data("oneside.dp"), two = data("twoside.dp");
  const char* names[] = {one.c_str(), two.c_str()};
  const Pot both(DP_NewDeepPotModelDeviWithParam(names, 2, 0, nullptr, 0, nullptr));
  ASSERT_EQ(both.error(), "");
  const std::size_t n = water.types.size();
  std::vector<double> energy(2), force(6 * n), atomic(2 * n);
  const List list(water);
  DP_DeepPotModelDeviComputeNList2(both.dp, 1, n, water.positions.data(), water.types.data(),
                                   water.cell.data(), water.n_ghosts(), list.list, 0, nullptr, nullptr,
                                   energy.data(), force.data(), nullptr, atomic.data(), nullptr);
  ASSERT_EQ(both.error(), "");
  for (const int m : {0, 1}) {
    std::vector<double> alone(3 * n);
    EXPECT_EQ(energy_with_list(Pot(m == 0 ? one : two), water, 0, alone.data()), energy[m]);
    EXPECT_TRUE(std::equal(alone.begin(), alone.end(), force.begin() + 3 * m * n));
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += atomic[m * n + i];
    EXPECT_NEAR(sum, energy[m], 1e-11);
  }
}

/// Leave out a pair of owned atoms less than 3 angstrom apart.
void forget_a_pair(Water& water) {
  const int a = water.atoms[0];
  int b = -1;
  for (const int j : water.rows[0])
    if (j < water.n_owned && water.distance(a, j) < 3) b = j;
  ASSERT_GE(b, 0);
  for (std::size_t r = 0; r < water.rows.size(); ++r) {
    if (water.atoms[r] == a) std::erase(water.rows[r], b);
    if (water.atoms[r] == b) std::erase(water.rows[r], a);
  }
}

/// A host may say that its list is old though it is another one: a committee is asked at some steps only.
TEST(QuintetDeepmd, another_list_is_taken_whatever_its_age) {
  Water water(5.0), other(5.0);
  forget_a_pair(other);
  const Pot pot(data("oneside.dp")), fresh(data("oneside.dp"));
  const double before = energy_with_list(pot, water, 0);
  const double after = energy_with_list(pot, other, 3);
  EXPECT_EQ(pot.error(), "");
  setenv("QUINTET_ALLOW_INCOMPLETE_LISTS", "1", 1);
  EXPECT_EQ(after, energy_with_list(fresh, other, 0));
  unsetenv("QUINTET_ALLOW_INCOMPLETE_LISTS");
  EXPECT_NE(after, before);
}

TEST(QuintetDeepmd, a_list_without_a_pair_is_refused_unless_that_is_asked_for) {
  Water water(4.5);
  forget_a_pair(water);
  const Pot pot(data("oneside.dp"));
  energy_with_list(pot, water, 0);
  const std::string error = pot.error();
  EXPECT_NE(error.find("the neighbour list lacks atom"), std::string::npos) << error;
  EXPECT_NE(error.find("special_bonds"), std::string::npos) << error;
  const auto remedy = error.find("QUINTET_ALLOW_INCOMPLETE_LISTS=1");
  ASSERT_NE(remedy, std::string::npos) << error;
  setenv("QUINTET_ALLOW_INCOMPLETE_LISTS", "1", 1);
  EXPECT_NE(energy_with_list(pot, water, 0), 0);
  EXPECT_EQ(pot.error(), "");
  unsetenv("QUINTET_ALLOW_INCOMPLETE_LISTS");
}

TEST(QuintetDeepmd, an_empty_domain_and_one_of_ghosts_alone_have_no_energy) {
  const Pot pot(data("oneside.dp"));
  double energy = 1;
  DP_Nlist* none = DP_NewNlist(0, nullptr, nullptr, nullptr);
  DP_DeepPotComputeNList2(pot.dp, 1, 0, nullptr, nullptr, nullptr, 0, none, 0, nullptr, nullptr, &energy,
                          nullptr, nullptr, nullptr, nullptr);
  EXPECT_EQ(pot.error(), "");
  EXPECT_EQ(energy, 0);
  const double x[6] = {0, 0, 0, 1, 1, 1};
  const int types[2] = {0, 1};
  energy = 1;
  DP_DeepPotComputeNList2(pot.dp, 1, 2, x, types, nullptr, 2, none, 0, nullptr, nullptr, &energy, nullptr,
                          nullptr, nullptr, nullptr);
  DP_DeleteNlist(none);
  EXPECT_EQ(pot.error(), "");
  EXPECT_EQ(energy, 0);
}

/// Numbers of atoms (aparam): of each frame its own, and of a list those of the owned atoms.
TEST(QuintetDeepmd, hands_on_the_numbers_of_atoms) {
  Water water(5.0);
  const int n = water.n_owned;
  const Pot pot(data("atom_parameters.dp")), none(data("oneside.dp"));
  ASSERT_EQ(DP_DeepPotGetDimAParam(pot.dp), 2);
  EXPECT_EQ(DP_DeepPotGetDimAParam(none.dp), 0);
  std::vector<double> values(4 * n), x = water.owned_positions(), cells = water.cell, energies(2);
  for (int i = 0; i < 4 * n; ++i) values[i] = std::sin(0.7 * i);
  x.insert(x.end(), water.positions.begin(), water.positions.begin() + 3 * n);
  cells.insert(cells.end(), water.cell.begin(), water.cell.end());
  DP_DeepPotCompute2(pot.dp, 2, n, x.data(), water.types.data(), cells.data(), nullptr, values.data(),
                     energies.data(), nullptr, nullptr, nullptr, nullptr);
  ASSERT_EQ(pot.error(), "");
  EXPECT_GT(std::abs(energies[0] - energies[1]), 1e-4);
  const Handle handle({data("atom_parameters.dp")});
  ASSERT_EQ(quintet_potential_set_atom_parameters(handle.potential, n, 2, values.data() + 2 * n), QUINTET_OK);
  EXPECT_EQ(energies[1], compute(handle, water.owned_types(), water.owned_positions(), water.cell).energy);
  const List list(water);
  double energy = 0;
  const auto by_list = [&](const Pot& of, const double* aparam, int ago) {
    DP_DeepPotComputeNList2(of.dp, 1, water.types.size(), water.positions.data(), water.types.data(), nullptr,
                            water.n_ghosts(), list.list, ago, nullptr, aparam, &energy, nullptr, nullptr,
                            nullptr, nullptr);
    return energy;
  };
  for (const int ago : {0, 1, 2}) EXPECT_NEAR(by_list(pot, values.data(), ago), energies[0], 1e-12);
  EXPECT_TRUE(std::isnan(by_list(pot, nullptr, 3))) << "those of an earlier call are not taken";
  EXPECT_NE(pot.error().find("aparam_from_compute"), std::string::npos) << pot.error();
  EXPECT_TRUE(std::isnan(by_list(none, values.data(), 0)));
  EXPECT_NE(none.error().find("reads no numbers of atoms"), std::string::npos) << none.error();
}

TEST(QuintetDeepmd, what_is_not_supported_is_named) {
  Water water(4.5);
  const Pot pot(data("oneside.dp"));
  const List list(water);
  const double parameter = 1;
  double energy = 0, force[3] = {1, 1, 1};
  DP_DeepPotCompute2(pot.dp, 1, 1, water.positions.data(), water.types.data(), nullptr, &parameter, nullptr,
                     &energy, force, nullptr, nullptr, nullptr);
  EXPECT_NE(pot.error().find("fparam"), std::string::npos);
  EXPECT_TRUE(std::isnan(energy) && std::isnan(force[2]));
  energy = 0;
  DP_DeepPotComputeNList2(pot.dp, 1, water.types.size(), water.positions.data(), water.types.data(), nullptr,
                          water.n_ghosts(), list.list, 0, &parameter, nullptr, &energy, nullptr, nullptr,
                          nullptr, nullptr);
  EXPECT_NE(pot.error().find("fparam"), std::string::npos);
  EXPECT_TRUE(std::isnan(energy));
  EXPECT_NE(taken(DP_DeepSpinCheckOK(DP_NewDeepSpinWithParam2("a", 0, "", 0))).find("spins"),
            std::string::npos);
  EXPECT_NE(taken(DP_DipoleChargeModifierCheckOK(nullptr)).find("fix dplr"), std::string::npos);
}

/// CP2K does not ask whether all is well.
TEST(QuintetDeepmd, results_of_a_call_that_fails_are_no_numbers) {
  const int type = 0, wrong = 7;
  const double x[3] = {0, 0, 0}, cell[9] = {9, 0, 0, 0, 9, 0, 0, 0, 9};
  const Pot right(data("oneside.dp")), none("nowhere.dp");
  for (const auto& [pot, of] : {std::pair{&right, &wrong}, std::pair{&none, &type}}) {
    double energy = 1, force[3] = {1, 1, 1}, virial[9] = {1};
    DP_DeepPotCompute(pot->dp, 1, x, of, cell, &energy, force, virial, nullptr, nullptr);
    EXPECT_NE(pot->error(), "");
    EXPECT_TRUE(std::isnan(energy) && std::isnan(force[0]) && std::isnan(force[2]) && std::isnan(virial[8]));
  }
  EXPECT_NE(none.error().find("nowhere.dp"), std::string::npos) << none.error();
  double energy = 0, force[3] = {1, 1, 1};
  DP_DeepPotCompute(right.dp, -1, x, &type, cell, &energy, force, nullptr, nullptr, nullptr);
  EXPECT_NE(right.error().find("negative"), std::string::npos);
  EXPECT_TRUE(std::isnan(energy) && force[0] == 1);
  DP_DeepPotCompute(right.dp, 1, x, &type, cell, &energy, nullptr, nullptr, nullptr, nullptr);
  EXPECT_EQ(right.error(), "");
  EXPECT_TRUE(std::isfinite(energy));
}

TEST(QuintetDeepmd, what_cp2k_does_not_ask_about_is_said_once) {
  const double x[3] = {0, 0, 0}, cell[9] = {9, 0, 0, 0, 9, 0, 0, 0, 9};
  const auto said_by_type = [&](const Pot& pot, int type) {
    double energy = 0;
    testing::internal::CaptureStderr();
    DP_DeepPotCompute(pot.dp, 1, x, &type, cell, &energy, nullptr, nullptr, nullptr, nullptr);
    return testing::internal::GetCapturedStderr();
  };
  const Pot none("nowhere.dp"), pot(data("oneside.dp"));
  EXPECT_EQ(said_by_type(none, 0), "ERROR: Quintet: " + none.error() + "\n");
  EXPECT_EQ(said_by_type(none, 0), "");
  EXPECT_EQ(said_by_type(pot, 0), "");
  EXPECT_NE(said_by_type(pot, 7).find("ERROR: Quintet: atom 0 has type 7"), std::string::npos);
  EXPECT_EQ(said_by_type(pot, 7), "");
}

/// No call may read what a host's NULL or negative number leads to.
TEST(QuintetDeepmd, lists_and_names_that_are_not_there_are_named) {
  const Pot pot(data("oneside.dp"));
  const Water water(4.5);
  const auto refused = [&](int n_rows, int* atoms, int* lengths, int** rows, const std::string& words) {
    DP_Nlist* const list = DP_NewNlist(n_rows, atoms, lengths, rows);
    double energy = 0;
    for (int again = 0; again < 2; ++again) {
      DP_DeepPotComputeNList2(pot.dp, 1, static_cast<int>(water.types.size()), water.positions.data(),
                              water.types.data(), nullptr, water.n_ghosts(), list, 1, nullptr, nullptr,
                              &energy, nullptr, nullptr, nullptr, nullptr);
      EXPECT_TRUE(std::isnan(energy));
      EXPECT_NE(pot.error().find(words), std::string::npos) << pot.error();
    }
    DP_DeleteNlist(list);
  };
  int atom = 0, one = 1, less = -3;
  int *row = &atom, *none = nullptr;
  refused(1, nullptr, &one, &row, "an array of it");
  refused(1, &atom, nullptr, &row, "an array of it");
  refused(1, &atom, &one, nullptr, "an array of it");
  refused(1, &atom, &one, &none, "row 0 of the neighbour list is NULL");
  refused(1, &atom, &less, &row, "has -3 neighbours");
  refused(-1, nullptr, nullptr, nullptr, "none may be negative");
  EXPECT_NE(Pot(DP_NewDeepPotWithParam2(nullptr, 0, nullptr, 0)).error(), "");
  EXPECT_NE(Pot(DP_NewDeepPotModelDeviWithParam(nullptr, 2, 0, nullptr, 0, nullptr)).error(), "");
  const char* no_name = nullptr;
  EXPECT_NE(Pot(DP_NewDeepPotModelDeviWithParam(&no_name, 1, 0, nullptr, 0, nullptr)).error(), "");
  EXPECT_NE(Pot(DP_NewDeepPotModelDeviWithParam(&no_name, -1, 0, nullptr, 0, nullptr)).error(), "");
}

TEST(QuintetDeepmd, the_environment_chooses_the_precision) {
  Water water(4.5);
  const double fine = energy_with_list(Pot(data("oneside.dp")), water, 0);
  setenv("QUINTET_PRECISION", "mixed", 1);
  const double coarse = energy_with_list(Pot(data("oneside.dp")), water, 0);
  setenv("QUINTET_PRECISION", "half", 1);
  const std::string error = Pot(data("oneside.dp")).error();
  unsetenv("QUINTET_PRECISION");
  EXPECT_NE(fine, coarse);
  EXPECT_NEAR(fine, coarse, 1e-4);
  EXPECT_NE(error.find("expected model, double or mixed (environment variable QUINTET_PRECISION)"),
            std::string::npos)
      << error;
}

TEST(QuintetDeepmd, the_environment_chooses_the_device) {
  Water water(4.5);
  const double on_cores = energy_with_list(Pot(data("oneside.dp")), water, 0);
  setenv("QUINTET_DEVICE", "portable", 1);
  const Pot there(data("oneside.dp"));
  const double on_device = energy_with_list(there, water, 0);
  EXPECT_EQ(there.error(), "");
  setenv("QUINTET_DEVICE", "tpu", 1);
  const std::string error = Pot(data("oneside.dp")).error();
  unsetenv("QUINTET_DEVICE");
  EXPECT_NEAR(on_device, on_cores, 1e-9);
  // That it is there shows in what a device alone refuses: the energies may be the same to the bit.
  forget_a_pair(water);
  setenv("QUINTET_ALLOW_INCOMPLETE_LISTS", "1", 1);
  energy_with_list(there, water, 0);
  unsetenv("QUINTET_ALLOW_INCOMPLETE_LISTS");
  EXPECT_NE(there.error().find("A device finds neighbours itself"), std::string::npos) << there.error();
  EXPECT_NE(error.find("device: unknown value 'tpu'"), std::string::npos) << error;
  EXPECT_NE(error.find("(environment variable QUINTET_DEVICE)"), std::string::npos) << error;
}

TEST(QuintetDeepmd, a_model_of_another_format_is_taken_as_the_dp_beside_it) {
  const Scratch scratch("bridges_deepmd");
  const std::string frozen = scratch / "graph.pb", ours = scratch / "graph.dp";
  std::ofstream(frozen) << "frozen";
  const Pot no_pot(frozen);
  const std::string lacking = no_pot.error();
  double energy = 0;
  const int type = 0;
  const double x[3] = {0, 0, 0};
  DP_DeepPotCompute(no_pot.dp, 1, x, &type, nullptr, &energy, nullptr, nullptr, nullptr, nullptr);
  EXPECT_EQ(no_pot.error(), lacking);
  EXPECT_NE(lacking.find("dp convert-backend " + frozen + " " + ours), std::string::npos) << lacking;
  std::filesystem::copy_file(data("oneside.dp"), ours);
  std::filesystem::last_write_time(ours, std::filesystem::last_write_time(frozen));
  EXPECT_EQ(Pot(frozen).error(), "");
  std::filesystem::last_write_time(ours, std::filesystem::last_write_time(frozen) - std::chrono::seconds(1));
  EXPECT_NE(Pot(frozen).error().find("is older than"), std::string::npos);
  int size = 0;
  EXPECT_NE(taken(DP_ReadFileToChar2((scratch / "nothing.pb").c_str(), &size)).find("cannot be read"),
            std::string::npos);
  EXPECT_LT(size, 0);
}

}  // namespace
