#pragma once

#include <span>
#include <vector>

#include "physics/spectral/flow_program.hpp"
#include "physics/spectral/wave_grid.hpp"

namespace quintet::spectral {

/// A program on a grid: its registers that outlive a level, and what symbols are of each wave.
///
/// For each level: waves of linear forms → points; instructions, a block of points at a time; registers →
/// waves.
class FlowMachine {
 public:
  /// The grid must outlive it. `outputs`: values of the program that are asked for after run(), by their
  /// number here.
  FlowMachine(WaveGrid& grid, FlowProgram program, std::vector<FlowValue> outputs);

  /// Compute all registers and slots. @param state waves of each variable. Collective.
  void run(const std::vector<Modes>& state, double time);

  /// Waves of an output. Collective.
  void to_modes(int output, const Modes& modes);
  /// The greatest value of an output that is a register alone (FlowProgram::at_points); NaN if one is.
  /// Collective.
  [[nodiscard]] double maximum(int output) const;
  /// Values at this rank's points of such an output, [rows_here, n_x].
  [[nodiscard]] std::span<const double> values(int output) const { return kept_[outputs_[output].point]; }
  /// The mean over the box of an output. Collective.
  [[nodiscard]] double mean(int output) const;

  [[nodiscard]] WaveGrid& grid() const { return grid_; }
  /// Transforms of fields: to points in run(), to waves in run() and in to_modes() of the first `n_outputs`
  /// outputs.
  struct Transforms {
    int to_points = 0, to_modes = 0;
  };
  [[nodiscard]] Transforms transforms(int n_outputs) const;
  /// Bytes of a rank for a program on so many points and waves.
  [[nodiscard]] static double bytes(const FlowProgram& program, const std::vector<FlowValue>& outputs,
                                    double n_points, double n_modes);

 private:
  struct SlotFactor {
    int slot;
    std::vector<double> re, im;  ///< of each wave
  };
  [[nodiscard]] std::vector<SlotFactor> factors_of(const LinearForm& form) const;
  void add_up(const std::vector<SlotFactor>& factors, double constant, const Modes& modes) const;
  void run_points(int level, double time);
  void run_block(const std::vector<int>& points, std::size_t begin, int width, double time, double* space);

  WaveGrid& grid_;
  FlowProgram program_;
  std::vector<FlowValue> outputs_;
  std::vector<std::vector<SlotFactor>> forms_, output_forms_;
  std::vector<std::vector<int>> at_points_;  ///< of each level: registers that are computed at points
  std::vector<AlignedVector<double>> kept_;  ///< of each register: values, or empty
  std::vector<Modes> slots_;
  Modes scratch_;
  AlignedVector<double> space_;
};

}  // namespace quintet::spectral
