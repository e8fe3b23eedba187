#include "apps/meshfreeflow/superresolve/point_list.hpp"

#include <charconv>
#include <cmath>
#include <sstream>

#include <fmt/ranges.h>

#include "io/files/input_file.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"

namespace quintet::meshfreeflow {
namespace {

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, last - first + 1);
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  std::string cell;
  std::istringstream stream(line);
  while (std::getline(stream, cell, ',')) cells.push_back(trimmed(cell));
  return cells;
}

std::vector<double> read_csv(const std::string& path, const std::array<std::string, 3>& axes) {
  std::istringstream stream(read_input_file(path));
  std::string line;
  std::getline(stream, line);
  const auto names = cells_of(line);
  std::array<std::size_t, 3> column{};
  for (std::size_t i = 0; i < 3; ++i) {
    column[i] = names.size();
    for (std::size_t k = 0; k < names.size(); ++k)
      if (names[k] == axes[i]) column[i] = k;
    QUINTET_CHECK(column[i] < names.size(), "{}:1: no column is named '{}'; the first line must name {}",
                  path, axes[i], fmt::join(axes, ", "));
  }
  std::vector<double> points;
  for (int number = 2; std::getline(stream, line); ++number) {
    if (trimmed(line).empty()) continue;
    const auto cells = cells_of(line);
    for (const std::size_t k : column) {
      const std::string cell = k < cells.size() ? cells[k] : "";
      double value = 0;
      const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
      QUINTET_CHECK(error == std::errc() && end == cell.data() + cell.size() && std::isfinite(value),
                    "{}:{}: '{}' is no number", path, number, cell);
      points.push_back(value);
    }
  }
  return points;
}

std::vector<double> read_hdf5(const std::string& path) {
  const auto file = hdf5::File::open(Comm::self(), path);
  const auto shape = file.root().shape("points");
  QUINTET_CHECK(shape.size() == 2 && shape[1] == 3, "{}: dataset points has the shape [{}]; expected [n, 3]",
                path, fmt::join(shape, ", "));
  return file.root().read<double>("points");
}

}  // namespace

std::vector<double> read_points(const std::string& path, const std::array<std::string, 3>& axes) {
  const auto ends_in = [&](const std::string& ending) {
    return path.size() >= ending.size() &&
           path.compare(path.size() - ending.size(), ending.size(), ending) == 0;
  };
  QUINTET_CHECK(ends_in(".csv") || ends_in(".h5") || ends_in(".hdf5"),
                "{}: a list of points is a .csv or an .h5 file", path);
  auto points = ends_in(".csv") ? read_csv(path, axes) : read_hdf5(path);
  QUINTET_CHECK(!points.empty(), "{}: there are no points in it", path);
  return points;
}

}  // namespace quintet::meshfreeflow
