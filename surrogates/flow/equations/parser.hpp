#pragma once

#include <array>
#include <string>
#include <vector>

#include "surrogates/flow/equations/expression.hpp"

namespace quintet::flow {

/// An equation as the user wrote it.
struct EquationText {
  std::string name;  ///< "buoyancy"
  std::string text;  ///< "dt(b) + u*dx(b) = P*dxx(b)"
  std::string what;  ///< begins messages: "input.yaml:12:5: equations.buoyancy"
};

/// Names that equations may use.
struct EquationNames {
  std::vector<std::string> fields;
  std::array<std::string, n_axes> axes;  ///< time first, or space; "z" is differentiated along by dz()
  std::vector<std::string> constants;    ///< numbers of each sample; pi and e are known besides
};

/// The residual of an equation, left minus right side, as an expression.
///
/// Operators + - * / ^ and parentheses as in formulas; functions of expression_functions(); derivatives
/// d<axis>(...) and d<axis><axis>(...) of any expression, by the rules of calculus down to first and second
/// derivatives of fields. A name is a field's, an axis' (the coordinate) or a constant's. Throws InputError:
/// what, the text, the character and what was expected there.
[[nodiscard]] int parse_equation(const EquationText& equation, const EquationNames& names,
                                 Expressions& graph);

/// The terms that a residual adds up, signs in front: "dt(b) - P*dxx(b) = q" has "dt(b)", "-P*dxx(b)", "-q".
/// Parentheses are left as they are.
[[nodiscard]] std::vector<std::string> terms_of(const std::string& equation);

/// Throws InputError if a name means two things (a field and an axis, say) or two axes make one derivative
/// ambiguous.
void check_names(const EquationNames& names);

}  // namespace quintet::flow
