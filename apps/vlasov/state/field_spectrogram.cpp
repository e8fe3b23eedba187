#include "apps/vlasov/state/field_spectrogram.hpp"

#include <algorithm>

#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::vlasov {

using namespace kinetics;

namespace {

constexpr const char* components[] = {"ex", "ey", "ez", "bx", "by", "bz"};

std::optional<FieldSpectrogramOptions> section_of(const RunOptions& options) {
  if (!options.observe) return std::nullopt;
  return section_given(options.observe->spectrogram, options.observe->spectrum);
}

SampledSignal signal_of(const FieldSpectrogramOptions& options, const Setup& setup) {
  const auto positive = [&](const auto& given, const char* name) {
    return given ? setup.formulas.positive(options.frames.key(name)) : 0.0;
  };
  return {components[options.component], "at the point", sample_time(options.frames, setup.fixed_dt),
          positive(options.lowest, "lowest"), positive(options.corner, "corner")};
}

}  // namespace

void FieldSpectrogram::check(const RunOptions& options, const Setup& setup) {
  const auto section = section_of(options);
  if (!section) return;
  Spectrogram::check(section->frames, signal_of(*section, setup), setup.end, options.time.steps);
  (void)make_probe(*section, setup);
}

FieldSpectrogram::Probe FieldSpectrogram::make_probe(const FieldSpectrogramOptions& options,
                                                     const Setup& setup) {
  const auto& grid = setup.species.front().grid;
  const PhaseBlock block = setup.decomposition.block(grid);
  const std::size_t cdim = grid.cdim;
  const FieldModel model = setup.system.field;
  const auto key = [&](const char* name) { return options.frames.key(name); };
  QUINTET_CHECK(model != FieldModel::none, "{}: this run has no field (field.model: none)", key("signal"));
  QUINTET_CHECK(model == FieldModel::maxwell || options.component < grid.cdim,
                "{}: {} is zero in Poisson's field, which has only {}", key("signal"),
                components[options.component], counted(grid.cdim, "direction"));
  QUINTET_CHECK(options.at.size() == cdim, "{}: has {}; expected {}, one for each direction of x", key("at"),
                counted(options.at.size(), "value"), cdim);
  Probe probe;
  probe.component = options.component;
  std::array<double, 3> xi{};
  std::array<int, 3> local{};
  bool here = true;
  for (std::size_t d = 0; d < cdim; ++d) {
    const int direction = d;
    const double x = setup.formulas.number(fmt::format("{}.{}", key("at"), d));
    QUINTET_CHECK(x >= grid.lower[d] && x <= grid.upper[d], "{}.{}: {:g} is outside the grid, {:g} to {:g}",
                  key("at"), d, x, grid.lower[d], grid.upper[d]);
    const double width = grid.width(direction);
    const int cell = std::min<int>((x - grid.lower[d]) / width, grid.cells[d] - 1);
    xi[d] = 2 * (x - grid.centre(direction, cell)) / width;
    local[d] = cell - block.begin[d];
    here = here && local[d] >= 0 && local[d] < block.extent[d];
  }
  // Ranks that differ in velocity alone hold the same field: one of them speaks.
  here = here && setup.decomposition.velocity_comm().is_root();
  if (here) probe.cell = block.conf_number(local);
  const Basis& basis = setup.basis.conf();
  for (int i = 0; i < basis.size(); ++i)
    probe.weights.push_back(basis.value(i, std::span<const double>(xi.data(), cdim)));
  return probe;
}

FieldSpectrogram::FieldSpectrogram(Context& context, const RunOptions& options,
                                   const Simulation& simulation) {
  const auto section = section_of(options);
  if (!section) return;
  const Setup& setup = simulation.setup();
  probe_ = make_probe(*section, setup);
  spectrogram_.emplace(context, section->frames, signal_of(*section, setup), simulation.step());
}

void FieldSpectrogram::add(const Simulation& simulation, const Instant& now) {
  double value = 0;
  if (probe_.cell >= 0) {
    const ConfField& field = simulation.system().field();
    for (std::size_t i = 0; i < probe_.weights.size(); ++i)
      value += probe_.weights[i] * field(static_cast<std::size_t>(probe_.cell), probe_.component, i);
  }
  spectrogram_->add(simulation.setup().decomposition.comm().sum(value), now);
}

}  // namespace quintet::vlasov
