#pragma once

#include <string>
#include <vector>

#include "io/config/tree.hpp"

/// DeePMD-kit's input.json as our YAML.
namespace quintet::dpmd {

/// A translated input file.
struct Translation {
  Tree options;                       ///< for `dpmd train`
  std::vector<std::string> warnings;  ///< what has no counterpart and changes nothing or little
};

/// Translate a training input of DeePMD-kit (2.x, 3.x) key by key.
///
/// Keys that are not written keep their defaults, which are DeePMD-kit's. Throws InputError (place, key) for
/// what would train another model: descriptors other than se_e2_a, se_e2_r, se_e3 and dpa1 without attention
/// layers, frame parameters, spin, other losses or optimisers; and for keys that DeePMD-kit does not have,
/// with the one that was meant. Keys without a counterpart that change the result little are in `warnings`.
[[nodiscard]] Translation translate_deepmd(const Tree& input);

/// `dpmd train --from-deepmd INPUT.json`: write OUTPUT (default: INPUT's name with .yaml, in the working
/// folder). Systems named relative to the input's folder are named relative to the output's. Nothing is
/// written over.
void from_deepmd(const std::string& input, const std::string& output);

}  // namespace quintet::dpmd
