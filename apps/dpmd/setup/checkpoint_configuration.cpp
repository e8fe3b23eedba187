#include "apps/dpmd/setup/checkpoint_configuration.hpp"

#include <algorithm>

#include "io/hdf5/checkpoint.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/particles/observables/observables.hpp"

namespace quintet::dpmd {

bool is_checkpoint(const std::string& path) {
  if (!path.ends_with(".h5")) return false;
  hdf5::File file = hdf5::File::open(Comm::self(), path);
  return file.root().has("state") && file.root().open_group("state").has("built_position");
}

Configuration read_checkpoint(const std::string& path) {
  hdf5::verify_checkpoint(Comm::self(), path);
  hdf5::File file = hdf5::File::open(Comm::self(), path);
  const hdf5::Group state = file.root().open_group("state");
  const auto shape = state.shape("position");
  QUINTET_CHECK(shape.size() == 2 && shape[1] == 3, "{}: positions of {}, expected [atoms, 3]", path,
                counted(shape.size(), "dimension"));
  const std::uint64_t n = shape[0];
  const auto position = state.read<double>("position"), velocity = state.read<double>("velocity", {n, 3});
  const auto type = state.read<std::int32_t>("type", {n}), image = state.read<std::int32_t>("image", {n, 3});
  const auto rows = state.read<double>("box", {3, 3}), origin = state.read<double>("origin", {3});
  const auto periodic = state.read<std::int32_t>("periodic", {3});

  Configuration configuration;
  Mat3 cell;
  std::copy(rows.begin(), rows.end(), cell.begin());
  configuration.box =
      Box(cell, {periodic[0] != 0, periodic[1] != 0, periodic[2] != 0}, {origin[0], origin[1], origin[2]});
  configuration.type_names = split_lines(state.read_text("type_names"));
  configuration.masses = state.read<double>("mass", {configuration.type_names.size()});
  configuration.ids = state.read<std::int64_t>("id", {n});
  if (state.has("parameters")) configuration.parameters = state.read<double>("parameters");
  configuration.types.assign(type.begin(), type.end());
  for (std::size_t i = 0; i < n; ++i) {
    Vec3 x{position[3 * i], position[3 * i + 1], position[3 * i + 2]};
    for (int k = 0; k < 3; ++k)
      for (int l = 0; l < 3; ++l) x[l] += image[3 * i + k] * cell[3 * k + l];
    configuration.positions.push_back(x);
    configuration.velocities.push_back({velocity[3 * i], velocity[3 * i + 1], velocity[3 * i + 2]});
    QUINTET_CHECK(type[i] >= 0 && static_cast<std::size_t>(type[i]) < configuration.type_names.size(),
                  "{}: atom {} has type {} of {}", path, configuration.ids[i], type[i],
                  configuration.type_names.size());
  }
  return configuration;
}

}  // namespace quintet::dpmd
