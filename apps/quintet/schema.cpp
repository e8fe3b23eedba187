#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include <unistd.h>

#include "apps/quintet/commands.hpp"
#include "io/config/suggest.hpp"
#include "io/log/error.hpp"

namespace quintet::commands {
namespace fs = std::filesystem;
namespace {

constexpr auto applications = {"dpmd", "meshfreeflow", "podlstm", "submatrix", "vlasov"};

/// Those of the suite's applications that are installed beside this program.
std::vector<std::string> siblings(const fs::path& folder) {
  std::vector<std::string> names;
  for (const char* name : applications)
    if (access((folder / name).c_str(), X_OK) == 0) names.emplace_back(name);
  return names;
}

}  // namespace

void schema(const Application::Arguments& arguments) {
  const std::string& application = arguments[0].front();
  const fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  const auto names = siblings(folder);
  QUINTET_CHECK(std::find(names.begin(), names.end(), application) != names.end(),
                "There is no application '{}' beside quintet{}; there {}", application,
                did_you_mean(application, names), names.empty() ? "is none" : "are: " + name_list(names));

  std::string program = (folder / application).string(), word = "schema";
  std::string command = arguments[1].empty() ? "" : arguments[1].front();
  char* words[] = {program.data(), word.data(), command.empty() ? nullptr : command.data(), nullptr};
  execv(program.c_str(), words);
  throw InputError(fmt::format("{} cannot be started: {}", program, std::strerror(errno)));
}

}  // namespace quintet::commands
