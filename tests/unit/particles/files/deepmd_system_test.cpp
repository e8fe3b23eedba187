#include "physics/particles/files/deepmd_system.hpp"

#include <algorithm>
#include <cstdlib>

#include "files_support.hpp"
#include "tests/unit/hdf5/foreign.hpp"

namespace {

using namespace quintet;
using files::npy;
using files::put;
using Numbers = std::vector<double>;

/// A folder of two atoms: set.000 with two frames and all labels, set.001 with one frame in single precision
/// and none.
struct Deepmd : ::testing::Test {
  Scratch scratch{"deepmd"};
  std::string folder = scratch / "system";
  Numbers coordinates{0.1, 0.2, 0.3, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  Numbers boxes{10, 0, 0, 0, 10, 0, 0, 0, 10, 20, 0, 0, 1, 20, 0, 0, 2, 20};

  void SetUp() override {
    std::filesystem::create_directories(folder + "/set.000");
    std::filesystem::create_directories(folder + "/set.001");
    put(folder + "/type.raw", "1\n0\n");
    put(folder + "/type_map.raw", "O H\n");
    array("coord", npy<double>("<f8", "(2, 6)", coordinates));
    array("box", npy<double>("<f8", "(2, 9)", boxes));
    array("energy", npy<double>("<f8", "(2, 1)", {-1.5, -2.5}));
    array("force", npy<double>("<f8", "(2, 6)", coordinates));
    array("virial", npy<double>("<f8", "(2, 9)", boxes));
    array("coord", npy<float>("<f4", "(1, 6)", std::vector<float>(6, 0.25f)), "/set.001/");
    array("box", npy<float>("<f4", "(1, 9)", {8, 0, 0, 0, 8, 0, 0, 0, 8}), "/set.001/");
  }
  void array(const std::string& name, const std::string& content, const std::string& set = "/set.000/") {
    put(folder + set + name + ".npy", content);
  }
  Configuration frame(std::int64_t index) { return DeepmdSystem(folder).frame(index); }
};

TEST_F(Deepmd, frames_count_through_the_sets) {
  const DeepmdSystem system(folder);

  const auto second = system.frame(1), third = system.frame(2);

  EXPECT_EQ(system.n_frames(), 3);
  EXPECT_EQ(second.type_names, (std::vector<std::string>{"O", "H"}));
  EXPECT_EQ(second.types, (std::vector<int>{1, 0}));
  EXPECT_EQ(second.positions[1], (Vec3{7, 8, 9}));
  EXPECT_EQ(second.box.rows(), (Mat3{20, 0, 0, 1, 20, 0, 0, 2, 20}));
  EXPECT_EQ(second.energy, -2.5);
  EXPECT_EQ(second.forces[0], (Vec3{4, 5, 6}));
  EXPECT_EQ((*second.virial)[3], 1);
  EXPECT_EQ(third.positions[0], (Vec3{0.25, 0.25, 0.25}));
  EXPECT_TRUE(!third.energy && third.forces.empty() && !third.virial);
  EXPECT_MESSAGE(system.frame(3), "there is no frame 3, the folder has 3 (0 to 2)");
}

TEST_F(Deepmd, fortran_order_and_one_dimensional_energies_read_alike) {
  Numbers columns;
  for (int c = 0; c < 6; ++c)
    for (int row = 0; row < 2; ++row) columns.push_back(coordinates[6 * row + c]);
  const auto before = frame(1);
  array("coord", npy("<f8", "(2, 6)", columns, true));
  array("energy", npy<double>("<f8", "(2,)", {-1.5, -2.5}));

  EXPECT_EQ(frame(1).positions, before.positions);
  EXPECT_EQ(frame(1).energy, before.energy);
}

TEST_F(Deepmd, nopbc_opens_the_boundaries_and_needs_no_box) {
  put(folder + "/nopbc", "");
  std::filesystem::remove(folder + "/set.000/box.npy");

  const auto c = frame(0);

  EXPECT_EQ(c.box.periodic(), (std::array<bool, 3>{false, false, false}));
  EXPECT_GT(c.box.to_fractional(c.positions[1])[0], 0);
}

TEST_F(Deepmd, type_names_given_must_agree_with_the_map_and_stand_in_for_a_missing_one) {
  EXPECT_EQ(DeepmdSystem(folder, {"O", "H"}).type_names()[1], "H");
  EXPECT_MESSAGE(
      DeepmdSystem(folder, {"H", "O"}),
      "type_map.raw: calls its types [O, H], but types [H, O] are given: 'O' would be taken for 'H'");
  std::filesystem::remove(folder + "/type_map.raw");
  EXPECT_EQ(DeepmdSystem(folder, {"X", "Y"}).type_names()[1], "Y");
  EXPECT_MESSAGE(DeepmdSystem(folder), "there is no type_map.raw; give types");
}

TEST_F(Deepmd, frames_of_mixed_type_have_their_own_types_and_no_virtual_atoms) {
  std::filesystem::remove_all(folder + "/set.001");
  put(folder + "/type.raw", "0 0\n");
  array("real_atom_types", npy<std::int32_t>("<i4", "(2, 2)", {1, 0, -1, 1}));
  const auto first = frame(0), second = frame(1);
  EXPECT_EQ(first.types, (std::vector<int>{1, 0}));
  EXPECT_EQ(first.type_names, (std::vector<std::string>{"O", "H"}));
  EXPECT_EQ(second.types, (std::vector<int>{1}));
  EXPECT_EQ(second.positions, (std::vector<Vec3>{{7, 8, 9}}));
  EXPECT_EQ(second.forces, (std::vector<Vec3>{{7, 8, 9}}));
  EXPECT_EQ(DeepmdSystem(folder).frames()[1].positions, second.positions);

  array("real_atom_types", npy<std::int32_t>("<i4", "(2, 2)", {1, 0, -1, 2}));
  EXPECT_MESSAGE(frame(1),
                 "real_atom_types.npy: entry [1, 1] is 2, expected -1 (no atom) to 1 (2 names: O, H)");
  array("real_atom_types", npy<std::int32_t>("<i4", "(2, 2)", {1, 0, -1, -1}));
  EXPECT_MESSAGE(frame(1), "row 1 holds no atom");
  array("real_atom_types", npy<std::int32_t>("<i4", "(2, 3)", {1, 0, 0, 1, 1, 1}));
  EXPECT_MESSAGE(frame(0), "real_atom_types.npy has shape (2, 3), expected (frames, 2)");
}

TEST_F(Deepmd, sets_of_both_kinds_are_refused) {
  array("real_atom_types", npy<std::int32_t>("<i4", "(2, 2)", {0, 1, 0, 1}));
  EXPECT_MESSAGE(DeepmdSystem(folder), "set.001: lacks real_atom_types.npy, unlike the sets before it");
}

TEST_F(Deepmd, wrong_shapes_are_named) {
  array("coord", npy<double>("<f8", "(2, 5)", Numbers(10)));
  EXPECT_MESSAGE(DeepmdSystem(folder),
                 "coord.npy has shape (2, 5), expected (frames, 6) for 2 atoms in type.raw");
  array("coord", npy<double>("<f8", "(2, 2, 2)", Numbers(8)));
  EXPECT_MESSAGE(DeepmdSystem(folder), "coord.npy has shape (2, 2, 2)");
  array("coord", npy<double>("<f8", "(3, 2)", Numbers(6)));  // as many numbers as one frame has
  EXPECT_MESSAGE(DeepmdSystem(folder), "coord.npy has shape (3, 2)");
  array("coord", npy("<f8", "(2, 6)", coordinates));
  array("force", npy<double>("<f8", "(1, 6)", Numbers(6)));
  EXPECT_MESSAGE(DeepmdSystem(folder), "force.npy has shape (1, 6), but coord.npy beside it has 2 frames");
  array("force", npy("<f8", "(2, 6)", coordinates));
  array("box", npy<double>("<f8", "(2, 3)", Numbers(6)));
  EXPECT_MESSAGE(DeepmdSystem(folder), "box.npy has shape (2, 3), expected (frames, 9)");
  array("box", npy("<f8", "(2, 9)", boxes));
  array("energy", npy<double>("<f8", "(2, 2)", Numbers(4)));
  EXPECT_MESSAGE(DeepmdSystem(folder), "energy.npy has shape (2, 2), expected (frames, 1)");
}

TEST_F(Deepmd, shapes_that_others_write_are_read) {
  const auto usual = DeepmdSystem(folder).frames();
  array("coord", npy<double>("<f8", "(2, 2, 3)", coordinates));
  array("box", npy<double>("<f8", "(2, 3, 3)", boxes));
  const auto nested = DeepmdSystem(folder).frames();
  ASSERT_EQ(nested.size(), usual.size());
  EXPECT_EQ(nested[1].positions, usual[1].positions);
  EXPECT_EQ(nested[1].box, usual[1].box);

  const Numbers one_box(boxes.begin(), boxes.begin() + 9);
  for (const std::string shape : {"(9,)", "(1, 9)", "(3, 3)"}) {
    array("box", npy<double>("<f8", shape, one_box));
    const auto all = DeepmdSystem(folder).frames();
    EXPECT_EQ(all[1].box, usual[0].box) << shape;
    EXPECT_NE(all[1].reading.text().find("one box for all frames"), std::string::npos);
    EXPECT_EQ(DeepmdSystem(folder).frame(1).box, usual[0].box);
  }
}

TEST_F(Deepmd, a_set_without_the_axis_of_frames_is_one_frame) {
  const auto usual = DeepmdSystem(folder).frame(0);
  std::filesystem::remove_all(folder + "/set.001");
  std::filesystem::remove(folder + "/set.000/force.npy");
  std::filesystem::remove(folder + "/set.000/virial.npy");
  const Numbers coordinate(coordinates.begin(), coordinates.begin() + 6),
      box(boxes.begin(), boxes.begin() + 9);
  for (const std::string shape : {"(6,)", "(2, 3)"}) {
    array("coord", npy<double>("<f8", shape, coordinate));
    array("box", npy<double>("<f8", "(9,)", box));
    array("energy", npy<double>("<f8", "()", {-7}));
    const DeepmdSystem system(folder);
    EXPECT_EQ(system.n_frames(), 1) << shape;
    EXPECT_EQ(system.frame(0).positions, usual.positions);
    EXPECT_EQ(system.frame(0).energy, -7);
  }
}

TEST_F(Deepmd, each_mistake_is_named) {
  put(folder + "/type.raw", "1 2\n");
  EXPECT_MESSAGE(DeepmdSystem(folder), "the type of atom 1 is 2, expected 0 to 1 (2 names: O, H)");
  put(folder + "/type.raw", "1 -1\n");
  EXPECT_MESSAGE(DeepmdSystem(folder), "the type of atom 1 is -1");
  put(folder + "/type.raw", "1 H\n");
  EXPECT_MESSAGE(DeepmdSystem(folder), "the type of atom 1 is 'H', an integer was expected");
  put(folder + "/type.raw", "\n");
  EXPECT_MESSAGE(DeepmdSystem(folder), "the file lists no atoms");
  put(folder + "/type.raw", "1 0");
  boxes[2] = std::nan("");
  array("box", npy("<f8", "(2, 9)", boxes));
  EXPECT_MESSAGE(frame(0), "box.npy: entry [0, 2] is nan");
  boxes[2] = 0;
  boxes[0] = -10;
  array("box", npy("<f8", "(2, 9)", boxes));
  EXPECT_NE(frame(0).reading.text().find("left-handed"), std::string::npos);
  boxes[0] = 0;
  array("box", npy("<f8", "(2, 9)", boxes));
  EXPECT_MESSAGE(frame(0), "box of frame 0");
  std::filesystem::remove(folder + "/set.001/box.npy");
  EXPECT_MESSAGE(DeepmdSystem(folder),
                 "there is no box.npy; if the boundaries are open, put an empty file nopbc");
  std::filesystem::remove_all(folder + "/set.000");
  std::filesystem::remove_all(folder + "/set.001");
  EXPECT_MESSAGE(DeepmdSystem(folder), "no set.* folder");
  EXPECT_MESSAGE(DeepmdSystem("/nowhere"), "there is no such folder");
}

TEST_F(Deepmd, a_truncated_array_is_refused_when_the_folder_is_opened) {
  const auto content = files::content_of(folder + "/set.000/virial.npy");
  array("virial", content.substr(0, content.size() - 1));

  EXPECT_MESSAGE(DeepmdSystem(folder), "virial.npy: the file is truncated");
}

TEST_F(Deepmd, all_frames_are_the_frames_one_by_one) {
  const DeepmdSystem system(folder);

  const auto frames = system.frames();

  ASSERT_EQ(frames.size(), 3u);
  for (std::size_t f = 0; f < 3; ++f) {
    const auto one = system.frame(f);
    EXPECT_EQ(frames[f].positions, one.positions);
    EXPECT_EQ(frames[f].box, one.box);
    EXPECT_EQ(frames[f].energy, one.energy);
    EXPECT_EQ(frames[f].forces, one.forces);
    EXPECT_EQ(frames[f].virial, one.virial);
  }
}

TEST_F(Deepmd, a_label_that_is_no_number_is_named_with_its_frame_and_atom) {
  coordinates[10] = std::nan("");
  array("force", npy("<f8", "(2, 6)", coordinates));

  EXPECT_MESSAGE(DeepmdSystem(folder).frames(), "force.npy: entry [1, 4] is nan (atom 1, y)");
}

TEST_F(Deepmd, a_group_of_an_hdf5_file_is_a_system) {
  const std::string file = scratch / "data.h5";
  foreign::write_deepmd_systems(file);

  const auto systems = find_deepmd_systems(file);
  const auto fixed = DeepmdSystem(file + "#/water/a").frames();
  const auto variable = DeepmdSystem(file + "#water/b/").frames();

  EXPECT_EQ(systems, (std::vector<std::string>{file + "#/water/a", file + "#/water/b"}));
  for (const auto* frames : {&fixed, &variable}) {
    ASSERT_EQ(frames->size(), 2u);
    EXPECT_EQ(frames->at(1).type_names, (std::vector<std::string>{"O", "H"}));
    EXPECT_EQ(frames->at(1).types, (std::vector<int>{1, 0}));
    EXPECT_NEAR(frames->at(1).positions[1][2], 1.2, 1e-7);
    EXPECT_NEAR(frames->at(1).energy.value(), 0.2, 1e-7);
    EXPECT_EQ(frames->at(1).box.rows()[8], 10);
  }
  EXPECT_NEAR(fixed[1].forces.at(0)[0], 0.7, 1e-15);
  EXPECT_TRUE(variable[1].forces.empty());
  EXPECT_MESSAGE(DeepmdSystem(file + "#/water/c"), "the file has no group 'water/c'");
  EXPECT_MESSAGE(DeepmdSystem(file + "#/water"), "type_map.raw");
}

TEST_F(Deepmd, systems_are_found_below_a_folder_in_order) {
  std::filesystem::create_directories(scratch / "more/deep");
  put(scratch / "more/deep/type.raw", "0\n");
  std::filesystem::create_directories(scratch / "empty");

  EXPECT_EQ(find_deepmd_systems(scratch.path()),
            (std::vector<std::string>{scratch / "more/deep", scratch / "system"}));
  EXPECT_MESSAGE(find_deepmd_systems(scratch / "empty"), "holds no DeePMD system");
  EXPECT_MESSAGE(find_deepmd_systems(scratch / "nowhere"), "there is no such folder");
}

TEST(DeepmdFiles, the_copper_data_of_the_project_are_read) {
  const char* source = std::getenv("QUINTET_SOURCE_DIR");
  if (source == nullptr) GTEST_SKIP() << "QUINTET_SOURCE_DIR is not set (ctest sets it)";
  const DeepmdSystem system(std::string(source) + "/inputs/dpmd/copper/data/valid_vacancy31");

  const auto c = system.frame(system.n_frames() - 1);

  EXPECT_EQ(c.n_atoms(), 31u);
  EXPECT_EQ(c.type_names.at(0), "Cu");
  // Forces of a periodic crystal add up to zero.
  Vec3 sum{0, 0, 0};
  for (const Vec3& force : c.forces)
    for (int k = 0; k < 3; ++k) sum[k] += force[k];
  for (const double component : sum) EXPECT_NEAR(component, 0, 1e-3);
}

/// The texts that raw_to_set.sh makes sets of: the same numbers, a line a frame.
TEST(DeepmdRaw, texts_of_a_line_a_frame_are_a_system) {
  const Scratch scratch("raw");
  const std::string folder = scratch.path();
  const auto put = [&](const std::string& name, const std::string& text) {
    files::put(folder + "/" + name, text);
  };
  put("type.raw", "0 1\n");
  put("type_map.raw", "O\nH\n");
  put("coord.raw", "0 0 0 1 0 0\n0 0 0 1.5 0 0\n");
  put("box.raw", "4 0 0 0 5 0 0 0 6\n4 0 0 0 5 0 0.5 0 7\n");
  put("energy.raw", "-1.5\n-2.5\n");
  put("force.raw", "1 2 3 4 5 6\n7 8 9 10 11 12\n");
  put("virial.raw", "1 0 0 0 1 0 0 0 1\n2 0 0 0 2 0 0 0 2\n");
  put("fparam.raw", "300\n300\n");
  const auto frames = DeepmdSystem(folder).frames();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[1].types, (std::vector<int>{0, 1}));
  EXPECT_EQ(frames[1].positions[1], (Vec3{1.5, 0, 0}));
  EXPECT_EQ(frames[1].box.rows(), (Mat3{4, 0, 0, 0, 5, 0, 0.5, 0, 7}));
  EXPECT_EQ(frames[1].energy, -2.5);
  EXPECT_EQ(frames[1].forces[0], (Vec3{7, 8, 9}));
  EXPECT_EQ((*frames[1].virial)[4], 2);
  EXPECT_EQ(frames[0].reading.text(), "not used: fparam.raw");
  EXPECT_EQ(find_deepmd_systems(folder).size(), 1u);
  EXPECT_EQ(DeepmdSystem(folder).frame(1).positions, frames[1].positions);

