#include "surrogates/potential/training/data.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "io/log/log.hpp"
#include "surrogates/potential/training/data_checks.hpp"
#include "tests/support/kinetics_reference.hpp"
#include "tests/unit/hdf5/foreign.hpp"
#include "tests/unit/particles/files/files_support.hpp"

namespace quintet::potential {
namespace {

using files::npy;
using files::put;
using Names = std::vector<std::string>;
using Numbers = std::vector<double>;

/// Folders of two atoms (types 1, 0 of their own map) with `n` frames each.
struct TrainingData : ::testing::Test {
  Scratch scratch{"training_data"};
  DataOptions options;

  void SetUp() override {
    options.need_energy = options.need_force = false;
    make("b/water", "O H");
    make("a", "H O", 3);
  }
  void make(const std::string& name, const std::string& type_map, int n = 2) {
    const std::string folder = scratch / name;
    std::filesystem::create_directories(folder + "/set.000");
    put(folder + "/type.raw", "1 0\n");
    put(folder + "/type_map.raw", type_map);
    Numbers coordinates, boxes;
    for (int f = 0; f < n; ++f) {
      for (int i = 0; i < 6; ++i) coordinates.push_back(1 + i + 0.25 * f);
      for (int i = 0; i < 9; ++i) boxes.push_back(i % 4 == 0 ? 20 : 0);
    }
    array(name, "coord", 6, coordinates);
    array(name, "box", 9, boxes);
  }
  void array(const std::string& name, const std::string& label, int columns, const Numbers& values) {
    const int rows = static_cast<int>(values.size()) / columns;
    put(scratch / (name + "/set.000/" + label + ".npy"),
        npy("<f8", fmt::format("({}, {})", rows, columns), values));
  }
  std::vector<LabelledSystem> read(const Names& names) {
    Names paths;
    for (const auto& name : names) paths.push_back(scratch / name);
    return read_systems(paths, options);
  }
  /// A system of mixed type: HO, then OH of the map "O H", then O alone beside a virtual atom.
  void make_mixed(const std::string& name) {
    make(name, "O H", 3);
    put(scratch / (name + "/type.raw"), "0 0\n");
    put(scratch / (name + "/set.000/real_atom_types.npy"),
        npy<std::int32_t>("<i4", "(3, 2)", {1, 0, 0, 1, -1, 0}));
  }
  /// The warnings that reading leads to, one a line.
  std::string warnings(const Names& names) {
    const auto before = log::warnings().size();
    (void)read(names);
    std::string text;
    for (std::size_t w = before; w < log::warnings().size(); ++w) text += log::warnings()[w] + "\n";
    return text;
  }
};

#define EXPECT_HAS(text, piece) EXPECT_NE((text).find(piece), std::string::npos) << (text)

TEST_F(TrainingData, systems_of_mixed_type_are_split_by_composition) {
  make_mixed("mixed");
  options.type_map = {"H", "O"};

  const auto systems = read({"mixed"});

  ASSERT_EQ(systems.size(), 2u);
  ASSERT_EQ(systems[0].frames.size(), 2u);  // both orders, atoms sorted by type
  for (const auto& frame : systems[0].frames) EXPECT_EQ(frame.types, (std::vector<int>{0, 1}));
  EXPECT_EQ(systems[0].frames[0].positions[0], (Vec3{1, 2, 3}));
  EXPECT_EQ(systems[0].frames[1].positions[0], (Vec3{4.25, 5.25, 6.25}));
  ASSERT_EQ(systems[1].frames.size(), 1u);
  EXPECT_EQ(systems[1].frames[0].types, (std::vector<int>{1}));
  EXPECT_EQ(systems[1].frames[0].positions, (std::vector<Vec3>{{4.5, 5.5, 6.5}}));
  options.type_map = {"H"};
  EXPECT_MESSAGE(read({"mixed"}),
                 "mixed: frame 0: has atoms of type O, which the model's type_map [H] lacks");
}

TEST_F(TrainingData, folders_below_and_patterns_are_read_in_order_with_types_by_name) {
  options.type_map = {"X", "H", "O"};
  const auto below = read({""});
  const auto matched = read({"?", "b/w*"});

  ASSERT_EQ(below.size(), 2u);
  EXPECT_EQ(below[0].name, scratch / "a");
  EXPECT_EQ(below[0].frames.size(), 3u);
  EXPECT_EQ(below[0].frames[2].types, (std::vector<int>{2, 1}));  // "H O": 1 0 is O H
  EXPECT_EQ(below[1].frames[1].types, (std::vector<int>{1, 2}));  // "O H": 1 0 is H O
  EXPECT_EQ(below[1].frames[1].type_names, (Names{"X", "H", "O"}));
  EXPECT_EQ(below[1].frames[1].positions[0], (Vec3{1.25, 2.25, 3.25}));
  ASSERT_EQ(matched.size(), 3u);
  EXPECT_EQ(matched[2].name, scratch / "b/water");
}

TEST_F(TrainingData, an_empty_type_map_is_filled_with_the_names_that_atoms_have) {
  put(scratch / "b/water/type_map.raw", "Xe H C N");

  const auto systems = read({"a", "b"});

  EXPECT_EQ(options.type_map, (Names{"H", "O", "Xe"}));
  EXPECT_EQ(systems[0].frames[0].type_names, options.type_map);
  EXPECT_EQ(systems[1].frames[0].types, (std::vector<int>{0, 2}));
}

TEST_F(TrainingData, a_type_map_that_may_grow_keeps_its_names_first) {
  options.type_map = {"O", "Cu"};
  EXPECT_MESSAGE(read({"a"}), "which the model's type_map [O, Cu] lacks");
  options.may_grow = true;
  const auto systems = read({"a"});
  EXPECT_EQ(options.type_map, (Names{"O", "Cu", "H"}));
  EXPECT_EQ(systems[0].frames[0].types, (std::vector<int>{0, 2}));
}

TEST_F(TrainingData, frames_with_a_pair_nearer_than_asked_for_are_left_out_and_named) {
  make("near", "O H", 3);  // 2, 1 and, through the cell's face, 1.5 angstrom
  array("near", "coord", 6, {1, 1, 1, 1, 1, 3, 1, 1, 1, 1, 2, 1, 0.5, 1, 1, 19, 1, 1});
  array("near", "energy", 1, {10, 11, 12});
  EXPECT_EQ(read({"near"})[0].frames.size(), 3u);
  options.min_pair_distance = 1.499999;
  auto left = read({"near"});
  ASSERT_EQ(left[0].frames.size(), 2u);  // one just beyond it stays
  EXPECT_EQ(*left[0].frames[0].energy, 10);
  EXPECT_EQ(*left[0].frames[1].energy, 12);
  EXPECT_HAS(warnings({"near"}), "1 of 3 frames are left out");
  EXPECT_HAS(warnings({"near"}), "nearest in frame 1: 1)");
  options.min_pair_distance = 1.500001;
  EXPECT_EQ(read({"near"})[0].frames.size(), 1u);
  options.min_pair_distance = 2.001;
  EXPECT_MESSAGE(read({"near"}),
                 "near: each of its 3 frames has two atoms nearer than data.min_pair_distance");
}

TEST_F(TrainingData, a_system_without_names_has_the_models) {
  std::filesystem::remove(scratch / "a/type_map.raw");
  EXPECT_MESSAGE(read({"a"}), "a: there is no type_map.raw; give the model's type_map");
  options.type_map = {"O", "H"};
  EXPECT_EQ(read({"a"})[0].frames[0].types, (std::vector<int>{1, 0}));
  options.type_map = {"O"};
  EXPECT_MESSAGE(read({"a"}), "the type of atom 0 is 1, expected 0 to 0");
}

TEST_F(TrainingData, names_that_other_systems_brought_number_no_types) {
  std::filesystem::remove(scratch / "a/type_map.raw");
  EXPECT_MESSAGE(read({"b/water", "a"}), "a: there is no type_map.raw; give the model's type_map");
  options.type_map = {"O", "H"};
  EXPECT_EQ(read({"b/water", "a"}).size(), 2u);
  options.types_in_order = false;
  EXPECT_MESSAGE(read({"a"}), "a: there is no type_map.raw");
}

TEST_F(TrainingData, a_dump_takes_the_names_of_the_type_map_and_no_others) {
  options.need_force = true;
  put(scratch / "a.dump",
      "ITEM: UNITS\nmetal\nITEM: TIMESTEP\n5\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS pp pp pp\n"
      "0 9\n0 9\n0 9\nITEM: ATOMS id type x y z fx fy fz\n1 1 1 2 3 1 0 0\n2 2 3 4 5 -1 0 0\n");
  EXPECT_MESSAGE(read({"a.dump"}), "model.type_map");
  EXPECT_MESSAGE(read({"b/water", "a.dump"}), "model.type_map");  // "O H", as another system happens to say
  options.type_map = {"H", "O"};
  EXPECT_EQ(read({"a.dump"})[0].frames[0].types, (std::vector<int>{0, 1}));
  options.types_in_order = false;
  EXPECT_MESSAGE(read({"a.dump"}), "model.type_map");
}

TEST_F(TrainingData, type_maps_that_disagree_are_named) {
  options.type_map = {"O", "C"};
  EXPECT_MESSAGE(read({"a"}), "a: has atoms of type H, which the model's type_map [O, C] lacks");
  options.type_map = {"O", "O"};
  EXPECT_MESSAGE(read({"a"}), "type_map names O twice");
}

TEST_F(TrainingData, hdf5_systems_are_read_one_or_all) {
  foreign::write_deepmd_systems(scratch / "data.h5");

  const auto all = read({"data.h5"}), one = read({"*.h5#/water/b"});

  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].name, scratch / "data.h5#/water/b");
  EXPECT_EQ(options.type_map, (Names{"O", "H"}));
  EXPECT_EQ(all[0].frames[1].types, (std::vector<int>{1, 0}));
  EXPECT_EQ(all[0].frames[1].forces.size(), 2u);
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].frames[1].positions, all[1].frames[1].positions);
}

