#pragma once

#include <string>
#include <vector>

namespace quintet {

/// "1.5 GB", "12 ms": three digits.
[[nodiscard]] std::string bytes_text(double bytes);
[[nodiscard]] std::string seconds_text(double seconds);

/// A table as text: columns as wide as their widest word, the first line their names. `remarks`: behind each
/// line.
[[nodiscard]] std::string columns_text(const std::vector<std::vector<std::string>>& lines,
                                       const std::vector<std::string>& remarks);

}  // namespace quintet
