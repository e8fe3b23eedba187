#include "apps/quintet/submit/progress.hpp"

#include <filesystem>
#include <fstream>

#include "io/config/scalar.hpp"
#include "io/config/tree.hpp"
#include "io/hdf5/checkpoint.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"

namespace quintet {
namespace fs = std::filesystem;
namespace {

/// A file that the run may never have written, or not in our way.
std::optional<Tree> read_if_there(const fs::path& file) {
  if (!fs::exists(file)) return std::nullopt;
  try {
    Tree tree = read_yaml(file.string());
    if (tree.is_map()) return tree;
  } catch (const InputError&) {
  }
  return std::nullopt;
}

std::optional<double> number_at(const Tree& tree, const char* key) {
  const Tree* found = tree.find(key);
  if (found == nullptr || !found->is_scalar() || found->is_null()) return std::nullopt;
  return to_number(found->as_text());
}

/// See apps/application/life/progress.hpp.
void take_progress(const fs::path& file, RunProgress& progress) {
  const auto tree = read_if_there(file);
  if (!tree) return;
  const auto whole = [&](const char* key) -> std::optional<std::int64_t> {
    const Tree* found = tree->find(key);
    return found != nullptr && found->is_scalar() ? to_integer(found->as_text()) : std::nullopt;
  };
  progress.step = whole("step");
  progress.last = whole("last_step");
  progress.steps_per_s = number_at(*tree, "steps_per_s");
  progress.left_s = number_at(*tree, "left_s");
  progress.written = number_at(*tree, "written_unix_s");
}

void take_summary(const fs::path& file, RunProgress& progress) {
  const auto summary = read_if_there(file);
  const Tree* code = summary ? summary->find("exit_code") : nullptr;
  if (code == nullptr) return;
  const auto value = code->as_integer();
  progress.state = value == 0    ? "done"
                   : value == 75 ? "stopped early"
                                 : fmt::format("failed (exit code {})", value);
}

/// By the clock of the file system.
bool is_newer(const fs::path& file, const fs::path& other) {
  std::error_code absent, other_absent;
  const auto time = fs::last_write_time(file, absent), than = fs::last_write_time(other, other_absent);
  return !absent && !other_absent && time > than;
}

}  // namespace

RunProgress run_progress(const std::string& directory) {
  RunProgress progress{.state = "not begun"};
  const fs::path folder(directory);
  if (fs::exists(folder / "run.log")) progress.state = "running";
  take_progress(folder / "progress.json", progress);
  const auto checkpoint = hdf5::newest_step((folder / "checkpoints").string());
  if (checkpoint && checkpoint > progress.step) progress.step = checkpoint;
  // Of the job before, where the one that goes on has told its step since.
  if (!is_newer(folder / "progress.json", folder / "summary.json"))
    take_summary(folder / "summary.json", progress);
  if (progress.state == "done") progress.left_s.reset();
  std::ifstream ended(folder / "job.ended");
  std::getline(ended, progress.ended);
  return progress;
}

}  // namespace quintet
