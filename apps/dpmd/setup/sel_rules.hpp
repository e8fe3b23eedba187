#pragma once

#include "surrogates/potential/evaluation/environment.hpp"

namespace quintet::dpmd {

/// What becomes of neighbours beyond sel, by its names in input files.
struct SelRuleRow {
  potential::SelRule value;
  const char* name;
};
inline constexpr SelRuleRow sel_rules[] = {{potential::SelRule::per_type, "lammps"},
                                           {potential::SelRule::two_stage, "deepmd"}};

}  // namespace quintet::dpmd
