#include "apps/dpmd/run/run_words.hpp"

#include <cmath>
#include <filesystem>
#include <numbers>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/application/life/context.hpp"
#include "apps/dpmd/setup/system.hpp"
#include "io/config/table.hpp"
#include "io/log/counted.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/dynamics/thermostats/thermostats.hpp"

namespace quintet::dpmd {

namespace {

std::string name_of(const std::string& path) { return std::filesystem::path(path).filename().string(); }

Vec3 row(const Mat3& m, int k) { return {m[3 * k], m[3 * k + 1], m[3 * k + 2]}; }
double dot(const Vec3& a, const Vec3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// "300 K", "300 K to 500 K".
std::string ramp(double first, const std::optional<double>& last, const char* unit) {
  return last && *last != first ? fmt::format("{:g} {} to {:g} {}", first, unit, *last, unit)
                                : fmt::format("{:g} {}", first, unit);
}

std::string pressure_in_words(const std::vector<double>& tensor, double pressure,
                              const std::optional<double>& end) {
  return tensor.empty() ? ramp(pressure, end, "bar")
                        : fmt::format("pressure tensor {:g} bar", fmt::join(tensor, ", "));
}

}  // namespace

std::string composition(const Comm& comm, const Atoms& atoms) {
  std::vector<std::int64_t> counts(atoms.type_names.size(), 0);
  for (int i = 0; i < atoms.n_local; ++i) ++counts[atoms.type(i)];
  comm.reduce(std::span<std::int64_t>(counts), Comm::Reduction::sum);
  std::string parts, type;
  int n_kinds = 0;
  for (std::size_t t = 0; t < counts.size(); ++t)
    if (counts[t] > 0) {
      parts += fmt::format("{}{} {}", n_kinds++ > 0 ? ", " : "", counts[t], atoms.type_names[t]);
      type = atoms.type_names[t];
    }
  return n_kinds == 1 ? counted(atoms.n_global, type + " atom")
                      : fmt::format("{} ({})", counted(atoms.n_global, "atom"), parts);
}

std::string cell_in_words(const Box& box) {
  double length[3], angle[3];
  bool right = true;
  for (int k = 0; k < 3; ++k) length[k] = std::sqrt(dot(row(box.rows(), k), row(box.rows(), k)));
  for (int k = 0; k < 3; ++k) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    angle[k] = std::acos(dot(row(box.rows(), i), row(box.rows(), j)) / (length[i] * length[j])) * 180 /
               std::numbers::pi;
    right = right && std::abs(angle[k] - 90) < 0.005;
  }
  std::string text = fmt::format("{:.4g} × {:.4g} × {:.4g} Å", length[0], length[1], length[2]);
  if (!right) text += fmt::format(", angles {:.4g}°, {:.4g}°, {:.4g}°", angle[0], angle[1], angle[2]);
  std::string open;
  for (int k = 0; k < 3; ++k)
    if (!box.periodic()[k]) open += "abc"[k];
  return text + (open.empty() ? ", periodic" : fmt::format(", open along {}", open));
}

std::string ensemble_in_words(const IntegratorOptions& options) {
  std::string text = row_of(ensembles, options.ensemble.kind).words, temperature;
  if (const auto& cell = options.minimiser.cell; cell && options.ensemble == Ensemble::minimise)
    return fmt::format("{} of atoms and cell, {}; {}", text,
                       pressure_in_words(cell->pressure_tensor, cell->pressure, std::nullopt),
                       row_of(cell_couplings, cell->coupling).words);
  if (const auto thermostat = thermostat_of(options))
    temperature = fmt::format("{} by {}", ramp(*options.temperature, options.temperature_end, "K"),
                              row_of(thermostats(), *thermostat).doc);
  if (!is_at_constant_pressure(options.ensemble))
    return temperature.empty() ? text : fmt::format("{}, {}", text, temperature);
  const auto& barostat = options.barostat;
  text += ", " + pressure_in_words(barostat.pressure_tensor, barostat.pressure, barostat.pressure_end);
  if (!temperature.empty()) text += " and " + temperature;
  text += fmt::format("; {}", row_of(cell_couplings, barostat.coupling).words);
  text += uses_mtk(options) ? " with inertia (Martyna, Tobias and Klein)" : " by stochastic rescaling";
  return text;
}

std::string models_in_words(const PotentialOptions& options, const std::string& description) {
  std::string text = fmt::format("{}: {}", name_of(options.models.front()), description);
  if (options.models.size() > 1)
    text += fmt::format("; {} more to tell how far it can be trusted", options.models.size() - 1);
  return text;
}

void describe_run(Context& context, const RunOptions& options, const Simulation& simulation) {
  const auto& atoms = simulation.atoms();
  context.describe_run("system", fmt::format("{} from {}; cell {}", composition(context.comm(), atoms),
                                             name_of(options.system.file), cell_in_words(atoms.box)));
  context.describe_run("model",
                       models_in_words(options.potential, simulation.system().force_field.description()));
  if (!simulation.residence().empty())
    context.describe_run("atoms", fmt::format("stay {}", simulation.residence()));
  context.describe_run("ensemble", ensemble_in_words(options.integrator));
  if (const auto& frozen = simulation.system().frozen; !frozen.none())
    context.describe_run("frozen", fmt::format("{} of the atoms do not move", frozen.count()));
  context.describe_run(
      "steps",
      fmt::format(
          "{} of {:g} fs{}", counted(options.time.steps, "step"), options.time.dt * 1e3,
          context.restart_file() ? fmt::format(", from step {} on in this process", simulation.step()) : ""));
}

}  // namespace quintet::dpmd
