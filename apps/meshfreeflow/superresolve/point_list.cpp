#include "apps/meshfreeflow/superresolve/point_list.hpp"

#include <algorithm>

#include <fmt/ranges.h>

#include "io/files/input_file.hpp"
#include "io/files/number_table.hpp"
#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::meshfreeflow {
namespace {

std::vector<double> read_table(const std::string& path, const std::array<std::string, 3>& axes) {
  auto table = read_number_table(path);
  if (table.names_in_comment &&
      std::none_of(axes.begin(), axes.end(), [&](const auto& axis) { return table.column(axis); }))
    table.names.clear();  // a remark
  Reading reading = table.reading;
  std::array<std::size_t, 3> column{0, 1, 2};
  if (table.names.empty()) {
    QUINTET_CHECK(table.n_columns == 3,
                  "{}: has {} columns without names; expected {}, or a first line of names", path,
                  table.n_columns, fmt::join(axes, ", "));
    reading.assume(fmt::format("columns are {} (a first line of names changes it)", fmt::join(axes, ", ")));
  }
  for (std::size_t i = 0; i < 3 && !table.names.empty(); ++i) {
    const auto found = table.column(axes[i]);
    QUINTET_CHECK(found, "{}: no column is named '{}'; there are {}", path, axes[i],
                  fmt::join(table.names, ", "));
    QUINTET_CHECK(std::count(table.names.begin(), table.names.end(), axes[i]) == 1,
                  "{}: two columns are named '{}'", path, axes[i]);
    column[i] = *found;
  }
  for (const auto& name : table.names)
    if (std::find(axes.begin(), axes.end(), name) == axes.end())
      reading.leave(fmt::format("column {}", name));
  if (!reading.empty()) log::info("{}: {}", path, reading.text());
  for (const auto k : column) table.require_numbers(k);
  std::vector<double> points;
  for (std::size_t row = 0; row < table.n_rows(); ++row)
    for (const auto k : column) points.push_back(table.at(row, k));
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
  std::string front(4, '\0');
  open_input_file(path).read(front.data(), 4);
  auto points = front == "\x89HDF" ? read_hdf5(path) : read_table(path, axes);
  QUINTET_CHECK(!points.empty(), "{}: there are no points in it", path);
  return points;
}

}  // namespace quintet::meshfreeflow
