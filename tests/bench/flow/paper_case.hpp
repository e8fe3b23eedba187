#pragma once

#include <cmath>

#include "surrogates/flow/data/batch.hpp"
#include "surrogates/flow/model/flow_model.hpp"

/// The networks, crops and points of Jiang et al. 2020: 4 x 16 x 16 nodes, 512 points, Pr = 1.
namespace quintet::flow {

inline FlowModelHeader paper_header() {
  FlowModelHeader header;
  header.axes = {{{"t", "1", false, 0, 100, {1.25, 1.25}, {3.75, 3.75}},
                  {"z", "1", false, 0, 1, {1 / 15., 1 / 15.}, {1, 1}},
                  {"x", "1", false, 0, 4, {1 / 15., 1 / 15.}, {1, 1}}}};
  header.fields = {{"p"}, {"b"}, {"u"}, {"w"}};
  header.parameters = {{"Pr", {1, 1}}, {"Ra", {1e6, 1e6}}};
  header.block = {4, 16, 16};
  header.refinement = {4, 8, 8};
  header.equations.interior = {
      {"continuity", FormulaText("dx(u) + dz(w)")},
      {"buoyancy", FormulaText("dt(b) + u*dx(b) + w*dz(b) - P*(dxx(b) + dzz(b))")},
      {"momentum_x", FormulaText("dt(u) + u*dx(u) + w*dz(u) - R*(dxx(u) + dzz(u)) + dx(p)")},
      {"momentum_z", FormulaText("dt(w) + u*dx(w) + w*dz(w) - R*(dxx(w) + dzz(w)) + dz(p) - b")}};
  header.equations.constants = {{"P", FormulaText("(Ra*Pr)^-0.5")}, {"R", FormulaText("(Ra/Pr)^-0.5")}};
  return header;
}

/// Crops first .. first + n - 1, made up.
inline Batch paper_batch(int first, int n) {
  constexpr int nodes = 4 * 16 * 16, points = 512;
  Batch batch;
  batch.n_samples = n;
  batch.n_fields = 4;
  batch.n_points = points;
  batch.low_shape = {4, 16, 16};
  const auto wave = [](double i, double k) { return std::sin(k * i + 0.3 * k); };
  const auto even = [](int count, double length) {
    BlockAxis axis;
    for (int i = 0; i < count; ++i) axis.coordinates.push_back(length * i / (count - 1));
    axis.lower = 0;
    axis.upper = length;
    return axis;
  };
  for (int crop = first; crop < first + n; ++crop) {
    for (int i = 0; i < 4 * nodes; ++i) batch.low.push_back(static_cast<float>(wave(i + 100 * crop, 0.73)));
    batch.axes.push_back({even(4, 3.75), even(16, 1), even(16, 1)});
    for (int p = 0; p < points; ++p) {
      batch.points.insert(batch.points.end(),
                          {1.875 * (1 + wave(p + 9 * crop, 1.1)), 0.5 * (1 + wave(p + 9 * crop, 1.9)),
                           0.5 * (1 + wave(p + 9 * crop, 2.7))});
      for (int f = 0; f < 4; ++f)
        batch.targets.push_back(static_cast<float>(wave(p + 10 * crop + 5 * f, 0.4)));
    }
    batch.parameters.insert(batch.parameters.end(), {1, 1e6});
  }
  return batch;
}

}  // namespace quintet::flow
