#include "apps/vlasov/simulation.hpp"

#include <cmath>

#include "apps/vlasov/field_setup.hpp"
#include "apps/vlasov/initial.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "physics/kinetics/distribution_io.hpp"

namespace quintet::vlasov {

using namespace kinetics;

namespace {

/// The mean charge of a periodic domain has no potential: Poisson's solver drops it, which is worth a word.
void warn_of_charge(const Setup& setup, VlasovSystem& system) {
  const auto& grid = setup.species.front().grid;
  bool closed = setup.system.field == FieldModel::poisson;
  for (int d = 0; d < grid.cdim; ++d) closed = closed && grid.periodic[static_cast<std::size_t>(d)];
  if (!closed) return;
  double volume = 1, charge = 0, scale = 0;
  for (int d = 0; d < grid.cdim; ++d) volume *= grid.width(d) * grid.cells[static_cast<std::size_t>(d)];
  const Sample sample = system.sample(Exec());
  for (std::size_t s = 0; s < setup.species.size(); ++s) {
    charge += setup.species[s].charge * sample.species[s].m0 / volume;
    scale += std::abs(setup.species[s].charge) * sample.species[s].m0 / volume;
  }
  charge += setup.system.background_charge;
  if (std::abs(charge) > 1e-8 * scale)
    log::warning(
        "The mean charge density is {:.4g}: in a periodic domain it is dropped, as if a uniform background "
        "neutralised it (field.background_charge: {:.9g} would)",
        charge, setup.system.background_charge - charge);
}

/// Group of f and field in a checkpoint.
constexpr const char* group_name = "kinetics";

std::string names_of(const std::vector<Species>& species) {
  std::string names;
  for (const auto& one : species) names += (names.empty() ? "" : ", ") + one.name;
  return names;
}

const char* model_name(FieldModel model) {
  return model == FieldModel::maxwell ? "maxwell" : model == FieldModel::poisson ? "poisson" : "none";
}

}  // namespace

Simulation::Simulation(const Context& context, const RunOptions& options, Setup setup)
    : setup_(std::move(setup)),
      limits_(options.limits),
      control_(options, setup_),
      lost_before_(setup_.species.size()),
      lost_energy_before_(setup_.species.size()) {
  bytes_ = require_room(context, setup_);
  system_ = std::make_unique<VlasovSystem>(context.comm(), setup_.basis, setup_.species, setup_.system);
  fill_species(options, setup_, *system_);
  add_sources(options, setup_, *system_);
  if (setup_.system.field == FieldModel::maxwell)
    fill_field(options.field, setup_.formulas, setup_.system, *system_);
  system_->start(Exec(), 0.0);
  if (const auto& file = context.restart_file())
    load(*file);
  else
    warn_of_charge(setup_, *system_);
}

void Simulation::advance(const Exec& exec) {
  const double dt = control_.next(system_->stable_dt(exec), system_->time(), system_->step(),
                                  [&] { return trouble_spot(setup_, *system_); });
  system_->advance(exec, dt);
}

Sample Simulation::sample(const Exec& exec) {
  Sample sample = system_->sample(exec);
  check_health(sample, setup_, limits_, *system_);
  for (std::size_t s = 0; s < lost_before_.size(); ++s) {
    sample.species[s].lost += lost_before_[s];
    sample.species[s].lost_energy += lost_energy_before_[s];
  }
  return sample;
}

void Simulation::save(hdf5::Group& root) const {
  hdf5::Group group = root.group(group_name);
  group.set_attribute("time", system_->time());
  group.set_attribute("step", system_->step());
  group.set_attribute("species", names_of(setup_.species));
  group.set_attribute("field_model", std::string(model_name(setup_.system.field)));
  group.set_attribute("collision_frequency", system_->collision_frequency());
  control_.save(group);
  std::vector<double> lost;
  const Sample sample = system_->sample(Exec());
  for (std::size_t s = 0; s < setup_.species.size(); ++s) {
    lost.push_back(lost_before_[s] + sample.species[s].lost);
    lost.push_back(lost_energy_before_[s] + sample.species[s].lost_energy);
    const auto& name = setup_.species[s].name;
    write(group, "f_" + name, setup_.decomposition, setup_.basis, system_->f(static_cast<int>(s)),
          {"1", {}, "Distribution function of " + name});
  }
  group.set_attribute("lost", lost);
  write(group, "field", setup_.decomposition, setup_.species.front().grid, setup_.basis, system_->field(),
        {"1", {}, "Ex, Ey, Ez, Bx, By, Bz, phi, psi"});
}

void Simulation::load(const std::string& checkpoint) {
  const hdf5::File file = hdf5::File::open(setup_.decomposition.comm(), checkpoint);
  QUINTET_CHECK(file.root().has(group_name), "{}: is no checkpoint of vlasov", checkpoint);
  const hdf5::Group group = file.root().open_group(group_name);
  const auto species = group.text_attribute("species"), model = group.text_attribute("field_model");
  QUINTET_CHECK(species == names_of(setup_.species), "{}: holds the species {}; this run has {}", checkpoint,
                species, names_of(setup_.species));
  QUINTET_CHECK(model == model_name(setup_.system.field),
                "{}: was made with field.model = {}; this run has {}", checkpoint, model,
                model_name(setup_.system.field));
  const auto lost = group.number_attribute("lost");
  for (std::size_t s = 0; s < setup_.species.size(); ++s) {
    read(group, "f_" + setup_.species[s].name, setup_.decomposition, setup_.basis,
         system_->f(static_cast<int>(s)));
    lost_before_[s] = lost.at(2 * s);
    lost_energy_before_[s] = lost.at(2 * s + 1);
  }
  read(group, "field", setup_.decomposition, setup_.species.front().grid, setup_.basis, system_->field());
  control_.load(group);
  const double time = group.number_attribute("time").at(0);
  system_->start(Exec(), time);
  system_->set_clock(time, group.integer_attribute("step"));
  system_->set_collision_frequency(group.number_attribute("collision_frequency").at(0));
}

}  // namespace quintet::vlasov
