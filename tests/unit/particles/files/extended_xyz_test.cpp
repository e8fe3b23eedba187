#include "physics/particles/formats/extended_xyz.hpp"

#include <cmath>

#include "files_support.hpp"
#include "physics/particles/atoms/units.hpp"

namespace {

using namespace quintet;
using files::put;

const std::string water =
    "3\n"
    "Lattice=\"10 0 0 0 11 0 0 0 12\" Properties=species:S:1:pos:R:3 energy=-3.5 pbc=\"T T F\"\n"
    "O 0.1 0.2 0.3\n"
    "H 1.0 0.2 -0.3\n"
    "H -0.9 0.2 30\n";

Configuration read_text(const std::string& content) {
  const Scratch scratch("xyz");
  return read_extended_xyz(put(scratch / "a.xyz", content)).front();
}

TEST(ExtendedXyz, reads_what_ase_writes) {
  const auto c = read_text(water);

  EXPECT_EQ(c.type_names, (std::vector<std::string>{"O", "H"}));
  EXPECT_EQ(c.types, (std::vector<int>{0, 1, 1}));
  EXPECT_EQ(c.positions[2], (Vec3{-0.9, 0.2, 30}));
  EXPECT_EQ(c.box.rows(), (Mat3{10, 0, 0, 0, 11, 0, 0, 0, 12}));
  EXPECT_EQ(c.box.periodic(), (std::array<bool, 3>{true, true, false}));
  EXPECT_EQ(c.energy, -3.5);
  EXPECT_TRUE(c.forces.empty() && c.velocities.empty() && c.ids.empty() && c.masses.empty() && !c.virial);
}

TEST(ExtendedXyz, round_trip_is_exact) {
  const Scratch scratch("xyz");
  auto c = files::sample();
  c.box = Box(c.box.rows(), {true, false, true}, {-1.0 / 3, 0.1, 7});

  write_extended_xyz(scratch / "a.xyz", c);
  const auto back = read_extended_xyz(scratch / "a.xyz").front();

  EXPECT_EQ(back.box, c.box);
  EXPECT_EQ(back.type_names, c.type_names);
  EXPECT_EQ(back.types, c.types);
  EXPECT_EQ(back.ids, c.ids);
  EXPECT_EQ(back.masses, c.masses);
  EXPECT_EQ(back.positions, c.positions);
  EXPECT_EQ(back.velocities, c.velocities);
  EXPECT_EQ(back.forces, c.forces);
  EXPECT_EQ(back.energy, c.energy);
  EXPECT_EQ(back.virial, c.virial);
}

/// More than is held as text before it is written, too.
TEST(ExtendedXyz, parts_of_a_frame_make_up_the_file_of_the_whole) {
  const Scratch scratch("xyz");
  constexpr std::size_t n = 90000, first = 50000;
  const auto whole = files::sample(n);
  auto head = whole, tail = whole;
  for (auto* part : {&head, &tail}) {
    const auto cut = [&](auto& rows) {
      if (part == &head)
        rows.resize(first);
      else
        rows.erase(rows.begin(), rows.begin() + first);
    };
    cut(part->positions);
    cut(part->types);
    cut(part->ids);
    cut(part->velocities);
    cut(part->forces);
  }

  write_extended_xyz(scratch / "whole.xyz", whole);
  write_extended_xyz(scratch / "parts.xyz", head, {.n_frame = n});
  write_extended_xyz(scratch / "parts.xyz", tail, {.continues = true});

  const auto text = files::content_of(scratch / "whole.xyz");
  EXPECT_GT(text.size(), std::size_t{1} << 24);
  EXPECT_TRUE(text == files::content_of(scratch / "parts.xyz"));
  EXPECT_EQ(read_extended_xyz(scratch / "whole.xyz").front().positions, whole.positions);
}

TEST(ExtendedXyz, atomic_energies_become_a_column) {
  const Scratch scratch("xyz");
  const auto c = files::sample(2);
  const std::vector<double> energies{-1.0 / 3, 2.5};

  write_extended_xyz(scratch / "a.xyz", c, {.append = false, .atom_energies = energies});

  EXPECT_NE(files::content_of(scratch / "a.xyz").find("energies:R:1"), std::string::npos);
  EXPECT_NE(files::content_of(scratch / "a.xyz").find(" -0.33333333333333331\n"), std::string::npos);
  EXPECT_EQ(read_extended_xyz(scratch / "a.xyz").front().forces, c.forces);
  EXPECT_MESSAGE(
      (write_extended_xyz(scratch / "a.xyz", files::sample(3), {.append = false, .atom_energies = energies})),
      "2 atomic energies for 3 atoms");
}

TEST(ExtendedXyz, parameters_of_atoms_are_read_if_asked_for_and_written_back) {
  const Scratch scratch("aparam");
  const std::string path = scratch / "a.xyz";
  put(path, "2\nProperties=species:S:1:pos:R:3:aparam:R:2\nO 0 0 0 0.25 -1.5\nH 1 0 0 3 1e-3\n");
  EXPECT_EQ(read_extended_xyz(path).front().parameters.size(), 0u);
  EXPECT_NE(read_extended_xyz(path).front().reading.text().find("column aparam"), std::string::npos);
  const auto c = read_extended_xyz(path, 0, {.n_atom_parameters = 2}).front();
  EXPECT_EQ(c.parameters, (std::vector<double>{0.25, -1.5, 3, 1e-3}));
  EXPECT_EQ(c.reading.text().find("aparam"), std::string::npos);
  write_extended_xyz(scratch / "b.xyz", c);
  EXPECT_EQ(read_extended_xyz(scratch / "b.xyz", 0, {.n_atom_parameters = 2}).front().parameters,
            c.parameters);
  EXPECT_MESSAGE(read_extended_xyz(path, 0, {.n_atom_parameters = 1}),
                 "property aparam is R:2, expected R:1");
}

TEST(ExtendedXyz, frames_are_chosen_from_either_end) {
  const Scratch scratch("xyz");
  const std::string path = scratch / "a.xyz";
  for (std::size_t n : {2, 3, 5})
    write_extended_xyz(path, files::sample(n), {.append = n > 2, .atom_energies = {}});

  EXPECT_EQ(read_extended_xyz(path).front().n_atoms(), 2u);
  EXPECT_EQ(read_extended_xyz(path, 1).front().n_atoms(), 3u);
  EXPECT_EQ(read_extended_xyz(path, -1).front().n_atoms(), 5u);
  EXPECT_EQ(read_extended_xyz(path, -3).front().n_atoms(), 2u);
  EXPECT_EQ(read_extended_xyz(path, std::nullopt).size(), 3u);
  EXPECT_MESSAGE(read_extended_xyz(path, 3), "there is no frame 3, the file has 3 (0 to 2");
  EXPECT_MESSAGE(read_extended_xyz(path, -4), "there is no frame -4");
}

TEST(ExtendedXyz, without_lattice_boundaries_are_open_and_the_box_holds_the_atoms) {
  const auto c = read_text("2\nwater, don't panic\nO 5 5 5\nH -3 6 5\n\n\n");

  EXPECT_EQ(c.box.periodic(), (std::array<bool, 3>{false, false, false}));
  for (const Vec3& x : c.positions)
    for (const double s : c.box.to_fractional(x)) EXPECT_TRUE(s > 0 && s < 1) << s;
}

TEST(ExtendedXyz, a_zero_vector_in_an_open_direction_is_completed) {
  const auto c = read_text("2\nLattice=\"4 1 0 0 4 0 0 0 0\" pbc=\"T T F\"\nO 0 0 -2\nO 1 1 7\n");

  EXPECT_NEAR(c.box.rows()[8], 11, 1e-12);
  EXPECT_NEAR(c.box.origin()[2], -3, 1e-12);
  EXPECT_NEAR(c.box.rows()[6], 0, 1e-12);
  const auto wire = read_text("2\nLattice=\"0 0 0 0 0 0 1 2 8\" pbc=\"F F T\"\nO 1 2 3\nO 3 2 1\n");
  EXPECT_GT(wire.box.volume(), 0);
  for (const Vec3& x : wire.positions)
    for (int k = 0; k < 2; ++k)
      EXPECT_TRUE(wire.box.fractional(k, x[0], x[1], x[2]) > 0 &&
                  wire.box.fractional(k, x[0], x[1], x[2]) < 1);
  EXPECT_MESSAGE(read_text("1\npbc=\"T F F\"\nO 0 0 0\n"),
                 "cell vector a is zero, but direction x is periodic");
}

TEST(ExtendedXyz, windows_line_ends_tabs_blank_lines_and_further_columns_do_no_harm) {
  const std::string odd =
      "\xEF\xBB\xBF\r\n  1 \t\r\n\tlattice = \"x\" LATTICE=\"4\t0 0  0 4 0 0 0 4\" flag other={1 2} "
      "list=[[1, 2], [3]] "
      "Properties=species:S:1:pos:R:3:charge:R:1:tag:L:2\r\n\tCu\t+1.5D+00 2e0  .5\t0.1 T F beyond\r\n\r\n";

  const auto c = read_text(odd);

  EXPECT_EQ(c.positions.front(), (Vec3{1.5, 2, 0.5}));
  EXPECT_EQ(c.box.rows()[0], 4);
  EXPECT_TRUE(c.box.fully_periodic());
}

TEST(ExtendedXyz, momenta_of_ase_become_velocities) {
  const auto c = read_text(
      "1\nLattice=\"4 0 0 0 4 0 0 0 4\" Properties=species:S:1:pos:R:3:momenta:R:3:masses:R:1\nO 0 0 0 2 0 "
      "-4 4\n");

  // p = 2 in sqrt(amu eV) and m = 4 amu: m v^2 = p^2/m = 1 eV.
  EXPECT_NEAR(c.velocities[0][0] * c.velocities[0][0] * 4 * units::mv2_to_ev, 1, 1e-14);
  EXPECT_NEAR(c.velocities[0][2], -2 * c.velocities[0][0], 1e-12);
}

/// What ASE takes: momenta and masses, and a stress of which tension is positive.
TEST(ExtendedXyz, what_ase_reads_stands_beside_what_is_ours) {
  const Scratch scratch("xyz");
  auto c = files::sample();
  c.box = Box({4, 0, 0, 0, 5, 0, 0, 0, 6}, {true, true, true});
  c.virial = Mat3{120, 0, 0, 0, 240, 0, 0, 0, -120};
  write_extended_xyz(scratch / "a.xyz", c);
  const auto text = files::content_of(scratch / "a.xyz");
  EXPECT_NE(text.find("stress=\"-1 -0 -0 -0 -2 -0 -0 -0 1\""), std::string::npos) << text;
  EXPECT_NE(text.find(":masses:R:1:velocities:R:3:momenta:R:3:forces:R:3"), std::string::npos) << text;

  // Without the columns that ASE does not know, the velocities come from the momenta.
  const auto ours = files::replaced(text, ":velocities:R:3", ":was:R:3");
  const auto back = read_extended_xyz(put(scratch / "b.xyz", ours)).front();
  for (std::size_t i = 0; i < c.n_atoms(); ++i)
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(back.velocities[i][k], c.velocities[i][k], 1e-14);
  EXPECT_EQ(read_extended_xyz(scratch / "a.xyz").front().velocities, c.velocities);
  EXPECT_EQ(*read_extended_xyz(scratch / "a.xyz").front().virial, *c.virial);
  c.box = Box(c.box.rows(), {true, true, false});
  write_extended_xyz(scratch / "a.xyz", c);
  EXPECT_EQ(files::content_of(scratch / "a.xyz").find("stress"), std::string::npos);
}

TEST(ExtendedXyz, velocities_and_momenta_must_say_the_same) {
  const Scratch scratch("xyz");
  const auto atom = [&](double p, LabelSource::Use use) {
    return read_extended_xyz(
               put(scratch / "a.xyz", fmt::format("1\nProperties=species:S:1:pos:R:3:masses:R:1:"
                                                  "velocities:R:3:momenta:R:3\nO 0 0 0 4 10 0 0 "
                                                  "{:.17g} 0 0\n",
                                                  p)),
               0, {{.use = use}, {}})
        .front();
  };
  const double same = 40 * std::sqrt(units::mv2_to_ev);
  using Use = LabelSource::Use;
  EXPECT_EQ(atom(same * (1 + 9e-7), Use::none).velocities[0][0], 10);
  EXPECT_MESSAGE(atom(same * (1 + 2e-6), Use::none), "velocities and momenta contradict one another");
  // Where the atoms do not move it is told.
  const auto labelled = atom(2 * same, Use::learn);
  EXPECT_TRUE(labelled.velocities.empty());
  EXPECT_EQ(labelled.reading.not_used.back(), "velocities and momenta, which contradict one another");
}

TEST(ExtendedXyz, a_unit_given_for_other_stresses_leaves_our_own_alone) {
  const Scratch scratch("xyz");
  const std::string head = "1\nLattice=\"4 0 0 0 4 0 0 0 4\" virial=\"64 0 0 0 64 0 0 0 64\" ";
  const auto read = [&](const std::string& stress, double unit) {
    put(scratch / "a.xyz", head + "stress=\"" + stress + "\"\nO 0 0 0\n");
    return (*read_extended_xyz(scratch / "a.xyz", 0, {{.stress_unit = unit}, {}}).front().virial)[0];
  };
  EXPECT_EQ(read("-1 0 0 0 -1 0 0 0 -1", 1), 64);
  EXPECT_EQ(read("-1 0 0 0 -1 0 0 0 -1", 0.01), 64);
  EXPECT_EQ(read("-100 0 0 0 -100 0 0 0 -100", 0.01), 64);
  EXPECT_MESSAGE(read("-100 0 0 0 -100 0 0 0 -100", 1), "virial and stress contradict one another");
}

TEST(ExtendedXyz, labels_have_several_names_and_are_of_one_source) {
  const std::string head =
      "1\nLattice=\"4 0 0 0 4 0 0 0 4\" Properties=species:S:1:pos:R:3:REF_forces:R:3 free_energy=-3 ";

  const auto other = read_text(head + "REF_energy=-2 REF_virial=\"1 2 3 4 5 6 7 8 9\"\nO 0 0 0 7 8 9\n");
  const std::string two = head + "energy=-1 REF_energy=-2\nO 0 0 0 7 8 9\n";
  const auto last = read_text(head + "REF_stress=\"0 0 0 0 0 1\"\nO 0 0 0 7 8 9\n");

  EXPECT_EQ(other.energy, -2);
  EXPECT_EQ(other.forces.at(0), (Vec3{7, 8, 9}));
  EXPECT_EQ(other.virial.value()[3], 4);
  EXPECT_MESSAGE(
      read_text(two),
      "labels of two sources: REF_energy = -2, REF_forces beside energy = -1; the energies differ by 1000 "
      "meV per atom");
  EXPECT_FALSE(last.energy);
  EXPECT_EQ(read_text("1\nfree_energy=-3\nO 0 0 0\n").energy, -3);
  EXPECT_EQ(last.virial.value()[1], -64);
}

/// Frame 0 of a file with this text, with these labels.
Configuration with_labels(const std::string& content, const LabelSource& labels) {
  const Scratch scratch("xyz_labels");
  return read_extended_xyz(files::put(scratch / "a.xyz", content), 0, {labels, {}}).front();
}

TEST(ExtendedXyz, one_source_of_labels_can_be_chosen_and_equal_ones_are_one) {
  const std::string two =
      "1\nLattice=\"4 0 0 0 4 0 0 0 4\" Properties=species:S:1:pos:R:3:REF_forces:R:3:forces:R:3 energy=-1 "
      "REF_energy=-2\nO 0 0 0 7 8 9 1 2 3\n";
  const auto ref = with_labels(two, {.prefix = "REF_"}), plain = with_labels(two, {.prefix = ""});
  EXPECT_EQ(ref.energy, -2);
  EXPECT_EQ(ref.forces.at(0), (Vec3{7, 8, 9}));
  EXPECT_EQ(ref.reading.not_used, (std::vector<std::string>{"column forces", "key energy"}));
  EXPECT_EQ(plain.energy, -1);
  EXPECT_EQ(plain.forces.at(0), (Vec3{1, 2, 3}));
  EXPECT_FALSE(with_labels(two, {.prefix = "other_"}).energy);

  const auto same_energy = files::replaced(two, "REF_energy=-2", "REF_energy=-1.0");
  EXPECT_MESSAGE(with_labels(same_energy, {}),
                 "a.xyz:3: two sources of labels have other forces on this atom");
  EXPECT_EQ(with_labels(files::replaced(same_energy, "7 8 9", "1 2 3"), {}).energy, -1);
}

TEST(ExtendedXyz, doubtful_labels_stop_nothing_where_they_are_not_needed) {
  const std::string two = "1\nenergy=-1 REF_energy=-2 stress=\"1 2\"\nO 0 0 0\n";
  const auto none = with_labels(two, {.use = LabelSource::Use::none});
  EXPECT_FALSE(none.energy);
  EXPECT_EQ(none.reading.not_used, (std::vector<std::string>{"key energy", "key REF_energy", "key stress"}));
  const auto compared = with_labels(two, {.use = LabelSource::Use::compare});
  EXPECT_FALSE(compared.energy);
  EXPECT_NE(compared.reading.text().find("labels of two sources"), std::string::npos);
}

TEST(ExtendedXyz, a_stress_has_a_unit_and_a_sign_and_means_nothing_for_an_open_cell) {
  const std::string text = "1\nLattice=\"4 0 0 0 4 0 0 0 4\" stress=\"1 0 0 0 2 0 0 0 3\"\nO 0 0 0\n";
  EXPECT_EQ(with_labels(text, {.stress_unit = -0.5}).virial.value()[8], 64 * 1.5);
  const auto slab = with_labels(files::replaced(text, "stress", "pbc=\"T T F\" stress"), {});
  EXPECT_FALSE(slab.virial);
  EXPECT_NE(slab.reading.text().find("no virial"), std::string::npos);
  const std::string both = files::replaced(text, "stress", "virial=\"-64 0 0 0 -128 0 0 0 -192\" stress");
  EXPECT_EQ(with_labels(both, {}).virial.value()[0], -64);
  EXPECT_MESSAGE(with_labels(both, {.stress_unit = -1}), "virial and stress contradict one another");
}

TEST(ExtendedXyz, the_unit_of_velocities_is_known_by_their_temperature) {
  const auto speed = [](const std::string& column, const std::string& v) {
    return read_text("1\nProperties=species:S:1:pos:R:3:" + column + ":R:3\nCu 0 0 0 " + v + " 0 0\n");
  };
  // 3 angstrom/ps of copper are 231 K along one direction, 77 K by three.
  for (const std::string column : {"velo", "vel", "velocity"}) {
    EXPECT_EQ(speed(column, "3").velocities.at(0)[0], 3) << column;
    EXPECT_EQ(speed(column, "3e-3").velocities.at(0)[0], 3) << column;
    EXPECT_NE(speed(column, "3e-3").reading.text().find("angstrom/fs"), std::string::npos);
    EXPECT_MESSAGE(speed(column, "3e-7"), "call it velocities (angstrom/ps)");
    EXPECT_MESSAGE(speed(column, "3e5"), "call it velocities (angstrom/ps)");
  }
  EXPECT_EQ(speed("velocities", "3e-3").velocities.at(0)[0], 3e-3);
  EXPECT_EQ(speed("speed", "3").reading.not_used.at(0), "column speed");
}

TEST(ExtendedXyz, boundaries_that_are_not_said_can_be_given_and_must_not_contradict) {
  const Scratch scratch("xyz");
  const auto read = [&](const std::string& pbc, std::array<bool, 3> periodic) {
    const auto path = files::put(scratch / "a.xyz", "1\nLattice=\"4 0 0 0 4 0 0 0 4\"" + pbc + "\nO 0 0 0\n");
    return read_extended_xyz(path, 0, {{}, periodic}).front().box.periodic();
  };
  EXPECT_EQ(read("", {true, true, false}), (std::array{true, true, false}));
  EXPECT_EQ(read(" pbc=\"T T F\"", {true, true, false}), (std::array{true, true, false}));
  EXPECT_MESSAGE(read(" pbc=\"T T T\"", {true, true, false}), "but periodic is given as true true false");
}

TEST(ExtendedXyz, stress_becomes_a_virial) {
  const std::string head = "1\nLattice=\"4 0 0 0 4 0 0 0 4\" stress=\"";
  const auto nine = read_text(head + "1 6 5 6 2 4 5 4 3\"\nO 0 0 0\n");
  const auto six = read_text(head + "1 2 3 4 5 6\"\nO 0 0 0\n");

  EXPECT_EQ(nine.virial, six.virial);
  EXPECT_EQ((*nine.virial)[1], -64 * 6);
  EXPECT_MESSAGE(read_text(head + "1 2\"\nO 0 0 0\n"), "stress has 2 numbers");
}

TEST(ExtendedXyz, each_mistake_is_named_with_its_place) {
  const auto with = [](const std::string& from, const std::string& to) {
    return read_text(files::replaced(water, from, to));
  };
  EXPECT_MESSAGE(with("3\n", "three\n"),
                 "a.xyz:1: found 'three' where a frame's number of atoms was expected");
  EXPECT_MESSAGE(with("3\n", "0\n"), "the frame has 0 atoms");
  EXPECT_MESSAGE(with("3\n", "-3\n"), "the frame has -3 atoms");
  EXPECT_MESSAGE(with("3\n", "999999999999\n"), "but the file has only");
  EXPECT_MESSAGE(with("3\n", "4\n"), "the file ends after 3 of 4 atoms");
  EXPECT_MESSAGE(with("0.2 0.3", "nan 0.3"), "a.xyz:3: pos is 'nan', a finite number was expected");
  EXPECT_MESSAGE(with("0.2 0.3", "1e999 0.3"), "pos is '1e999'");
  EXPECT_MESSAGE(with("0.2 0.3", "0.2x 0.3"), "pos is '0.2x'");
  EXPECT_MESSAGE(with("O 0.1 0.2 0.3", "O 0.1 0.2"), "has 3 columns, expected 4");
  EXPECT_MESSAGE(with("O 0.1 0.2 0.3", ""), "atom 1 of 3 has 0 columns");
  EXPECT_MESSAGE(with("pos:R:3", "pos:R:2"), "property pos is R:2, expected R:3");
  EXPECT_MESSAGE(with("pos:R:3", "pos:Q:3"), "expected S, R, I or L");
  EXPECT_MESSAGE(with("pos:R:3", "pos:R"), "expected triples");
  EXPECT_MESSAGE(with("pos:R:3", "pos:R:99999999999"), "expected 1 to 1000");
  std::string wide = "pos:R:3";
  for (int i = 0; i < 11; ++i) wide += ":a:R:1000";
  EXPECT_MESSAGE(with("pos:R:3", wide), "Properties names more than 10000 columns");
  EXPECT_MESSAGE(with("pos:R:3", "place:R:3"), "lacks pos:R:3");
  EXPECT_MESSAGE(with("T T F", "T T"), "pbc is 'T T', expected three of T and F");
  EXPECT_MESSAGE(with("T T F", "T T maybe"), "expected three of T and F");
  EXPECT_MESSAGE(with("0 0 12\"", "0 0\""), "Lattice has 8 numbers, expected 9");
  EXPECT_MESSAGE(with("0 0 12\"", "0 12 0\""), "a.xyz:2: ");
  EXPECT_MESSAGE(with("T T F\"", "T T F"), "is never closed");
  EXPECT_MESSAGE(with("energy=-3.5", "energy=low"), "energy is 'low'");
  EXPECT_MESSAGE(read_text(""), "the file holds no frame");
  EXPECT_MESSAGE(read_text("1\nProperties=species:S:1:pos:R:3:id:I:1\nO 0 0 0 -7\n"),
                 "id is -7, expected 1 or more");
  EXPECT_MESSAGE(read_text("2\nProperties=species:S:1:pos:R:3:mass:R:1\nO 0 0 0 16\nO 1 1 1 18\n"),
                 "an earlier atom of type O has 16");
  EXPECT_MESSAGE(read_text("1\nProperties=species:S:1:pos:R:3:mass:R:1\nO 0 0 0 -16\n"), "have mass -16");
  EXPECT_MESSAGE(read_extended_xyz("/nowhere/a.xyz"), "there is no such file");
}

TEST(ExtendedXyz, a_file_cut_anywhere_is_refused_without_a_crash) {
  const Scratch scratch("xyz");
  const std::string path = scratch / "a.xyz";
  write_extended_xyz(path, files::sample(3));
  const auto content = files::content_of(path);
  const auto read = [&] { (void)read_extended_xyz(path, std::nullopt); };

  files::expect_every_cut_is_refused(content, path, read);
  files::expect_no_cut_crashes(content, path, read);
}

TEST(ExtendedXyz, a_folder_that_is_not_there_is_a_resource_error) {
  EXPECT_THROW(write_extended_xyz("/nowhere/a.xyz", files::sample(1)), ResourceError);
}

}  // namespace
