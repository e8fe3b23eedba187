#include <cerrno>
#include <cstring>

#include <unistd.h>

#include "apps/quintet/commands.hpp"
#include "apps/quintet/owner/owner.hpp"
#include "io/log/error.hpp"

namespace quintet::commands {

void schema(const Application::Arguments& arguments) {
  std::string program = sibling_named(arguments[0].front()).executable, word = "schema";
  std::string command = arguments[1].empty() ? "" : arguments[1].front();
  char* words[] = {program.data(), word.data(), command.empty() ? nullptr : command.data(), nullptr};
  execv(program.c_str(), words);
  throw InputError(fmt::format("{} cannot be started: {}", program, std::strerror(errno)));
}

}  // namespace quintet::commands
