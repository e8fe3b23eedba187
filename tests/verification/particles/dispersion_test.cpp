#include "physics/particles/interactions/dispersion.hpp"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/interactions/pair_potential.hpp"
#include "physics/particles/interactions/sum_of_fields.hpp"
#include "tests/support/deep_potential_case.hpp"
#include "tests/support/dispersion_case.hpp"

namespace quintet {
namespace {

constexpr double hartree = 27.211386245988;

/// A made-up archive, once a process.
std::string table_file() {
  static const std::string path =
      (std::filesystem::temp_directory_path() / ("quintet_d3_" + std::to_string(::getpid()) + ".npz"))
          .string();
  if (!std::filesystem::exists(path)) dispersion_case::write(path, dispersion_case::made());
  return path;
}

/// Random atoms of three elements, none close to another, in a skew cell that three ranks can share.
Configuration skew_cell(int n = 30) {
  Configuration c;
  c.type_names = {"C", "H", "Cu"};
  c.masses = {12, 1, 63};
  c.box = Box({11.0, 0.6, -0.5, 2.9, 9.6, 0.8, -1.7, 1.2, 10.2}, {true, true, true});
  std::uint64_t state = 12345;
  const auto draw = [&] {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return double(state >> 11) / 9007199254740992.0;
  };
  while (static_cast<int>(c.n_atoms()) < n) {
    const Vec3 x = c.box.to_cartesian({draw(), draw(), draw()});
    bool apart = true;
    for (const auto& image : dispersion_case::images_of(c, 1, {1, 1, 1}).x)
      apart = apart && dispersion_case::distance(image, x) > 1.15;
    if (!apart) continue;
    c.positions.push_back(x);
    c.types.push_back(static_cast<int>(c.n_atoms()) % 3);
  }
  return c;
}

/// Atoms in the open along two directions.
Configuration wire() {
  Configuration c = skew_cell();
  c.box = Box(c.box.rows(), {false, true, false});
  return c;
}

DispersionOptions options_with(double s9, double fading = 0) {
  DispersionOptions options;
  options.damping = {1.0, 0.7875, s9, 0.4289, 4.4407};
  options.reach = {9.3, 5.2, 6.7, fading};
  return options;
}

Dispersion field_for(const Configuration& c, const DispersionOptions& options) {
  return {c.type_names, read_dispersion_table(table_file(), c.type_names), options};
}

double largest_of(const std::vector<double>& values) {
  double most = 0;
  for (const double v : values) most = std::max(most, std::abs(v));
  return most;
}

/// The configuration under a strain_kl: x_k += strain x_l, component = 3k + l.
Configuration strained(const Configuration& start, int component, double strain) {
  Mat3 deformation{1, 0, 0, 0, 1, 0, 0, 0, 1};
  deformation[3 * (component % 3) + component / 3] += strain;
  auto result = start;
  result.box = start.box.deformed(deformation);
  for (std::size_t i = 0; i < start.n_atoms(); ++i)
    result.positions[i] = result.box.to_cartesian(start.box.to_fractional(start.positions[i]));
  return result;
}

TEST(Dispersion, is_the_plain_sum_over_pairs_and_triples_of_images) {
  for (const auto& c : {skew_cell(), wire()})
    for (const double s9 : {0.0, 1.0})
      for (const double fading : {0.0, 2.1}) {
        const auto options = options_with(s9, fading);
        auto field = field_for(c, options);
        const double plain =
            hartree *
            dispersion_case::energy(c, read_dispersion_table(table_file(), c.type_names), options, {1, 1, 1});
        EXPECT_NEAR(evaluate(Comm::world(), field, c).energy, plain, 1e-12 * std::abs(plain))
            << s9 << " " << fading;
      }
}

TEST(Dispersion, forces_are_minus_the_gradient_of_the_energy) {
  const auto c = skew_cell();
  auto field = field_for(c, options_with(1, 2.0));
  const auto whole = evaluate(Comm::world(), field, c);
  const double h = 1e-4;
  for (const int k : {0, 2, 4, 17, 30, 56}) {
    double e[4];
    for (int side = 0; side < 4; ++side) {
      auto moved = c;
      moved.positions[k / 3][k % 3] += h * (side - (side < 2 ? 2 : 1));
      e[side] = evaluate(Comm::world(), field, moved).energy;
    }
    const double slope = (8 * (e[2] - e[1]) - (e[3] - e[0])) / (12 * h);
    EXPECT_NEAR(whole.force[k], -slope, 1e-9 * largest_of(whole.force)) << k;
  }
}

TEST(Dispersion, its_virial_is_minus_the_derivative_of_the_energy_by_strain) {
  const auto c = skew_cell();
  auto field = field_for(c, options_with(1, 2.0));
  const auto whole = evaluate(Comm::world(), field, c);
  const double h = 1e-4, scale = largest_of({whole.virial.begin(), whole.virial.end()});
  for (int component = 0; component < 9; ++component) {
    double e[4];
    for (int side = 0; side < 4; ++side)
      e[side] =
          evaluate(Comm::world(), field, strained(c, component, h * (side - (side < 2 ? 2 : 1)))).energy;
    const double slope = (8 * (e[2] - e[1]) - (e[3] - e[0])) / (12 * h);
    EXPECT_NEAR(whole.virial[component], -slope, 1e-8 * scale) << component;
  }
}

TEST(Dispersion, is_the_same_on_any_number_of_ranks) {
  const auto c = skew_cell();
  auto field = field_for(c, options_with(1, 1.0));
  const auto together = evaluate(Comm::world(), field, c), alone = evaluate(Comm::self(), field, c);
  EXPECT_NEAR(together.energy, alone.energy, 1e-13 * std::abs(alone.energy));
  for (std::size_t k = 0; k < alone.force.size(); ++k)
    EXPECT_NEAR(together.force[k], alone.force[k], 1e-12 * largest_of(alone.force)) << k;
  for (int k = 0; k < 9; ++k) EXPECT_NEAR(together.virial[k], alone.virial[k], 1e-11);
  double sum = 0;
  for (const double e : alone.atom_energy) sum += e;
  EXPECT_NEAR(sum, alone.energy, 1e-12);
}

TEST(Dispersion, does_not_notice_how_cells_are_cut) {
  const auto c = skew_cell(7);
  Configuration doubled = replicated(c, {2, 1, 1});
  auto field = field_for(c, options_with(1));
  EXPECT_NEAR(evaluate(Comm::world(), field, doubled).energy, 2 * evaluate(Comm::world(), field, c).energy,
              1e-11);
}

TEST(Dispersion, keeps_a_weight_where_all_would_vanish) {
  // 40 neighbours on a shell: every exp(-4 (n - n_a)^2) is 0 in double precision.
  Configuration c;
  c.type_names = {"C"};
  c.masses = {12};
  c.box = Box({60, 0, 0, 0, 60, 0, 0, 0, 60}, {false, false, false});
  c.positions.push_back({30, 30, 30});
  for (int k = 0; k < 40; ++k) {
    const double z = -0.975 + 0.05 * k, a = 2.4 * k;
    c.positions.push_back({30 + 0.5 * std::sqrt(1 - z * z) * std::cos(a),
                           30 + 0.5 * std::sqrt(1 - z * z) * std::sin(a), 30 + 0.5 * z});
  }
  c.types.assign(c.positions.size(), 0);
  auto field = field_for(c, options_with(0));
  const auto found = evaluate(Comm::self(), field, c);
  EXPECT_TRUE(std::isfinite(found.energy) && found.energy < 0);
  EXPECT_TRUE(std::isfinite(largest_of(found.force)));
}

TEST(SumOfFields, of_dispersion_and_pairs_adds_energies_forces_and_virials) {
  const auto c = skew_cell();
  PairParameters morse{PairFormula::morse, {"C", "Cu"}, 0.3, 2.1, 1.7, 4.5, 0.8};
  PairParameters lennard_jones{PairFormula::lennard_jones, {"C", "C"}, 0.01, 2.9, std::nullopt, 6.0, 1.0};
  const std::vector<PairParameters> pairs{morse, lennard_jones};
  const auto options = options_with(0);

  auto dispersion = field_for(c, options);
  auto reordered = c;  // the pairs know C and Cu, in this order
  PairPotential alone(pairs);
  ASSERT_EQ(alone.type_names(), (std::vector<std::string>{"C", "Cu"}));
  reordered.type_names = alone.type_names();
  reordered.masses = {12, 63};
  reordered.positions.clear();
  reordered.types.clear();
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < c.n_atoms(); ++i) {
    if (c.types[i] == 1) continue;
    kept.push_back(i);
    reordered.positions.push_back(c.positions[i]);
    reordered.types.push_back(c.types[i] == 0 ? 0 : 1);
  }
  std::vector<FieldTerm> terms;
  terms.push_back({std::make_unique<Dispersion>(c.type_names,
                                                read_dispersion_table(table_file(), c.type_names), options)});
  terms.push_back({std::make_unique<PairPotential>(pairs)});
  SumOfFields sum(std::move(terms));
  EXPECT_EQ(sum.type_names(), c.type_names);
  EXPECT_EQ(sum.list_cutoff(), 6.0);

