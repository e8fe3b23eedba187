#pragma once

#include <cmath>
#include <vector>

#include "surrogates/flow/data/batch.hpp"
#include "surrogates/flow/model/flow_model.hpp"

/// A small model of two fields and crops of a made-up flow.
namespace quintet::flow {

inline FlowModelHeader small_header(DecoderKind kind = DecoderKind::continuous,
                                    DecoderBase base = DecoderBase::none) {
  FlowModelHeader header;
  header.options.latents = 3;
  header.options.encoder.width = 2;
  header.options.encoder.widest = 4;
  header.options.decoder.kind = kind;
  header.options.decoder.base = base;
  header.options.decoder.widths = {8, 6};
  header.options.conditioning = {"Ra"};
  header.axes = {{{"t", "1", false, 0, 9, {0.5, 0.5}, {1.5, 1.5}},
                  {"z", "1", false, -0.5, 0.5, {0.2, 0.3}, {1, 1}},
                  {"x", "1", true, 0, 2, {0.5, 0.5}, {2, 2}}}};
  header.fields = {{"b", "1", 0.1, 0.7}, {"u", "1", -0.2, 1.3}};
  header.parameters = {{"Pr", {1, 1}}, {"Ra", {100, 10000}}};
  header.block = {2, 4, 4};
  header.refinement = {2, 2, 2};
  header.equations.interior = {{"buoyancy", FormulaText("dt(b) + u*dx(b) - P*(dxx(b) + dzz(b))")},
                               {"other", FormulaText("dt(u) + u*dz(u) - R*(dxx(u) + dzz(u)) + b*x")}};
  header.equations.constants = {{"P", FormulaText("(Ra*Pr)^-0.5")}, {"R", FormulaText("(Ra/Pr)^-0.5")}};
  header.equations.boundaries = {{"z.lower", FormulaText("b - 0.5"), 1},
                                 {"z.lower", FormulaText("dz(u)"), 0.5},
                                 {"z.upper", FormulaText("u*b"), 2}};
  return header;
}

/// The same with Fourier layers.
inline FlowModelHeader small_fourier_header(DecoderKind kind = DecoderKind::continuous) {
  FlowModelHeader header = small_header(kind, DecoderBase::interpolation);
  header.options.encoder.widest = EncoderOptions().widest;
  header.options.encoder.kind = EncoderKind::fourier;
  header.options.encoder.layers = 2;
  header.options.encoder.modes = {1, 2, 2};
  return header;
}

inline std::vector<std::vector<double>> small_parameters() { return {{1, 100}, {1, 10000}}; }

/// Crops first .. first + n - 1 of a batch; every third one does not reach the upper wall.
inline Batch small_batch(int first, int n, int n_points = 7, int n_rows = 0) {
  Batch batch;
  batch.rows = {n_rows, 8, true, {}, {}};
  batch.n_samples = n;
  batch.n_fields = 2;
  batch.n_points = n_points;
  batch.low_shape = {2, 4, 4};
  const auto wave = [](double i, double k) { return std::sin(k * i + 0.3 * k); };
  for (int crop = first; crop < first + n; ++crop) {
    for (int i = 0; i < 2 * 32; ++i) batch.low.push_back(static_cast<float>(wave(i + 100 * crop, 0.73)));
    BlockAxes axes;
    axes[0] = {{0.25, 0.75}, false, 0, 1, false, false};
    axes[1] = {{-0.4, -0.15, 0.1, 0.35}, false, -0.5, 0.5, true, crop % 3 != 1};
    axes[2] = {{0.25, 0.75, 1.25, 1.75}, true, 0, 2, false, false};
    batch.axes.push_back(axes);
    for (int p = 0; p < n_points; ++p) {
      batch.points.push_back(0.5 + 0.5 * wave(p + 10 * crop, 1.1));
      batch.points.push_back(0.5 * wave(p + 10 * crop, 1.9));
      batch.points.push_back(1 + wave(p + 10 * crop, 2.7));
      for (int f = 0; f < 2; ++f)
        batch.targets.push_back(static_cast<float>(wave(p + 10 * crop + 5 * f, 0.37)));
    }
    for (int i = 0; i < n_rows * 8; ++i) {  // along x, on the fine grid
      const int row = i / 8 + 10 * crop;
      batch.rows.points.insert(batch.rows.points.end(),
                               {0.5 + 0.5 * wave(row, 1.3), 0.5 * wave(row, 2.1), 0.125 + 0.25 * (i % 8)});
      for (int f = 0; f < 2; ++f)
        batch.rows.targets.push_back(static_cast<float>(wave(i + 90 * crop + 5 * f, 1.7)));
    }
    const auto parameters = small_parameters()[crop % 2];
    batch.parameters.insert(batch.parameters.end(), parameters.begin(), parameters.end());
  }
  return batch;
}

}  // namespace quintet::flow
