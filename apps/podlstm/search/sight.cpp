#include "apps/podlstm/search/sight.hpp"

#include "surrogates/sequence/windows/windows.hpp"

namespace quintet::podlstm {

Sight sight_of(const ocean::OceanModes& modes, const SearchInput& input) {
  Sight sight{modes.series, make_split(modes.series, input.window, input.split), {}, {}};
  const auto end = static_cast<std::size_t>(sight.split.validation_rows.end);
  sight.series.time.resize(end);
  sight.series.values.resize(end * modes.series.n_modes);
  sight.split.test = {};
  sight.truth = targets(sight.series, sight.split.validation);
  return sight;
}

}  // namespace quintet::podlstm
