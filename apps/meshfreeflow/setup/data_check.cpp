#include "apps/meshfreeflow/setup/data_check.hpp"

#include <algorithm>

#include <fmt/ranges.h>

#include "apps/application/life/context.hpp"
#include "apps/application/loop/interrupt_of.hpp"
#include "apps/application/report/report.hpp"
#include "apps/meshfreeflow/setup/flow_input.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"

namespace quintet::meshfreeflow {
namespace {

using flow::EquationCheck;

constexpr double points_at_most = 4e6;  ///< that a rank looks at: a second or two
constexpr int frames_at_most = 6;

/// Checks with the errors of frames in those that they are about.
std::vector<EquationCheck> with_errors_of_frames(std::vector<EquationCheck> checks) {
  std::vector<EquationCheck> result;
  for (auto& check : checks) {
    if (!check.name.ends_with(error_of_frames)) {
      result.push_back(std::move(check));
      continue;
    }
    auto& whole = result.back();  // the one before it
    whole.error += check.residual;
    whole.beyond = std::max(0.0, whole.beyond - 2 * check.residual);
  }
  return result;
}

/// All conditions on one sample: equations, then those of each wall. Nothing where nothing can be said.
std::vector<EquationCheck> checks_of(const flow::FlowEquations& equations, const AskedSample& sample,
                                     const std::vector<double>& constants, double points) {
  const auto& system = equations.interior();
  const auto grid = grid_of(*sample.axes, system.names().axes);
  const flow::FieldsOverTime fields{&grid, (*sample.axes)[0].coordinates, sample.values};
  const int frames = std::clamp(points / grid.size(), 1.0, double{frames_at_most});
  auto checks = with_errors_of_frames(check_equations(system, constants, fields, frames));
  for (const auto& wall : equations.walls()) {
    if (wall.end.axis == 0) continue;  // of volumes: see check_truth()
    for (auto& check :
         check_wall(wall.system, constants, fields, wall.end.axis - 1, wall.end.upper ? 1 : 0, frames))
      checks.push_back(std::move(check));
  }
  return checks;
}

/// A check as numbers that ranks can share, and back.
std::vector<double> numbers_of(const std::vector<EquationCheck>& checks) {
  std::vector<double> numbers;
  for (const auto& check : checks) {
    numbers.insert(numbers.end(), {check.residual, check.error, check.beyond});
    for (const auto& term : check.terms) numbers.push_back(term.rms);
  }
  return numbers;
}
void set_numbers(std::vector<EquationCheck>& checks, std::span<const double> numbers) {
  auto next = numbers.begin();
  for (auto& check : checks) {
    check.residual = *next++, check.error = *next++, check.beyond = *next++;
    for (auto& term : check.terms) term.rms = *next++;
  }
}

std::string terms_text(const EquationCheck& check) {
  std::vector<std::string> texts;
  for (const auto& term : check.terms) texts.push_back(fmt::format("{} {:.3g}", term.text, term.rms));
  return fmt::format("{}", fmt::join(texts, ", "));
}

double share(double value, const EquationCheck& check) {
  return check.largest() > 0 ? value / check.largest() : value > 0 ? 1e300 : 0;
}

/// The worst of all samples.
struct Worst {
  EquationCheck check;
  std::string sample;
};

std::vector<Worst> worst_of(const Comm& comm, const flow::FlowEquations& equations,
                            const std::vector<AskedSample>& samples, const Interrupt& interrupt) {
  const std::size_t n_ranks = comm.size(), rank = comm.rank();
  const double points = points_at_most / (std::max<std::size_t>(1, samples.size() / n_ranks));
  std::vector<EquationCheck> shape;  // what there is to say of any sample
  std::vector<std::vector<double>> own(samples.size());
  together(comm, [&] {
    for (std::size_t i = 0; i < samples.size(); ++i) {
      if (i % n_ranks != rank) continue;
      give_up_if_asked(interrupt);
      const auto checks =
          checks_of(equations, samples[i], equations.constants(samples[i].parameters), points);
      own[i] = numbers_of(checks);
      if (!checks.empty()) shape = checks;
    }
    if (!shape.empty() || samples.empty()) return;
    // A rank without samples of its own needs the names.
    shape = checks_of(equations, samples[0], equations.constants(samples[0].parameters), 1);
  });
  const std::size_t n = numbers_of(shape).size();
  const std::size_t most = comm.maximum(static_cast<double>(n));
  std::vector<double> all(samples.size() * (most + 1), 0);
  for (std::size_t i = 0; i < samples.size(); ++i)
    if (!own[i].empty()) {
      all[i * (most + 1)] = 1;
      std::copy(own[i].begin(), own[i].end(), all.begin() + (i * (most + 1) + 1));
    }
  comm.reduce(std::span<double>(all), Comm::Reduction::sum);
  std::vector<Worst> worst;
  for (std::size_t i = 0; i < samples.size() && n == most && n > 0; ++i) {
    if (all[i * (most + 1)] == 0) {
      log::info("The data: fewer than 6 points along an axis, or 5 frames: equations are not asked of {}",
                samples[i].name);
      continue;
    }
    set_numbers(shape, std::span(all).subspan(i * (most + 1) + 1, most));
    if (worst.empty())
      for (const auto& check : shape) worst.push_back({check, samples[i].name});
    const auto badness = [](const EquationCheck& check) {
      return std::pair(share(check.beyond, check), share(check.residual, check));
    };
    for (std::size_t e = 0; e < shape.size(); ++e)
      if (badness(shape[e]) > badness(worst[e].check)) worst[e] = {shape[e], samples[i].name};
  }
  return worst;
}

void report(Context& context, const std::vector<Worst>& worst) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& [check, sample] : worst) {
    log::info("The data: {}: residual {:.3g} ({:.3g} of it may be differences') of {} ({})", check.name,
              check.residual, std::min(check.error, check.residual), terms_text(check), sample);
    rows.push_back({check.name, fmt::format("{:.3g}", check.residual), fmt::format("{:.3g}", check.error),
                    terms_text(check), sample});
  }
  context.report().section("What the data leave of the equations");
  context.report().table(
      {"condition", "residual", "error of differences", "terms", "sample"}, rows,
      "Root mean squares, by finite differences of some frames; of all samples the one that obeys least. "
      "Beside a condition at a wall stands how much it varies over the flow.");
}

}  // namespace

