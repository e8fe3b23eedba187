#include "physics/convection/spectra.hpp"

#include <cmath>
#include <numbers>

#include "io/parallel/comm.hpp"
#include "physics/convection/device/flow_residence.hpp"
#include "physics/transforms/row_transform.hpp"

namespace quintet::convection {

namespace {

/// The least length of a fast transform that a row is cut or filled to is its own: other rows are transformed
/// slowly.
std::vector<double> coefficients(LineBasis basis, const RowTransform* fast, std::vector<double>& work,
                                 const double* row, int n) {
  std::vector<double> result(n);
  if (fast != nullptr) {
    fast->forward(row, n, result.data(), n, 1, work.data());
    return result;
  }
  const double norm = std::sqrt(2.0 / n), first = std::sqrt(1.0 / n), pi = std::numbers::pi;
  for (int k = 0; k < n; ++k) {
    double sum = 0;
    for (int i = 0; i < n; ++i) {
      const double angle = basis == LineBasis::sine_faces ? pi * k * i / n : pi * k * (i + 0.5) / n;
      sum += row[i] * (basis == LineBasis::sine_faces ? std::sin(angle) : std::cos(angle));
    }
    result[k] = (k == 0 ? first : norm) * sum;
  }
  return result;
}

/// Number of the wave of a coefficient.
int wave_of(LineBasis basis, int k) { return basis == LineBasis::periodic ? (k + 1) / 2 : k; }

/// Those of this rank's rows to `sums`, [kind, wave].
void add_powers(const Grid& grid, const BoussinesqState& state, LineBasis of_u, LineBasis of_others,
                std::vector<double>& sums) {
  const int n = grid.x.n(), middle = grid.z.n() / 2;
  const std::size_t n_waves = sums.size() / 4;
  const bool fast = Fft::possible(n);
  std::vector<RowTransform> transforms;
  if (fast) {
    transforms.emplace_back(of_u, n);
    transforms.emplace_back(of_others, n);
  }
  std::vector<double> work(fast ? std::max(transforms[0].work_size(), transforms[1].work_size()) + 8 : 0);
  const auto add = [&](const Field& field, LineBasis basis, std::size_t kind, double factor, bool faces) {
    const RowTransform* const transform = fast ? &transforms[basis == of_u && faces ? 0 : 1] : nullptr;
    for (int j = 0; j < field.rows; ++j) {
      const int row = grid.first_row() + j;
      const auto c = coefficients(basis, transform, work, field.row(j), n);
      const double weight = (&field == &state.w ? grid.z.gaps : grid.z.widths)[row] / grid.z.length();
      for (int k = 0; k < n; ++k) {
        const double power = factor * c[k] * c[k] / n;
        const int wave = wave_of(basis, k);
        if (row == middle) sums[kind * n_waves + wave] += power;
        sums[(kind + 2) * n_waves + wave] += power * weight;
      }
    }
  };
  add(state.u, of_u, 0, 0.5, true);
  add(state.w, of_others, 0, 0.5, false);
  add(state.b, of_others, 1, 1.0, false);
}

}  // namespace

Spectra spectra(const Exec&, const Boussinesq& flow, int member) {
  const Grid& grid = flow.grid();
  const int n = grid.x.n();
  const bool periodic = grid.x.periodic;
  const LineBasis of_u = periodic ? LineBasis::periodic : LineBasis::sine_faces,
                  of_others = periodic ? LineBasis::periodic : LineBasis::cosine;
  const int n_waves = wave_of(of_others, n - 1) + 1;
  Spectra result;
  for (int m = 0; m < n_waves; ++m)
    result.wavenumber.push_back((periodic ? 2 : 1) * std::numbers::pi * m / grid.x.length());
  std::vector<double> sums(4 * n_waves);
  const auto powers = flow.residence() != nullptr ? flow.residence()->powers(member) : std::vector<double>();
  for (std::size_t i = 0; i < powers.size(); ++i)
    sums[i / n * n_waves + wave_of(of_others, i % n)] += powers[i];
  if (powers.empty()) add_powers(grid, flow.state(member), of_u, of_others, sums);
  grid.comm().reduce(std::span<double>(sums), Comm::Reduction::sum);
  const auto part = [&](std::size_t kind) {
    const auto begin = sums.begin() + kind * n_waves;
    return std::vector<double>(begin, begin + n_waves);
  };
  result.kinetic_middle = part(0);
  result.buoyancy_middle = part(1);
  result.kinetic_volume = part(2);
  result.buoyancy_volume = part(3);
  return result;
}

double spectrum_tail(const Exec& exec, const Boussinesq& flow, int member) {
  const auto power = spectra(exec, flow, member).buoyancy_volume;
  double all = 0, tail = 0;
  for (std::size_t m = 1; m < power.size(); ++m) {
    all += power[m];
    if (3 * m > 2 * (power.size() - 1)) tail += power[m];
  }
  return all > 1e-12 ? tail / all : 0.0;
}

}  // namespace quintet::convection
