#include "io/machine/machine.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "io/config/schema.hpp"
#include "io/config/suggest.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "io/machine/detect.hpp"

namespace quintet {
namespace fs = std::filesystem;
namespace {

bool is_path(const std::string& name) {
  return name.find('/') != std::string::npos || name.ends_with(".yaml") || name.ends_with(".yml");
}

/// Names of the machines in all folders.
std::vector<std::string> known_machines() {
  std::vector<std::string> names;
  for (const auto& folder : machine_folders())
    for (const auto& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace

std::vector<std::string> machine_folders() {
  std::error_code ignored;
  std::vector<fs::path> starts;
  for (fs::path at = fs::read_symlink("/proc/self/exe", ignored).parent_path(); at.has_relative_path();
       at = at.parent_path())
    starts.push_back(at);
  starts.push_back(fs::current_path(ignored));
  std::vector<std::string> folders;
  for (const auto& start : starts)
    for (const char* place : {"configs/machines", "share/quintet/machines"})
      if (const auto folder = (start / place).string();
          fs::is_directory(folder, ignored) &&
          std::find(folders.begin(), folders.end(), folder) == folders.end())
        folders.push_back(folder);
  return folders;
}

std::string machine_file(const std::string& name) {
  if (is_path(name)) return name;
  const auto folders = machine_folders();
  for (const auto& folder : folders)
    if (const fs::path file = fs::path(folder) / (name + ".yaml"); fs::exists(file)) return file.string();
  const auto known = known_machines();
  const std::string near = did_you_mean(name, known);
  throw InputError(fmt::format(
      "There is no machine '{}'{} There {}. Give the path of a file, or write one like these (searched: {})",
      name, near.empty() ? "." : near, known.empty() ? "is none" : "are: " + name_list(known),
      folders.empty() ? "configs/machines of no folder above this program" : name_list(folders)));
}

Machine read_machine(const std::string& name) {
  Machine machine;
  parse_options(read_yaml(machine_file(name)), described(machine));
  if (machine.detect) fill_in(machine, detected_machine());
  return machine;
}

std::string machine_text(const Machine& machine) {
  Machine copy = machine;
  return print_options(described(copy));
}

const MachineLink* find_link(const Machine& machine, LinkLevel level, std::int64_t ranks) {
  const MachineLink* best = nullptr;
  const auto reach = [](const MachineLink& link) { return link.ranks_max.value_or(INT64_MAX); };
  for (const auto& link : machine.links)
    if (link.level == level && reach(link) >= ranks && (best == nullptr || reach(link) < reach(*best)))
      best = &link;
  return best;
}

const MachineQueue& queue_named(const Machine& machine, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& queue : machine.queues) {
    if (queue.name == name) return queue;
    names.push_back(queue.name);
  }
  throw InputError(fmt::format("{} has no queue '{}'{}; it has {}", machine.name, name,
                               did_you_mean(name, names), names.empty() ? "none" : name_list(names)));
}

}  // namespace quintet