TEST_F(TrainingData, extended_xyz_is_split_by_composition_and_brought_into_one_order) {
  const auto frame = [](const std::string& atoms) {
    return "2\nLattice=\"9 0 0 0 9 0 0 0 9\" energy=-1 Properties=species:S:1:pos:R:3:forces:R:3\n" + atoms;
  };
  put(scratch / "mixed.xyz", frame("O 0 0 0 1 0 0\nH 1 0 0 2 0 0\n") +
                                 frame("O 0 0 0 1 0 0\nO 2 0 0 2 0 0\n") +
                                 frame("H 3 0 0 3 0 0\nO 4 0 0 4 0 0\n"));

  const auto systems = read({"mixed.xyz"});

  ASSERT_EQ(systems.size(), 2u);
  EXPECT_EQ(systems[0].name, scratch / "mixed.xyz (O1 H1)");
  EXPECT_EQ(systems[1].name, scratch / "mixed.xyz (O2)");
  ASSERT_EQ(systems[0].frames.size(), 2u);
  const auto& turned = systems[0].frames[1];
  EXPECT_EQ(turned.types, systems[0].frames[0].types);
  EXPECT_EQ(turned.positions[0], (Vec3{4, 0, 0}));
  EXPECT_EQ(turned.forces[1], (Vec3{3, 0, 0}));
}

