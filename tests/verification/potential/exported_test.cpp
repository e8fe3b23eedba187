#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <stdexcept>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/potential/exported/exported_potential.hpp"
#include "tests/support/kept.hpp"
#include "tests/verification/potential/models.hpp"

namespace quintet::potential {
namespace {

/// A model of tests/data/exported, and where to find what its makers' calculator says.
struct Exported {
  std::string name, references;
  std::vector<double> frame_parameters{};
  std::string ending = ".pth";
  bool has_atom_virials = true;  ///< as its makers do
  int rows_of_messages = 1;
  bool is_of_one_rank = false;
};

/// DeePMD-kit's that pass messages, as fields that are told of virials by atom.
ForceField& reaching_field_of(const std::string& name) {
  return Kept<ForceField>::get(name + " with virials by atom", [&] {
    return make_potential(source("tests/data/exported/" + name + ".pth"), {.atom_virials = true});
  });
}

std::vector<Exported> exported_models() {
  // Those of DeePMD-kit that pass messages get virials by atom wrong there, where messages go through images.
  std::vector<Exported> models{{"oneside", "tests/data/deep_potential/oneside.ref.json"},
                               {"attention", "tests/data/exported/attention.ref.json", {0.6}},
                               {"messages", "tests/data/exported/messages.ref.json", {}, ".pth", false, 2},
                               {"triplets", "tests/data/exported/triplets.ref.json", {}, ".pth", false, 2},
                               {"mace", "tests/data/exported/mace.ref.json", {}, ".pt", false, 2},
                               {"oneside", "tests/data/deep_potential/oneside.ref.json", {}, ".pt2", false},
                               {"allegro", "tests/data/exported/allegro.ref.json", {}, ".pt2", false},
                               {"nequip", "tests/data/exported/nequip.ref.json", {}, ".pt2", false, 2, true}};
  if (Comm::world().size() > 1)
    std::erase_if(models, [](const Exported& model) { return model.is_of_one_rank; });
  return models;
}

ForceField& field_of(const Exported& model) {
  const std::string path = source("tests/data/exported/" + model.name + model.ending);
  return Kept<ForceField>::get(
      path, [&] { return make_potential(path, {.frame_parameters = model.frame_parameters}); });
}

/// Whether ranks can share a cell: bricks of a line of them are a third as thick as ghosts reach, or more.
bool fits(const Configuration& cell, const ForceField& field) {
  const int n_ranks = Comm::world().size();
  const double reach = field.cutoff() + 0.5;  // the skin of evaluate()
  const double widest = std::max({cell.box.width(0), cell.box.width(1), cell.box.width(2)});
  return n_ranks == 1 || widest / n_ranks >= reach / 3;
}

std::vector<DeepPotentialCase> cases_of(const Exported& model) {
  auto cases = read_cases(source(model.references), {"O", "H"});
  if (field_of(model).type_names().front() == "H")  // MACE orders types by atomic numbers
    for (auto& item : cases)
      for (int& type : item.configuration.types) type = 1 - type;
  std::erase_if(cases, [&](const auto& item) {
    return item.name.find("overflow") != std::string::npos || !fits(item.configuration, field_of(model));
  });
  if (cases.size() < 2) throw std::runtime_error(model.references + " has not two cells for these ranks");
  return cases;
}

Configuration start_of(const Exported& model) {
  for (const char* name : {"triclinic", "orthorhombic"})
    for (const auto& item : cases_of(model))
      if (item.name.find(name) != std::string::npos) return item.configuration;
  throw std::runtime_error(model.references + " has no periodic cell for these ranks");
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

/// Their sum is the virial, they go with the atoms wherever the cell begins, and those of the copies of an
/// atom in a doubled cell are its own.
TEST(ExportedPotential, that_passes_messages_gives_virials_by_atom_where_it_is_told_of_them) {
  for (const std::string name : {"messages", "triplets"}) {
    const Exported model{name, "tests/data/exported/" + name + ".ref.json", {}, ".pth", false, 2};
    auto& field = reaching_field_of(name);
    const auto start = start_of(model);
    const auto by_atom = atom_virials(Comm::world(), field, start);
    const auto whole = evaluate(Comm::world(), field, start);
    std::array<double, 9> sum{};
    for (std::size_t i = 0; i < by_atom.size(); ++i) sum[i % 9] += by_atom[i];
    EXPECT_LE(largest_difference({sum.begin(), sum.end()}, {whole.virial.begin(), whole.virial.end()}), 1e-11)
        << name;
    auto moved = start;
    for (auto& x : moved.positions) x = {x[0] + 3.2, x[1] - 11.3, x[2] + 0.5};
    EXPECT_LE(largest_difference(atom_virials(Comm::world(), field, moved), by_atom), 1e-11) << name;
    const auto alone = evaluate(Comm::world(), field_of(model), start);
    EXPECT_LE(largest_difference(whole.force, alone.force), 1e-11) << name;
    auto doubled = start;
    auto h = start.box.rows();
    for (int k = 0; k < 3; ++k) h[k] *= 2;
    doubled.box = Box(h, start.box.periodic());
    for (std::size_t i = 0; i < start.n_atoms(); ++i) {
      const auto s = start.box.to_fractional(start.positions[i]);
      doubled.positions.push_back(start.box.to_cartesian({s[0] + 1, s[1], s[2]}));
      doubled.types.push_back(start.types[i]);
    }
    doubled.forces.clear();
    auto twice = by_atom;
    twice.insert(twice.end(), by_atom.begin(), by_atom.end());
    EXPECT_LE(largest_difference(atom_virials(Comm::world(), field, doubled), twice), 1e-11) << name;
  }
}

TEST(ExportedPotential, that_passes_messages_and_is_not_told_gives_virials_by_atom_without_images_alone) {
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

/// Atoms in a line, 4 angstrom apart: an atom has two neighbours. One of them is of another type.
Configuration line_with_a_stranger(int stranger) {
  Configuration line;
  line.type_names = {"O", "H"};
  line.box = Box({40, 0, 0, 0, 40, 0, 0, 0, 40}, {true, false, false});
  for (int i = 0; i < 10; ++i) {
    line.positions.push_back({4.0 * i + 0.5 + 0.1 * (i % 3), 20 + 0.2 * (i % 2), 20});
    line.types.push_back(i == stranger ? 1 : 0);
  }
  return line;
}

TEST(ExportedPotential, that_passes_messages_knows_a_type_that_only_the_outermost_ghosts_are_of) {
  for (const auto& model : exported_models()) {
    if (model.rows_of_messages == 1) continue;
    for (int stranger = 0; stranger < 10; ++stranger) {
      const auto line = line_with_a_stranger(stranger);
      const auto expected = evaluate(Comm::self(), field_of(model), line);
      const auto found = evaluate(Comm::world(), field_of(model), line);
      EXPECT_NEAR(found.energy, expected.energy, 1e-12 * std::abs(expected.energy)) << model.name;
      EXPECT_LE(largest_difference(found.force, expected.force), 1e-12) << model.name << " " << stranger;
    }
  }
}

/// Atoms near the points of a cubic lattice, so dense that more than 30 are within 4.5 angstrom of one.
Configuration crowd() {
  Configuration crowd;
  constexpr int n = 6;
  constexpr double spacing = 2.05;
  std::mt19937 random(3);
  std::uniform_real_distribution<double> shift(-0.05, 0.05);
  crowd.box = Box({n * spacing, 0, 0, 0, n * spacing, 0, 0, 0, n * spacing}, {true, true, true});
  crowd.type_names = {"O", "H"};
  for (int i = 0; i < n * n * n; ++i) {
    const Vec3 place{spacing * (i % n), spacing * (i / n % n), spacing * (i / n / n)};
    crowd.positions.push_back({place[0] + shift(random), place[1] + shift(random), place[2] + shift(random)});
    crowd.types.push_back(i % 3 == 0 ? 1 : 0);
  }
  return crowd;
}

TEST(ExportedPotential, counts_a_crowded_atom_once_wherever_its_ghosts_are) {
  const auto start = crowd();
  for (const auto& model : exported_models()) {
    if (model.name != "messages") continue;
    const auto expected = evaluate(Comm::self(), field_of(model), start);
    ASSERT_EQ(expected.warning.rfind("216 atoms have more neighbours", 0), 0U) << expected.warning;
    const auto found = evaluate(Comm::world(), field_of(model), start);
    EXPECT_EQ(Comm::world().sum(std::stoi(found.warning)), 216) << found.warning;
    EXPECT_NEAR(found.energy, expected.energy, 1e-11 * std::abs(expected.energy));
    EXPECT_LE(largest_difference(found.force, expected.force), 1e-11);
  }
}

TEST(ExportedPotential, needs_ghosts_as_many_cutoffs_away_as_messages_go_where_ranks_share_the_atoms) {
  for (const auto& model : exported_models()) {
    const auto& field = field_of(model);
    const int rows = Comm::world().size() > 1 ? model.rows_of_messages : 1;
    EXPECT_DOUBLE_EQ(field.cutoff(), rows * field.list_cutoff()) << model.name;
  }
}

/// A model that measures each evaluation instead.
class Watched final : public ExportedModel {
 public:
  Watched(std::unique_ptr<ExportedModel> model, std::vector<double>& bytes)
      : model_(std::move(model)), bytes_(bytes) {}
  [[nodiscard]] const ExportedFacts& facts() const override { return model_->facts(); }
  void evaluate(const ExportedSystem& system, bool with_virials, ExportedResult& result) override {
    bytes_.push_back(model_->bytes_of(system));
    model_->evaluate(system, with_virials, result);
  }
  [[nodiscard]] double bytes_of(const ExportedSystem& system) override { return model_->bytes_of(system); }

 private:
  std::unique_ptr<ExportedModel> model_;
  std::vector<double>& bytes_;
};

TEST(ExportedPotential, that_passes_messages_knows_the_memory_of_an_evaluation_before_it) {
  for (const auto& model : exported_models()) {
    std::vector<double> bytes;
    const std::string file = source("tests/data/exported/" + model.name + model.ending);
    ExportedPotential field(
        file, std::make_unique<Watched>(
                  open_exported_model(file, {.frame_parameters = model.frame_parameters}), bytes));
    const auto cell = start_of(model), all = copies_of(cell);
    const Exec exec;
    for (const auto& frame : {cell, all, all}) {
      Domain domain(Comm::world(), {field.cutoff(), 0.5, {0, 0, 0}}, frame.box);
      Atoms atoms = domain.distribute(frame);
      domain.rebuild(exec, atoms);
      const double before = bytes.empty() ? 0 : *std::max_element(bytes.begin(), bytes.end());
      const auto needed = field.memory_needed(exec, atoms, domain.list());
      (void)field.compute(exec, atoms, domain.list());
      ASSERT_EQ(needed.has_value(), model.rows_of_messages > 1) << model.name;
      if (!needed || atoms.n_local == 0) continue;
      // Few rows need little; as much as an evaluation has taken before is there.
      const bool is_large = Comm::world().size() == 1 && frame.n_atoms() > cell.n_atoms();
      if (bytes.back() < 1.01 * before) {
        EXPECT_EQ(*needed, 0) << model.name;
      } else if (is_large || *needed > 0) {
        EXPECT_NEAR(*needed, bytes.back(), 0.02 * bytes.back()) << model.name;
      }
    }
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
