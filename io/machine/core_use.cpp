#include "io/machine/core_use.hpp"

#include <fstream>
#include <string>

#include <unistd.h>

namespace quintet {

std::optional<CoreUse> core_use() {
  std::ifstream stream("/proc/stat");
  std::string word;
  double user = 0, nice = 0, system = 0, idle = 0, waiting = 0, irq = 0, soft_irq = 0, stolen = 0;
  if (!(stream >> word >> user >> nice >> system >> idle >> waiting >> irq >> soft_irq >> stolen) ||
      word != "cpu")
    return {};
  const double ticks = sysconf(_SC_CLK_TCK);
  return CoreUse{(user + nice + system + irq + soft_irq) / ticks, stolen / ticks};
}

}  // namespace quintet
