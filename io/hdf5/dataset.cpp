#include <algorithm>
#include <type_traits>

#include "io/config/tree.hpp"
#include "io/hdf5/detail.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::hdf5 {
namespace {

using namespace detail;

/// Bytes of data that a stored byte can stand for: deflate reaches 1032.
constexpr std::uint64_t max_compression = 1100;

/// Contiguous storage, never pre-filled: every element is written by the call that makes the dataset.
Properties contiguous() {
  Properties creation(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
  H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);  // so that its room can be taken before it is written
  return creation;
}

/// The rows [offset, offset + rows) along the first axis.
Slab rows_of(const Shape& shape, std::uint64_t offset, std::uint64_t rows) {
  Slab slab{Shape(shape.size(), 0), shape};
  if (shape.empty()) return slab;
  slab.start[0] = offset;
  slab.count[0] = rows;
  return slab;
}

/// Nothing at all of a dataset of this shape.
Slab nothing_of(const Shape& shape) { return {{}, Shape(std::max<std::size_t>(shape.size(), 1), 0)}; }

std::uint64_t row_elements(const Shape& shape, const std::string& name) {
  return element_count(Shape(shape.begin() + 1, shape.end()), name);
}

/// Compares a shape with what this very file stores for it.
Stored find_stored(const Context& context, hid_t dataset, const std::string& name, const Shape& shape,
                   std::uint64_t element_bytes) {
  const Properties creation(H5Dget_create_plist(dataset));
  QUINTET_CHECK(H5Pget_layout(creation) != H5D_VIRTUAL && H5Pget_external_count(creation) == 0,
                "{}: {}: its data lie in other files, which is not read; copy them into one file (h5repack)",
                context.path, name);
  const std::uint64_t count = element_count(shape, fmt::format("{}: {}", context.path, name));
  const std::uint64_t stored = H5Dget_storage_size(dataset), file_bytes = context.bytes();
  const std::uint64_t ratio = H5Pget_nfilters(creation) > 0 ? max_compression : 1;
  if (stored <= file_bytes && count / ratio <= stored / std::max<std::uint64_t>(element_bytes, 1))
    return {shape, file_bytes, ""};
  return {
      shape, file_bytes,
      fmt::format("{}: {}: shape {} needs {} bytes an element, but the file of {} bytes stores {} bytes for "
                  "it: the dataset is truncated or corrupt, or was never written",
                  context.path, name, shape_text(shape), element_bytes, file_bytes, stored)};
}

Shape require_all(const Stored& stored) {
  QUINTET_CHECK(stored.lack.empty(), "{}", stored.lack);
  return stored.shape;
}

void write_distributed_as(const Group::Implementation& own, const std::string& name, hid_t type,
                          const void* data, std::size_t n, const Shape& shape, std::uint64_t offset,
                          const Description& description) {
  const auto& context = *own.context;
  const std::string path = own.full(name);
  std::uint64_t rows = 0;
  together(context.comm, [&] {
    context.require_open();
    QUINTET_CHECK(!shape.empty(), "{}: {}: a scalar cannot be distributed over ranks", context.path, path);
    const std::uint64_t row = row_elements(shape, path);
    rows = row == 0 ? 0 : n / row;
    QUINTET_CHECK(
        n == rows * row && offset <= shape[0] && rows <= shape[0] - offset,
        "{}: {}: rank {} gives {} values from row {}, which is not a whole number of rows within shape {}",
        context.path, path, context.comm.rank(), n, offset, shape_text(shape));
  });
  if (row_elements(shape, path) > 0) check_complete(context.comm.sum(rows), shape[0], context.path, path);
  const auto space = make_space(shape);
  const auto creation = contiguous();
  const auto dataset = own.create_dataset(name, type, space, creation, description);
  write_slab(context, dataset, path, type, data, rows ? rows_of(shape, offset, rows) : nothing_of(shape));
}

void write_whole_as(const Group::Implementation& own, const std::string& name, hid_t type, const void* data,
                    std::size_t n, const Shape& shape, const Description& description) {
  const auto& context = *own.context;
  const std::string path = own.full(name);
  on_root(context.comm, [&] {
    context.require_open();
    QUINTET_CHECK(n == element_count(shape, path), "{}: {}: {} values given for shape {}", context.path, path,
                  n, shape_text(shape));
  });
  const auto space = make_space(shape);
  const auto creation = contiguous();
  const auto dataset = own.create_dataset(name, type, space, creation, description);
  const bool writes = context.comm.is_root() && n > 0;
  write_slab(context, dataset, path, type, data,
             writes ? rows_of(shape, 0, shape.empty() ? 1 : shape[0]) : nothing_of(shape), Writers::root);
}

std::vector<std::string> read_variable_texts(const Context& context, hid_t dataset, hid_t type,
                                             std::uint64_t count, const std::string& path) {
  check_variable_texts(context, count, path, [&](hid_t raw_type, void* raw) {
    return H5Dread(dataset, raw_type, H5S_ALL, H5S_ALL, H5P_DEFAULT, raw);
  });
  const auto memory = variable_text_type();
  H5Tset_cset(memory, H5Tget_cset(type));
  std::vector<char*> raw(count, nullptr);
  context.check(H5Dread(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, raw.data()), path, "read it");
  std::vector<std::string> texts;
  for (char* text : raw) {
    texts.emplace_back(text ? text : "");
    H5free_memory(text);
  }
  return texts;
}

std::vector<std::string> read_fixed_texts(const Context& context, hid_t dataset, hid_t type,
                                          std::uint64_t count, const std::string& path) {
  const std::size_t length = H5Tget_size(type);
  std::string raw(count * length, '\0');
  context.check(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, raw.data()), path, "read it");
  std::vector<std::string> texts;
  for (std::uint64_t i = 0; i < count; ++i)
    texts.push_back(without_padding(raw.substr(i * length, length), type));
  return texts;
}

}  // namespace

