#include "apps/quintet/submit/progress.hpp"

#include <filesystem>
#include <fstream>
#include <regex>

#include "io/config/scalar.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"

namespace quintet {
namespace fs = std::filesystem;
namespace {

/// The end of a text file: enough for the last line of progress.
std::string end_of_file(const fs::path& path) {
  constexpr std::streamoff most = 65536;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return {};
  const std::streamoff size = file.tellg();
  file.seekg(std::max<std::streamoff>(0, size - most));
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The last "step 120/3000 (4 %)  12.3 steps/s  0:20 left" of a log.
void take_log_line(const std::string& text, RunProgress& progress) {
  static const std::regex line(R"(step ([0-9]+)/([0-9]+) \([0-9]+ %\)\s+\S+ steps/s\s+(\S+) left)");
  for (std::sregex_iterator at(text.begin(), text.end(), line), end; at != end; ++at) {
    progress.step = to_integer((*at)[1].str());
    progress.last = to_integer((*at)[2].str());
    progress.left = (*at)[3].str() == "?" ? "" : (*at)[3].str();
  }
}

std::optional<std::int64_t> newest_checkpoint(const fs::path& directory) {
  std::optional<std::int64_t> newest;
  std::error_code ignored;
  static const std::regex name(R"(step_([0-9]+)\.h5)");
  for (const auto& entry : fs::directory_iterator(directory / "checkpoints", ignored)) {
    std::smatch found;
    const std::string file = entry.path().filename().string();
    if (!std::regex_match(file, found, name)) continue;
    // leading zeros: as an integer of base ten
    const std::int64_t step = std::strtoll(found[1].str().c_str(), nullptr, 10);
    if (!newest || step > *newest) newest = step;
  }
  return newest;
}

void take_summary(const fs::path& file, RunProgress& progress) {
  if (!fs::exists(file)) return;
  try {
    const Tree summary = read_yaml(file.string());
    const Tree* code = summary.find("exit_code");
    if (code == nullptr) return;
    const auto value = code->as_integer();
    progress.state = value == 0    ? "done"
                     : value == 75 ? "stopped early"
                                   : fmt::format("failed (exit code {})", value);
  } catch (const InputError&) {  // the run is writing it
  }
}

}  // namespace

RunProgress run_progress(const std::string& directory) {
  RunProgress progress{.state = "not begun"};
  const fs::path folder(directory);
  if (fs::exists(folder / "run.log")) progress.state = "running";
  take_log_line(end_of_file(folder / "run.log"), progress);
  const auto checkpoint = newest_checkpoint(folder);
  if (checkpoint && checkpoint > progress.step) progress.step = checkpoint;
  take_summary(folder / "summary.json", progress);
  if (progress.state == "done") progress.left.clear();
  std::ifstream ended(folder / "job.ended");
  std::getline(ended, progress.ended);
  return progress;
}

}  // namespace quintet
