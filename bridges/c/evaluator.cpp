#include "bridges/c/evaluator.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include <dlfcn.h>

#include "io/config/schema.hpp"
#include "io/config/table.hpp"
#include "io/config/tree.hpp"
#include "io/device/device_library.hpp"
#include "io/log/error.hpp"

namespace quintet::bridges {

namespace {

/// A device as a host names it.
struct Choice {
  Device device;
  std::optional<int> number;
};

Choice chosen(const std::string& text) {
  constexpr std::string_view numbered = "gpu:";
  if (!text.starts_with(numbered)) return {row_given(device_names, text, "device").value, std::nullopt};
  int number = -1;
  const char *const begin = text.data() + numbered.size(), *const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(begin, end, number);
  QUINTET_CHECK(error == std::errc() && rest == end && number >= 0,
                "device '{}': expected the number of a GPU, counted from 0, behind 'gpu:'", text);
  return {Device::gpu, number};
}

/// The number of this process among those of its node, as launchers tell it; 0 without one. Slurm's comes
/// last: a launcher within a job leaves the variable of the batch script in the environment.
int rank_on_node() {
  for (const char* const name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"})
    if (const char* const text = std::getenv(name); text != nullptr) return std::max(0, std::atoi(text));
  return 0;
}

/// The folder of this library, where that of the GPU is installed, too.
std::filesystem::path own_folder() {
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&chosen), &here) == 0 || here.dli_fname == nullptr) return ".";
  return std::filesystem::path(here.dli_fname).parent_path();
}

struct Gpu {
  DeviceLibrary library;
  DeviceProperties properties;
};

/// The GPU of this process, of this number or, without one, as the rank says.
const Gpu& gpu(const std::optional<int>& number) {
  static const Gpu* started = nullptr;  // never ended: its Kokkos starts once a process
  if (started != nullptr) {
    QUINTET_CHECK(!number || *number == started->properties.number,
                  "device: gpu:{}: this process computes on GPU {} already, and can on one alone; expected "
                  "gpu or gpu:{}",
                  *number, started->properties.number, started->properties.number);
    return *started;
  }
  DeviceLibrary library(own_folder());
  const int count = library.count();
  QUINTET_CHECK(!number || count == 0 || *number < count,
                "device: gpu:{}: this process sees {} GPU{}, counted from 0", *number, count,
                count == 1 ? "" : "s");
  const DeviceProperties properties = library.start(number.value_or(rank_on_node()));
  started = new Gpu{std::move(library), properties};
  return *started;
}

void require_room(double bytes, const std::string& what) {
  const double free = gpu({}).library.free_bytes();
  if (bytes > free)
    throw ResourceError(
        fmt::format("{}: {:.2f} GB of the GPU's memory are needed, {:.2f} GB are free. Take more GPUs, or "
                    "device: cpu",
                    what, bytes / 1e9, free / 1e9));
}

}  // namespace

Evaluator::Evaluator(const std::string& device) {
  const Choice choice = chosen(device);
  if (choice.device == Device::cpu) return;
  if (choice.device == Device::portable) {
    description_ = start_device(&quintet_device_start, 0).name;
    make_engine_ = &quintet_make_device_potential;
    return;
  }
  try {
    const Gpu& found = gpu(choice.number);
    make_engine_ = found.library.find("quintet_make_device_potential", &quintet_make_device_potential);
    description_ = found.properties.name;
    is_gpu_ = true;
  } catch (const ResourceError& error) {
    if (choice.device != Device::automatic) throw;
    description_ = fmt::format("cpu ({})", error.what());
  }
}

std::unique_ptr<ForceField> Evaluator::make(potential::Model model,
                                            const potential::DeepPotentialOptions& options) const {
  if (!is_device()) return std::make_unique<potential::DeepPotential>(std::move(model), options);
  potential::DeviceForceField::Require require;
  if (is_gpu_) require = &require_room;
  return std::make_unique<potential::DeviceForceField>(std::move(model), options, std::nullopt, make_engine_,
                                                       std::move(require));
}

}  // namespace quintet::bridges
