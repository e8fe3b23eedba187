#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

/// Values that the runs of a warm program (apps/application/cli/warm.hpp) compute once: each is a process of
/// its own, and those forked later take what one has made. A program that is started by itself keeps nothing.
namespace quintet {

/// Have room for values of this process and of those that it forks from here on. Without memory for it
/// nothing is kept.
void keep_values(std::size_t bytes);

/// make(), or to the last bit what it returned when a process of this warm program called it with this key.
/// The key holds all that the values depend on; it is kept and compared whole. A process that dies while it
/// adds values leaves none; nobody else's can be written over by mistake.
[[nodiscard]] std::vector<double> made_once(std::string_view key,
                                            const std::function<std::vector<double>()>& make);

/// Put the bytes of numbers behind a key.
void append_bytes(std::string& key, const std::vector<double>& values);

}  // namespace quintet
