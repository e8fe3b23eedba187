#include "apps/vlasov/health.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "physics/kinetics/projection_nodes.hpp"

namespace quintet::vlasov {

using namespace kinetics;

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// The text of the rank with the greatest weight, on all ranks; "" where no weight is above 0. Collective.
std::string heaviest(const Comm& comm, double weight, const std::string& text) {
  const auto all = comm.all_gather(weight);
  const auto greatest = std::max_element(all.begin(), all.end());
  if (!(*greatest > 0)) return "";
  return comm.broadcast(text, static_cast<int>(greatest - all.begin()));
}

/// "cell (3, 17) at x = (0.5), v = (1)": a cell of phase space by its global indices, and its centre.
std::string cell_text(const PhaseGrid& grid, const std::array<int, 6>& cell, int dim) {
  std::array<double, 6> centre{};
  for (int d = 0; d < dim; ++d) centre[at(d)] = grid.centre(d, cell[at(d)]);
  return fmt::format("cell ({}) at {}", fmt::join(cell.begin(), cell.begin() + dim, ", "),
                     place_text(grid, std::span<const double>(centre.data(), at(dim))));
}

/// This rank's first cell of f with a number that is none, or "".
std::string unusable_f(const Distribution& f) {
  const auto& block = f.block;
  for (int conf = 0; conf < block.n_conf(); ++conf)
    for (int row = 0; row < block.n_rows(); ++row)
      for (int last = 0; last < block.n_last(); ++last)
        for (int m = 0; m < f.n_modes; ++m)
          if (!std::isfinite(f.at(conf, row, last, m)))
            return cell_text(block.grid, global_cell(block, conf, row, last), block.grid.dim());
  return "";
}

/// This rank's first cell of the field with a number that is none, or "".
std::string unusable_field(const PhaseBlock& block, const ConfField& field) {
  for (int conf = 0; conf < block.n_conf(); ++conf)
    for (std::size_t c = 0; c < field.extent(1); ++c)
      for (std::size_t m = 0; m < field.extent(2); ++m)
        if (!std::isfinite(field(at(conf), c, m)))
          return cell_text(block.grid, global_cell(block, conf, 0, 0), block.grid.cdim);
  return "";
}

/// The first of all ranks' non-empty texts. Collective.
std::string any_of_them(const Comm& comm, const std::string& text) {
  return heaviest(comm, text.empty() ? 0 : 1, text);
}

/// "f of 'electrons' is not finite in cell ...", or "". Collective.
std::string not_finite(const Setup& setup, VlasovSystem& system) {
  const Comm& comm = setup.decomposition.comm();
  for (std::size_t s = 0; s < setup.species.size(); ++s)
    if (const auto place = any_of_them(comm, unusable_f(system.f(static_cast<int>(s)))); !place.empty())
      return fmt::format("f of '{}' is not finite in {}", setup.species[s].name, place);
  const auto place = any_of_them(comm, unusable_field(system.f(0).block, system.field()));
  return place.empty() ? "" : fmt::format("the field is not finite in {}", place);
}

std::string when(const VlasovSystem& system) {
  return fmt::format("step {}, time {:.6g}", system.step(), system.time());
}

void check_negative(const Setup& setup, int s, double limit, VlasovSystem& system) {
  const Comm& comm = setup.decomposition.comm();
  const Distribution& f = system.f(s);
  const PhaseIntegrals here = phase_integrals(Exec(), setup.basis, f);
  const double greatest = comm.maximum(here.greatest_mean);
  const auto text = fmt::format(
      "{}: f of '{}' is far below zero in {}: its mean is {:.4g}, the greatest {:.4g} (limits.negative_f = "
      "{:g}). More "
      "cells, lower order or some collisions help",
      when(system), setup.species[at(s)].name,
      cell_text(f.block.grid, global_cell(f.block, here.least_conf, here.least_row, here.least_last),
                f.block.grid.dim()),
      here.least_mean, greatest, limit);
  const auto worst = heaviest(comm, here.least_mean < -limit * greatest ? -here.least_mean : 0, text);
  if (!worst.empty()) throw NumericalError(worst);
}

}  // namespace

void check_health(const Sample& sample, const Setup& setup, const LimitOptions& limits,
                  VlasovSystem& system) {
  bool finite = std::isfinite(sample.energy());
  for (const auto& species : sample.species)
    finite = finite && std::isfinite(species.m0) && std::isfinite(species.l2);
  if (!finite) {
    const auto place = not_finite(setup, system);
    throw NumericalError(fmt::format("{}: {}", when(system),
                                     place.empty() ? "the energy is out of the range of a double" : place));
  }
  for (std::size_t s = 0; s < sample.species.size(); ++s)
    if (sample.species[s].least_mean < 0)
      check_negative(setup, static_cast<int>(s), limits.negative_f, system);
}

std::string trouble_spot(const Setup& setup, VlasovSystem& system) {
  if (auto text = not_finite(setup, system); !text.empty()) return text;
  const PhaseBlock& block = system.f(0).block;
  const ConfField& field = system.field();
  double strongest = 0;
  int strongest_cell = 0;
  for (int conf = 0; conf < block.n_conf(); ++conf)
    for (std::size_t c = 0; c < 6; ++c)
      if (const double value = std::abs(field(at(conf), c, 0)); value > strongest) {
        strongest = value;
        strongest_cell = conf;
      }
  const auto place =
      heaviest(setup.decomposition.comm(), strongest,
               cell_text(block.grid, global_cell(block, strongest_cell, 0, 0), block.grid.cdim));
  return place.empty() ? "the field is zero" : "the field is strongest in " + place;
}

}  // namespace quintet::vlasov