TEST_F(TrainingData, paths_that_hold_nothing_are_named) {
  std::filesystem::create_directories(scratch / "empty");
  EXPECT_MESSAGE(read({"empty"}), "empty: holds no DeePMD system");
  EXPECT_MESSAGE(read({"no*"}), "no*: no file matches");
  EXPECT_MESSAGE(read({"nowhere"}), "nowhere: there is no such file or folder");
  EXPECT_MESSAGE(read({"nowhere.h5"}), "nowhere.h5");
  EXPECT_MESSAGE(read({}), "no data are given");
  std::filesystem::remove_all(scratch / "a/set.000");
  EXPECT_MESSAGE(read({"a"}), "no set.* folder");
  std::filesystem::create_directories(scratch / "a/set.000");
  EXPECT_MESSAGE(read({"a"}), "a/set.000: there is no coord.npy");
}

TEST_F(TrainingData, needed_labels_must_be_somewhere_and_gaps_are_told) {
  options.need_energy = true;
  EXPECT_MESSAGE(read({"a", "b"}), "none of the 5 frames has an energy (energy.npy)");
  array("a", "energy", 1, {1, 2, 3});
  EXPECT_HAS(warnings({"a", "b"}), "2 of 5 frames lack an energy");
  options.need_virial = true;
  EXPECT_MESSAGE(read({"a"}), "none of the 3 frames has a virial (virial.npy)");
}