Dataset Group::Implementation::open_dataset(const std::string& name) const {
  require(name, "dataset");
  return Dataset(context->check(H5Dopen2(context->file, full(name).c_str(), H5P_DEFAULT), full(name),
                                "open the dataset"));
}

Shape Group::Implementation::readable_shape(hid_t dataset, const std::string& name, bool to_integer) const {
  return require_all(stored(dataset, name, to_integer));
}

Stored Group::Implementation::stored(hid_t dataset, const std::string& name, bool to_integer) const {
  const Type type(context->check(H5Dget_type(dataset), full(name), "find its type"));
  const auto kind = H5Tget_class(type);
  QUINTET_CHECK(kind == H5T_INTEGER || (kind == H5T_FLOAT && !to_integer),
                "{}: {}: holds {}, but {} are expected", context->path, full(name), type_name(type),
                to_integer ? "integers" : "numbers");
  const Space space(context->check(H5Dget_space(dataset), full(name), "find its shape"));
  return find_stored(*context, dataset, full(name), shape_of_space(space), H5Tget_size(type));
}

template <class T>
void Group::write(const std::string& name, std::span<const T> values, const Shape& shape,
                  const Description& description) {
  write_whole_as(*implementation_, name, native_type<T>(), values.data(), values.size(), shape, description);
}

template <class T>
void Group::write_distributed(const std::string& name, std::span<const T> rows, const Shape& shape,
                              std::uint64_t offset, const Description& description) {
  write_distributed_as(*implementation_, name, native_type<T>(), rows.data(), rows.size(), shape, offset,
                       description);
}

Shape Group::shape(const std::string& name) const {
  const auto dataset = implementation_->open_dataset(name);
  return shape_of_space(Space(H5Dget_space(dataset)));
}

std::string Group::element_type(const std::string& name) const {
  const auto dataset = implementation_->open_dataset(name);
  return type_name(Type(H5Dget_type(dataset)));
}

template <class T>
std::vector<T> Group::read(const std::string& name) const {
  const auto& context = *implementation_->context;
  const auto dataset = implementation_->open_dataset(name);
  const Shape shape = implementation_->readable_shape(dataset, name, std::is_integral_v<T>);
  std::vector<T> values;
  together(context.comm, [&] { values.resize(element_count(shape, name)); });
  // One rank reads and passes on: the file system sees each byte asked for once.
  const bool reads = context.comm.is_root() && !values.empty();
  read_slab(context, dataset, implementation_->full(name), native_type<T>(), values.data(),
            reads ? rows_of(shape, 0, shape.empty() ? 1 : shape[0]) : nothing_of(shape));
  if (context.comm.size() > 1) context.comm.broadcast(std::span<T>(values));
  return values;
}