  const auto whole = evaluate(Comm::world(), sum, c), d = evaluate(Comm::world(), dispersion, c),
             p = evaluate(Comm::world(), alone, reordered);
  EXPECT_NEAR(whole.energy, d.energy + p.energy, 1e-12 * std::abs(p.energy));
  auto force = d.force, energies = d.atom_energy;
  for (std::size_t k = 0; k < kept.size(); ++k) {
    energies[kept[k]] += p.atom_energy[k];
    for (int l = 0; l < 3; ++l) force[3 * kept[k] + l] += p.force[3 * k + l];
  }
  for (std::size_t k = 0; k < force.size(); ++k)
    EXPECT_NEAR(whole.force[k], force[k], 1e-12 * largest_of(force));
  for (std::size_t k = 0; k < energies.size(); ++k) EXPECT_NEAR(whole.atom_energy[k], energies[k], 1e-12);
  for (int k = 0; k < 9; ++k) EXPECT_NEAR(whole.virial[k], d.virial[k] + p.virial[k], 1e-11);
}

/// Dispersion that counts how often it is evaluated.
class Counted final : public ForceField {
 public:
  Counted(std::unique_ptr<ForceField> field, int& count) : field_(std::move(field)), count_(count) {}
  [[nodiscard]] double cutoff() const override { return field_->cutoff(); }
  [[nodiscard]] const std::vector<std::string>& type_names() const override { return field_->type_names(); }
  [[nodiscard]] std::string description() const override { return field_->description(); }
  Energetics compute(const Exec& exec, Atoms& atoms, const NeighbourList& list,
                     const ByAtom& by_atom) override {
    ++count_;
    return field_->compute(exec, atoms, list, by_atom);
  }

