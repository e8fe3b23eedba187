#include "surrogates/flow/evaluation/flow_statistics.hpp"

#include <cmath>
#include <limits>

#include "io/log/error.hpp"
#include "surrogates/flow/evaluation/line_spectrum.hpp"

namespace quintet::flow {
namespace {

constexpr double none = std::numeric_limits<double>::quiet_NaN();

using Fields = std::vector<std::span<const double>>;

/// Ends of an axis at which a field is known.
const EndValues& ends_of(const std::vector<FieldWalls>& walls, int field, int axis) {
  return walls[field][axis];
}

/// Sum over k > 0 of E(k)/k along the first axis that has spectra, mean over the other.
double energy_over_wavenumber(const RectilinearGrid& grid, const Fields& fields, const FlowFields& roles) {
  for (const int axis : {1, 0}) {
    if (!LineSpectrum::possible(grid.axes()[axis])) continue;
    const LineSpectrum spectrum(grid.axes()[axis]);
    double sum = 0;
    for (const int field : roles.velocity) {
      const auto power = field_power(spectrum, grid, fields[field], axis);
      for (int line = 0; line < grid.size(1 - axis); ++line)
        for (int mode = 1; mode < spectrum.n_modes(); ++mode)
          sum += 0.5 * grid.weights(1 - axis)[line] * power[line * spectrum.n_modes() + mode] /
                 spectrum.wavenumber(mode);
    }
    return sum;
  }
  return none;
}

/// Root mean square over the ends where these fields are known of what they deviate there.
double wall_error(const RectilinearGrid& grid, const Fields& fields, const std::vector<FieldWalls>& walls,
                  std::span<const int> which) {
  double sum = 0;
  int n = 0;
  for (const int field : which)
    for (const int axis : {0, 1})
      for (const int end : {0, 1})
        if (const auto& known = ends_of(walls, field, axis)[end]) {
          auto deviation = grid.at_end(fields[field], axis, end, 0);
          for (auto& value : deviation) value = (value - *known) * (value - *known);
          sum += grid.line_mean(deviation, 1 - axis);
          ++n;
        }
  return n == 0 ? none : std::sqrt(sum / n);
}

/// Dissipations and the divergence from the gradient of the velocity.
void add_gradients(const RectilinearGrid& grid, const Fields& fields, const std::vector<FieldWalls>& walls,
                   const FlowFields& roles, double viscosity, FlowSample& sample) {
  std::vector<double> d[2][2];  // d[a][c] = d_a u_c
  for (const int a : {0, 1})
    for (const int c : {0, 1}) {
      const int field = roles.velocity[c];
      d[a][c] = grid.derivative(fields[field], a, 1, ends_of(walls, field, a));
    }
  const double own = grid.mean(d[0][0], d[0][0]) + grid.mean(d[1][1], d[1][1]);
  const double cross = grid.mean(d[0][1], d[0][1]) + grid.mean(d[1][0], d[1][0]);
  const double mixed = grid.mean(d[0][1], d[1][0]);
  sample.dissipation = viscosity * (own + cross);
  sample.strain_dissipation = 2 * viscosity * (own + 0.5 * cross + mixed);
  auto& divergence = d[0][0];
  for (std::size_t i = 0; i < divergence.size(); ++i) divergence[i] += d[1][1][i];
  sample.rms_divergence = std::sqrt(grid.mean(divergence, divergence));
}

/// Add the transport of the scalar between ends that hold it at different values.
void add_heat(const RectilinearGrid& grid, const Fields& fields, const std::vector<FieldWalls>& walls,
              const FlowFields& roles, double diffusivity, FlowSample& sample) {
  const auto b = fields[roles.scalar];
  double gradient = 0;
  for (const int axis : {0, 1}) {
    const auto d = grid.derivative(b, axis, 1, ends_of(walls, roles.scalar, axis));
    gradient += grid.mean(d, d);
  }
  sample.scalar_dissipation = diffusivity * gradient;
  for (const int axis : {0, 1}) {
    const auto& ends = ends_of(walls, roles.scalar, axis);
    if (!ends[0] || !ends[1] || *ends[0] == *ends[1]) continue;
    const double scale = grid.axes()[axis].length() / (*ends[0] - *ends[1]);
    sample.nusselt_volume = 1 + grid.mean(fields[roles.velocity[axis]], b) * scale / diffusivity;
    sample.nusselt_lower = -scale * grid.line_mean(grid.at_end(b, axis, 0, 1, ends), 1 - axis);
    sample.nusselt_upper = -scale * grid.line_mean(grid.at_end(b, axis, 1, 1, ends), 1 - axis);
    return;
  }
}

double u_rms(const FlowSample& sample, const TurbulenceConstants& c) {
  return std::sqrt(c.energy * sample.kinetic_energy);
}
double taylor_length(const FlowSample& sample, double nu, const TurbulenceConstants& c) {
  return std::sqrt(c.taylor * nu / sample.strain_dissipation) * u_rms(sample, c);
}
double integral_length(const FlowSample& sample, const TurbulenceConstants& c) {
  return c.integral * sample.energy_over_wavenumber / (c.energy * sample.kinetic_energy);
}

}  // namespace

FlowSample flow_sample(const RectilinearGrid& grid, const Fields& fields,
                       const std::vector<FieldWalls>& walls, const FlowFields& roles,
                       const FlowConstants& constants) {
  for (const int field : roles.velocity)
    QUINTET_CHECK(field >= 0 && field < std::ssize(fields),
                  "statistics of a flow need its velocity along both axes, {} and {}", grid.axes()[0].name,
                  grid.axes()[1].name);
  FlowSample sample;
  for (const int field : roles.velocity)
    sample.kinetic_energy += 0.5 * grid.mean(fields[field], fields[field]);
  add_gradients(grid, fields, walls, roles, constants.viscosity, sample);
  sample.energy_over_wavenumber = energy_over_wavenumber(grid, fields, roles);
  sample.velocity_wall_error = wall_error(grid, fields, walls, roles.velocity);
  sample.scalar_dissipation = sample.scalar_wall_error = none;
  sample.nusselt_volume = sample.nusselt_lower = sample.nusselt_upper = none;
  if (roles.scalar >= 0) {
    sample.scalar_wall_error = wall_error(grid, fields, walls, std::array{roles.scalar});
    add_heat(grid, fields, walls, roles, constants.diffusivity, sample);
  }
  return sample;
}

std::vector<double> divergence(const RectilinearGrid& grid, const Fields& fields,
                               const std::vector<FieldWalls>& walls, const FlowFields& roles) {
  auto sum = grid.derivative(fields[roles.velocity[0]], 0, 1, ends_of(walls, roles.velocity[0], 0));
  const auto other = grid.derivative(fields[roles.velocity[1]], 1, 1, ends_of(walls, roles.velocity[1], 1));
  for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += other[i];
  return sum;
}

const std::array<TurbulenceStatistic, 9>& turbulence_statistics() {
  using S = FlowSample;
  using C = TurbulenceConstants;
  static const std::array<TurbulenceStatistic, 9> rows = {{
      {"kinetic_energy", "E", "<u^2 + w^2>/2", [](const S& s, double, const C&) { return s.kinetic_energy; }},
      {"u_rms", "u_rms", "velocity sqrt(a E)", [](const S& s, double, const C& c) { return u_rms(s, c); }},
      {"dissipation", "eps", "2 nu <S_ij S_ij>",
       [](const S& s, double, const C&) { return s.strain_dissipation; }},
      {"taylor_length", "lambda", "sqrt(b nu/eps) u_rms", taylor_length},
      {"reynolds_taylor", "Re_lambda", "u_rms lambda/nu",
       [](const S& s, double nu, const C& c) { return u_rms(s, c) * taylor_length(s, nu, c) / nu; }},
      {"kolmogorov_time", "tau_eta", "sqrt(nu/eps)",
       [](const S& s, double nu, const C&) { return std::sqrt(nu / s.strain_dissipation); }},
      {"kolmogorov_length", "eta", "(nu^3/eps)^(1/4)",
       [](const S& s, double nu, const C&) { return std::pow(nu * nu * nu / s.strain_dissipation, 0.25); }},
      {"integral_length", "L", "c/u_rms^2 sum of E(k)/k",
       [](const S& s, double, const C& c) { return integral_length(s, c); }},
      {"turnover_time", "T_L", "L/u_rms",
       [](const S& s, double, const C& c) { return integral_length(s, c) / u_rms(s, c); }},
  }};
  return rows;
}

const std::vector<BalanceStatistic>& balance_statistics() {
  static const std::vector<BalanceStatistic> rows = {
      {"nusselt_volume", "Nusselt number of the volume, 1 + <w b>/P", &FlowSample::nusselt_volume},
      {"nusselt_lower", "Nusselt number at the lower wall", &FlowSample::nusselt_lower},
      {"nusselt_upper", "Nusselt number at the upper wall", &FlowSample::nusselt_upper},
      {"gradient_dissipation", "nu <|grad u|^2>", &FlowSample::dissipation},
      {"scalar_dissipation", "P <|grad b|^2>", &FlowSample::scalar_dissipation},
      {"rms_divergence", "root mean square of div u", &FlowSample::rms_divergence},
      {"velocity_wall_error", "rms deviation of the velocity from its value on the walls",
       &FlowSample::velocity_wall_error},
      {"scalar_wall_error", "rms deviation of the scalar from its value on the walls",
       &FlowSample::scalar_wall_error}};
  return rows;
}

}  // namespace quintet::flow
