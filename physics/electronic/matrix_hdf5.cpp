#include <limits>

#include "io/log/error.hpp"
#include "physics/electronic/collective.hpp"
#include "physics/electronic/matrix_hdf5.hpp"
#include "physics/electronic/matrix_readers.hpp"

namespace quintet::electronic {

namespace {

/// The rows [share) of a dataset.
template <class T>
std::vector<T> part(const hdf5::Group& group, const std::string& name, Share share) {
  return group.read_rows<T>(name, share.begin, share.end - share.begin);
}

}  // namespace

namespace reading {

FileShare read_quintet(const Comm& comm, const std::string& path) {
  const auto file = hdf5::File::open(comm, path);
  hdf5::check_header(file, matrix_schema, matrix_schema_version);
  const auto& root = file.root();
  QUINTET_CHECK(root.has("value"), "{}: holds no dataset 'value'{}", path,
                root.has("real_space") ? "; it holds real-space matrices, which are to be folded" : "");
  const auto n_rows = root.integer_attribute("n_rows");
  QUINTET_CHECK(n_rows > 0 && n_rows <= std::numeric_limits<std::int32_t>::max(), "{}: has {} rows", path,
                n_rows);
  const auto shape = root.shape("value");
  for (const char* name : {"row", "column", "value"})
    QUINTET_CHECK(shape.size() == 1 && root.shape(name) == shape,
                  "{}: the datasets row, column and value are not lists of equal length", path);
  const auto share = even_share(shape[0], comm.rank(), comm.size());
  const auto row = part<std::int32_t>(root, "row", share), column = part<std::int32_t>(root, "column", share);
  const auto value = part<double>(root, "value", share);

  FileShare result;
  result.n_rows = static_cast<int>(n_rows);
  result.units = root.member_text_attribute("value", "units");
  together(comm, [&] {
    result.elements.reserve(value.size());
    for (std::size_t k = 0; k < value.size(); ++k) {
      const auto wrong = complaint(std::int64_t{row[k]} + 1, std::int64_t{column[k]} + 1, value[k], n_rows);
      QUINTET_CHECK(wrong.empty(), "{}: number {} of its elements (indices here from 1): {}", path,
                    share.begin + k + 1, wrong);
      result.elements.push_back({row[k], column[k], value[k]});
    }
  });
  if (root.has("block_size")) {
    result.blocking = blocking_of_sizes(*result.n_rows, root.read<std::int32_t>("block_size"));
    if (root.has("order")) result.blocking->order = root.read<std::int32_t>("order");
    check_blocking(*result.blocking);
  }
  return result;
}

}  // namespace reading

}  // namespace quintet::electronic