  put("box.raw", "4 0 0 0 5 0 0 0 6\n");
  EXPECT_EQ(DeepmdSystem(folder).frames()[1].box.rows()[8], 6);
  put("energy.raw", "-1.5\n");
  EXPECT_MESSAGE(DeepmdSystem(folder), "energy.raw has shape (1, 1), but coord.raw beside it has 2 frames");
  put("energy.raw", "-1.5\n-2.5 1\n");
  EXPECT_MESSAGE(DeepmdSystem(folder), "energy.raw:2: the line has 2 numbers, those before it have 1");
  put("energy.raw", "-1.5\n-2.5eV\n");
  EXPECT_MESSAGE(DeepmdSystem(folder), "energy.raw:2: number 1 is '-2.5eV'");
  put("coord.raw", "0 0 0 1 0\n");
  EXPECT_MESSAGE(DeepmdSystem(folder), "coord.raw has shape (1, 5), expected (frames, 6) for 2 atoms");
}

TEST_F(Deepmd, parameters_of_atoms_are_read_if_asked_for_and_must_be_in_every_set) {
  const Numbers all{1, 2, 3, 4, 5, 6, 7, 8};
  for (const char* shape : {"(2, 4)", "(2, 2, 2)"}) {
    array("aparam", npy<double>("<f8", shape, all));
    EXPECT_MESSAGE(DeepmdSystem(folder, {}, 2),
                   "set.001: there is no aparam.npy, the 2 numbers of each atom");
    array("aparam", npy<float>("<f4", "(1, 4)", {9, 10, 11, 12}), "/set.001/");
    const DeepmdSystem system(folder, {}, 2);
    EXPECT_EQ(system.frame(1).parameters, (Numbers{5, 6, 7, 8}));
    EXPECT_EQ(system.frames()[2].parameters, (Numbers{9, 10, 11, 12}));
    EXPECT_EQ(system.frame(0).reading.text(), "");
    EXPECT_EQ(DeepmdSystem(folder, {}, any_number).frame(1).parameters, (Numbers{5, 6, 7, 8}));
    std::filesystem::remove(folder + "/set.001/aparam.npy");
  }
  EXPECT_MESSAGE(DeepmdSystem(folder, {}, 1),
                 "aparam.npy has shape (2, 2, 2), expected (2, 2) for 1 number of each of 2 atoms");
  EXPECT_EQ(DeepmdSystem(folder).frame(0).parameters, Numbers());
  std::filesystem::remove(folder + "/set.000/aparam.npy");
  EXPECT_EQ(DeepmdSystem(folder, {}, any_number).frame(0).parameters, Numbers());
}

TEST_F(Deepmd, texts_beside_sets_and_unknown_arrays_are_named) {
  files::put(folder + "/coord.raw", "1 2 3\n");
  files::put(folder + "/set.000/aparam.npy", "never read");
  EXPECT_EQ(DeepmdSystem(folder).frame(0).reading.text(), "not used: coord.raw beside the sets, aparam.npy");
}

}  // namespace
