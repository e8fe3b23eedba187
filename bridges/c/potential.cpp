#include "bridges/c/potential.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include <fmt/ranges.h>

#include "bridges/c/kernels.hpp"
#include "bridges/c/load_model.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "physics/particles/atoms/atom_parameters.hpp"
#include "physics/particles/domain/neighbour_list.hpp"
#include "surrogates/potential/evaluation/deviation.hpp"

namespace quintet::bridges {

namespace {

potential::Precision precision_named(const std::string& name) {
  if (name == "model") return potential::Precision::model;
  if (name == "double") return potential::Precision::fp64;
  if (name == "mixed") return potential::Precision::mixed;
  throw InputError(fmt::format("precision '{}': expected model, double or mixed", name));
}

/// Positions that are given, finite, and not so far away (angstrom) that a double, there 1e-7 angstrom apart
/// from the next, no longer says where in the cell.
void check_positions(const double* position, int n) {
  constexpr double farthest = 1e9;
  QUINTET_CHECK(position != nullptr || n == 0, "positions is NULL");
  for (std::size_t i = 0; i < 3 * static_cast<std::size_t>(n); ++i) {
    QUINTET_CHECK(std::isfinite(position[i]), "position {} of atom {} is {}", "xyz"[i % 3], i / 3,
                  position[i]);
    QUINTET_CHECK(
        std::abs(position[i]) <= farthest,
        "position {} of atom {} is {:.4g} angstrom, where a double no longer tells places in a cell "
        "apart: give the atom's image in the cell, at most {:.0e} angstrom away",
        "xyz"[i % 3], i / 3, position[i], farthest);
  }
}

Box box_of(const double* cell, const std::vector<double>& position) {
  if (cell != nullptr) {
    Mat3 rows;
    std::copy_n(cell, 9, rows.begin());
    return {rows, {true, true, true}};
  }
  std::vector<Vec3> points(position.size() / 3);
  for (std::size_t i = 0; i < points.size(); ++i)
    points[i] = {position[3 * i], position[3 * i + 1], position[3 * i + 2]};
  return Box::enclosing(points);
}

/// A View of the caller's array, or of room for it where he wants none.
template <class View>
View of_caller(double* array, std::size_t n, const char* label) {
  return array != nullptr ? View(array, n) : make_view<View>(label, n);
}

/// Models are made one at a time: HDF5 and the log are for one thread.
std::mutex& making() {
  static std::mutex one_at_a_time;
  return one_at_a_time;
}

/// A device finds neighbours itself: a list that lacks pairs, on purpose perhaps, would mean another energy.
void require_all_pairs(Potential& potential, const double* position) {
  try {
    potential.check_neighbours(position);
  } catch (const InputError& error) {
    throw InputError(
        fmt::format("{}. A device finds neighbours itself and leaves no pair out: take device "
                    "cpu for lists without some",
                    error.what()));
  }
}

}  // namespace

Potential::Potential(const std::vector<std::string>& files, const std::string& precision,
                     const std::string& device) {
  QUINTET_CHECK(!files.empty(), "no model file was named");
  options_.precision = precision_named(precision);
  const std::lock_guard lock(making());
  start_kernels();
  evaluator_.emplace(device);
  std::vector<std::unique_ptr<ForceField>> models;
  for (const auto& file : files) {
    potential::Model read = load_model(file);
    const int n_read = read.atom_parameters.count();
    require_same_parameters(n_parameters_, n_read);
    n_parameters_ = std::max(n_parameters_, n_read);
    readers_.push_back(n_read > 0 ? std::optional(read) : std::nullopt);
    auto model = made(std::move(read));
    QUINTET_CHECK(models.empty() || model->type_names() == models.front()->type_names(),
                  "{} has the types [{}], {} has [{}]; models that are used together need the same", file,
                  fmt::join(model->type_names(), ", "), files.front(),
                  fmt::join(models.front()->type_names(), ", "));
    models.push_back(std::move(model));
  }
  models_ = std::move(models);
}

double Potential::cutoff() const {
  double cutoff = 0;
  for (const auto& model : models_) cutoff = std::max(cutoff, model->cutoff());
  return cutoff;
}

/// A model with the parameters of types that were given. A device takes no others: it has zeros until then.
std::unique_ptr<ForceField> Potential::made(potential::Model model) const {
  auto options = options_;
  const int n = model.atom_parameters.count();
  if (n > 0 && options.atom_parameters.empty() && evaluator_->is_device())
    options.atom_parameters = {{model.type_names, std::vector<double>(n)}};
  return evaluator_->make(std::move(model), options);
}

void Potential::check_parameters(int n_rows, int n, const double* values, const char* row) const {
  QUINTET_CHECK(n_parameters_ > 0, "the model reads no numbers of atoms (aparam)");
  QUINTET_CHECK(n == n_parameters_, "the model reads {} of each atom (aparam), {} given",
                counted(n_parameters_, "number"), n);
  QUINTET_CHECK(n_rows >= 0, "{} atoms: none may be negative", n_rows);
  for (std::size_t i = 0; i < static_cast<std::size_t>(n_rows) * n; ++i)
    QUINTET_CHECK(std::isfinite(values[i]), "aparam of {} {} is {}; expected a finite number", row, i / n,
                  values[i]);
}

void Potential::set_atom_parameters(int n_atoms, int n, const double* values) {
  check_parameters(n_atoms, n, values, "atom");
  QUINTET_CHECK(!evaluator_->is_device(),
                "a device evaluates models that read numbers of each atom (aparam) where those of a type are "
                "the same: give them by type, or take device cpu");
  if (has_type_parameters_) set_type_parameters(0, 0, nullptr);
  parameters_.assign(values, values + std::int64_t{n_atoms} * n);
  n_given_ = n_atoms;
}

void Potential::set_type_parameters(int n_rows, int n, const double* values) {
  std::vector<potential::AtomParameters> given;
  if (values != nullptr) {
    QUINTET_CHECK(n_rows == n_types(), "numbers of {} were given (aparam), the model has {} ({})",
                  counted(n_rows, "type"), n_types(), fmt::join(type_names(), ", "));
    check_parameters(n_rows, n, values, "type");
    for (int t = 0; t < n_rows; ++t)
      given.push_back({{type_names()[t]}, {values + t * n, values + (t + 1) * n}});
  }
  const std::lock_guard lock(making());
  const auto before = std::exchange(options_.atom_parameters, std::move(given));
  std::vector<std::unique_ptr<ForceField>> others(models_.size());
  try {
    for (int m = 0; m < n_models(); ++m)
      if (readers_[m]) others[m] = made(*readers_[m]);
  } catch (...) {
    options_.atom_parameters = before;
    throw;
  }
  for (int m = 0; m < n_models(); ++m)
    if (others[m]) models_[m] = std::move(others[m]);
  has_type_parameters_ = values != nullptr;
  n_given_ = -1;
}

ForceField& Potential::model(int index, int n_atoms) {
  QUINTET_CHECK(index >= 0 && index < n_models(), "model {} was asked for; there are {}, counted from 0",
                index, n_models());
  if (readers_[index] && !has_type_parameters_) {
    QUINTET_CHECK(n_given_ >= 0,
                  "the model reads {} of each atom (aparam), none were given: give them of atoms "
                  "(quintet_potential_set_atom_parameters) after their list, or of types "
                  "(quintet_potential_set_type_parameters)",
                  counted(n_parameters_, "number"));
    QUINTET_CHECK(n_given_ == n_atoms, "numbers of {} were given (aparam), {} to be evaluated",
                  counted(n_given_, "atom"), counted(n_atoms, "atom is", "atoms are"));
  }
  return *models_[index];
}

void Potential::check_types(int n, const int* type) const {
  for (int i = 0; i < n; ++i)
    QUINTET_CHECK(type[i] >= -1 && type[i] < n_types(),
                  "atom {} has type {}; the model has types 0 to {} ({}), and -1 is none", i, type[i],
                  n_types() - 1, fmt::join(type_names(), ", "));
}

Energetics Potential::evaluate(ForceField& model, Atoms& atoms, const NeighbourList& list,
                               const ByAtom& by_atom) {
  const auto lock = kernels_in_use(evaluator_->is_device() ? Kernels::reductions : Kernels::loops);
  if (by_atom.energy.extent(0) > 0) std::fill_n(by_atom.energy.data(), by_atom.energy.extent(0), 0.0);
  Energetics total = model.compute(Exec(), atoms, list, by_atom);
  warning_ = total.warning;
  double sum = total.energy;
  for (const double value : total.virial) sum += value;
  if (!std::isfinite(sum))
    throw NumericalError(fmt::format("the energy is {}: are two atoms at one place?", total.energy));
  return total;
}

/// Rows by our neighbour search, unless a device lists neighbours where it is.
void Potential::list_neighbours(Typed& typed) const {
  typed.list.range = cutoff();
  if (evaluator_->is_device()) return;
  const auto lock = kernels_in_use(Kernels::reductions);
  NeighbourListBuilder().build(Exec(), typed.atoms, cutoff(), typed.list);
}

// Atoms of negative type are none: they are left out here, and their results are 0. Ghosts are the images
// within the cutoff.
Potential::Typed Potential::with_images_of(int n, const int* type, const double* position,
                                           const double* cell) const {
  check_types(n, type);
  check_positions(position, n);
  Typed typed;
  std::vector<double> kept;
  for (int i = 0; i < n; ++i) {
    if (type[i] < 0) continue;
    typed.caller.push_back(i);
    kept.insert(kept.end(), position + 3 * std::size_t(i), position + 3 * std::size_t(i) + 3);
  }
  Atoms& atoms = typed.atoms;
  atoms.n_local = typed.caller.size();
  atoms.type_names = type_names();
  if (atoms.n_local == 0) {
    typed.list.offset = Array<std::size_t>("bridges::offset", 1);
    return typed;
  }
  atoms.box = box_of(cell, kept);
  if (cell == nullptr) atoms.box = Box(atoms.box.rows(), {false, false, false}, atoms.box.origin());
  const Images images = with_images(atoms.box, kept.data(), atoms.n_local, cutoff());
  atoms.n_global = atoms.n_local;
  atoms.n_ghost = images.owner.size();
  for (const int owner : images.owner) typed.caller.push_back(typed.caller[owner]);
  const std::size_t n_all = atoms.n_all();
  atoms.position = make_view<Vectors>("bridges::position", n_all);
  atoms.type = make_view<Array<int>>("bridges::type", n_all);
  std::copy(images.position.begin(), images.position.end(), atoms.position.data());
  for (std::size_t i = 0; i < n_all; ++i) atoms.type(i) = type[typed.caller[i]];
  list_neighbours(typed);
  return typed;
}

void Potential::evaluate_typed(ForceField& model, Typed& typed, int n_owned, int n_all,
                               const Results& results) {
  warning_.clear();
  Atoms& atoms = typed.atoms;
  const std::size_t n_rows = atoms.n_all();
  atoms.force = make_view<Vectors>("bridges::force", n_rows);
  if (n_given_ == n_owned) {
    atoms.parameters = decltype(atoms.parameters)("bridges::parameters", atoms.n_local, n_parameters_);
    for (int i = 0; i < atoms.n_local; ++i)
      for (int k = 0; k < n_parameters_; ++k)
        atoms.parameters(i, k) = parameters_[std::int64_t{typed.caller[i]} * n_parameters_ + k];
  }
  ByAtom by_atom;
  if (results.atomic_energies != nullptr)
    by_atom.energy = make_view<Array<double>>("bridges::energy", atoms.n_local);
  if (results.atomic_virials != nullptr) by_atom.virial = make_view<Tensors>("bridges::virial", n_rows);
  const Energetics total = atoms.n_local > 0 ? evaluate(model, atoms, typed.list, by_atom) : Energetics{};
  const auto hand_over = [&](const double* rows, int n, int width, int n_to, double* to) {
    std::fill_n(to, std::int64_t{n_to} * width, 0.0);
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < width; ++k)
        to[std::int64_t{typed.caller[i]} * width + k] += rows[std::int64_t{i} * width + k];
  };
  const int n = atoms.n_local > 0 ? atoms.n_all() : 0;  // alone, ghosts have no energy and feel none
  if (results.energy != nullptr) *results.energy = total.energy;
  if (results.virial != nullptr) std::copy(total.virial.begin(), total.virial.end(), results.virial);
  if (results.forces != nullptr) hand_over(atoms.force.data(), n, 3, n_all, results.forces);
  if (results.atomic_energies != nullptr)
    hand_over(by_atom.energy.data(), atoms.n_local, 1, n_owned, results.atomic_energies);
  if (results.atomic_virials != nullptr)
    hand_over(by_atom.virial.data(), n, 9, n_all, results.atomic_virials);
}

