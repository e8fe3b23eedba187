#pragma once

#include <cstdint>
#include <span>
#include <string>

/// Output of a task, and how its receiver checks that it is the right one.
namespace quintet::tasks {

/// The task that made it; an output is full of them.
struct Stamp {
  std::int64_t step = -1, point = -1;
  friend bool operator==(const Stamp&, const Stamp&) = default;
};

/// Whether the task (step, point) has got exactly what it needs: from each point of `needed`, in this order,
/// its output of step - 1 (`length` stamps), to the last byte, and nothing else.
[[nodiscard]] bool inputs_are_right(int step, std::span<const int> needed,
                                    std::span<const Stamp* const> inputs, int length);
/// The first thing that is wrong, in one line; "" if all is right. Slow.
[[nodiscard]] std::string what_is_wrong(int step, int point, std::span<const int> needed,
                                        std::span<const Stamp* const> inputs, int length);

}  // namespace quintet::tasks
