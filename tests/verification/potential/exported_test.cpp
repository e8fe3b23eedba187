#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/potential/exported/exported_potential.hpp"
#include "tests/verification/potential/models.hpp"

namespace quintet::potential {
namespace {

/// A model of tests/data/exported, and where to find what its makers' calculator says.
struct Exported {
  std::string name, references;
  std::vector<double> frame_parameters{};
  std::string ending = ".pth";
  bool has_atom_virials = true;
};

std::vector<Exported> exported_models() {
  std::vector<Exported> all{{"oneside", "tests/data/deep_potential/oneside.ref.json"},
                            {"attention", "tests/data/exported/attention.ref.json", {0.6}},
                            {"mace", "tests/data/exported/mace.ref.json", {}, ".pt", false}};
  // Those of DeePMD-kit that pass messages must have their neighbours' owners at hand.
  // They have no virials by atom where messages go through images.
  if (Comm::world().size() == 1)
    all.push_back({"messages", "tests/data/exported/messages.ref.json", {}, ".pth", false});
  return all;
}

ForceField& field_of(const Exported& model) {
  static auto& fields = *new std::map<std::string, ForceField*>;  // LibTorch may end before statics do
  auto*& field = fields[model.name];
  if (!field)
    field = make_potential(source("tests/data/exported/" + model.name + model.ending),
                           {.frame_parameters = model.frame_parameters})
                .release();
  return *field;
}

std::vector<DeepPotentialCase> cases_of(const Exported& model) {
  auto cases = read_cases(source(model.references), {"O", "H"});
  if (field_of(model).type_names().front() == "H")  // MACE orders types by atomic numbers
    for (auto& item : cases)
      for (int& type : item.configuration.types) type = 1 - type;
  // A cell thinner than the cutoff is no cell for three bricks, nor for two that messages cross.
  const int most_ranks = model.name == "mace" ? 1 : 2;
  std::erase_if(cases, [&](const auto& item) {
    const bool is_thin = item.name.find("below") != std::string::npos;
    return item.name.find("overflow") != std::string::npos || (is_thin && Comm::world().size() > most_ranks);
  });
  return cases;
}

Configuration start_of(const Exported& model) {
  for (const auto& item : cases_of(model))
    if (item.name.find("triclinic") != std::string::npos) return item.configuration;
  throw std::runtime_error(model.references + " has no triclinic cell");
}

TEST(ExportedPotential, agrees_with_what_its_makers_find) {
  for (const auto& model : exported_models())
    for (const auto& item : cases_of(model)) {
      const auto found = evaluate(Comm::world(), field_of(model), item.configuration);
      const std::string where = model.name + " " + item.name;
      EXPECT_NEAR(found.energy, item.energy, 1e-11 * std::abs(item.energy)) << where;
      EXPECT_LE(largest_difference(found.force, item.force), 1e-11 * std::max(1.0, largest(item.force)))
          << where;
      EXPECT_LE(largest_difference(found.atom_energy, item.atom_energy), 1e-11 * largest(item.atom_energy))
          << where;
      EXPECT_LE(largest_difference({found.virial.begin(), found.virial.end()}, item.virial), 1e-11) << where;
    }
}

TEST(ExportedPotential, gives_virials_by_atom_as_its_makers_do) {
  for (const auto& model : exported_models()) {
    if (!model.has_atom_virials) continue;
    const Tree document = read_yaml(source(model.references));
    const auto cases = cases_of(model);
    for (std::size_t c = 0; c < cases.size(); ++c) {
      const auto expected = numbers(document.at("cases").items()[c].find("atom_virial"));
      const auto found = atom_virials(Comm::world(), field_of(model), cases[c].configuration);
      EXPECT_LE(largest_difference(found, expected), 1e-11) << model.name << " " << cases[c].name;
    }
  }
}

TEST(ExportedPotential, gives_virials_by_atom_that_do_not_depend_on_where_the_cell_begins) {
  for (const auto& model : exported_models()) {
    if (!model.has_atom_virials) continue;
    const auto start = start_of(model);
    auto moved = start;
    for (auto& x : moved.positions) x = {x[0] + 3.2, x[1] - 11.3, x[2] + 0.5};
    const auto before = atom_virials(Comm::world(), field_of(model), start);
    const auto after = atom_virials(Comm::world(), field_of(model), moved);
    EXPECT_LE(largest_difference(after, before), 1e-12) << model.name;
  }
}

TEST(ExportedPotential, that_passes_messages_gives_virials_by_atom_only_where_there_are_no_images) {
  if (Comm::world().size() > 1) GTEST_SKIP() << "of one rank";
  const Exported model{"messages", "tests/data/exported/messages.ref.json"};
  const Tree document = read_yaml(source(model.references));
  const auto cases = cases_of(model);
  int n_open = 0;
  for (std::size_t c = 0; c < cases.size(); ++c) {
    const auto& cell = cases[c].configuration;
    const auto& periodic = cell.box.periodic();
    if (std::none_of(periodic.begin(), periodic.end(), [](bool yes) { return yes; })) {
      const auto expected = numbers(document.at("cases").items()[c].find("atom_virial"));
      EXPECT_LE(largest_difference(atom_virials(Comm::world(), field_of(model), cell), expected), 1e-11);
      ++n_open;
      continue;
    }
    try {
      (void)atom_virials(Comm::world(), field_of(model), cell);
      FAIL() << "was not refused: " << cases[c].name;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("makes its virials by atom wrong"), std::string::npos);
    }
  }
  EXPECT_GT(n_open, 0);
}

TEST(ExportedPotential, has_forces_that_are_minus_the_gradient_of_the_energy) {
  for (const auto& model : exported_models()) {
    auto& field = field_of(model);
    const auto start = start_of(model);
    const auto whole = evaluate(Comm::world(), field, start);
    constexpr double h = 1e-4;
    for (const int k : {0, 7, 18, 34}) {
      double energy[2];
      for (const int side : {0, 1}) {
        auto moved = start;
        moved.positions[k / 3][k % 3] += side == 0 ? -h : h;
        energy[side] = evaluate(Comm::world(), field, moved).energy;
      }
      EXPECT_NEAR(whole.force[k], -(energy[1] - energy[0]) / (2 * h), 1e-6 * largest(whole.force))
          << model.name;
    }
  }
}

TEST(ExportedPotential, has_a_virial_that_is_minus_the_derivative_of_the_energy_by_strain) {
  for (const auto& model : exported_models()) {
    auto& field = field_of(model);
    const auto start = start_of(model);
    const auto whole = evaluate(Comm::world(), field, start);
    constexpr double h = 1e-5;
    for (const int component : {0, 1, 5, 8}) {
      double energy[2];
      for (const int side : {0, 1})
        energy[side] = evaluate(Comm::world(), field, strained(start, component, side == 0 ? -h : h)).energy;
      EXPECT_NEAR(whole.virial[component], -(energy[1] - energy[0]) / (2 * h),
                  1e-5 * largest({whole.virial.begin(), whole.virial.end()}))
          << model.name << ", component " << component;
    }
  }
}

TEST(ExportedPotential, does_not_change_under_rotation_translation_and_another_order) {
  for (const auto& model : exported_models()) {
    auto& field = field_of(model);
    const auto start = start_of(model);
    const auto before = evaluate(Comm::world(), field, start);
    const std::size_t n = start.n_atoms();
    auto moved = start;
    const auto turned = [](const Vec3& x) { return Vec3{-x[1], x[0], x[2]}; };
    Mat3 rows = start.box.rows();
    for (int k = 0; k < 3; ++k) {
      const Vec3 row = turned({rows[3 * k], rows[3 * k + 1], rows[3 * k + 2]});
      std::copy(row.begin(), row.end(), rows.begin() + 3 * k);
    }
    moved.box = Box(rows, start.box.periodic());
    for (std::size_t i = 0; i < n; ++i) {
      const Vec3 x = turned(start.positions[i]);
      moved.positions[n - 1 - i] = {x[0] + 3.2, x[1] - 11.3, x[2] + 0.5};
      moved.types[n - 1 - i] = start.types[i];
    }
    const auto after = evaluate(Comm::world(), field, moved);
    EXPECT_NEAR(after.energy, before.energy, 1e-12 * std::abs(before.energy)) << model.name;
    for (std::size_t i = 0; i < n; ++i) {
      const Vec3 f = turned({before.force[3 * i], before.force[3 * i + 1], before.force[3 * i + 2]});
      for (int k = 0; k < 3; ++k)
        EXPECT_NEAR(after.force[3 * (n - 1 - i) + k], f[k], 1e-11) << model.name << ", atom " << i;
    }
  }
}

/// 3 x 3 x 3 copies of a cell.
Configuration copies_of(const Configuration& cell) {
  Configuration all = cell;
  all.positions.clear();
  all.types.clear();
  Mat3 rows = cell.box.rows();
  for (int a = 0; a < 27; ++a)
    for (std::size_t i = 0; i < cell.n_atoms(); ++i) {
      const Vec3 s = cell.box.to_fractional(cell.positions[i]);
      all.positions.push_back(cell.box.to_cartesian({s[0] + a % 3, s[1] + a / 3 % 3, s[2] + a / 9}));
      all.types.push_back(cell.types[i]);
    }
  for (double& x : rows) x *= 3;
  all.box = Box(rows, cell.box.periodic());
  return all;
}

TEST(ExportedPotential,
     of_more_atoms_than_are_evaluated_at_a_time_is_that_of_the_cell_as_often_as_it_is_there) {
  for (const auto& model : exported_models()) {
    const auto cell = start_of(model);
    const auto all = copies_of(cell);
    ASSERT_GT(all.n_atoms(), static_cast<std::size_t>(ExportedPotential::most_centres));
    const auto one = evaluate(Comm::world(), field_of(model), cell);
    const auto many = evaluate(Comm::world(), field_of(model), all);
    EXPECT_NEAR(many.energy, 27 * one.energy, 1e-11 * std::abs(many.energy)) << model.name;
    for (std::size_t k = 0; k < many.force.size(); ++k)
      EXPECT_NEAR(many.force[k], one.force[k % one.force.size()], 1e-11) << model.name;
    for (int k = 0; k < 9; ++k) EXPECT_NEAR(many.virial[k], 27 * one.virial[k], 1e-9) << model.name;
  }
}

TEST(ExportedPotential, warns_where_sel_is_too_small_and_only_there) {
  const Exported model{"oneside", "tests/data/deep_potential/oneside.ref.json"};
  const auto crowd = case_named(source(model.references), {"O", "H"}, "sel_overflow");
  const auto found = evaluate(Comm::self(), field_of(model), crowd.configuration);
  EXPECT_NE(found.warning.find("more neighbours than the model's sel holds"), std::string::npos);
  EXPECT_NEAR(found.energy, crowd.energy, 1e-11 * std::abs(crowd.energy));  // by the rule of its makers
  EXPECT_EQ(evaluate(Comm::self(), field_of(model), start_of(model)).warning, "");
}

TEST(ExportedPotential, that_passes_messages_is_refused_where_owners_of_ghosts_are_elsewhere) {
  if (Comm::world().size() == 1) GTEST_SKIP() << "needs several ranks";
  const Exported model{"messages", "tests/data/exported/messages.ref.json"};
  const auto all = copies_of(start_of(model));
  try {
    (void)evaluate(Comm::world(), field_of(model), all);
    FAIL() << "was not refused";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("run it on one rank"), std::string::npos) << error.what();
  }
}

