#pragma once

#include <string_view>

namespace quintet {

/// Warn of a window or an interval of which a run will see nothing: `key` = `begins` lies beyond `end_key` =
/// `ends` (the same unit; steps or time). `missing` says what there will not be, "no mean and no spectrum".
/// A warning only: what is not sampled is told as absent ("-", null), and a restart may move the end.
void warn_if_beyond(std::string_view key, double begins, std::string_view end_key, double ends,
                    std::string_view missing);

}  // namespace quintet
