#pragma once

#include <cstdint>
#include <span>

#include "surrogates/sequence/windows/time_step.hpp"

namespace quintet::sequence {

/// A marine heat wave as Hobday et al. (Prog. Oceanogr. 141, 227 (2016)) define it: warmer than 90 % of what
/// the season has there, for five days or more.
namespace heat_wave {

inline constexpr double share = 0.9;  ///< of the season's values that are colder
inline constexpr double days = 5;

/// Steps in a row that make a heat wave: those that span five days; one of a week or a month.
[[nodiscard]] int least_steps(const TimeStep& step);

/// Whether a step belongs to a heat wave: to `least` or more warm ones in a row. @param warm 1 where the
/// threshold is exceeded; beyond its ends nothing is known, and nothing is warm.
[[nodiscard]] bool is_within(std::span<const std::uint8_t> warm, int at, int least);

}  // namespace heat_wave
}  // namespace quintet::sequence