 private:
  std::unique_ptr<ForceField> field_;
  int& count_;
};

PairParameters lennard_jones_of(const std::string& name, double depth) {
  return {PairFormula::lennard_jones, {name, name}, depth, 2.9, std::nullopt, 6.0, 1.0};
}

/// A sum of one term: pairs of equal types.
std::unique_ptr<SumOfFields> pairs_alone(double depth, const std::vector<std::string>& types) {
  std::vector<PairParameters> pairs;
  for (const auto& name : types) pairs.push_back(lennard_jones_of(name, depth));
  std::vector<FieldTerm> terms;
  terms.push_back({std::make_unique<PairPotential>(pairs)});
  return std::make_unique<SumOfFields>(std::move(terms));
}

TEST(SumOfFields, share_terms_that_are_evaluated_once_for_the_same_atoms) {
  const auto c = skew_cell();
  int count = 0;
  const auto dispersion = [&] {
    return std::make_unique<Counted>(
        std::make_unique<Dispersion>(c.type_names, read_dispersion_table(table_file(), c.type_names),
                                     options_with(0)),
        count);
  };
  const auto one = pairs_alone(0.01, c.type_names), other = pairs_alone(0.02, c.type_names),
             alone = pairs_alone(0.02, c.type_names);
  for (const auto& sum : {one.get(), alone.get()})
    sum->add({dispersion(), {c.type_names[0], c.type_names[1]}});
  ASSERT_TRUE(other->share_terms(*one, Comm::world()));
  EXPECT_EQ(other->cutoff(), one->cutoff());

  const Exec exec;
  Domain domain(Comm::world(), {.cutoff = one->cutoff(), .skin = 0.5}, c.box);
  Atoms atoms = domain.distribute(c);
  domain.rebuild(exec, atoms);
  const auto found = [&](SumOfFields& sum) {
    const Energetics total = sum.compute(exec, atoms, domain.list());
    std::vector<double> numbers(atoms.force.data(), atoms.force.data() + std::ptrdiff_t{3} * atoms.n_all());
    numbers.push_back(total.energy);
    numbers.insert(numbers.end(), total.virial.begin(), total.virial.end());
    return numbers;
  };
  for (int move = 0; move < 3; ++move) {
    count = 0;
    (void)found(*one);
    const auto shared = found(*other);
    EXPECT_EQ(count, 1) << move;
    EXPECT_EQ(shared, found(*alone)) << move;
    EXPECT_EQ(count, 2) << move;
    // the slightest move counts, and so does a list of atoms that have not moved
    if (move == 0 && atoms.n_local > 0) atoms.position(0, 1) = std::nextafter(atoms.position(0, 1), 100.0);
    if (move == 1) domain.rebuild(exec, atoms);
  }
}

TEST(SumOfFields, do_not_share_terms_where_types_would_be_others) {
  const std::vector<std::string> types{"C", "H"}, turned{"H", "C"};
  const auto one = pairs_alone(0.01, types), same = pairs_alone(0.02, types),
             other = pairs_alone(0.02, turned);
  one->add({std::make_unique<PairPotential>(std::vector{lennard_jones_of("Xe", 0.01)})});
  EXPECT_FALSE(other->share_terms(*one, Comm::world()));
  EXPECT_EQ(other->type_names(), turned);
  EXPECT_TRUE(same->share_terms(*one, Comm::world()));
  EXPECT_EQ(same->type_names(), one->type_names());
}

TEST(SumOfFields, a_group_with_dispersion_sees_its_own_atoms_alone) {
  const auto c = skew_cell();
  const auto options = options_with(1);
  std::vector<FieldTerm> terms;
  terms.push_back({std::make_unique<Dispersion>(c.type_names,
                                                read_dispersion_table(table_file(), c.type_names), options)});
  terms.push_back(
      {std::make_unique<Dispersion>(c.type_names, read_dispersion_table(table_file(), c.type_names), options),
       {"Cu", "H"}});
  SumOfFields sum(std::move(terms));
  Configuration group = c;
  group.positions.clear();
  group.types.clear();
  for (std::size_t i = 0; i < c.n_atoms(); ++i)
    if (c.types[i] != 0) {
      group.positions.push_back(c.positions[i]);
      group.types.push_back(c.types[i]);
    }
  auto field = field_for(c, options);
  const auto whole = evaluate(Comm::world(), sum, c), all = evaluate(Comm::world(), field, c),
             part = evaluate(Comm::world(), field, group);
  EXPECT_NEAR(whole.energy, all.energy + part.energy, 1e-12);
  std::size_t at = 0;
  for (std::size_t i = 0; i < c.n_atoms(); ++i)
    for (int l = 0; l < 3; ++l) {
      const double expected = all.force[3 * i + l] + (c.types[i] != 0 ? part.force[at++] : 0);
      EXPECT_NEAR(whole.force[3 * i + l], expected, 1e-12 * largest_of(all.force));
    }
}

}  // namespace
}  // namespace quintet
