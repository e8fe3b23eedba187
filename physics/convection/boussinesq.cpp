#include "physics/convection/boussinesq.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/convection/device/flow_residence.hpp"
#include "physics/convection/diffusion.hpp"
#include "physics/kernels/rows.hpp"

namespace quintet::convection {

namespace {

const double gamma_of_scheme = 1 - std::sqrt(0.5);
const double delta_of_scheme = 1 - 1 / (2 * gamma_of_scheme);

/// result = q + a n.
void first_sum(const Exec& exec, const Field& q, double a, const Field& n, const Field& result) {
  for_rows(exec, "right-hand side of stage 1", q.rows, [&](int j) {
    const double* const __restrict x = q.row(j), * const __restrict y = n.row(j);
    double* const __restrict out = result.row(j);
    for (int i = 0; i < q.n; ++i) out[i] = x[i] + a * y[i];
  });
}

/// q += r (s - q) + c m + d n, in place.
void second_sum(const Exec& exec, const Field& q, double r, const Field& s, double c, const Field& m,
                double d, const Field& n) {
  for_rows(exec, "right-hand side of stage 2", q.rows, [&](int j) {
    const double* const __restrict x = s.row(j), * const __restrict y = m.row(j), * const __restrict z = n.row(j);
    double* const __restrict out = q.row(j);
    for (int i = 0; i < q.n; ++i) out[i] += r * (x[i] - out[i]) + c * y[i] + d * z[i];
  });
}

/// q += factor r.
void add(const Exec& exec, double factor, const Field& r, const Field& q) {
  for_rows(exec, "sum", q.rows, [&](int j) {
    const double* const __restrict x = r.row(j);
    double* const __restrict out = q.row(j);
    for (int i = 0; i < q.n; ++i) out[i] += factor * x[i];
  });
}

}  // namespace

Boussinesq::Boussinesq(const Problem& problem, Grid grid, std::unique_ptr<EllipticSolver> solver,
                       int n_members)
    : problem_(problem),
      grid_(std::move(grid)),
      metrics_(grid_),
      solver_(std::move(solver)),
      stage_(grid_),
      first_(grid_),
      second_(grid_) {
  for (int m = 0; m < n_members; ++m) states_.emplace_back(grid_);
  away_.assign(states_.size(), 0);
}

double Boussinesq::bytes(double cells, int n_members) {
  // States, the stage, two tendencies; pivots, spikes and weights of four unknowns; coefficients.
  return 8 * cells * (4.0 * n_members + 4 + 6 + 12 + 3);
}

void Boussinesq::exchange_all(const BoussinesqState& state) const {
  exchange(grid_, {{state.u, Place::left_face}, {state.w, Place::bottom_face}, {state.b, Place::centre}});
}

void Boussinesq::start(const Exec& exec) {
  time_ = 0;
  step_ = 0;
  std::ranges::fill(away_, 0);
  for (int m = 0; m < n_members(); ++m) {
    BoussinesqState& state = states_[m];
    exchange_all(state);
    divergence(exec, metrics_, state.u, state.w, 1.0, stage_.p);
    solver_->poisson(stage_.p);
    exchange(grid_, stage_.p, Place::centre);
    subtract_gradient(exec, grid_, metrics_, 1.0, stage_.p, state.u, state.w);
    exchange_all(state);
    instant_pressure(exec, m, state.p);
    exchange(grid_, state.p, Place::centre);
  }
  send_states();
}

void Boussinesq::resume(double time, std::int64_t step) {
  time_ = time;
  step_ = step;
  std::ranges::fill(away_, 0);
  for (const BoussinesqState& state : states_) {
    exchange_all(state);
    exchange(grid_, state.p, Place::centre);
  }
  send_states();
}

void Boussinesq::move_to(std::shared_ptr<DeviceFlows> device) {
  if (!walls().empty()) throw InternalError("flows with a profile of their walls are sent to a device");
  for (int m = 0; m < n_members(); ++m) fetch(m);
  residence_ = std::make_shared<FlowResidence>(grid_, n_members(), std::move(device));
  send_states();
}

void Boussinesq::send_states() {
  if (residence_ == nullptr) return;
  residence_->renew();
  for (int m = 0; m < n_members(); ++m) residence_->send(m, states_[m]);
}

void Boussinesq::fetch(int member) const {
  char& away = away_[member];
  if (!away) return;
  const BoussinesqState& state = states_[member];
  residence_->fetch(member, state);
  away = 0;
  exchange_all(state);
  exchange(grid_, state.p, Place::centre);
}

void Boussinesq::set_walls(const WallProfiles& profiles) {
  const auto& [warm, cold, first, last] = profiles;
  const bool plates = problem_.heated == Heated::plates;
  const auto check = [this](std::span<const double> profile, bool along_x, const char* what) {
    const std::size_t n = along_x ? grid_.x.n() : grid_.z.n();
    QUINTET_CHECK(profile.empty() || profile.size() == n,
                  "a profile of {} with {}; expected one for each of {} cells along {}", what,
                  counted(profile.size(), "value"), n, along_x ? "x" : "z");
    for (const double value : profile)
      QUINTET_CHECK(std::isfinite(value), "a profile of {} with a value of {}; expected finite ones", what,
                    value);
    if (residence_ != nullptr && !profile.empty())
      throw InternalError("walls of a device's flows have no profile");
  };
  for (const auto& profile : {warm, cold}) check(profile, plates, "a heated wall");
  for (const auto& profile : {first, last}) check(profile, !plates, "the heat of a wall");
  QUINTET_CHECK((first.empty() && last.empty()) || !plates || !grid_.x.periodic,
                "heat of the sides of a periodic x; expected walls there");
  warm_.assign(warm.begin(), warm.end());
  cold_.assign(cold.begin(), cold.end());
  first_heat_.assign(first.begin(), first.end());
  last_heat_.assign(last.begin(), last.end());
}

void Boussinesq::advance(const Exec& exec, double dt, double arrival) {
  if (residence_ != nullptr) {
    residence_->device().advance(dt);
    residence_->renew();
    std::ranges::fill(away_, 1);
    const auto solves = residence_->device().take_solves();
    const double missed =
        solves.iterations > 0 ? grid_.comm().maximum(solves.converged ? 0.0 : solves.residual) : 0.0;
    if (missed > 0)
      throw NumericalError(fmt::format(
          "step {}, time {:.6g}: conjugate gradients with multigrid on the device did not converge: a "
          "residual "
          "of {:.2g} of the right-hand side was left; a greater solver.tolerance, a smaller time.cfl or "
          "solver.kind: modes helps",
          step_, time_, missed));
  } else {
    solver_->set_step(gamma_of_scheme * dt);
    for (BoussinesqState& state : states_) advance_member(exec, state, dt);
  }
  time_ = arrival;
  ++step_;
}

void Boussinesq::finish_stage(const Exec& exec, BoussinesqState& stage, const Field& pressure, double a) {
  subtract_gradient(exec, grid_, metrics_, a, pressure, stage.u, stage.w);
  add_wall_heat(exec, problem_, grid_, walls(), a, stage.b);
  solver_->diffuse(stage);
  exchange_all(stage);
  // Project: u -= a grad phi, and the pressure that would have done it at once is p + phi - R div u (the
  // velocity's diffusion of grad phi).
  const Field& phi = stage_.p;
  divergence(exec, metrics_, stage.u, stage.w, 1 / a, phi);
  add(exec, -a * problem_.viscosity(), phi, pressure);
  solver_->poisson(phi);
  exchange(grid_, phi, Place::centre);
  subtract_gradient(exec, grid_, metrics_, a, phi, stage.u, stage.w);
  add(exec, 1.0, phi, pressure);
  exchange(grid_, {{pressure, Place::centre}, {stage.u, Place::left_face}, {stage.w, Place::bottom_face}});
}

void Boussinesq::advance_member(const Exec& exec, BoussinesqState& q, double dt) {
  const double g = gamma_of_scheme, d = delta_of_scheme, a = g * dt;

  // Stage 1: (1 - a L) q1 = q + a N(q) - a grad p1, div q1 = 0.
  convect(exec, grid_, metrics_, q, first_);
  first_sum(exec, q.u, a, first_.u, stage_.u);
  first_sum(exec, q.w, a, first_.w, stage_.w);
  first_sum(exec, q.b, a, first_.b, stage_.b);
  finish_stage(exec, stage_, q.p, a);

  // Stage 2: (1 - a L) q2 = q + dt (d N(q) + (1 - d) N(q1)) + dt (1 - g) (L q1 - grad p1) - a grad p2, div q2
  // = 0, where L q1 - grad p1 = (q1 - q)/a - N(q).
  const double r = (1 - g) / g, of_first = dt * (d - 1 + g), of_second = dt * (1 - d);
  convect(exec, grid_, metrics_, stage_, second_);
  second_sum(exec, q.u, r, stage_.u, of_first, first_.u, of_second, second_.u);
  second_sum(exec, q.w, r, stage_.w, of_first, first_.w, of_second, second_.w);
  second_sum(exec, q.b, r, stage_.b, of_first, first_.b, of_second, second_.b);
  finish_stage(exec, q, q.p, a);
}

double Boussinesq::courant_rate(const Exec& exec) const {
  if (residence_ != nullptr) {
    const double own = residence_->device().courant_rate();
    const double rate = grid_.comm().maximum(std::isfinite(own) ? own : INFINITY);
    return std::isfinite(rate) ? rate : NAN;
  }
  double greatest = 0;
  bool finite = true;
  for (const BoussinesqState& state : states_) {
    const double rate = convection::courant_rate(exec, metrics_, state.u, state.w);
    finite = finite && std::isfinite(rate);
    greatest = std::max(greatest, finite ? rate : 0.0);
  }
  greatest = grid_.comm().maximum(finite ? greatest : INFINITY);
  return std::isfinite(greatest) ? greatest : NAN;
}

void Boussinesq::instant_pressure(const Exec& exec, int member, const Field& p) {
  const BoussinesqState& state = this->state(member);
  convect(exec, grid_, metrics_, state, first_);
  add_diffusion(exec, problem_, grid_, Unknown::u, problem_.viscosity(), state.u, first_.u);
  add_diffusion(exec, problem_, grid_, Unknown::w, problem_.viscosity(), state.w, first_.w);
  exchange(grid_, {{first_.u, Place::left_face}, {first_.w, Place::bottom_face}});
  divergence(exec, metrics_, first_.u, first_.w, 1.0, p);
  solver_->poisson(p);
}

}  // namespace quintet::convection
