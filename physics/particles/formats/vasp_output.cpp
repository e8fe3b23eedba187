#include "physics/particles/formats/vasp_output.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "physics/particles/atoms/read_configuration_box.hpp"
#include "physics/particles/atoms/units.hpp"
#include "physics/particles/formats/read_configuration_text.hpp"

namespace quintet {

namespace {

constexpr double kb_per_ev_a3 = 10 * units::ev_per_a3_to_gpa;  // kB of an eV/angstrom^3

/// "2, 5, 7 and 12 more".
std::string some_of(const std::vector<std::size_t>& steps) {
  constexpr std::size_t most = 5;
  const std::vector<std::size_t> first(steps.begin(), steps.begin() + std::min(most, steps.size()));
  return fmt::format("{}{}", fmt::join(first, ", "),
                     steps.size() > most ? fmt::format(" and {} more", steps.size() - most) : "");
}

Configuration configuration_of(const VaspRun& run, VaspStep& step, const VaspOutputOptions& options,
                               bool labelled, bool with_virial) {
  Configuration c;
  c.type_names = run.type_names;
  c.types = run.types;
  c.held = run.held;
  c.positions = std::move(step.positions);
  c.box = box_from_file(step.rows, options.periodic.value_or(std::array{true, true, true}), {0, 0, 0},
                        c.positions, step.where, &c.reading);
  if (!labelled) return c;
  c.energy = step.energy;
  c.forces = std::move(step.forces);
  if (!with_virial || !step.stress) return c;
  if (!c.box.fully_periodic()) {
    c.reading.assume("a stress says nothing where a direction is open: no virial of those frames");
    return c;
  }
  c.virial = step.stress;
  for (double& component : *c.virial) component *= c.box.volume() / kb_per_ev_a3;
  return c;
}

/// What there is to say of the labels.
Reading told(const VaspRun& run, const std::vector<VaspStep>& steps, bool labels, bool pressed) {
  Reading reading;
  if (!labels) return reading;
  if (pressed) {
    reading.leave(fmt::format("labels (PSTRESS = {:g} kB is in its energies and stresses)", run.pressure));
    return reading;
  }
  double apart = 0;
  bool with_stress = false;
  for (const auto& step : steps) {
    if (step.energy && step.energy_to_zero)
      apart = std::max(apart, std::abs(*step.energy - *step.energy_to_zero) /
                                  std::max<double>(1, double(run.types.size())));
    with_stress = with_stress || step.stress.has_value();
  }
  reading.assume("energy: the free energy (TOTEN), whose gradient the forces are" +
                 (apart > 0
                      ? fmt::format(" (energy(sigma->0) differs by up to {:.2g} meV per atom)", 1e3 * apart)
                      : ""));
  if (with_stress && run.isif == 1)
    reading.leave("the stress, of which ISIF = 1 gives the trace alone");
  else if (with_stress)
    reading.assume("stress in kB, pressure positive: virial = volume * stress");
  else
    reading.assume("no virial (VASP computes a stress with ISIF = 2 or more)");
  return reading;
}

}  // namespace

std::vector<Configuration> configurations_of(const std::string& path, const VaspRun& run,
                                             std::vector<VaspStep> steps, std::optional<std::int64_t> frame,
                                             const VaspOutputOptions& options) {
  using Use = LabelSource::Use;
  QUINTET_CHECK(!steps.empty(), "{}: the file holds no ionic step that is whole", path);
  const bool labels = options.labels != Use::none, learn = options.labels == Use::learn,
             pressed = run.pressure != 0;
  QUINTET_CHECK(!learn || !pressed,
                "{}: PSTRESS is {:g} kB: VASP adds that pressure to stress and energy, so that they are no "
                "labels; compute the frames without PSTRESS",
                path, run.pressure);
  Reading reading = told(run, steps, labels, pressed);
  if (!options.periodic)
    reading.assume("periodic in x y z, as VASP always is (system.periodic or --periodic changes it)");
  if (run.cut_short) reading.leave("the last ionic step, which is cut short");
  std::vector<std::size_t> loose, predicted, wanted;
  for (std::size_t s = 0; s < steps.size(); ++s) {
    if (steps[s].force_field)
      predicted.push_back(s);
    else if (!steps[s].converged)
      loose.push_back(s);
    if (!learn || frame || (steps[s].converged && !steps[s].force_field)) wanted.push_back(s);
  }
  const char* what = learn && !frame ? "steps" : "labels of steps";
  if (labels && !loose.empty())
    reading.leave(fmt::format("{} whose electrons did not converge: {}", what, some_of(loose)));
  if (labels && !predicted.empty())
    reading.leave(fmt::format("{} without electronic iterations (VASP's own force field): {}", what,
                              some_of(predicted)));
  if (!run.not_used.empty()) reading.leave(run.not_used);
  QUINTET_CHECK(!wanted.empty(),
                "{}: none of its {} ionic steps has labels: the electrons did not converge (EDIFF was not "
                "reached; raise NELM), or the forces are of VASP's own force field",
                path, steps.size());
  if (frame) {
    const std::int64_t n = steps.size(), place = text::place_of_frame(path, *frame, n);
    wanted = {static_cast<std::size_t>(place)};
    text::tell_frame(reading, place, n);
  }
  std::vector<Configuration> frames;
  for (const auto s : wanted)
    frames.push_back(configuration_of(run, steps[s], options,
                                      labels && !pressed && steps[s].converged && !steps[s].force_field,
                                      run.isif != 1));
  frames.front().reading.add(reading);
  return frames;
}

}  // namespace quintet