void Potential::compute(int index, int n, const int* type, const double* position, const double* cell,
                        const Results& results) {
  ForceField& potential = model(index, n);
  Typed typed = with_images_of(n, type, position, cell);
  evaluate_typed(potential, typed, n, n, results);
}

void Potential::set_neighbours(int n_owned, int n_ghosts, const int* type, const HostList& list) {
  has_list_ = false;
  n_given_ = -1;
  QUINTET_CHECK(n_owned >= 0 && n_ghosts >= 0 && list.n_rows >= 0,
                "{} atoms, {} ghosts and {} rows: none may be negative", n_owned, n_ghosts, list.n_rows);
  require_fit(std::int64_t{n_owned} + n_ghosts);
  const int n_all = n_owned + n_ghosts;
  check_types(n_all, type);
  type_.assign(type, type + n_all);
  take_rows(list, n_owned, type_, n_types(), list_);
  atoms_.n_local = n_owned;
  atoms_.n_ghost = n_ghosts;
  atoms_.type_names = type_names();
  if (atoms_.position.extent(0) < static_cast<std::size_t>(n_all))
    atoms_.position = make_view<Vectors>("bridges::position", n_all + n_all / 8);
  atoms_.type = Array<int>(type_.data(), n_all);
  has_list_ = true;
  is_list_checked_ = false;
}

