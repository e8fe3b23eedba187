#include "apps/application/run_directory.hpp"

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "io/log/error.hpp"

namespace quintet {
namespace fs = std::filesystem;
namespace {

constexpr auto run_files = {"run.log",       "run.h5",         "run.damaged.h5", "summary.json",
                            "report.html",   "checkpoints",    "emergency",      "trajectory.h5",
                            "candidates.h5", "model_devi.out", "selected.xyz",   "selected.json"};

fs::path requested_directory(const Request& request) {
  if (!request.output.empty()) return fs::absolute(request.output).lexically_normal();
  return fs::absolute(fs::path("runs") / fs::path(request.input).stem()).lexically_normal();
}

bool holds_run(const fs::path& directory) {
  for (const char* name : {"run.h5", "summary.json", "trajectory.h5"})
    if (fs::exists(directory / name)) return true;
  return fs::exists(directory / "checkpoints") && !fs::is_empty(directory / "checkpoints");
}

/// Files of a former run, and the stages of one that learns.
void remove_run(const fs::path& directory) {
  for (const char* name : run_files) fs::remove_all(directory / name);
  if (!fs::is_directory(directory)) return;
  std::vector<fs::path> stages;
  for (const auto& entry : fs::directory_iterator(directory))
    if (entry.path().filename().string().starts_with("iteration_")) stages.push_back(entry.path());
  for (const auto& path : stages) fs::remove_all(path);
}

/// Does the work on root; returns what is wrong, or nothing.
std::string prepare(const fs::path& directory, const Request& request) try {
  if (fs::exists(directory) && !fs::is_directory(directory))
    return fmt::format("The output directory '{}' is a file; name another one with --output",
                       directory.string());
  if (request.restart.empty() && !request.overwrite && !request.validate && holds_run(directory))
    return fmt::format(
        "The directory '{}' already holds a run; nothing was written over. Continue it with --restart "
        "auto, choose another directory with --output DIR, or replace it with --overwrite",
        directory.string());
  if (request.overwrite) remove_run(directory);
  if (request.validate) fs::remove_all(directory);
  fs::create_directories(directory);
  return "";
} catch (const fs::filesystem_error& error) {
  return fmt::format("The output directory '{}' cannot be used: {}. Name another one with --output",
                     directory.string(), error.code().message());
}

}  // namespace

std::string prepare_run_directory(const Comm& comm, const Request& request) {
  fs::path directory = requested_directory(request);
  if (request.validate) directory += ".validating";
  const std::string problem = comm.broadcast(comm.is_root() ? prepare(directory, request) : std::string());
  QUINTET_CHECK(problem.empty(), "{}", problem);
  return comm.broadcast(directory.string());
}

void remove_validation_directory(const std::string& directory) {
  std::error_code ignored;
  fs::remove_all(directory, ignored);
}

}  // namespace quintet
