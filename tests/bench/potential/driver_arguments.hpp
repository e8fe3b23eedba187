#pragma once

#include <map>
#include <string>

#include "io/log/error.hpp"

/// What the drivers of the benchmarks share.
namespace quintet {

/// Options in pairs: --key value.
class DriverArguments {
 public:
  DriverArguments(int argc, char** argv) {
    QUINTET_CHECK(argc % 2 == 1, "options come in pairs: --key value");
    for (int i = 1; i + 1 < argc; i += 2) values_[argv[i]] = argv[i + 1];
  }
  [[nodiscard]] bool has(const std::string& key) const { return values_.count(key) > 0; }
  [[nodiscard]] std::string text(const std::string& key, const std::string& absent = "") const {
    const auto at = values_.find(key);
    return at == values_.end() ? absent : at->second;
  }
  [[nodiscard]] int number(const std::string& key, int absent) const {
    return has(key) ? std::stoi(text(key)) : absent;
  }

 private:
  std::map<std::string, std::string> values_;
};

}  // namespace quintet