void Potential::compute_neighbours(int index, const double* position, const Results& results) {
  QUINTET_CHECK(has_list_, "no neighbour list was set");
  ForceField& potential = model(index, atoms_.n_local);
  const int n_all = atoms_.n_all();
  check_positions(position, n_all);
  if (evaluator_->is_device()) {
    if (!is_list_checked_) require_all_pairs(*this, position);
    Typed typed = of_callers_list(position);
    evaluate_typed(potential, typed, atoms_.n_local, n_all, results);
    return;
  }
  std::copy_n(position, 3 * std::int64_t{n_all}, atoms_.position.data());
  atoms_.parameters = {};
  if (n_given_ == atoms_.n_local)
    atoms_.parameters = decltype(atoms_.parameters)(parameters_.data(), n_given_, n_parameters_);
  atoms_.force = of_caller<Vectors>(results.forces, n_all, "bridges::force");
  ByAtom by_atom;
  if (results.atomic_energies != nullptr)
    by_atom.energy = Array<double>(results.atomic_energies, atoms_.n_local);
  if (results.atomic_virials != nullptr) by_atom.virial = Tensors(results.atomic_virials, n_all);
  const Energetics total = evaluate(potential, atoms_, list_, by_atom);
  if (results.energy != nullptr) *results.energy = total.energy;
  if (results.virial != nullptr) std::copy(total.virial.begin(), total.virial.end(), results.virial);
}

