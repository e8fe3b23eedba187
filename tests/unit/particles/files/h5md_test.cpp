#include "physics/particles/files/h5md.hpp"

#include "files_support.hpp"
#include "io/log/error.hpp"
#include "physics/particles/files/h5md_rows.hpp"
#include "physics/particles/files/read_configuration.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"

namespace {

using namespace quintet;

constexpr std::int64_t n_atoms = 11;

/// What the atom of this number has at this step; all 17 digits count.
Vec3 position_at(std::int64_t number, std::int64_t step) {
  const double n = number, s = step;
  return {1 / (3 + n), s + 0.1, n / 7 - s};
}

Box box_at(std::int64_t step) {
  const double length = 10 + 0.1 * step;
  return Box({length, 0, 0, 1, length, 0, 0, 2, length}, {true, true, false}, {0.5, 0, -1.0 / 3});
}

/// The atoms at this step, dealt out unevenly (with three ranks one gets none) and otherwise at every step,
/// backwards at even ones. Ids are 1 + stride number; `skip` is left out.
Atoms atoms_at(const Comm& comm, std::int64_t step, std::int64_t stride = 1, std::int64_t skip = -1) {
  Atoms atoms;
  atoms.box = box_at(step);
  atoms.type_names = {"O", "H"};
  atoms.masses = {15.999, 1.008};
  atoms.n_global = n_atoms;
  atoms.reserve(n_atoms);
  for (std::int64_t k = 0; k < n_atoms; ++k) {
    const std::int64_t number = step % 2 == 0 ? n_atoms - 1 - k : k;
    if ((number * number + step) % comm.size() != comm.rank() || number == skip) continue;
    const int i = atoms.n_local++;
    const Vec3 x = position_at(number, step);
    atoms.id(i) = 1 + number * stride;
    atoms.type(i) = number % 2;
    for (int l = 0; l < 3; ++l) {
      atoms.position(i, l) = x[l];
      atoms.velocity(i, l) = -x[l] / 3;
      atoms.force(i, l) = x[l] / 7;
      atoms.image(i, l) = l == 1 ? static_cast<int>(number) - 5 : 0;
    }
  }
  return atoms;
}

struct H5md : ::testing::Test {
  Comm comm = Comm::world();
  SharedScratch scratch{"h5md"};
  std::string path = scratch / "traj.h5";

  void write(const H5mdOptions& options, std::int64_t first, std::int64_t last,
             std::int64_t stride = 1) const {
    H5mdWriter writer(comm, path, atoms_at(comm, first, stride), options);
    for (std::int64_t step = first; step <= last; ++step)
      writer.append(step, 0.5 * step, atoms_at(comm, step, stride),
                    {{"temperature", "K", {300.0 + step}}, {"stress", "eV Angstrom-3", {1, 2, 3, 4, 5, 6}}});
  }

