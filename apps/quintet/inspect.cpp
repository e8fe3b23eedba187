#include <cstdio>

#include "apps/quintet/commands.hpp"
#include "io/hdf5/file.hpp"

namespace quintet::commands {

void inspect(const Comm& comm, const Application::Arguments& arguments) {
  const std::string text = hdf5::inspect(comm, arguments[0].front());
  if (comm.is_root()) std::fputs(text.c_str(), stdout);
}

}  // namespace quintet::commands