/// Atoms of this potential alone, in their order: owned ones stay before ghosts.
Potential::Typed Potential::of_callers_list(const double* position) const {
  Typed typed;
  Atoms& atoms = typed.atoms;
  std::vector<Vec3> points;
  for (int i = 0; i < atoms_.n_all(); ++i) {
    if (type_[i] < 0) continue;
    typed.caller.push_back(i);
    const double* x = position + 3 * std::int64_t{i};
    points.push_back({x[0], x[1], x[2]});
    (i < atoms_.n_local ? atoms.n_local : atoms.n_ghost) += 1;
  }
  atoms.n_global = atoms.n_all();
  atoms.type_names = type_names();
  if (atoms.n_local == 0) return typed;
  atoms.box = Box::enclosing(points);
  atoms.position = make_view<Vectors>("bridges::position", points.size());
  atoms.type = make_view<Array<int>>("bridges::type", points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (int k = 0; k < 3; ++k) atoms.position(i, k) = points[i][k];
    atoms.type(i) = type_[typed.caller[i]];
  }
  typed.list.range = cutoff();
  return typed;
}

void Potential::check_neighbours(const double* position) {
  QUINTET_CHECK(has_list_, "no neighbour list was set");
  const int n_all = atoms_.n_all();
  check_positions(position, n_all);
  const Typed typed = of_callers_list(position);
  const Atoms& atoms = typed.atoms;
  NeighbourList right;
  if (atoms.n_local > 0) {
    const auto lock = kernels_in_use(Kernels::reductions);
    NeighbourListBuilder().build(Exec(), atoms, cutoff(), right);
  }
  std::vector<int> listed(n_all, -1);  // the last atom in whose row each stands
  for (int i = 0; i < atoms.n_local; ++i) {
    const int a = typed.caller[i];
    for (std::size_t k = list_.offset(a); k < list_.offset(a + 1); ++k) {
      const int b = list_.neighbour(k);
      QUINTET_CHECK(listed[b] != a, "atom {} stands twice in the row of atom {}", b, a);
      listed[b] = a;
    }
    for (std::size_t k = right.offset(i); k < right.offset(i + 1); ++k) {
      const int j = right.neighbour(k), b = typed.caller[j];
      if (listed[b] == a) continue;
      const auto difference = [&](int axis) { return atoms.position(i, axis) - atoms.position(j, axis); };
      throw InputError(
          fmt::format("the neighbour list lacks atom {} in the row of atom {}, {:.4g} angstrom away; the "
                      "cutoff is {:.4g} angstrom",
                      b, a, std::hypot(difference(0), difference(1), difference(2)), cutoff()));
    }
  }
  is_list_checked_ = true;
}

