#include "apps/vlasov/state/frames.hpp"

#include <cmath>
#include <filesystem>

#include <fmt/format.h>

#include "apps/application/life/context.hpp"
#include "apps/vlasov/state/fluid.hpp"
#include "apps/vlasov/state/simulation.hpp"
#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "physics/kinetics/files/gkyl_reader.hpp"

namespace quintet::vlasov {

using namespace kinetics;

namespace {

constexpr const char* rows_name = "frames";  ///< of the group in run.h5, and in checkpoints

std::string gkyl_prefix(const Context& context) {
  namespace fs = std::filesystem;
  const fs::path folder = context.path("gkyl");
  on_root(context.comm(), [&] { fs::create_directories(folder); });
  return (folder / fs::path(context.directory()).filename()).string();
}

/// What points of a frame show of a species.
void add_points(const Species& species, const Fluid& fluid, int vdim, std::vector<PointField>& points) {
  const auto add = [&](const std::string& name, const std::string& text, const ConfField& field,
                       int component) {
    points.push_back({species.name + "_" + name, "1", species.name + ": " + text, field, component});
  };
  add("density", "density", fluid.m0, 0);
  for (int i = 0; i < vdim; ++i)
    add(fmt::format("velocity_{}", "xyz"[i]), fmt::format("mean velocity along {}", "xyz"[i]), fluid.velocity,
        i);
  add("temperature", "temperature, an energy: the mean over velocity directions", fluid.temperature, 0);
  for (int i = 0, k = 0; i < vdim; ++i) {
    add(fmt::format("temperature_{}", "xyz"[i]), fmt::format("temperature along {}", "xyz"[i]),
        fluid.temperatures, i);
    for (int j = i; j < vdim; ++j, ++k)
      add(fmt::format("pressure_{}{}", "xyz"[i], "xyz"[j]),
          fmt::format("pressure tensor, {}{}", "xyz"[i], "xyz"[j]), fluid.pressure, k);
  }
  for (int i = 0; i < vdim; ++i)
    add(fmt::format("heat_flux_{}", "xyz"[i]), fmt::format("heat flux along {}", "xyz"[i]), fluid.heat_flux,
        i);
}

kinetics::Frame make_frame(const Simulation& simulation, bool distribution) {
  const Setup& setup = simulation.setup();
  VlasovSystem& system = simulation.system();
  kinetics::Frame frame;
  frame.step = simulation.step();
  frame.time = simulation.time();
  for (int s = 0; s < std::ssize(setup.species); ++s) {
    const Fluid fluid = fluid_of(Exec(), setup, system, s);
    frame.moments.push_back({{"m0", "int f dv", fluid.m0},
                             {"m1", "int v_i f dv", fluid.m1},
                             {"m2", "int v.v f dv", fluid.m2},
                             {"m3", "int v.v v_i f dv", fluid.m3}});
    add_points(setup.species[s], fluid, setup.basis.vdim(), frame.points);
    if (distribution) frame.f.push_back(system.f(s));
  }
  if (setup.system.field == FieldModel::none) return frame;
  frame.fields.push_back({"field", "Ex, Ey, Ez, Bx, By, Bz, phi, psi", system.field()});
  const bool maxwell = setup.system.field == FieldModel::maxwell;
  constexpr const char* names[] = {"e_x", "e_y", "e_z", "b_x", "b_y", "b_z", "phi"};
  for (int c = 0; c < 7; ++c)
    if (maxwell ? c < 6 : c < setup.basis.cdim() || c == field_phi)
      frame.points.push_back(
          {names[c], "1", std::string("Component ") + names[c] + " of the field", system.field(), c});
  return frame;
}

}  // namespace

void read_frame(const std::string& file, std::optional<std::int64_t> frame, const Setup& setup, int s,
                const Distribution& f) {
  if (file.ends_with(".gkyl")) {
    QUINTET_CHECK(!frame, "{}: a .gkyl file holds one frame; leave 'frame' away and name that frame's file",
                  file);
    (void)read_gkyl(file, setup.decomposition, setup.basis, f);
    return;
  }
  const FrameReader reader(setup.decomposition.comm(), file, frame.value_or(-1));
  reader.read(setup.species[s].name, setup.decomposition, setup.basis, f);
}

Frames::Frames(Context& context, const OutputOptions& options, const Setup& setup, std::int64_t step,
               double time)
    : options_(options),
      interval_(setup.frame_interval),
      writer_(context.results(), setup.decomposition, setup.basis, setup.species, 0,
              context.restart_file() ? std::optional(step) : std::nullopt, context.recorded_rows(rows_name)),
      count_(context, rows_name, writer_.size()),
      vdim_(setup.basis.vdim()) {
  if (!writer_.altered().empty())
    context.lose(rows_name, fmt::format("run.h5: {}: damaged, and kept as it is", writer_.altered()));
  for (const auto& species : setup.species) names_.push_back(species.name);
  if (options.openpmd)
    openpmd_.emplace(context, setup, context.restart_file() ? std::optional(step) : std::nullopt);
  if (!options.gkyl) return;
  for (const auto& species : setup.species)
    QUINTET_CHECK(species.grid.is_uniform(),
                  "output.gkyl: .gkyl files are of equal cells, but '{}' has cells of different widths "
                  "(velocity.mapping or finest)",
                  species.name);
  gkyl_.emplace(setup.decomposition, setup.basis, gkyl_prefix(context));
  if (!context.restart_file()) return;
  gkyl_->truncate("field-energy", time);
  for (const auto& name : names_)
    for (const char* series : {"-imom", "-L2"}) gkyl_->truncate(name + series, time);
}

Schedule Frames::schedule() const {
  const Schedule ends = at_start() | at_end();
  return interval_ > 0 ? ends | every_time(interval_) : ends;
}

void Frames::write(const Simulation& simulation) {
  if (writer_.last_step() >= simulation.step()) return;
  const auto frame = make_frame(simulation, options_.distribution);
  if (gkyl_) write_gkyl(frame, simulation.setup());
  if (openpmd_) openpmd_->write(frame, simulation.dt());
  writer_.append(frame);
  count_.set(writer_.size());
}

void Frames::write_gkyl(const kinetics::Frame& frame, const Setup& setup) const {
  const std::int64_t number = writer_.size();
  constexpr const char* names[] = {"_M0", "_M1i", "_M2", "_M3i"};
  for (std::size_t s = 0; s < names_.size(); ++s) {
    if (s < frame.f.size()) gkyl_->write(names_[s], number, frame.time, frame.f[s]);
    for (std::size_t m = 0; m < 4; ++m)
      gkyl_->write(names_[s] + names[m], number, frame.time, setup.species[s].grid,
                   frame.moments[s][m].values);
  }
  for (const auto& field : frame.fields)
    gkyl_->write(field.name, number, frame.time, setup.species.front().grid, field.values);
}

void Frames::note(const Sample& sample) {
  if (!gkyl_) return;
  gkyl_->append("field-energy", sample.time, std::span<const double>(sample.field.data(), 6));
  for (std::size_t s = 0; s < names_.size(); ++s) {
    const auto& one = sample.species[s];
    std::vector<double> moments{one.m0};
    moments.insert(moments.end(), one.m1.begin(), one.m1.begin() + vdim_);
    moments.push_back(one.m2);
    gkyl_->append(names_[s] + "-imom", sample.time, moments);
    gkyl_->append(names_[s] + "-L2", sample.time, std::span<const double>(&one.l2, 1));
  }
}

void Frames::flush() {
  if (gkyl_) gkyl_->flush();
}

}  // namespace quintet::vlasov
