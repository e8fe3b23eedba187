#include "apps/vlasov/setup/field_setup.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>

#include "io/config/table.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "physics/kinetics/fields/field_boundaries.hpp"
#include "physics/kinetics/initial/projection.hpp"

namespace quintet::vlasov {

using namespace kinetics;

namespace {

/// Components of a field given over x and t.
struct GivenField {
  std::vector<Formula> components;
  PhaseBlock block;
  Basis conf;

  /// Project component i at time t on component `to` of the field.
  void fill(std::size_t i, double t, const ConfField& out, int to) const {
    std::vector<double> values(block.grid.cdim + 1, t);
    const auto function = [&](std::span<const double> x) {
      std::copy(x.begin(), x.end(), values.begin());
      return components[i](values);
    };
    project_conf(block, conf, function, out, to, components[i].what());
  }
  [[nodiscard]] bool changes() const {
    return std::any_of(components.begin(), components.end(), [](const Formula& f) { return f.uses("t"); });
  }
};

/// What the field meets at each end, of a table whose rows begin with periodic and with what holds elsewhere
/// unless told.
template <class Table>
auto field_ends(const FieldBoundaryOptions& options, const PhaseGrid& grid, const Table& table) {
  using Value = std::remove_cvref_t<decltype(table.front().value)>;
  std::array<std::array<Value, 2>, 3> result{};
  for (int side = 0; side < 2; ++side) {
    const auto& given = side == 0 ? options.lower : options.upper;
    const std::string here = side == 0 ? "field.boundary.lower" : "field.boundary.upper";
    QUINTET_CHECK(given.empty() || std::ssize(given) == grid.cdim,
                  "{}: has {}; expected {}, one for each direction of x", here,
                  counted(given.size(), "value"), grid.cdim);
    for (int d = 0; d < grid.cdim; ++d) {
      const bool periodic = grid.periodic[d];
      auto& end = result[d][side];
      end = table[periodic ? 0 : 1].value;
      if (given.empty()) continue;
      end = row_given(table, given[d], fmt::format("{}.{}", here, d)).value;
      QUINTET_CHECK((end == Value::periodic) == periodic, "{}.{}: '{}', but the species are {} along {}",
                    here, d, given[d], periodic ? "periodic" : "not periodic", "xyz"[d]);
    }
  }
  return result;
}

void set_maxwell(const FieldOptions& options, const Formulas& formulas, const PhaseGrid& grid,
                 MaxwellOptions& maxwell) {
  maxwell.epsilon0 = formulas.positive("field.epsilon0");
  maxwell.mu0 = formulas.positive("field.mu0");
  maxwell.upwind = options.upwind;
  maxwell.electric_cleaning = formulas.number("field.cleaning.electric");
  maxwell.magnetic_cleaning = formulas.number("field.cleaning.magnetic");
  maxwell.cleaning_damping = options.cleaning.damping;
  maxwell.upwind_cleaning = false;  // inside, errors of div E come out several times as large with it
  QUINTET_CHECK(maxwell.electric_cleaning >= 0 && maxwell.magnetic_cleaning >= 0,
                "field.cleaning: {} and {}; expected speeds of at least 0", maxwell.electric_cleaning,
                maxwell.magnetic_cleaning);
  maxwell.boundary = field_ends(options.boundary, grid, field_boundaries);
}

double finite(const Formula& formula, double t) {
  const double value = formula(std::span<const double>(&t, 1));
  QUINTET_CHECK(std::isfinite(value), "{}: is {} at time {:.6g}; expected a finite number", formula.what(),
                value, t);
  return value;
}

// Walls whose values change with time are asked again at each stage; the others keep what they have now.
void set_poisson(const FieldOptions& options, const Formulas& formulas, const PhaseGrid& grid,
                 SystemOptions& system) {
  PoissonOptions& poisson = system.poisson;
  struct WallValue {
    std::size_t direction;
    int side;
    Formula formula;
  };
  std::vector<WallValue> changing;
  poisson.epsilon0 = formulas.positive("field.epsilon0");
  poisson.boundary = field_ends(options.boundary, grid, potential_walls);
  for (int side = 0; side < 2; ++side) {
    const auto& given = side == 0 ? options.boundary.lower_value : options.boundary.upper_value;
    const std::string key = side == 0 ? "field.boundary.lower_value" : "field.boundary.upper_value";
    QUINTET_CHECK(given.empty() || std::ssize(given) == grid.cdim,
                  "{}: has {}; expected {}, one for each direction of x", key, counted(given.size(), "value"),
                  grid.cdim);
    for (std::size_t d = 0; d < given.size(); ++d) {
      const Formula& formula = formulas.function(fmt::format("{}.{}", key, d));
      poisson.value[d][side] = finite(formula, 0);
      if (formula.uses("t")) changing.push_back({d, side, formula});
    }
  }
  if (changing.empty()) return;
  system.wall_values = [changing, value = poisson.value](double t) mutable {
    for (const auto& wall : changing) value[wall.direction][wall.side] = finite(wall.formula, t);
    return value;
  };
}

void check_model(const FieldOptions& options) {
  const bool has_initial = !options.initial.electric.empty() || !options.initial.magnetic.empty();
  if (options.model == FieldModel::maxwell) {
    QUINTET_CHECK(options.boundary.lower_value.empty() && options.boundary.upper_value.empty(),
                  "field.boundary: lower_value and upper_value belong to model: poisson");
    return;
  }
  QUINTET_CHECK(!has_initial,
                "field.initial: belongs to model: maxwell; with poisson E follows from the charge, and given "
                "fields go into field.external");
  QUINTET_CHECK(options.current.empty(), "field.current: belongs to model: maxwell");
}

/// A vector over x and t, of n components or none.
std::shared_ptr<GivenField> given_field(const std::string& key, std::size_t n, const Formulas& formulas,
                                        const PhaseBlock& block, const Basis& conf) {
  auto field = std::make_shared<GivenField>(GivenField{{}, block, conf});
  for (std::size_t i = 0; i < n; ++i)
    field->components.push_back(formulas.function(fmt::format("{}.{}", key, i)));
  return field;
}

}  // namespace

void set_field(const FieldOptions& options, const Formulas& formulas, const PhaseBasis& basis,
               const Decomposition& decomposition, const PhaseGrid& grid, SystemOptions& system) {
  check_model(options);
  system.field = options.model;
  system.background_charge = formulas.number("field.background_charge");
  if (options.model == FieldModel::maxwell) set_maxwell(options, formulas, grid, system.maxwell);
  if (options.model == FieldModel::poisson) set_poisson(options, formulas, grid, system);

  const PhaseBlock block = decomposition.block(grid);
  if (!options.external.electric.empty() || !options.external.magnetic.empty()) {
    const auto electric = given_field("field.external.electric", options.external.electric.size(), formulas,
                                      block, basis.conf());
    const auto magnetic = given_field("field.external.magnetic", options.external.magnetic.size(), formulas,
                                      block, basis.conf());
    system.external_field_changes = electric->changes() || magnetic->changes();
    system.external_field = [electric, magnetic](double t, const ConfField& out) {
      Kokkos::deep_copy(out, 0.0);
      for (std::size_t i = 0; i < electric->components.size(); ++i) electric->fill(i, t, out, i);
      for (std::size_t i = 0; i < magnetic->components.size(); ++i)
        magnetic->fill(i, t, out, static_cast<int>(i) + 3);
    };
  }
  if (!options.current.empty()) {
    const auto current = given_field("field.current", options.current.size(), formulas, block, basis.conf());
    system.external_current = [current](double t, const ConfField& out) {
      for (std::size_t i = 0; i < 3; ++i) current->fill(i, t, out, i);
    };
  }
}

void set_acceleration(const std::vector<SpeciesOptions>& species, const Formulas& formulas,
                      const PhaseBasis& basis, const Decomposition& decomposition, const PhaseGrid& grid,
                      SystemOptions& system) {
  if (std::all_of(species.begin(), species.end(), [](const auto& s) { return s.acceleration.empty(); }))
    return;
  std::vector<std::shared_ptr<GivenField>> given;
  for (std::size_t s = 0; s < species.size(); ++s) {
    given.push_back(given_field(fmt::format("species.{}.acceleration", s), species[s].acceleration.size(),
                                formulas, decomposition.block(grid), basis.conf()));
    system.acceleration_changes = system.acceleration_changes || given.back()->changes();
  }
  system.acceleration = [given](int s, double t, const ConfField& out) {
    Kokkos::deep_copy(out, 0.0);
    const auto& field = *given[s];
    for (std::size_t i = 0; i < field.components.size(); ++i) field.fill(i, t, out, i);
  };
}

ConfField charge_density(const Exec& exec, const SystemOptions& settings, VlasovSystem& system) {
  const auto& species = system.species();
  ConfField charge;
  for (int s = 0; s < std::ssize(species); ++s) {
    const ConfField density = system.moment(exec, s, Moment::m0);
    if (s == 0) charge = ConfField("vlasov::charge", density.extent(0), 1, density.extent(2));
    for (std::size_t c = 0; c < charge.extent(0); ++c)
      for (std::size_t m = 0; m < charge.extent(2); ++m)
        charge(c, 0, m) += species[s].charge * density(c, 0, m);
  }
  // The coefficient of the constant function: 1 = sqrt(2)^cdim w_0.
  const double one = std::pow(2.0, 0.5 * system.basis().cdim());
  for (std::size_t c = 0; c < charge.extent(0); ++c) charge(c, 0, 0) += settings.background_charge * one;
  return charge;
}

namespace {

/// E = -grad phi with epsilon0 laplace(phi) = -rho: Gauss's law holds as well as the basis can say it.
void electric_field_of_charge(const Exec& exec, const SystemOptions& settings, VlasovSystem& system) {
  PoissonOptions poisson;
  poisson.epsilon0 = settings.maxwell.epsilon0;
  for (std::size_t d = 0; d < 3; ++d)
    for (std::size_t side = 0; side < 2; ++side)
      poisson.boundary[d][side] = row_of(field_boundaries, settings.maxwell.boundary[d][side]).at_start;
  const ConfField charge = charge_density(exec, settings, system);
  const ConfField potential("vlasov::potential", charge.extent(0), 1, charge.extent(2));
  Poisson solver(system.decomposition(), system.species().front().grid, system.basis().conf(), poisson);
  solver.solve(exec, charge, potential);
  solver.electric_field(exec, potential, system.field());
  for (std::size_t c = 0; c < charge.extent(0);
       ++c)  // in Maxwell's field this component is the cleaning potential
    for (std::size_t m = 0; m < charge.extent(2); ++m) system.field()(c, field_phi, m) = 0;
}

}  // namespace

void fill_field(const FieldOptions& options, const Formulas& formulas, const SystemOptions& settings,
                VlasovSystem& system) {
  const PhaseBlock block = system.decomposition().block(system.species().front().grid);
  const auto fill = [&](const std::vector<FormulaText>& texts, const std::string& key, int first) {
    for (int i = 0; i < std::ssize(texts); ++i) {
      const Formula& formula = formulas.function(fmt::format("{}.{}", key, i));
      project_conf(block, system.basis().conf(), formula, system.field(), first + i, formula.what());
    }
  };
  if (options.initial.electric.empty()) electric_field_of_charge(Exec(), settings, system);
  fill(options.initial.electric, "field.initial.electric", field_ex);
  fill(options.initial.magnetic, "field.initial.magnetic", field_bx);
}

}  // namespace quintet::vlasov