void Potential::deviation(int n, const int* type, const double* position, const double* cell, double* by_atom,
                          double* summary) {
  QUINTET_CHECK(n_models() > 1, "a deviation needs two models or more");
  QUINTET_CHECK(n > 0, "a deviation needs an atom");
  std::vector<Vectors> forces;
  std::vector<Mat3> virials;
  std::vector<double> energies;
  for (int m = 0; m < n_models(); ++m) {
    forces.push_back(make_view<Vectors>("bridges::model_force", n));
    virials.emplace_back();
    energies.emplace_back();
    compute(m, n, type, position, cell,
            {.energy = &energies.back(), .forces = forces.back().data(), .virial = virials.back().data()});
  }
  const auto lock = kernels_in_use(Kernels::loops);
  const auto deviations = make_view<Array<double>>("bridges::deviation", n);
  potential::force_deviation(Exec(), forces, n, std::nullopt, deviations);
  Exec().fence();
  const double* const values = deviations.data();
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += values[i];
  const auto virial = potential::virial_deviation(virials, n, std::nullopt);
  const std::array<double, 7> numbers{*std::max_element(values, values + n),
                                      *std::min_element(values, values + n),
                                      sum / n,
                                      virial[0],
                                      virial[1],
                                      virial[2],
                                      potential::spread_over_models(energies).deviation / n};
  std::copy(numbers.begin(), numbers.end(), summary);
  if (by_atom != nullptr) std::copy(values, values + n, by_atom);
}

}  // namespace quintet::bridges
