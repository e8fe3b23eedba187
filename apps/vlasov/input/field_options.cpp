#include "apps/vlasov/input/field_options.hpp"

#include "io/config/table.hpp"

namespace quintet::vlasov {

namespace {

std::optional<std::string> three_or_none(const std::vector<FormulaText>& formulas, const char* key) {
  if (formulas.empty() || formulas.size() == 3) return std::nullopt;
  return std::string(key) + " needs three components";
}

}  // namespace

void describe(Schema& schema, CleaningOptions& options) {
  schema.formula("electric", options.electric,
                 "Speed in units of c at which errors of div E leave (Maxwell); 0: no cleaning");
  schema.formula("magnetic", options.magnetic, "The same of div B");
  schema
      .number("damping", options.damping,
              "Rate at which these waves fade, in units of their speed times 2 pi/L (L: the longest side of "
              "x); 2: the longest one critically; 0: not at all, then errors go round a periodic domain")
      .at_least(0);
}

void describe(Schema& schema, VectorFieldOptions& options) {
  schema.formulas("electric", options.electric, "Ex, Ey, Ez: three formulas, or none");
  schema.formulas("magnetic", options.magnetic, "Bx, By, Bz: three formulas, or none");
  schema.check([&options]() -> std::optional<std::string> {
    if (auto wrong = three_or_none(options.electric, "electric")) return wrong;
    return three_or_none(options.magnetic, "magnetic");
  });
}

void describe(Schema& schema, FieldBoundaryOptions& options) {
  constexpr const char* doc =
      "periodic; for Maxwell also conductor (where particles meet walls the default), open or fixed; for "
      "Poisson "
      "dirichlet (the default there) or neumann; one a direction";
  schema.texts("lower", options.lower, std::string("At the lower ends of x: ") + doc).length(0, 3);
  schema.texts("upper", options.upper, std::string("At the upper ends: ") + doc).length(0, 3);
  schema
      .formulas(
          "lower_value", options.lower_value,
          "Poisson: potential of a dirichlet wall, or its outward slope at a neumann one, formulas of t; "
          "absent: 0")
      .length(0, 3);
  schema.formulas("upper_value", options.upper_value, "The same at the upper ends").length(0, 3);
}

void describe(Schema& schema, FieldOptions& options) {
  schema
      .choice("model", options.model, choices_of(field_models),
              "Maxwell's equations, Poisson's for the electric field alone, or no field but the external one")
      .required()
      .on_restart(OnRestart::fixed);
  schema.formula("epsilon0", options.epsilon0, "Permittivity, above 0");
  schema.formula("mu0", options.mu0, "Permeability, above 0 (Maxwell)");
  schema.choice("flux", options.upwind, {{"central", false}, {"upwind", true}},
                "Maxwell: central conserves energy, upwind damps what the grid cannot show");
  schema.section("cleaning", options.cleaning, "Divergence cleaning");
  schema.section("boundary", options.boundary, "What fields meet at the ends of x");
  schema
      .section("initial", options.initial,
               "Fields at the start (Maxwell), formulas of x, y, z; electric absent: from the charge by "
               "Gauss's law; "
               "magnetic absent: 0")
      .on_restart(OnRestart::fixed);
  schema.section(
      "external", options.external,
      "External fields that act on the particles besides the computed ones, formulas of x, y, z, t");
  schema.formulas("current", options.current,
                  "External current density (Maxwell): three formulas of x, y, z, t, or none");
  schema.formula("background_charge", options.background_charge,
                 "Uniform, fixed charge density, such as that of immobile ions");
  schema.check([&options] { return three_or_none(options.current, "current"); });
}

}  // namespace quintet::vlasov
