#include "physics/ocean/coefficient_file.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "io/log/error.hpp"
#include "io/netcdf/netcdf_file.hpp"
#include "io/parallel/together.hpp"
#include "physics/ocean/coordinates/time_axis.hpp"

namespace quintet::ocean {
namespace {

constexpr std::uint64_t most_modes = 100000;

std::optional<int> fit_times(const netcdf::File& file, const netcdf::Variable& variable) {
  for (const char* name : {"n_fit", "n_train"})
    if (const auto n = variable.number(name)) {
      QUINTET_CHECK(*n >= 1 && *n <= static_cast<double>(variable.shape[0]) && *n == std::floor(*n),
                    "{}: {} says {} = {}; expected a whole number of the {} times", file.path(),
                    variable.name, name, *n, variable.shape[0]);
      return static_cast<int>(*n);
    }
  return std::nullopt;
}

CoefficientFile read_here(const std::string& path, const std::string& name) {
  const auto file = netcdf::File::open(path);
  const auto& variable = file.variable(name);
  QUINTET_CHECK(variable.shape.size() == 2, "{}: {} has {} dimensions; expected two, {}(time, mode)", path,
                name, variable.shape.size(), name);
  QUINTET_CHECK(variable.shape[0] >= 2 && variable.shape[1] >= 1 && variable.shape[1] <= most_modes,
                "{}: {} has {} times and {} modes; expected at least two times and one mode", path, name,
                variable.shape[0], variable.shape[1]);
  CoefficientFile result;
  auto times = read_time_axis(file, variable.dimensions[0]);
  result.series.time = std::move(times.days);
  result.calendar = times.calendar;
  result.reading = times.reading;
  for (const auto& other : file.variables())
    if (other.name != name && std::find(variable.dimensions.begin(), variable.dimensions.end(), other.name) ==
                                  variable.dimensions.end())
      result.reading.leave(fmt::format("variable {}", other.name));
  result.series.n_modes = variable.shape[1];
  result.series.values = file.read_unpacked(variable);
  const auto n_modes = variable.shape[1];
  for (std::size_t i = 0; i < result.series.values.size(); ++i)
    QUINTET_CHECK(std::isfinite(result.series.values[i]), "{}: {} of mode {} is missing or no number at {}",
                  path, name, i % n_modes, date_text(result.series.time[i / n_modes]));
  result.n_fit = fit_times(file, variable);
  return result;
}

}  // namespace

CoefficientFile read_coefficients(const Comm& comm, const std::string& path, const std::string& variable) {
  CoefficientFile result;
  together(comm, [&] { result = read_here(path, variable); });
  return result;
}

}  // namespace quintet::ocean
