#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "surrogates/flow/equations/differential_operator.hpp"
#include "surrogates/flow/equations/parser.hpp"

namespace quintet::flow {

struct NumericForm;
struct ResidualProgram;

/// Residuals of equations at points, and their adjoint; made by PdeSystem::residuals().
///
/// Jets hold the fields and what each operator makes of each field, [point][1 + operator][field], channel 0
/// the values; in physical coordinates and units. Several threads may use one object at once.
class Residuals {
 public:
  [[nodiscard]] int n_equations() const;
  [[nodiscard]] int n_fields() const;
  /// Operators of each sample; a jet has 1 + n_operators() channels.
  [[nodiscard]] int n_operators() const;
  [[nodiscard]] std::span<const DifferentialOperator> operators(int sample) const;
  /// Whether coordinates occur in the equations; if not they need not be given.
  [[nodiscard]] bool uses_coordinates() const;

  /// residuals [point][equation] of jets [point][1 + operator][field] at coordinates [point][axis].
  template <class Real>
  void evaluate(int sample, int n_points, const Real* jets, const double* coordinates, Real* residuals) const;
  /// jets_bar += (d residuals/d jets)^T residuals_bar.
  template <class Real>
  void add_adjoint(int sample, int n_points, const Real* jets, const double* coordinates,
                   const Real* residuals_bar, Real* jets_bar) const;

  /// The program that evaluate() goes through, and the linear forms of a sample: for who goes through it
  /// elsewhere.
  [[nodiscard]] const ResidualProgram& program() const;
  [[nodiscard]] std::span<const NumericForm> forms(int sample) const;

  struct Implementation;
  explicit Residuals(std::shared_ptr<const Implementation> implementation)
      : implementation_(std::move(implementation)) {}

 private:
  std::shared_ptr<const Implementation> implementation_;
};

/// Equations written as text, parsed and checked once.
///
/// Each equation becomes sums of derivatives with constant coefficients, and what is not linear in them. A
/// sum of derivatives of one field is one operator, L = d_t - P (d_xx + d_zz) for
/// dt(b) + u*dx(b) + w*dz(b) - P*(dxx(b) + dzz(b)), beside d_x and d_z; the fewest operators that give all of
/// these are the channels that a decoder must carry.
class PdeSystem {
 public:
  /// Throws InputError: what, the text, the character and what was expected there; for an equation without a
  /// field, unless `without_fields` lets terms of equations in.
  PdeSystem(const std::vector<EquationText>& equations, const EquationNames& names,
            bool without_fields = false);

  [[nodiscard]] int n_equations() const;
  [[nodiscard]] const std::vector<EquationText>& equations() const;
  [[nodiscard]] const EquationNames& names() const;
  /// Whether an equation mentions this field (or a derivative of it).
  [[nodiscard]] bool uses_field(int field) const;
  /// Whether the field itself stands in an equation, not its derivatives alone.
  [[nodiscard]] bool uses_value(int field) const;

  /// Ready for samples with these constants: [sample][constant], in the order of the names. Throws InputError
  /// if a coefficient is not finite for some sample.
  [[nodiscard]] Residuals residuals(std::span<const std::vector<double>> constants) const;

  struct Implementation;

 private:
  std::shared_ptr<const Implementation> implementation_;
};

}  // namespace quintet::flow
