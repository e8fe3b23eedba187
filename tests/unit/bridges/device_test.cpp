#include <cmath>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/bridges/host.hpp"

/// What computes is a choice of the host's. The GPU is a stand-in: the same library, on the host's cores.
namespace {

using namespace quintet_c;

constexpr const char* library = "QUINTET_DEVICE_LIBRARY";

class BridgesDevice : public testing::Test {
 protected:
  void SetUp() override { setenv(library, DEVICE_LIBRARY, 1); }
  void TearDown() override { unsetenv(library); }
};

void expect_refused(const char* device, int code, const std::string& words) {
  const Handle handle({data("oneside.dp")}, "double", device);
  EXPECT_EQ(quintet_potential_code(handle.potential), code) << device;
  EXPECT_NE(handle.error().find(words), std::string::npos) << device << ": " << handle.error();
  EXPECT_EQ(quintet_potential_models(handle.potential), 0);
  EXPECT_STREQ(quintet_potential_device(handle.potential), "");
}

/// Before the first GPU is started: a process has one.
TEST_F(BridgesDevice, what_cannot_be_had_is_named) {
  setenv(library, "/nowhere/libquintet_device.so", 1);
  expect_refused("gpu", QUINTET_RESOURCE,
                 "device: gpu needs libquintet_device.so, which is not at /nowhere/");
  const Handle cpu({data("oneside.dp")}, "double", "auto");
  EXPECT_EQ(cpu.error(), "");
  const std::string told = quintet_potential_device(cpu.potential);
  EXPECT_EQ(told.find("cpu (device: gpu needs libquintet_device.so"), 0U) << told;
  setenv(library, DEVICE_LIBRARY, 1);
  expect_refused("tpu", QUINTET_INPUT, "device: unknown value 'tpu'; expected one of cpu, gpu, auto");
  for (const char* const word : {"gpu:", "gpu:-1", "gpu:x", "gpu:0x", "gpu:99999999999"})
    expect_refused(word, QUINTET_INPUT, "expected the number of a GPU, counted from 0");
  expect_refused("gpu:1", QUINTET_INPUT, "device: gpu:1: this process sees 1 GPU, counted from 0");
  const Handle gpu({data("oneside.dp")}, "double", "gpu:0");
  EXPECT_EQ(gpu.error(), "");
  EXPECT_NE(std::string(quintet_potential_device(gpu.potential)).find("stand-in for tests"),
            std::string::npos);
  expect_refused("gpu:1", QUINTET_INPUT, "this process computes on GPU 0 already");
  EXPECT_STREQ(quintet_potential_device(nullptr), "");
  EXPECT_EQ(quintet_potential_code(nullptr), QUINTET_INPUT);
  const Handle plain({data("oneside.dp")});
  EXPECT_STREQ(quintet_potential_device(plain.potential), "cpu");
  EXPECT_EQ(quintet_potential_code(plain.potential), QUINTET_OK);
}

/// The host's list has a skin and atoms of another force field among its own and its ghosts.
struct Listed {
  explicit Listed(const Handle& handle, bool with_others = true) : water(5.1), found(water.types.size()) {
    const int n = water.n_owned;
    for (std::size_t i = 0; with_others && i < water.types.size(); ++i)
      if (const int owner = i < std::size_t(n) ? int(i) : water.owner[i - n]; owner == 4 || owner == n - 1)
        water.types[i] = -1;
    EXPECT_EQ(water.set(handle.potential), QUINTET_OK) << handle.error();
    code = evaluate(handle);
  }
  int evaluate(const Handle& handle) {
    found.energies.resize(water.n_owned);
    return quintet_potential_compute_neighbours(handle.potential, 0, water.positions.data(), &found.energy,
                                                found.forces.data(), found.virial.data(),
                                                found.energies.data(), found.virials.data());
  }
  Water water;
  Found found;
  int code;
};

void expect_same(const Found& a, const Found& b, double tolerance) {
  EXPECT_NEAR(a.energy, b.energy, tolerance);
  expect_near(a.forces, b.forces, tolerance, "forces");
  expect_near(a.virial, b.virial, tolerance, "virial");
  expect_near(a.energies, b.energies, tolerance, "energies");
  expect_near(a.virials, b.virials, tolerance, "virials by atom");
}

TEST_F(BridgesDevice, a_device_finds_what_the_cpu_finds) {
  for (const char* const model : {"oneside.dp", "twoside.dp"})
    for (const char* const device : {"portable", "gpu", "auto"})
      for (const char* const precision : {"double", "mixed"}) {
        SCOPED_TRACE(std::string(model) + " on " + device + ", " + precision);
        const Handle cpu({data(model)}), other({data(model)}, precision, device);
        ASSERT_EQ(other.error(), "");
        const double tolerance = std::string(precision) == "double" ? 1e-9 : 2e-4;
        const Water water(4.5);
        std::vector<int> types = water.owned_types();
        types[5] = -1;
        expect_same(compute(cpu, types, water.owned_positions(), water.cell),
                    compute(other, types, water.owned_positions(), water.cell), tolerance);
        expect_same(compute(cpu, types, water.owned_positions(), {}),
                    compute(other, types, water.owned_positions(), {}), tolerance);
        Listed a(cpu), b(other);
        ASSERT_EQ(a.code, QUINTET_OK) << cpu.error();
        ASSERT_EQ(b.code, QUINTET_OK) << other.error();
        expect_same(a.found, b.found, tolerance);
        // Atoms move on under the same list.
        for (auto* listed : {&a, &b})
          for (std::size_t i = 0; i < listed->water.positions.size(); ++i)
            listed->water.positions[i] += 0.1 * std::sin(static_cast<double>(i));
        ASSERT_EQ(a.evaluate(cpu), QUINTET_OK);
        ASSERT_EQ(b.evaluate(other), QUINTET_OK) << other.error();
        expect_same(a.found, b.found, tolerance);
      }
}

TEST_F(BridgesDevice, forces_there_are_derivatives_of_the_energy) {
  const Handle handle({data("oneside.dp")}, "double", "gpu");
  const Water water(4.5);
  const Found found = compute(handle, water.owned_types(), water.owned_positions(), water.cell);
  const double h = 1e-5;
  for (const int at : {1, 10, 3 * water.n_owned - 2}) {
    std::vector<double> up = water.owned_positions(), down = up;
    up[at] += h;
    down[at] -= h;
    const double rise = compute(handle, water.owned_types(), up, water.cell).energy -
                        compute(handle, water.owned_types(), down, water.cell).energy;
    EXPECT_NEAR(found.forces[at], -rise / (2 * h), 1e-7);
  }
}

TEST_F(BridgesDevice, no_atoms_are_no_mistake_there) {
  const Handle handle({data("oneside.dp")}, "double", "gpu");
  const double x[6] = {0, 0, 0, 1, 1, 1};
  for (const int type : {-1, 0}) {  // nothing at all, or a ghost alone
    const int types[2] = {-1, type}, none = 0;
    const int* const row = &none;
    double energy = 1, virial[9] = {1}, forces[6] = {1, 1, 1, 1, 1, 1}, own = 1;
    ASSERT_EQ(quintet_potential_set_neighbours(handle.potential, 1, 1, types, 1, &none, &none, &row, ~0),
              QUINTET_OK)
        << handle.error();
    ASSERT_EQ(
        quintet_potential_compute_neighbours(handle.potential, 0, x, &energy, forces, virial, &own, nullptr),
        QUINTET_OK)
        << handle.error();
    EXPECT_EQ(energy, 0);
    EXPECT_EQ(own, 0);
    EXPECT_EQ(virial[0], 0);
    for (const double f : forces) EXPECT_EQ(f, 0);
  }
}

TEST_F(BridgesDevice, handles_of_two_threads_share_a_device) {
  const Water water(4.5);
  const auto energy = [&](const char* model, const char* device, int times) {
    const Handle handle({data(model)}, "double", device);
    double last = 0;
    for (int i = 0; i < times; ++i)
      last = compute(handle, water.owned_types(), water.owned_positions(), water.cell).energy;
    return last;
  };
  const double one = energy("oneside.dp", "gpu", 1), two = energy("twoside.dp", "portable", 1);
  double one_there = 0, two_there = 0;
  std::thread first([&] { one_there = energy("oneside.dp", "gpu", 10); }),
      second([&] { two_there = energy("twoside.dp", "portable", 10); });
  first.join();
  second.join();
  EXPECT_EQ(one_there, one);
  EXPECT_EQ(two_there, two);
}

/// On the cores a list without a pair is the host's will; a device, which makes its own, cannot follow it.
TEST_F(BridgesDevice, a_list_that_lacks_pairs_is_refused_there) {
  const auto lacking = [](Listed& listed, const Handle& handle) {
    Water& water = listed.water;
    const int a = water.atoms[0];
    int b = -1;
    for (const int j : water.rows[0])
      if (j < water.n_owned && water.distance(a, j) < 3) b = j;
    EXPECT_GE(b, 0);
    std::erase(water.rows[0], b);
    for (std::size_t r = 0; r < water.rows.size(); ++r)
      if (water.atoms[r] == b) std::erase(water.rows[r], a);
    EXPECT_EQ(water.set(handle.potential), QUINTET_OK) << handle.error();
    return listed.evaluate(handle);
  };
  const Handle cpu({data("oneside.dp")}), gpu({data("oneside.dp")}, "double", "gpu");
  Listed a(cpu, false), b(gpu, false);
  EXPECT_EQ(lacking(a, cpu), QUINTET_OK) << cpu.error();
  EXPECT_EQ(lacking(b, gpu), QUINTET_INPUT);
  EXPECT_NE(gpu.error().find("A device finds neighbours itself and leaves no pair out"), std::string::npos)
      << gpu.error();
  EXPECT_EQ(b.evaluate(gpu), QUINTET_INPUT) << "again";
  EXPECT_EQ(Listed(gpu, false).code, QUINTET_OK) << "the whole list works";
}

}  // namespace
