#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "io/config/schema.hpp"
#include "physics/kinetics/system.hpp"

/// Options of the fields: section `field` and its parts.
namespace quintet::vlasov {

struct FieldModelRow {
  kinetics::FieldModel value;
  std::string_view name;  ///< in YAML
  const char* words;      ///< at the top of the report
};
inline constexpr std::array<FieldModelRow, 3> field_models{
    {{kinetics::FieldModel::maxwell, "maxwell", "Maxwell's equations"},
     {kinetics::FieldModel::poisson, "poisson", "Poisson's equation"},
     {kinetics::FieldModel::none, "none", "none but what is given"}}};

/// Speeds of the waves that carry errors of the divergences away, in units of c.
struct CleaningOptions {
  FormulaText electric = "0", magnetic = "0";
  double damping = 2;  ///< MaxwellOptions::cleaning_damping
};
void describe(Schema& schema, CleaningOptions& options);

/// Vectors as formulas of x (and t): three components, or none.
struct VectorFieldOptions {
  std::vector<FormulaText> electric, magnetic;
};
void describe(Schema& schema, VectorFieldOptions& options);

/// Conditions of the fields at the ends of x that are not periodic.
struct FieldBoundaryOptions {
  std::vector<std::string> lower, upper;              ///< [cdim] or empty: see the page of all keys
  std::vector<FormulaText> lower_value, upper_value;  ///< of phi or its normal derivative, [cdim] or empty: 0
};
void describe(Schema& schema, FieldBoundaryOptions& options);

struct FieldOptions {
  kinetics::FieldModel model = kinetics::FieldModel::maxwell;
  FormulaText epsilon0 = "1", mu0 = "1";
  bool upwind = false;
  CleaningOptions cleaning;
  FieldBoundaryOptions boundary;
  VectorFieldOptions initial;        ///< electric empty: from the charge
  VectorFieldOptions external;       ///< of x and t
  std::vector<FormulaText> current;  ///< of x and t, three components or none
  FormulaText background_charge = "0";
};
void describe(Schema& schema, FieldOptions& options);

}  // namespace quintet::vlasov