  [[nodiscard]] std::vector<std::int64_t> steps() const {
    auto file = hdf5::File::open(Comm::self(), path);
    return file.root().read<std::int64_t>("particles/atoms/position/step");
  }
};

TEST_F(H5md, rows_are_the_same_atoms_in_id_order_in_every_frame_on_any_number_of_ranks) {
  for (const std::int64_t stride : {1, 1000}) {
    write({.velocities = true, .forces = true}, 4, 7, stride);
    comm.barrier();
    auto file = hdf5::File::open(Comm::self(), path);
    const auto group = file.root().open_group("particles/atoms");

    const auto positions = group.read<double>("position/value", {4, n_atoms, 3});
    const auto velocities = group.read<double>("velocity/value", {4, n_atoms, 3});
    const auto images = group.read<std::int32_t>("image/value", {4, n_atoms, 3});
    const auto ids = group.read<std::int64_t>("id", {n_atoms});

    for (std::int64_t frame = 0; frame < 4; ++frame)
      for (std::int64_t number = 0; number < n_atoms; ++number) {
        const std::size_t row = 3 * (frame * n_atoms + number);
        EXPECT_EQ(ids[number], 1 + stride * number);
        EXPECT_EQ(images[row + 1], number - 5);
        for (int k = 0; k < 3; ++k) EXPECT_EQ(positions[row + k], position_at(number, 4 + frame)[k]);
        for (int k = 0; k < 3; ++k) EXPECT_EQ(velocities[row + k], -position_at(number, 4 + frame)[k] / 3);
      }
    file.close();  // the next one is made once nobody has this one open
    comm.barrier();
  }
}

/// However few rows a part has, each rank's rows come once, ascending, and are the same.
TEST_F(H5md, parts_make_up_the_whole) {
  const Atoms atoms = atoms_at(comm, 4, 17);
  std::vector<std::int64_t> whole;
  for (const std::int64_t part_rows : {1 << 18, 4, 1}) {
    const h5md::RowOrder order(comm, atoms, part_rows);
    std::vector<std::int64_t> ids;
    int n_parts = 0;
    order.visit(atoms, [&](std::span<const h5md::AtomRow> rows) {
      ++n_parts;
      for (const auto& row : rows) ids.push_back(row.id);
    });
    if (whole.empty()) whole = ids;
    EXPECT_EQ(ids, whole);
    EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
    EXPECT_EQ(order.n_own(), ids.size());
    EXPECT_EQ(n_parts, 1 + n_atoms / comm.size() / part_rows);
  }
  EXPECT_EQ(comm.sum(std::ssize(whole)), n_atoms);
}

TEST_F(H5md, the_file_says_what_it_holds_as_the_standard_asks) {
  write({.author = "A. Author"}, 0, 1);
  comm.barrier();
  auto file = hdf5::File::open(Comm::self(), path);
  const auto root = file.root();
  const auto atoms = root.open_group("particles/atoms");

  EXPECT_EQ(root.open_group("h5md").number_attribute("version"), (std::vector<double>{1, 1}));
  EXPECT_EQ(root.open_group("h5md/author").text_attribute("name"), "A. Author");
  EXPECT_TRUE(root.open_group("h5md/creator").has_attribute("version"));
  EXPECT_EQ(atoms.open_group("box").texts_attribute("boundary"),
            (std::vector<std::string>{"periodic", "periodic", "none"}));
  EXPECT_EQ(atoms.open_group("box").number_attribute("dimension"), (std::vector<double>{3}));
  EXPECT_EQ(atoms.open_group("position").member_text_attribute("value", "unit"), "Angstrom");
  EXPECT_EQ(atoms.open_group("position").member_text_attribute("time", "unit"), "ps");
  EXPECT_EQ(atoms.open_group("velocity").member_text_attribute("value", "unit"), "Angstrom ps-1");
  EXPECT_EQ(atoms.texts_attribute("type_names"), (std::vector<std::string>{"O", "H"}));
  EXPECT_EQ(atoms.member_text_attribute("species", "type_names"), "O H");
  EXPECT_EQ(atoms.open_group("box/edges").member_text_attribute("value", "unit"), "Angstrom");
  EXPECT_EQ(atoms.read<double>("velocity/time"), (std::vector<double>{0, 0.5}));
  EXPECT_EQ(root.open_group("observables").read<double>("temperature/value"),
            (std::vector<double>{300, 301}));
  EXPECT_EQ(root.open_group("observables").shape("stress/value"), (hdf5::Shape{2, 6}));
  EXPECT_EQ(root.open_group("observables/temperature").member_text_attribute("value", "unit"), "K");
  EXPECT_FALSE(atoms.has("force"));
  EXPECT_TRUE(root.has("particles/trajectory/position/value"));
}

TEST_F(H5md, frames_read_back_with_images_folded_in) {
  write({.velocities = true, .forces = true}, 4, 7, 10);
  comm.barrier();

  const auto last = read_configuration(path), first = read_h5md(path, 0).front();

  EXPECT_EQ(last.box, box_at(7));
  EXPECT_EQ(first.box, box_at(4));
  EXPECT_EQ(last.type_names, (std::vector<std::string>{"O", "H"}));
  EXPECT_EQ(last.masses, (std::vector<double>{15.999, 1.008}));
  EXPECT_EQ(last.ids.at(10), 101);
  EXPECT_EQ(last.types.at(1), 1);
  EXPECT_EQ(last.velocities[2][0], -position_at(2, 7)[0] / 3);
  EXPECT_NEAR(last.forces[2][0], position_at(2, 7)[0] / 7, 1e-16);
  // Atom 8 has crossed the boundary along b thrice.
  EXPECT_NEAR(last.positions[8][0], position_at(8, 7)[0] + 3, 1e-13);
  EXPECT_NEAR(last.positions[8][1], position_at(8, 7)[1] + 3 * 10.7, 1e-13);
  EXPECT_EQ(read_h5md(path, std::nullopt).size(), 4u);
  EXPECT_MESSAGE(read_h5md(path, 4), "there is no frame 4, the file has 4 (0 to 3");
  comm.barrier();
}

TEST_F(H5md, forces_of_older_files_are_converted) {
  write({.forces = true}, 1, 1);
  comm.barrier();
  const auto now = read_h5md(path, 0).front();
  {
    auto file = hdf5::File::open_for_update(comm, path);
    auto force = file.root().open_group("particles/atoms/force");
    EXPECT_EQ(force.member_text_attribute("value", "unit"), "eV Angstrom-1");
    force.set_member_attribute("value", "unit", "kJ mol-1 Angstrom-1");
  }
  comm.barrier();
  EXPECT_NEAR(read_h5md(path, 0).front().forces[2][0] * 96.48533212331, now.forces[2][0],
              1e-13 * std::abs(now.forces[2][0]));
  EXPECT_MESSAGE(write({.forces = true, .restart_step = 1}, 2, 2), "begun by an older version");
  comm.barrier();
}

TEST_F(H5md, single_precision_halves_the_rows) {
  write({.single_precision = true}, 1, 1);
  comm.barrier();
  auto file = hdf5::File::open(Comm::self(), path);

  EXPECT_EQ(file.root().element_type("particles/atoms/position/value"), "float32");
  EXPECT_EQ(file.root().read<float>("particles/atoms/position/value").at(0),
            static_cast<float>(position_at(0, 1)[0]));
}

TEST_F(H5md, a_restart_drops_the_frames_behind_it_and_goes_on) {
  write({}, 0, 5);
  comm.barrier();

  write({.restart_step = 2}, 3, 4);
  comm.barrier();

  EXPECT_EQ(steps(), (std::vector<std::int64_t>{0, 1, 2, 3, 4}));
  auto file = hdf5::File::open(Comm::self(), path);
  EXPECT_EQ(file.root().read<double>("observables/temperature/value"),
            (std::vector<double>{300, 301, 302, 303, 304}));
  EXPECT_EQ(file.root().read<double>("particles/atoms/box/edges/time"),
            (std::vector<double>{0, 0.5, 1, 1.5, 2}));
  EXPECT_EQ(read_h5md(path, 4).front().positions[5][0], position_at(5, 4)[0]);
  comm.barrier();
}

TEST_F(H5md, frames_that_a_kill_left_unfinished_are_no_frames) {
  write({}, 0, 3);
  comm.barrier();
  if (comm.is_root()) {  // the zeros of a cut whose count did not come to the disk, and a frame without its
                         // box
    auto file = hdf5::File::open_for_update(Comm::self(), path);
    auto group = file.root().group("particles/atoms");
    const std::vector<std::int64_t> zeros{0, 0};
    auto step = group.series<std::int64_t>("position/step", {}, {});
    step.truncate(3);
    step.append_entries<std::int64_t>(2, zeros);
    group.series<double>("position/value", {n_atoms, 3}, {}).truncate(3);
    group.series<double>("position/value", {n_atoms, 3}, {})
        .append_entries<double>(2, std::vector<double>(6 * n_atoms, 0.0));
    group.series<double>("box/edges/value", {3, 3}, {}).truncate(2);
  }
  comm.barrier();
  EXPECT_EQ(read_h5md(path, std::nullopt).size(), 2U);
  comm.barrier();

  write({.restart_step = 9}, 7, 7);
  comm.barrier();

  EXPECT_EQ(steps(), (std::vector<std::int64_t>{0, 1, 7}));
  EXPECT_EQ(read_h5md(path, std::nullopt).size(), 3U);
}

TEST_F(H5md, a_restart_keeps_no_more_frames_than_its_checkpoint_counts) {
  write({}, 0, 3);
  comm.barrier();

  write({.restart_step = 3, .restart_frames = 2}, 5, 5);
  comm.barrier();

  EXPECT_EQ(steps(), (std::vector<std::int64_t>{0, 1, 5}));
}

TEST_F(H5md, a_restart_with_other_atoms_or_contents_is_refused) {
  write({}, 0, 1);
  comm.barrier();
  const auto restart = [&](const Atoms& atoms, H5mdOptions options) {
    options.restart_step = 1;
    H5mdWriter writer(comm, path, atoms, options);
  };
  EXPECT_MESSAGE((restart(atoms_at(comm, 0, 1, 3), {}), 0), "it holds 11 atoms, the run has 10");
  EXPECT_MESSAGE((restart(atoms_at(comm, 0, 2), {}), 0), "its atoms have other ids");
  EXPECT_MESSAGE((restart(atoms_at(comm, 0), {.forces = true}), 0),
                 "begun without force, now the options say with");
  EXPECT_MESSAGE((restart(atoms_at(comm, 0), {.single_precision = true}), 0), "position/value");
  path = scratch / "absent.h5";
  EXPECT_MESSAGE((restart(atoms_at(comm, 0), {}), 0), "absent.h5");
}

TEST_F(H5md, lost_and_doubled_atoms_stop_all_ranks) {
  H5mdWriter writer(comm, path, atoms_at(comm, 0));
  EXPECT_THROW(writer.append(1, 0, atoms_at(comm, 1, 1, 3)), NumericalError);
  auto doubled = atoms_at(comm, 1);
  for (int i = 0; i < doubled.n_local; ++i)
    if (doubled.id(i) == 4) doubled.id(i) = 5;
  EXPECT_THROW(writer.append(1, 0, doubled), NumericalError);
  EXPECT_EQ(writer.n_frames(), 0);
}

TEST_F(H5md, observables_must_stay_the_same) {
  H5mdWriter writer(comm, path, atoms_at(comm, 0));
  writer.append(0, 0, atoms_at(comm, 0), {{"energy", "eV", {1}}});
  EXPECT_MESSAGE((writer.append(1, 0, atoms_at(comm, 1)), 0),
                 "a frame with 0 observables cannot follow frames with 1 (energy)");
  EXPECT_MESSAGE((writer.append(1, 0, atoms_at(comm, 1), {{"heat", "eV", {1}}}), 0),
                 "observable heat was not in the first frame (energy)");
}

TEST_F(H5md, another_hdf5_file_is_no_trajectory) {
  {
    auto file = hdf5::File::create(comm, path);
    file.root().set_attribute("schema", std::string("something.else"));
  }
  comm.barrier();
  EXPECT_MESSAGE(read_configuration(path), "is no trajectory of Quintet's");
  comm.barrier();
}

TEST_F(H5md, frames_that_have_changed_are_told_of_and_checksums_are_those_of_any_ranks) {
  write({.forces = true}, 0, 2);
  if (comm.is_root()) {
    H5mdWriter writer(Comm::self(), scratch / "alone.h5", atoms_at(Comm::self(), 0), {.forces = true});
    for (std::int64_t step = 0; step <= 2; ++step)
      writer.append(step, 0.5 * step, atoms_at(Comm::self(), step),
                    {{"temperature", "K", {300.0 + step}}, {"stress", "eV Angstrom-3", {1, 2, 3, 4, 5, 6}}});
  }
  comm.barrier();
  const std::string name = "particles/atoms/frame_checksum";
  EXPECT_EQ(hdf5::File::open(comm, path).root().read<std::uint64_t>(name),
            hdf5::File::open(comm, scratch / "alone.h5").root().read<std::uint64_t>(name));
  const auto altered = [&] {
    return H5mdWriter(comm, path, atoms_at(comm, 2), {.forces = true, .restart_step = 2}).altered();
  };
  EXPECT_EQ(altered(), "");
  {
    auto file = hdf5::File::open_for_update(comm, path);
    const std::uint64_t n = comm.is_root() ? 1 : 0;
    file.root().write_box<double>("particles/atoms/force/value", std::vector<double>(n, 0.5),
                                  {{1, 4, 2}, {n, n, n}});
  }
  EXPECT_EQ(altered(), "frame 1 does not agree with its checksum");
  EXPECT_NO_THROW(static_cast<void>(read_h5md(path, 0)));
  const auto message = message_of<InputError>([&] { static_cast<void>(read_h5md(path, 1)); });
  EXPECT_TRUE(contains(message, "frame 1 does not agree with its checksum")) << message;
}

}  // namespace
