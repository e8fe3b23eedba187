#include "apps/vlasov/state/openpmd_frames.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <utility>
#include <vector>

#include "apps/application/life/context.hpp"
#include "io/hdf5/file.hpp"
#include "io/hdf5/openpmd/openpmd.hpp"
#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "physics/kinetics/files/field_points.hpp"

namespace quintet::vlasov {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view head = "data_", tail = ".h5";

/// The step of a file of ours, or nothing.
std::optional<std::int64_t> step_of(const std::string& name) {
  if (!name.starts_with(head) || !name.ends_with(tail)) return std::nullopt;
  const char *first = name.data() + head.size(), *last = name.data() + name.size() - tail.size();
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(first, last, step);
  return error == std::errc() && end == last ? std::optional(step) : std::nullopt;
}

/// Powers of length, mass, time, current, temperature, amount and luminous intensity.
using Dimension = std::array<double, 7>;

/// A quantity: how points of a frame are called (behind "SPECIES_", if it is a species' own), the mesh, and
/// its dimension.
struct Quantity {
  std::string_view points, mesh;
  Dimension dimension;
  bool has_components, is_of_species;
};
constexpr std::array<Quantity, 9> quantities{
    {{"e", "E", {1, 1, -3, -1}, true, false},
     {"b", "B", {0, 1, -2, -1}, true, false},
     {"phi", "phi", {2, 1, -3, -1}, false, false},
     {"density", "density", {-3}, false, true},
     {"velocity", "velocity", {1, 0, -1}, true, true},
     {"temperature", "temperature", {2, 1, -2}, false, true},
     {"temperature", "directional_temperature", {2, 1, -2}, true, true},
     {"pressure", "pressure", {-1, 1, -2}, true, true},
     {"heat_flux", "heat_flux", {0, 1, -3}, true, true}}};

/// Where points of a frame belong.
struct Place {
  std::string mesh, component;
  Dimension dimension;
};

/// The component that a name ends with, "" for a scalar; nothing if it is no name of this quantity.
std::optional<std::string_view> component_in(std::string_view name, const Quantity& quantity) {
  if (!name.starts_with(quantity.points)) return std::nullopt;
  name.remove_prefix(quantity.points.size());
  if (!quantity.has_components) return name.empty() ? std::optional(name) : std::nullopt;
  if (name.size() < 2 || name.front() != '_') return std::nullopt;
  name.remove_prefix(1);
  return name.find_first_not_of("xyz") == name.npos ? std::optional(name) : std::nullopt;
}

/// "electrons_velocity_x" of species "electrons": mesh "electrons_velocity", component "x". A species may be
/// called "e" beside the field's "e_x", or begin with another's name.
Place place_of(std::string_view name, const Setup& setup) {
  std::vector<std::string> owners{""};
  for (const auto& one : setup.species) owners.push_back(one.name + "_");
  for (const auto& owner : owners)
    for (const auto& quantity : quantities) {
      if (quantity.is_of_species == owner.empty() || !name.starts_with(owner)) continue;
      if (const auto component = component_in(name.substr(owner.size()), quantity))
        return {owner + std::string(quantity.mesh), std::string(*component), quantity.dimension};
    }
  throw InternalError(fmt::format("no openPMD mesh for '{}'", name));
}

}  // namespace

OpenPmdFrames::OpenPmdFrames(const Context& context, const Setup& setup,
                             std::optional<std::int64_t> restart_step)
    : setup_(setup), folder_(context.path("openpmd")) {
  on_root(context.comm(), [&] {
    fs::create_directories(folder_);
    if (!restart_step) return;
    std::vector<fs::path> later;
    for (const auto& entry : fs::directory_iterator(folder_))
      if (const auto step = step_of(entry.path().filename()); step && *step > *restart_step)
        later.push_back(entry.path());
    for (const auto& path : later) fs::remove(path);
  });
}

void OpenPmdFrames::write(const kinetics::Frame& frame, double dt) const {
  const auto& grid = setup_.species.front().grid;
  const int n = setup_.basis.order() + 1;
  hdf5::OpenPmdIteration iteration;
  iteration.step = frame.step;
  iteration.time = frame.time;
  iteration.dt = dt;
  for (int d = grid.cdim - 1; d >= 0; --d) {
    iteration.axes.emplace_back(1, "xyz"[d]);
    iteration.shape.push_back(static_cast<std::uint64_t>(grid.cells[d]) * n);
    iteration.lower.push_back(grid.lower[d]);
    iteration.spacing.push_back(grid.mean_width(d) / n);
  }
  iteration.software = "Quintet vlasov";
  iteration.version = hdf5::current_provenance().version;
  iteration.comment = "numbers are in the consistent units of the run, so all unitSI are 1";
  for (const auto& one : frame.points) {
    auto values = kinetics::field_points(setup_.decomposition, grid, setup_.basis.conf(), one.coefficients,
                                         one.component, n);
    const Place place = place_of(one.name, setup_);
    auto& meshes = iteration.meshes;
    auto at = std::find_if(meshes.begin(), meshes.end(), [&](const auto& m) { return m.name == place.mesh; });
    if (at == meshes.end())
      at = meshes.insert(at,
                         {place.mesh, place.component.empty() ? one.text : place.mesh, place.dimension, {}});
    at->components.push_back({place.component, std::move(values)});
  }
  on_root(setup_.decomposition.comm(), [&] { hdf5::write_openpmd(folder_, iteration); });
}

}  // namespace quintet::vlasov