/// What opening a model with these options complains of.
std::string complaint(const std::string& file, const DeepPotentialOptions& options) {
  try {
    (void)make_potential(source("tests/data/exported/" + file), options);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(ExportedPotential, wants_as_many_frame_parameters_as_it_reads) {
  EXPECT_NE(
      complaint("attention.pth", {}).find("reads 1 frame parameter (fparam), but frame_parameters gives 0"),
      std::string::npos);
  EXPECT_NE(complaint("attention.pth", {.frame_parameters = {1, 2}}).find("gives 2"), std::string::npos);
  EXPECT_NE(complaint("oneside.pth", {.frame_parameters = {1}}).find("reads 0 frame parameters"),
            std::string::npos);
  EXPECT_EQ(complaint("attention.pth", {.frame_parameters = {1}}), "");
}

TEST(ExportedPotential, leaves_precision_and_tables_to_who_exported_it) {
  EXPECT_NE(complaint("oneside.pth", {.precision = Precision::fp64}).find("precision: model"),
            std::string::npos);
  EXPECT_NE(complaint("oneside.pth", {.compression = Compression::off}).find("compress: auto"),
            std::string::npos);
  EXPECT_EQ(complaint("oneside.pth", {}), "");
}

}  // namespace
}  // namespace quintet::potential
