#include <algorithm>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/kinetics/initial/projection_nodes.hpp"
#include "physics/kinetics/space/conf_modes.hpp"
#include "physics/kinetics/system_state.hpp"

// The step of VlasovSystem: SSP-RK3 (Shu & Osher 1988) between two half steps of split collisions (Strang).
//
//   advance(dt)
//     collide()              half a step of collisions alone, where they are split
//     stage() three times    to = keep f^n + advance (from + dt R(from))
//     collide()
//     check_means()          no cell mean may have gone below 0, where f is kept positive
//
//   stage()
//     1. refresh_given()         given fields and accelerations at time t
//        refresh_bias()          the field of the walls' potentials alone
//     2. accelerate()            edges of f set off to the neighbours; a = (q/m)(E + v x B) + given
//     3. Exterior::emit()        what walls send out
//     4. advect()                f advances in its block; meanwhile, where a device does that,
//        count_forces()          what forces bring
//        advance_field()         Maxwell, with the charge and current that sum_sources() makes
//     5. advect_exterior()       by what has come from beyond its edges
//        count_charge_at_walls() what leaves through walls takes of the field's energy
//     6. collide_in_stage()      collisions that are not split
//     7. add_particle_sources()
//     8. limit()                 f is kept from going negative, where that is asked for
//     9. sum_moments()           M0 and M1 of the new f; solve_poisson(): and its field
//
//   A device is asked and not waited for: moments come when they are read, in Maxwell's case while it is at
//   the next stage, so that the host's work, all of it on fields in x, is done beside the device's.
//
//   What forces, walls, sources and the limiter bring is counted on the way, by the place's weights.
namespace quintet::kinetics {

void VlasovSystem::advance(const Exec& exec, double dt) {
  auto& my = *implementation_;
  const double t = my.time;
  my.is_whole = false;
  if (my.splits()) my.collide(exec, t + dt / 4, dt / 2, t);
  // The weights of the three right-hand sides in the whole step are 1/6, 1/6, 2/3.
  my.stage(exec, {.keep = 0, .advance = 1, .dt = dt},
           {.t = t, .t_to = t + dt, .weight = dt / 6, .weight_to = 1.0 / 6}, my.now, my.now, my.first);
  my.stage(exec, {.keep = 0.75, .advance = 0.25, .dt = dt},
           {.t = t + dt, .t_to = t + dt / 2, .weight = dt / 6, .weight_to = 2.0 / 3}, my.first, my.now,
           my.second);
  my.stage(exec, {.keep = 1.0 / 3, .advance = 2.0 / 3, .dt = dt},
           {.t = t + dt / 2, .t_to = t + dt, .weight = 2 * dt / 3, .weight_to = 1, .is_last = true},
           my.second, my.now, my.now);
  if (my.splits()) my.collide(exec, t + 3 * dt / 4, dt / 2, t + dt);
  my.time += dt;
  ++my.step;
  my.is_whole = true;
  my.host_is_current = my.resident.empty();
  my.check_means();
}

void VlasovSystem::Implementation::stage(const Exec& exec, const Stage& stage, const StagePlace& place,
                                         SystemState& from, const SystemState& from0, SystemState& to) {
  refresh_given(place.t);
  refresh_bias(place.t);
  accelerate(exec, place, from);
  for (auto& exterior : exteriors) exterior.emit(exec, place.t, exteriors);
  // The last stage sums its moments afresh, as a restart does: so both go on from the same bits.
  const bool changes_later = (collisions && !splits()) || !options.sources.empty() || options.keep_positive;
  const bool moments_too = !place.is_last && !changes_later;
  advect(exec, stage, from, from0, to, moments_too);
  finish_moments(exec, from);
  for (int s = 0; s < n_species(); ++s) count_forces(s, from.moments[s], place.weight);
  advance_field(exec, stage, place.t, from, from0, to, place.weight);
  advect_exterior(exec, stage, place, to, moments_too);
  count_charge_at_walls(place.weight);
  collide_in_stage(exec, stage, place.t, from, to);
  add_particle_sources(exec, stage, place.t, place.weight, to);
  if (options.keep_positive) limit(exec, to, place.weight_to);
  if (moments_too) {
    expect_moments(exec, to);
    solve_poisson(exec, place.t_to, to);
  } else if (!place.is_last || !splits()) {  // else collisions follow
    sum_moments(exec, place.t_to, to);
  }
}

void VlasovSystem::Implementation::accelerate(const Exec& exec, const StagePlace& place,
                                              const SystemState& from) {
  for (int s = 0; s < n_species(); ++s) {
    const std::size_t i = s;
    exteriors[i].start(exec, from.f[i]);
    set_acceleration(s, place.t, from.field);
  }
  set_charge_potential(from.field);
}

void VlasovSystem::Implementation::advect(const Exec& exec, const Stage& stage, const SystemState& from,
                                          const SystemState& from0, SystemState& to, bool moments_too) {
  const bool summed_here = moments_too && resident.empty();
  for (std::size_t i = 0; i < species.size(); ++i)
    operators[i]->apply(exec, stage, from.f[i], from0.f[i], acceleration[i], to.f[i],
                        summed_here ? to.moments[i] : ConfField());
}

void VlasovSystem::Implementation::advect_exterior(const Exec& exec, const Stage& stage,
                                                   const StagePlace& place, SystemState& to,
                                                   bool moments_too) {
  const bool summed_here = moments_too && resident.empty();
  for (std::size_t i = 0; i < species.size(); ++i) {
    operators[i]->add_exterior(exec, stage, exteriors[i].finish(exec), acceleration[i], to.f[i],
                               summed_here ? to.moments[i] : ConfField());
    if (moments_too && !summed_here) resident[i]->start_moments(exec, to.f[i], to.moments[i]);
    exteriors[i].add_outflow(place.weight, species[i].mass, budgets[i]);
  }
}

void VlasovSystem::Implementation::collide_in_stage(const Exec& exec, const Stage& stage, double t,
                                                    const SystemState& from, SystemState& to) {
  if (!collisions || splits()) return;
  collisions->add(exec, t, from.f, stage.advance * stage.dt, to.f);
  if (&from == &now) collision_frequency = collisions->frequency();
}

void VlasovSystem::Implementation::collide(const Exec& exec, double t_middle, double dt, double t_state) {
  collisions->advance(exec, t_middle, dt, now.f, {&first.f, &second.f, &collision_rate});
  if (options.keep_positive) limit(exec, now, 1);
  sum_moments(exec, t_state, now);
}

void VlasovSystem::Implementation::limit(const Exec& exec, SystemState& state, double weight) {
  for (std::size_t i = 0; i < species.size(); ++i) {
    const auto& f = state.f[i];
    const Limited limited =
        resident.empty() ? positivity[i].limit(exec, f) : resident[i]->limit(exec, positivity[i], f);
    Amount& changed = budgets[i].limited;
    for (std::size_t d = 0; d < 3; ++d) changed.momentum[d] += weight * species[i].mass * limited.momentum[d];
    changed.energy += weight * 0.5 * species[i].mass * limited.square;
    const double mean = limited.least_mean / greatest_mean[i];
    if (!(mean < worst_mean)) continue;
    worst_mean = mean;
    const auto cell = global_cell(f.block, limited.conf, limited.row, limited.last);
    worst_place = fmt::format("f of '{}' in cell ({}): its mean is {:.4g}", species[i].name,
                              fmt::join(cell.begin(), cell.begin() + basis.dim(), ", "), limited.least_mean);
  }
  if (&state == &now) host_is_current = resident.empty();
}

void VlasovSystem::Implementation::check_means() {
  if (!options.keep_positive) return;
  constexpr double round_off = 1e-12;  // of the greatest mean: what empty cells hold
  const auto& comm = decomposition.comm();
  const auto all = comm.all_gather(worst_mean);
  const auto worst = std::min_element(all.begin(), all.end());
  if (*worst < -round_off)
    throw NumericalError(fmt::format(
        "step {}, time {:.6g}: {}: the limiter keeps f positive only if the cell means are positive. A "
        "smaller time.cfl, more cells, or collisions that are weaker or split (collisions.integration) help",
        step, time, comm.broadcast(worst_place, static_cast<int>(worst - all.begin()))));
  worst_mean = 0;
}

void VlasovSystem::Implementation::set_acceleration(int s, double t, const ConfField& field) {
  (void)t;
  const std::size_t i = s;
  const double ratio = species[i].charge / species[i].mass;
  const auto& a = acceleration[i];
  const bool has_field = options.field != FieldModel::none;
  const ConfField& given = given_acceleration[i];
  const std::size_t n = 6 * a.extent(2);  // E and B are the first of a cell's field
  for (std::size_t conf = 0; conf < a.extent(0); ++conf) {
    double* const to = &a(conf, 0, 0);
    const double* const own = has_field ? &field(conf, 0, 0) : nullptr;
    const double* const more = given_field.size() > 0 ? &given_field(conf, 0, 0) : nullptr;
    for (std::size_t k = 0; k < n; ++k) to[k] = own != nullptr ? own[k] : 0;
    for (std::size_t k = 0; k < n && more != nullptr; ++k) to[k] += more[k];
    for (std::size_t k = 0; k < n; ++k) to[k] *= ratio;
    for (std::size_t k = 0; k < n / 2 && given.size() > 0; ++k) to[k] += given.data()[conf * (n / 2) + k];
  }
}

void VlasovSystem::Implementation::count_forces(int s, const ConfField& moments, double weight) {
  if (decomposition.velocity_comm().rank() != 0) return;  // moments are summed over these ranks
  const std::size_t i = s;
  const ConfField &a = acceleration[i], &given = given_acceleration[i];
  const double ratio = species[i].charge / species[i].mass;
  const std::size_t vdim = basis.vdim();
  std::array<double, 3> impulse{};
  double work = 0, given_work = 0;
  for (std::size_t conf = 0; conf < a.extent(0); ++conf)
    for (std::size_t m = 0; m < a.extent(2); ++m) {
      const double n = moments(conf, 0, m);
      std::array<double, 3> flux{};
      for (std::size_t d = 0; d < vdim; ++d) {
        flux[d] = moments(conf, 1 + d, m);
        work += a(conf, d, m) * flux[d];
        double part = given_field.size() > 0 ? ratio * given_field(conf, d, m) : 0;
        if (given.size() > 0) part += given(conf, d, m);
        if (!bias_fields.empty()) part += ratio * bias(conf, d, m);
        given_work += part * flux[d];
      }
      for (std::size_t d = 0; d < vdim; ++d) {  // a + v x B
        const std::size_t e = (d + 1) % 3, f = (d + 2) % 3;
        impulse[d] += a(conf, d, m) * n + flux[e] * a(conf, 3 + f, m) - flux[f] * a(conf, 3 + e, m);
      }
    }
  // int w_a w_b dx = delta_ab prod dx/2
  const PhaseGrid& grid = species[i].grid;
  const double scale = weight * species[i].mass * grid.conf_cell_volume() / (1 << grid.cdim);
  Budget& budget = budgets[i];
  for (std::size_t d = 0; d < 3; ++d) budget.force.momentum[d] += scale * impulse[d];
  budget.force.energy += scale * work;
  budget.given_work += scale * given_work;
}

void VlasovSystem::Implementation::sum_sources(double t, const SystemState& state, double weight) {
  const bool given = static_cast<bool>(options.external_current);
  if (given)
    options.external_current(t, current);
  else
    Kokkos::deep_copy(current, 0.0);
  if (given && weight != 0 && decomposition.velocity_comm().rank() == 0) {
    double power = 0;
    for (std::size_t conf = 0; conf < current.extent(0); ++conf)
      for (std::size_t d = 0; d < 3; ++d)
        for (std::size_t m = 0; m < current.extent(2); ++m)
          power -= current(conf, d, m) * state.field(conf, d, m);
    const PhaseGrid& grid = species[0].grid;
    field_budget.given += weight * power * grid.conf_cell_volume() / (1 << grid.cdim);
  }
  Kokkos::deep_copy(charge, 0.0);
  // The constant 1 has the coefficient prod sqrt(2) of w_0.
  double one = 1;
  for (int d = 0; d < basis.cdim(); ++d) one *= 1.4142135623730951;
  const std::size_t n_components = basis.vdim();
  for (std::size_t conf = 0; conf < charge.extent(0); ++conf) {
    charge(conf, 0, 0) = options.background_charge * one;
    for (std::size_t i = 0; i < species.size(); ++i)
      for (std::size_t m = 0; m < charge.extent(2); ++m) {
        charge(conf, 0, m) += species[i].charge * state.moments[i](conf, 0, m);
        for (std::size_t d = 0; d < n_components; ++d)
          current(conf, d, m) += species[i].charge * state.moments[i](conf, 1 + d, m);
      }
  }
}

void VlasovSystem::Implementation::advance_field(const Exec& exec, const Stage& stage, double t,
                                                 const SystemState& from, const SystemState& from0,
                                                 SystemState& to, double weight) {
  if (options.field != FieldModel::maxwell) return;
  sum_sources(t, from, weight);
  maxwell->rate(exec, from.field, current, charge, field_rate);
  exec.fence();
  if (decomposition.velocity_comm().rank() == 0) {
    const auto out = maxwell->outflow();
    for (std::size_t d = 0; d < 3; ++d)
      for (std::size_t side = 0; side < 2; ++side) field_budget.left[d][side] += weight * out[d][side];
  }
  const double rate = stage.advance * stage.dt;
  double* out = to.field.data();
  const double *f = from.field.data(), *f0 = from0.field.data(), *df = field_rate.data();
  for (std::size_t i = 0; i < to.field.size(); ++i)
    out[i] = stage.keep * f0[i] + stage.advance * f[i] + rate * df[i];
}

void VlasovSystem::Implementation::solve_poisson(const Exec& exec, double t, SystemState& state) {
  if (options.field != FieldModel::poisson) return;
  finish_moments(exec, state);
  sum_sources(t, state, 0);
  if (options.wall_values) poisson->set_values(options.wall_values(t));
  poisson->solve(exec, charge, potential);
  poisson->electric_field(exec, potential, state.field);
}

void VlasovSystem::Implementation::make_bias_fields(const Exec& exec) {
  const auto& values = options.poisson.value;
  for (std::size_t d = 0; d < 3; ++d)
    for (std::size_t side = 0; side < 2; ++side) {
      if (options.poisson.boundary[d][side] == PoissonOptions::Wall::periodic) continue;
      if (values[d][side] == 0 && !options.wall_values) continue;
      std::array<std::array<double, 2>, 3> one{};
      one[d][side] = 1;
      const ConfField field("bias_field", charge.extent(0), std::size_t{n_field}, charge.extent(2));
      Kokkos::deep_copy(charge, 0.0);
      poisson->set_values(one);
      poisson->solve(exec, charge, potential);
      poisson->electric_field(exec, potential, field);
      bias_fields.push_back({d, side, field});
    }
  exec.fence();
  poisson->set_values(values);
  if (!bias_fields.empty())
    bias = ConfField("bias", charge.extent(0), std::size_t{n_field}, charge.extent(2));
}

void VlasovSystem::Implementation::refresh_bias(double t) {
  if (bias_fields.empty()) return;
  const auto values = options.wall_values ? options.wall_values(t) : options.poisson.value;
  Kokkos::deep_copy(bias, 0.0);
  for (const auto& wall : bias_fields)
    for (std::size_t i = 0; i < bias.size(); ++i)
      bias.data()[i] += values[wall.direction][wall.side] * wall.field.data()[i];
}

void VlasovSystem::Implementation::set_charge_potential(const ConfField& field) {
  if (options.field != FieldModel::poisson) return;
  for (std::size_t conf = 0; conf < potential.extent(0); ++conf)
    for (std::size_t m = 0; m < potential.extent(2); ++m)
      potential(conf, 0, m) = field(conf, std::size_t{field_phi}, m) -
                              (bias.size() > 0 ? bias(conf, std::size_t{field_phi}, m) : 0);
}

void VlasovSystem::Implementation::count_charge_at_walls(double weight) {
  const PhaseGrid& grid = species[0].grid;
  for (int d = 0; d < grid.cdim; ++d)
    for (const int side : {-1, 1})
      for (std::size_t i = 0; i < species.size(); ++i) {
        if (!crosses_neumann_wall(options, species[i], d, side > 0 ? 1 : 0)) continue;
        const ConfModes modes(basis.conf());
        const PhaseBlock block = decomposition.block(grid);
        const auto flux = exteriors[i].particle_outflow(d, side);  // [faces, face modes]
        double power = 0;
        for (int conf = 0, face = 0; conf < block.n_conf() && !flux.empty(); ++conf) {
          const int cell = block.conf_index(conf)[d];
          if (cell != (side < 0 ? 0 : block.extent[d] - 1)) continue;
          for (int a = 0; a < modes.n_face[d]; ++a) {
            double trace = 0;
            for (int k = 0; k < modes.length[d][a]; ++k)
              trace += (side < 0 ? modes.start(k) : modes.end[k]) * potential(conf, 0, modes.line[d][a][k]);
            power += trace * flux[face * modes.n_face[d] + a];
          }
          ++face;
        }
        // int w_a w_b dS = delta_ab prod dx/2 of the face
        const double area = grid.conf_cell_volume() / grid.width(d) / (1 << (grid.cdim - 1));
        field_budget.left[d][side > 0] += weight * species[i].charge * area * power;
      }
}

void VlasovSystem::Implementation::expect_moments(const Exec& exec, SystemState& state) {
  state.moments_are_due = true;
  if (resident.empty()) finish_moments(exec, state);  // there is nothing else to do meanwhile
}

void VlasovSystem::Implementation::finish_moments(const Exec& exec, SystemState& state) {
  if (!state.moments_are_due) return;
  state.moments_are_due = false;
  exec.fence();
  for (auto* there : resident) there->finish_moments();
  const auto& comm = decomposition.velocity_comm();
  if (comm.size() == 1) return;
  for (auto& moments : state.moments)
    comm.reduce(std::span<double>(moments.data(), moments.size()), Comm::Reduction::sum);
}

void VlasovSystem::Implementation::sum_moments(const Exec& exec, double t, SystemState& state) {
  for (std::size_t i = 0; i < species.size(); ++i)
    if (resident.empty())
      operators[i]->sum_moments(exec, state.f[i], state.moments[i]);
    else
      resident[i]->start_moments(exec, state.f[i], state.moments[i]);
  expect_moments(exec, state);
  solve_poisson(exec, t, state);
}

void VlasovSystem::Implementation::add_particle_sources(const Exec& exec, const Stage& stage, double t,
                                                        double weight, SystemState& to) {
  for (const auto& source : options.sources) {
    const double amplitude = source.amplitude(t), rate = stage.advance * stage.dt * amplitude;
    Amount& brought = budgets[source.species].source;
    const double part = decomposition.comm().is_root() ? weight * amplitude : 0;  // counted once
    brought.particles += part * source.brings.particles;
    brought.energy += part * source.brings.energy;
    for (std::size_t d = 0; d < 3; ++d) brought.momentum[d] += part * source.brings.momentum[d];
    if (options.field == FieldModel::poisson && decomposition.velocity_comm().rank() == 0) {
      double energy = 0;
      for (std::size_t k = 0; k < potential.size(); ++k)
        energy += potential.data()[k] * source.density.data()[k];
      const PhaseGrid& grid = species[0].grid;
      field_budget.given += weight * amplitude * species[source.species].charge * energy *
                            grid.conf_cell_volume() / (1 << grid.cdim);
    }
    if (!resident.empty()) {
      resident[source.species]->add(exec, rate, source.shape, to.f[source.species]);
      continue;
    }
    double* const out = to.f[source.species].data.data();
    const double* const shape = source.shape.data.data();
    Kokkos::parallel_for("vlasov::source", Kokkos::RangePolicy<Exec>(exec, 0, source.shape.data.size()),
                         [=](std::size_t i) { out[i] += rate * shape[i]; });
  }
}

void VlasovSystem::Implementation::refresh_given(double t) {
  if (options.external_field && (options.external_field_changes || !given_is_fresh))
    options.external_field(t, given_field);
  if (options.acceleration && (options.acceleration_changes || !given_is_fresh))
    for (int s = 0; s < n_species(); ++s) options.acceleration(s, t, given_acceleration[s]);
  given_is_fresh = true;
}

}  // namespace quintet::kinetics
