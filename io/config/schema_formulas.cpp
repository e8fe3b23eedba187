#include "io/config/schema_formulas.hpp"

#include <fmt/format.h>

#include "io/config/schema_data.hpp"

namespace quintet {

namespace {

void collect_formulas(const Schema::Section& section, const std::string& path,
                      std::vector<KeyedFormula>& formulas) {
  for (const auto& key : section.keys) {
    const auto full = joined_path(path, key.key);
    const auto add = [&](const std::string& name, const Tree& value) {
      if (!value.is_scalar() || (value.as_text().empty() && value.location().line == 0)) return;
      FormulaText formula(value.as_text());
      formula.place = value.location();
      formulas.push_back({name, std::move(formula)});
    };
    if (key.kind == Kind::formula && key.is_list) {
      for (std::size_t i = 0; i < key.current.items().size(); ++i)
        add(fmt::format("{}.{}", full, i), key.current.items()[i]);
    } else if (key.kind == Kind::formula && key.is_map) {
      for (const auto& [name, value] : key.current.entries()) add(full + "." + name, value);
    } else if (key.kind == Kind::formula) {
      add(full, key.current);
    }
    if (key.is_sample) continue;
    for (std::size_t i = 0; i < key.nested.size(); ++i)
      collect_formulas(*key.nested[i], key.is_list ? fmt::format("{}.{}", full, i) : full, formulas);
  }
}

}  // namespace

std::vector<KeyedFormula> formulas_in(const Describe& describe) {
  std::vector<KeyedFormula> formulas;
  collect_formulas(*collect(describe.current()), "", formulas);
  return formulas;
}

}  // namespace quintet