TEST_F(TrainingData, labels_that_are_no_numbers_are_named) {
  array("a", "force", 6, Numbers(18, 0.5));
  Numbers forces(18, 0.5);
  forces[16] = INFINITY;
  array("a", "force", 6, forces);
  EXPECT_MESSAGE(read({"a"}), "force.npy: entry [2, 4] is inf (atom 1, y)");
  array("a", "force", 6, Numbers(12, 0.5));
  EXPECT_MESSAGE(read({"a"}), "force.npy has shape (2, 6), but coord.npy beside it has 3 frames");
  std::filesystem::remove(scratch / "a/set.000/force.npy");
  array("a", "coord", 6, Numbers(18, 1e9));
  EXPECT_MESSAGE(read({"a"}), "a: frame 0: x of atom 0 is 1000000000; expected a finite number of at most");
}

TEST_F(TrainingData, a_stress_that_no_matter_bears_is_refused_where_virials_are_learnt) {
  const auto of_stress = [&](double stress) {  // (eV/angstrom^3) of the boxes of this folder
    const double volume = read({"a"})[0].frames[0].box.volume();
    Numbers virials(27, 0.0);
    virials[4] = stress * volume;
    array("a", "virial", 9, virials);
  };
  of_stress(0.99);
  options.need_virial = true;
  EXPECT_EQ(read({"a"}).size(), 1u);
  of_stress(1.01);
  EXPECT_MESSAGE(read({"a"}), "a: frame 0: virial / volume reaches 161.8 GPa, more than the limit of 160.2");
  options.stress_limit = 1.02;
  EXPECT_EQ(read({"a"}).size(), 1u);
  options.stress_limit = 1;
  options.need_virial = false;
  EXPECT_EQ(read({"a"}).size(), 1u);
}

TEST_F(TrainingData, all_systems_that_are_refused_are_named) {
  std::filesystem::remove(scratch / "a/set.000/coord.npy");
  EXPECT_MESSAGE(read({"a", "absent", "b"}), "absent");
  EXPECT_MESSAGE(read({"absent", "a", "b"}), "coord.npy");
  std::vector<std::string> refused;
  options.refused = &refused;
  EXPECT_EQ(read({"absent", "a", "b"}).size(), 1u);
  EXPECT_EQ(refused.size(), 2u);
}

TEST_F(TrainingData, forces_in_another_unit_and_wild_ones_lead_to_a_warning) {
  Numbers forces(18, 0.8);
  array("a", "force", 6, forces);
  EXPECT_EQ(warnings({"a"}), "");
  for (double& f : forces) f *= 1000;
  array("a", "force", 6, forces);
  EXPECT_HAS(warnings({"a"}), "a: the root mean square force component is 800 eV/angstrom");
  forces.assign(18, 0.0);
  forces[6] = 400;  // of 18 components: 94 root mean square
  array("a", "force", 6, forces);
  EXPECT_EQ(warnings({"a"}), "");
  array("b/water", "coord", 6, Numbers(6 * 500, 1.0));
  Numbers boxes;
  for (int i = 0; i < 9 * 500; ++i) boxes.push_back(i % 9 % 4 == 0 ? 20 : 0);
  array("b/water", "box", 9, boxes);
  forces.assign(6 * 500, 0.1);
  forces[6 * 77 + 5] = -2000;
  array("b/water", "force", 6, forces);
  EXPECT_HAS(warnings({"b"}), "water: frame 77: the force on atom 1 is 2e+03 eV/angstrom");
}

TEST_F(TrainingData, energies_in_another_unit_lead_to_a_warning) {
  array("a", "energy", 1, {-5e6, -5e6, -5e6});
  EXPECT_HAS(warnings({"a"}), "a: energies reach 2.5e+06 eV per atom");
  array("a", "energy", 1, {-100, -50, -70});
  EXPECT_HAS(warnings({"a"}), "a: energies of frames of the same composition differ by up to 25 eV per atom");
  array("a", "energy", 1, {-100, -99, -98});
  EXPECT_EQ(warnings({"a"}), "");
}

