#include "physics/tasks/stamp.hpp"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace quintet::tasks {
namespace {

bool is_full_of(const Stamp* input, int length, const Stamp& expected) {
  std::int64_t differs = 0;  // of all of them: a loop without exits is vectorised
  for (int k = 0; k < length; ++k)
    differs |= (input[k].step ^ expected.step) | (input[k].point ^ expected.point);
  return differs == 0;
}

}  // namespace

bool inputs_are_right(int step, std::span<const int> needed, std::span<const Stamp* const> inputs,
                      int length) {
  if (inputs.size() != needed.size()) return false;
  for (std::size_t i = 0; i < needed.size(); ++i)
    if (!is_full_of(inputs[i], length, {step - 1, needed[i]})) return false;
  return true;
}

std::string what_is_wrong(int step, int point, std::span<const int> needed,
                          std::span<const Stamp* const> inputs, int length) {
  const auto task = fmt::format("Task (step {}, point {})", step, point);
  if (inputs.size() != needed.size())
    return fmt::format("{}: {} input: {} came; needed are {}, from the points [{}] of step {}", task,
                       inputs.size() < needed.size() ? "a missing" : "a surplus", inputs.size(),
                       needed.size(), fmt::join(needed, ", "), step - 1);
  for (std::size_t i = 0; i < needed.size(); ++i) {
    const Stamp expected{step - 1, needed[i]};
    const Stamp* wrong = std::find_if_not(inputs[i], inputs[i] + length,
                                          [&](const Stamp& stamp) { return stamp == expected; });
    if (wrong == inputs[i] + length) continue;
    const auto* found = reinterpret_cast<const std::byte*>(wrong);
    const auto* meant = reinterpret_cast<const std::byte*>(&expected);
    const auto at = std::mismatch(found, found + sizeof(Stamp), meant).first -
                    reinterpret_cast<const std::byte*>(inputs[i]);
    return fmt::format(
        "{}: byte {} of the {} bytes from point {} is wrong: expected (step {}, point {}), found (step "
        "{}, point {})",
        task, at, length * sizeof(Stamp), needed[i], expected.step, expected.point, wrong->step,
        wrong->point);
  }
  return "";
}

}  // namespace quintet::tasks
