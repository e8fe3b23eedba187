#include "apps/vlasov/state/wave_signal.hpp"

#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "io/parallel/comm.hpp"
#include "physics/kinetics/initial/projection_nodes.hpp"

namespace quintet::vlasov {

using namespace kinetics;

std::complex<double> wave_amplitude(const Setup& setup, VlasovSystem& system) {
  if (!setup.wave) return 0;
  const WaveSignal& wave = *setup.wave;
  const Basis& conf = setup.basis.conf();
  const ConfField& field = system.field();
  const PhaseBlock& block = setup.decomposition.block(setup.species.front().grid);
  const PhaseGrid& grid = block.grid;
  const std::size_t n_modes = conf.size();
  // exp(-i k.x) turns little in a cell: these nodes leave an error of round-off.
  const TensorNodes nodes(std::vector<int>(grid.cdim, conf.order() + 5));
  std::array<double, 2> sum{};
  for (int cell = 0; cell < block.n_conf(); ++cell) {
    const auto index = block.conf_index(cell);
    std::vector<double> modes(n_modes);
    for (std::size_t c = 0; c < wave.weight.size(); ++c)
      for (std::size_t m = 0; wave.weight[c] != 0 && m < n_modes; ++m)
        modes[m] += wave.weight[c] * field(static_cast<std::size_t>(cell), c, m);
    for (int q = 0; q < nodes.size(); ++q) {
      double phase = 0, value = 0;
      for (int d = 0; d < grid.cdim; ++d) {
        const std::size_t i = d;
        phase +=
            wave.k[i] * (grid.centre(d, block.begin[i] + index[i]) + 0.5 * grid.width(d) * nodes.at(q)[i]);
      }
      for (std::size_t m = 0; m < n_modes; ++m) value += modes[m] * conf.value(m, nodes.at(q));
      sum[0] += nodes.weight[q] * value * std::cos(phase);
      sum[1] -= nodes.weight[q] * value * std::sin(phase);
    }
  }
  setup.decomposition.conf_comm().reduce(std::span<double>(sum), Comm::Reduction::sum);
  double scale = 2;  // the weights sum to 2^cdim
  for (int d = 0; d < grid.cdim; ++d) scale *= 0.5 / grid.cells[d];
  return {scale * sum[0], scale * sum[1]};
}

std::string wave_name(const WaveSignal& wave) {
  std::string name = "wave_" + wave.component + "_k";
  for (std::size_t d = 0; d < 3; ++d)
    if (d == 0 || wave.k[d] != 0) name += fmt::format("{}{:.6g}", d == 0 ? "" : "_", wave.k[d]);
  return name;
}

}  // namespace quintet::vlasov