TEST_F(TrainingData, a_wrong_unit_everywhere_is_told_five_times) {
  Names names;
  for (int s = 0; s < 8; ++s) {
    names.push_back("s" + std::to_string(s));
    make(names.back(), "H O", 1);
    array(names.back(), "force", 6, Numbers(6, 1e5));
  }
  const auto text = warnings(names);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 6) << text;
  EXPECT_HAS(text, "3 further systems are not checked for units");
}

/// Two atoms on a spring, wrapped into a box, at times of a vibration; energies times `unit`, forces times
/// `sign`.
LabelledSystem vibration(double unit, double sign) {
  LabelledSystem system{"spring", {}};
  for (int f = 0; f < 40; ++f) {
    Configuration c;
    c.box = Box({10, 0, 0, 0, 10, 0, 0, 0, 10}, {true, true, true});
    c.type_names = {"A"};
    c.types = {0, 0};
    const double x = 0.3 * std::sin(0.4 * f), k = 5;
    c.positions = {{0, 0, 0}, {std::fmod(10 + x, 10), 0, 0}};
    c.energy = unit * (0.5 * k * x * x - 100);
    c.forces = {{sign * k * x, 0, 0}, {-sign * k * x, 0, 0}};
    system.frames.push_back(c);
  }
  return system;
}

TEST(Work, of_forces_is_the_change_of_the_energy) {
  const auto consistent = compare_with_work(vibration(1, 1)),
             hartree = compare_with_work(vibration(1 / 27.2114, 1)),
             gradient = compare_with_work(vibration(1, -1));

  EXPECT_EQ(consistent.pairs, 39);
  EXPECT_NEAR(consistent.slope, 1, 1e-10);  // the trapezoidal rule is exact for a spring
  EXPECT_NEAR(consistent.correlation, 1, 1e-10);
  EXPECT_NEAR(hartree.slope, 1 / 27.2114, 1e-10);
  EXPECT_NEAR(gradient.slope, -1, 1e-10);
}

TEST(Work, that_does_not_fit_leads_to_a_warning) {
  const auto before = log::warning_count();
  check_labels({vibration(1, 1)}, {});
  EXPECT_EQ(log::warning_count(), before);
  check_labels({vibration(1, -1)}, {});
  ASSERT_EQ(log::warning_count(), before + 1);
  EXPECT_HAS(log::warnings().back(), "Are the forces gradients");
  DataOptions options;
  auto broken = vibration(1, 1);
  broken.frames[3].forces[1][2] = NAN;
  EXPECT_MESSAGE(check_labels({broken}, options), "spring: frame 3: the force on atom 1 is (");
}

/// A crystal of springs to lattice points and a bulk modulus, strained and shaken from frame to frame;
/// virials times `factor`.
LabelledSystem strained(double factor) {
  LabelledSystem system{"crystal", {}};
  constexpr double k = 4, modulus = 30;  // (eV/angstrom^2), (eV)
  for (int f = 0; f < 12; ++f) {
    Configuration c;
    const double e = 0.01 * std::sin(0.7 * f), g = 0.008 * std::cos(0.9 * f), x = 0.05 * std::sin(1.3 * f);
    // Rows of 10 (1 + strain): xx e, xy = yx g.
    c.box = Box({10 * (1 + e), 10 * g, 0, 10 * g, 10, 0, 0, 0, 10}, {true, true, true});
    c.type_names = {"A"};
    c.types = {0};
    c.positions = {{5 * (1 + e) + 5 * g + x, 5 * g + 5, 5}};  // at s = 1/2, displaced by x
    c.energy = 0.5 * k * x * x + 0.5 * modulus * (e * e + 2 * g * g);
    c.forces = {{-k * x, 0, 0}};
    // -dE/d(strain) by the rows as they are: d(e) = (1 + e) d_xx + g d_yx, and so on.
    const Mat3 inner{-modulus * e, -modulus * g, 0, -modulus * g, 0, 0, 0, 0, 0};
    const Mat3 rows{1 + e, g, 0, g, 1, 0, 0, 0, 1};
    Mat3 virial = product(rows, inner);
    for (double& v : virial) v *= factor;
    c.virial = virial;
    system.frames.push_back(c);
  }
  return system;
}

