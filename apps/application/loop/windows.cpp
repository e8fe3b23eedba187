#include "apps/application/loop/windows.hpp"

#include "io/log/log.hpp"

namespace quintet {

void warn_if_beyond(std::string_view key, double begins, std::string_view end_key, double ends,
                    std::string_view missing) {
  if (begins <= ends) return;
  log::warning("{} = {:g} exceeds {} = {:g}: there will be {}", key, begins, end_key, ends, missing);
}

}  // namespace quintet
