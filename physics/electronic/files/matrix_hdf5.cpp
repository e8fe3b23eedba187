#include "physics/electronic/files/matrix_hdf5.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

#include "io/config/tree.hpp"
#include "io/files/output_file.hpp"
#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "physics/electronic/files/matrix_readers.hpp"
#include "physics/electronic/files/matrix_writers.hpp"

namespace quintet::electronic {

int rows_attribute(const hdf5::Group& group, const std::string& path) {
  const auto n_rows = group.integer_attribute("n_rows");
  QUINTET_CHECK(n_rows > 0 && n_rows <= std::numeric_limits<std::int32_t>::max(),
                "{}: says that the matrix has {} rows", path, n_rows);
  return n_rows;
}

std::vector<Triplet> read_element_lists(const hdf5::Group& group, const std::string& path, int n_rows,
                                        const Comm& comm, int part, int n_parts) {
  const auto shape = group.shape("value");
  for (const char* name : {"row", "column", "value"})
    QUINTET_CHECK(shape.size() == 1 && group.shape(name) == shape,
                  "{}: the datasets row, column and value are not lists of equal length", path);
  const auto share = even_share(shape[0], part, n_parts);
  const auto count = share.end - share.begin;
  const auto row = group.read_rows<std::int32_t>("row", share.begin, count),
             column = group.read_rows<std::int32_t>("column", share.begin, count);
  const auto value = group.read_rows<double>("value", share.begin, count);
  std::vector<Triplet> elements;
  elements.reserve(count);
  together(comm, [&] {
    for (std::size_t k = 0; k < value.size(); ++k) {
      const auto wrong =
          reading::complaint(std::int64_t{row[k]} + 1, std::int64_t{column[k]} + 1, value[k], n_rows);
      QUINTET_CHECK(wrong.empty(),
                    "{}: number {} of its elements, counted from 1 as rows and columns are here: {}", path,
                    share.begin + k + 1, wrong);
      elements.push_back({row[k], column[k], value[k]});
    }
  });
  return elements;
}

namespace reading {

namespace {

/// Name the members that have no meaning here.
void leave_foreign(const hdf5::Group& group, Reading& reading) {
  for (const auto& name : group.names()) {
    const auto known = {"row", "column", "value", "block_size", "order"};
    if (std::find(known.begin(), known.end(), name) == known.end()) reading.leave(name);
  }
}

}  // namespace

FileShare read_quintet(const Comm& comm, const FileBytes& bytes, std::optional<int>) {
  const auto& path = bytes.path();
  const auto file = hdf5::File::open(comm, path);
  hdf5::check_header(file, matrix_schema, matrix_schema_version);
  const auto& root = file.root();
  QUINTET_CHECK(root.has("value"), "{}: holds no dataset 'value'{}", path,
                root.has("real_space") ? "; it holds real-space matrices, to be folded to a supercell" : "");
  FileShare result;
  result.n_rows = rows_attribute(root, path);
  result.elements = read_element_lists(root, path, *result.n_rows, comm, comm.rank(), comm.size());
  result.units = root.member_text_attribute("value", "units");
  leave_foreign(root, result.reading);
  if (root.has("block_size")) {
    result.blocking = blocking_of_sizes(*result.n_rows, root.read<std::int32_t>("block_size"));
    if (root.has("order")) result.blocking->order = root.read<std::int32_t>("order");
    check_blocking(*result.blocking);
  }
  return result;
}

}  // namespace reading

namespace writing {

// Written under another name and renamed: a matrix file is whole or not there.
void write_quintet(const BlockMatrix& matrix, const std::string& path, const MatrixLabels& labels) {
  const auto sorted = sorted_elements(matrix, false);
  const auto& blocking = *matrix.blocking;
  std::vector<std::int32_t> row, column, block_size;
  std::vector<double> value;
  for (const auto& e : sorted.elements) {
    row.push_back(e.row);
    column.push_back(e.column);
    value.push_back(e.value);
  }
  for (int b = 0; b < blocking.n_blocks(); ++b) block_size.push_back(blocking.size(b));

  const auto unfinished = path + ".unfinished";
  together(matrix.comm, [&] {
    if (matrix.comm.is_root()) make_new_file(unfinished);
  });
  auto file = hdf5::File::create(matrix.comm, unfinished);
  auto& root = file.root();
  hdf5::write_header(root, matrix_schema, matrix_schema_version, labels.provenance);
  root.set_attribute("n_rows", blocking.n_rows());
  const hdf5::Shape shape{static_cast<std::uint64_t>(sorted.total)};
  const std::uint64_t first = sorted.first;
  const auto list = [&](const std::string& name, auto values, const hdf5::Description& description) {
    using Value = typename decltype(values)::value_type;
    root.write_distributed(name, std::span<const Value>(values), shape, first, description);
  };
  list("row", row, {"1", {"element"}, "Row of each element, from 0; rows ascend, columns within a row too."});
  list("column", column, {"1", {"element"}, "Column of each element, from 0."});
  list("value", value, {labels.units, {"element"}, labels.description});
  root.write("block_size", std::span<const std::int32_t>(block_size), {block_size.size()},
             {"1", {"block"}, "Orbitals of each block, in the order of blocks."});
  if (!blocking.order.empty())
    root.write("order", std::span<const std::int32_t>(blocking.order), {blocking.order.size()},
               {"1", {"row"}, "Row of the matrix at each place in the order of blocks."});
  file.close();
  give_name(matrix.comm, unfinished, path);
}

}  // namespace writing

}  // namespace quintet::electronic