TEST(Strain, of_virials_is_the_change_of_the_energy) {
  const auto right = compare_with_strain(strained(1));
  EXPECT_EQ(right.pairs, 11);
  EXPECT_NEAR(right.slope, 1, 0.02);
  EXPECT_GT(right.correlation, 0.999);
  EXPECT_NEAR(compare_with_strain(strained(-1)).slope, -right.slope, 1e-12);
  EXPECT_NEAR(compare_with_strain(strained(160.2)).slope, right.slope / 160.2, 1e-12);
}

TEST(Strain, that_contradicts_the_energies_is_refused_where_virials_are_learnt) {
  DataOptions options;
  options.need_virial = true;
  for (const double factor : {1.0, 0.6, 1.9})
    EXPECT_EQ(files::message_of([&] { check_labels({strained(factor)}, options); }), "") << factor;
  EXPECT_MESSAGE(check_labels({strained(-1)}, options), "Are they of the other sign?");
  EXPECT_MESSAGE(check_labels({strained(2.2)}, options), "Are they of another unit?");
  options.need_virial = false;
  check_labels({strained(-1)}, options);
}

TEST(Work, fits_the_labels_of_a_run_of_water) {
  const std::string name = "../water_xtb32/water_xtb32.npz";
  if (!kinetics::reference_here(name)) GTEST_SKIP() << kinetics::reference_absent(name);
  const auto arrays = kinetics::reference_npz(name);
  LabelledSystem system{"water", {}};
  for (std::size_t f = 0; f < 200; ++f) {
    auto& c = system.frames.emplace_back();
    Mat3 rows;
    std::copy_n(arrays.at("box").values.begin(), 9, rows.begin());
    c.box = Box(rows, {true, true, true});
    c.type_names = {"O", "H"};
    for (const double t : arrays.at("type").values) c.types.push_back(t);
    c.positions.resize(96);
    c.forces.resize(96);
    for (std::size_t i = 0; i < 288; ++i) {
      c.positions[i / 3][i % 3] = arrays.at("coord").values[288 * f + i];
      c.forces[i / 3][i % 3] = arrays.at("force").values[288 * f + i];
    }
    c.energy = arrays.at("energy").values[f];
  }

  const Work work = compare_with_work(system);

  EXPECT_GT(work.pairs, 100);
  EXPECT_NEAR(work.slope, 1, 0.1);
  EXPECT_GT(work.correlation, 0.98);
}

TEST_F(TrainingData, reading_and_counting_are_given_up_when_asked) {
  for (const char* name : {"a", "b", "c"}) make(name, "H O", 4);
  int asked = 0, at = 0;
  options.interrupt = [&] { return ++asked == at; };
  const auto systems = read({"a", "b", "c"});
  const int most = std::exchange(asked, 0);
  EXPECT_GE(most, 3);
  static_cast<void>(count_neighbours(systems, 2, 2.0, options.interrupt));
  EXPECT_EQ(asked, 12);  // frames
  for (at = 1; at <= most; ++at) {
    asked = 0;
    EXPECT_THROW(static_cast<void>(read({"a", "b", "c"})), Interrupted) << at;
  }
  at = 12, asked = 0;
  EXPECT_THROW(static_cast<void>(count_neighbours(systems, 2, 2.0, options.interrupt)), Interrupted);
}

TEST(DataOfTheProject, copper_is_read_whole_and_without_complaint) {
  const char* source = std::getenv("QUINTET_SOURCE_DIR");
  if (source == nullptr) GTEST_SKIP() << "QUINTET_SOURCE_DIR is not set (ctest sets it)";
  const auto before = log::warning_count();
  DataOptions options;

  const auto systems = read_systems({std::string(source) + "/inputs/dpmd/copper/data/train_*"}, options);

  EXPECT_EQ(systems.size(), 4u);
  EXPECT_EQ(options.type_map, Names{"Cu"});
  for (const auto& system : systems) EXPECT_TRUE(system.frames.front().energy.has_value());
  EXPECT_EQ(log::warning_count(), before);
}

}  // namespace
}  // namespace quintet::potential
