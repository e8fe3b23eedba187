#include "io/device/device.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <optional>
#include <vector>

#include <fmt/ranges.h>

#include "io/config/schema.hpp"
#include "io/config/table.hpp"
#include "io/device/device_library.hpp"
#include "io/device/device_space.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/gpu_aware.hpp"
#include "io/parallel/together.hpp"

namespace quintet {
namespace {

/// Where the library is unless a variable says otherwise: in ../lib beside the program.
std::filesystem::path library_folder() {
  std::error_code error;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", error);
  return program.parent_path().parent_path() / "lib";
}

}  // namespace

void describe_device(Schema& schema, Device& device) {
  schema
      .choice("device", device, choices_of(device_names),
              "What computes the hot path: the cores of the ranks, a GPU for each rank (ranks of a node "
              "share its GPUs), a GPU "
              "where there is one; or, to compare with, the GPU's algorithms on the host's cores")
      .on_restart(OnRestart::free);
}

Device device_with_torch(Device wanted, bool torch_has_gpus) {
  if (torch_has_gpus || wanted == Device::cpu || wanted == Device::portable) return wanted;
  if (wanted == Device::gpu)
    throw ResourceError(
        "device: gpu: the LibTorch of this program computes on CPUs alone; build with one for CUDA (README, "
        "GPUs), or take device: cpu");
  log::info("device: cpu, since the LibTorch of this program computes on CPUs alone");
  return Device::cpu;
}

struct DeviceSession::Implementation {
  Device device = Device::cpu;
  std::string description = "cpu";
  bool sends_directly = false;
  int number = 0, count = 0;
  std::array<char, sizeof DeviceProperties::id> id{};
  void* stream = nullptr;
  std::optional<Comm> all, sharers;      ///< of a GPU: the session's ranks, those with the same one
  std::optional<DeviceLibrary> library;  ///< none: the program's own engines
  bool started = false;                  ///< what the library has to stop

  Implementation() = default;
  Implementation(const Implementation&) = delete;
  ~Implementation() {
    if (started) library->stop();
  }

  /// Choose whether messages leave from the device's memory. Any MPI reads the memory of device engines on
  /// the host, so only the variable can forbid it there.
  void choose_way_of_messages(const Comm& comm) {
    const GpuAware mpi = gpu_aware_mpi();
    sends_directly =
        device == Device::gpu ? mpi.yes : mpi.yes || std::getenv("QUINTET_GPU_AWARE_MPI") == nullptr;
    if (comm.size() == 1) return;
    description += sends_directly ? "; MPI reads its memory" : "; MPI does not read its memory";
    if (device == Device::gpu || !sends_directly) description += fmt::format(" ({})", mpi.why);
  }

  /// Collective.
  void find_sharers(const Comm& comm) {
    if (device != Device::gpu) return;
    const Comm node = comm.node();
    const auto ids = node.all_gather(id);
    const auto first = std::find(ids.begin(), ids.end(), id) - ids.begin();
    all = comm;
    sharers = node.split(first, node.rank());
  }

  void start(int wanted_number, int node_size, bool is_root) {
    const DeviceProperties properties =
        library ? library->start(wanted_number) : start_device(&quintet_device_start, wanted_number);
    started = device == Device::gpu;
    description = properties.name;
    number = properties.number;
    if (device == Device::gpu) count = properties.n_devices;
    stream = properties.stream;
    std::copy(std::begin(properties.id), std::end(properties.id), id.begin());
    if (device == Device::gpu && node_size > properties.n_devices && is_root &&
        std::getenv("CUDA_MPS_PIPE_DIRECTORY") == nullptr)
      log::warning(
          "{} ranks share {} on this node, and take turns on {} unless CUDA's multi-process service "
          "runs there: one rank a GPU is "
          "usually fastest",
          node_size, counted(properties.n_devices, "GPU"), properties.n_devices == 1 ? "it" : "them");
  }
};

DeviceSession::DeviceSession() : implementation_(std::make_shared<Implementation>()) {}

DeviceSession::DeviceSession(Device wanted, const Comm& comm)
    : implementation_(std::make_shared<Implementation>()) {
  auto& mine = *implementation_;
  const int node_size = comm.node_size(), node_rank = comm.node_rank();
  if (wanted == Device::cpu) return;
  const auto start = [&](Device device) {
    together(comm, [&] {
      mine.device = device;
      if (device == Device::gpu) mine.library.emplace(library_folder());
      mine.start(node_rank, node_size, comm.is_root());
      mine.choose_way_of_messages(comm);
    });
    mine.find_sharers(comm);
  };
  if (wanted != Device::automatic) {
    start(wanted);
    return;
  }
  try {
    start(Device::gpu);
  } catch (const ResourceError& error) {
    mine.device = Device::cpu;
    mine.description = fmt::format("cpu ({})", error.what());
  }
}

Device DeviceSession::device() const { return implementation_->device; }
bool DeviceSession::sends_directly() const { return implementation_->sends_directly; }
int DeviceSession::number() const { return implementation_->number; }
int DeviceSession::count() const { return implementation_->count; }
void* DeviceSession::stream() const { return implementation_->stream; }
const std::string& DeviceSession::description() const { return implementation_->description; }

void* DeviceSession::find(const char* name, void* here) const {
  const auto& mine = *implementation_;
  return mine.device == Device::gpu ? mine.library->find(name) : here;
}

double DeviceSession::memory_of_a_rank() const {
  const auto& mine = *implementation_;
  if (mine.device != Device::gpu) return std::numeric_limits<double>::infinity();
  return mine.all->minimum(mine.library->free_bytes() / mine.sharers->size());
}

void DeviceSession::require_bytes(double bytes, const std::string& what) const {
  const auto& mine = *implementation_;
  if (mine.device != Device::gpu || mine.all->maximum(bytes) <= 0) return;
  // All have asked before anyone looks, and all have looked before anyone takes memory.
  const std::vector<double> needs = mine.sharers->all_gather(bytes);
  const double free = mine.sharers->minimum(mine.library->free_bytes());
  double sum = 0;
  for (const double need : needs) sum += need;
  std::string refusal;
  if (sum > free) {
    std::vector<std::string> each;
    for (const double need : needs) each.push_back(fmt::format("{:.2f}", need / 1e9));
    const auto by = each.size() == 1 ? ""
                                     : fmt::format(" by the {} ranks that share it ({})", each.size(),
                                                   fmt::join(each, " + "));
    refusal = fmt::format(
        "{}: {:.2f} GB of the GPU's memory are needed{}, {:.2f} GB are free. Take more GPUs, or device: cpu",
        what, sum / 1e9, by, free / 1e9);
  }
  throw_together<ResourceError>(*mine.all, refusal);
}

}  // namespace quintet