template <class T>
std::vector<T> Group::read(const std::string& name, const Shape& expected) const {
  const Shape found = shape(name);
  QUINTET_CHECK(found == expected, "{}: {}: has shape {}, but {} is expected", implementation_->context->path,
                implementation_->full(name), shape_text(found), shape_text(expected));
  return read<T>(name);
}

template <class T>
std::vector<T> Group::read_rows(const std::string& name, std::uint64_t offset, std::uint64_t count) const {
  const auto& context = *implementation_->context;
  const std::string path = implementation_->full(name);
  const auto dataset = implementation_->open_dataset(name);
  const auto stored = implementation_->stored(dataset, name, std::is_integral_v<T>);
  const Shape& shape = stored.shape;
  std::vector<T> values;
  together(context.comm, [&] {
    QUINTET_CHECK(!shape.empty(), "{}: {}: is a scalar; expected rows", context.path, path);
    QUINTET_CHECK(offset <= shape[0] && count <= shape[0] - offset,
                  "{}: {}: rows {} to {} asked for, but it has {} rows", context.path, path, offset,
                  offset + count, shape[0]);
    require_stored(context, dataset, stored, rows_of(shape, offset, count));
    values.resize(count * row_elements(shape, path));
  });
  read_slab(context, dataset, path, native_type<T>(), values.data(),
            values.empty() ? nothing_of(shape) : rows_of(shape, offset, count));
  return values;
}

void Group::write_text(const std::string& name, const std::string& text, const Description& description) {
  const auto& own = *implementation_;
  own.context->require_open();
  Type type(H5Tcopy(H5T_C_S1));
  H5Tset_size(type, std::max<std::size_t>(text.size(), 1));
  H5Tset_strpad(type, H5T_STR_NULLPAD);
  H5Tset_cset(type, H5T_CSET_UTF8);
  const auto space = make_space({});
  const auto creation = contiguous();
  const auto dataset = own.create_dataset(name, type, space, creation, description);
  const std::string padded = text.empty() ? std::string(1, '\0') : text;
  write_slab(*own.context, dataset, own.full(name), type, padded.data(),
             own.context->comm.is_root() ? rows_of({}, 0, 1) : nothing_of({}), Writers::root);
}

std::vector<std::string> Group::read_texts(const std::string& name) const {
  const auto& context = *implementation_->context;
  const std::string path = implementation_->full(name);
  const auto dataset = implementation_->open_dataset(name);
  const Type type(context.check(H5Dget_type(dataset), path, "find its type"));
  const Space space(context.check(H5Dget_space(dataset), path, "find its shape"));
  const Shape shape = shape_of_space(space);
  QUINTET_CHECK(H5Tget_class(type) == H5T_STRING && H5Sget_simple_extent_type(space) != H5S_NULL,
                "{}: {}: holds {} of shape {}, but texts are expected", context.path, path, type_name(type),
                shape_text(shape));
  require_all(find_stored(context, dataset, path, shape, H5Tget_size(type)));
  const auto count = element_count(shape, path);
  return H5Tis_variable_str(type) > 0 ? read_variable_texts(context, dataset, type, count, path)
                                      : read_fixed_texts(context, dataset, type, count, path);
}

std::string Group::read_text(const std::string& name) const {
  const auto texts = read_texts(name);
  QUINTET_CHECK(texts.size() == 1, "{}: {}: holds texts of shape {}, but one text is expected",
                implementation_->context->path, implementation_->full(name), shape_text(shape(name)));
  return texts[0];
}

#define QUINTET_INSTANTIATE(T)                                                                             \
  template void Group::write<T>(const std::string&, std::span<const T>, const Shape&, const Description&); \
  template void Group::write_distributed<T>(const std::string&, std::span<const T>, const Shape&,          \
                                            std::uint64_t, const Description&);                            \
  template std::vector<T> Group::read<T>(const std::string&) const;                                        \
  template std::vector<T> Group::read<T>(const std::string&, const Shape&) const;                          \
  template std::vector<T> Group::read_rows<T>(const std::string&, std::uint64_t, std::uint64_t) const;
QUINTET_FOR_ELEMENTS(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::hdf5