flow::RectilinearGrid grid_of(const flow::BlockAxes& axes,
                              const std::array<std::string, flow::n_axes>& names) {
  return flow::RectilinearGrid({field_axis(axes[1], names[1]), field_axis(axes[2], names[2])});
}

void check_truth(Context& context, const flow::FlowEquations& equations,
                 const std::vector<AskedSample>& samples, flow::DataCheck choice, const std::string& key) {
  if (choice == flow::DataCheck::off) return;
  if (equations.interior().n_equations() == 0 && equations.walls().empty()) return;
  for (const auto& wall : equations.walls())
    if (wall.end.axis == 0)
      log::info("The data: conditions at walls of {} are not asked of them, those of other axes are",
                equations.interior().names().axes[0]);
  const auto worst = worst_of(context.comm(), equations, samples, interrupt_of(context));
  if (worst.empty()) {
    log::info("The data: fewer than 6 points along an axis, or 5 frames: equations are not asked of them");
    return;
  }
  report(context, worst);
  std::vector<std::string> wrong;
  for (const auto& [check, sample] : worst)
    if (check.contradicted())
      wrong.push_back(
          fmt::format("{} leaves {:.3g} of {} ({})", check.name, check.residual, terms_text(check), sample));
  if (wrong.empty()) return;
  const auto text = fmt::format(
      "the data do not obey the equations: {}; more than a tenth of the largest term, beyond the error of "
      "differences. Look for other units, signs, axes, walls, times or constants",
      fmt::join(wrong, "; "));
  QUINTET_CHECK(choice == flow::DataCheck::warn, "{}. To use them all the same, set {}: warn", text, key);
  log::warning("{}: {}", key, text);
  context.report().warning(key + ": " + text + ".");
}

}  // namespace quintet::meshfreeflow
