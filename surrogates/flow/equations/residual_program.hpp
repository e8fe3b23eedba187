#pragma once

#include <map>
#include <utility>
#include <vector>

#include "surrogates/flow/equations/expression.hpp"

namespace quintet::flow {

/// c + sum over fields of (a_f f + L_f f) + sum of b_r (register r): all that is linear with coefficients
/// that are numbers of a sample. Coefficients are expressions.
struct LinearForm {
  int constant = -1;
  struct Value {
    int field, coefficient;
  };
  struct Derivative {
    int field, wanted;  ///< number of the operator among RegisterProgram::wanted
  };
  struct Term {
    int source, coefficient;  ///< register
  };
  std::vector<Value> values;
  std::vector<Derivative> derivatives;
  std::vector<Term> terms;
};

/// An operator L_f with coefficients that are expressions: of first derivatives, then of second ones.
using SymbolicOperator = std::array<int, n_axes + n_second>;  ///< expression, -1 for none

/// A linear form of one sample: what of a point's jet and of other registers is added up.
struct NumericForm {
  struct Entry {
    int place;  ///< channel * n_fields + field of the jet, or register
    double coefficient;
  };
  double constant = 0;
  std::vector<Entry> jets;
  std::vector<Entry> registers;  ///< the terms of the LinearForm, in their order
};

/// One instruction: a register made of earlier ones.
struct Instruction {
  ExpressionKind kind = ExpressionKind::add;  ///< add stands for a linear form
  int index = 0;                              ///< form, axis, or function
  int x = -1, y = -1;                         ///< registers
};

/// Equations as a straight-line program over points.
struct ResidualProgram {
  std::vector<Instruction> instructions;  ///< number i writes register i
  std::vector<LinearForm> forms;
  std::vector<SymbolicOperator> wanted;
  std::vector<int> results;  ///< [equation] register
  bool uses_coordinates = false;
};

/// Translate the residuals, each an expression of the graph, which grows by coefficients.
[[nodiscard]] ResidualProgram make_program(Expressions& graph, const std::vector<int>& residuals);

}  // namespace quintet::flow
