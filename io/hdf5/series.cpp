#include <algorithm>

#include "io/config/tree.hpp"
#include "io/hdf5/detail.hpp"
#include "io/hdf5/series_bytes.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::hdf5 {
namespace {

using namespace detail;

constexpr std::uint64_t chunk_bytes =
    1 << 16;  ///< aimed at: small enough for short runs, large enough to stream
constexpr std::uint64_t max_chunk_bytes =
    1 << 24;  ///< of one entry; larger ones are cut along their first axis

/// Chunk of a series of such entries: several small entries, or a part of a large one.
Shape chunk_shape(const Shape& entry, std::uint64_t element_bytes) {
  Shape chunk(1, 1);
  for (const std::uint64_t extent : entry) chunk.push_back(std::max<std::uint64_t>(extent, 1));
  for (std::size_t axis = 1; axis < chunk.size(); ++axis) {
    const std::uint64_t slice =
        element_bytes * element_count(Shape(chunk.begin() + axis + 1, chunk.end()), "chunk");
    chunk[axis] =
        std::clamp<std::uint64_t>(max_chunk_bytes / std::max<std::uint64_t>(slice, 1), 1, chunk[axis]);
    if (slice <= max_chunk_bytes) break;
  }
  const std::uint64_t bytes = element_bytes * element_count(chunk, "chunk");
  chunk[0] = std::clamp<std::uint64_t>(chunk_bytes / std::max<std::uint64_t>(bytes, 1), 1, 1024);
  return chunk;
}

Properties chunked(const Shape& entry, std::uint64_t element_bytes) {
  Properties creation(H5Pcreate(H5P_DATASET_CREATE));
  const Shape chunk = chunk_shape(entry, element_bytes);
  const std::vector<hsize_t> extents(chunk.begin(), chunk.end());
  H5Pset_chunk(creation, extents.size(), extents.data());
  H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
  H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);  // more ranks may go on with it, which write only where
  return creation;                                    // there is a chunk
}

Space growing_space(const Shape& entry) {
  std::vector<hsize_t> now(1, 0), most(1, H5S_UNLIMITED);
  now.insert(now.end(), entry.begin(), entry.end());
  for (const std::uint64_t extent : entry) most.push_back(std::max<std::uint64_t>(extent, 1));
  return Space(H5Screate_simple(now.size(), now.data(), most.data()));
}

void set_extent(const Context& context, hid_t dataset, const std::string& name, std::uint64_t size,
                const Shape& entry) {
  Shape extents(1, size);
  extents.insert(extents.end(), entry.begin(), entry.end());
  const bool counts = context.comm.size() > 1;  // a row at a time, looking at the dataset is most of the cost
  const std::uint64_t before =
      counts ? stored_bytes(dataset, shape_of_space(Space(H5Dget_space(dataset)))) : 0;
  const std::vector<hsize_t> now(extents.begin(), extents.end());
  together(context.comm, [&] {
    if (H5Dset_extent(dataset, now.data()) < 0)
      context.fail(name, fmt::format("resize it to {} entries", size));
  });
  if (counts) context.grow(before, stored_bytes(dataset, extents));
}

/// Whether chunks come as a series grows, not as they are written, which an older version's do.
bool comes_early(hid_t dataset) {
  const Properties creation(H5Dget_create_plist(dataset));
  H5D_alloc_time_t when = H5D_ALLOC_TIME_EARLY;
  H5Pget_alloc_time(creation, &when);
  return when == H5D_ALLOC_TIME_EARLY;
}

/// Give each row from `begin` on its chunks, in a series that one rank of an older version made: its chunks
/// come as they are written, which several ranks cannot wait for. All ranks do the same.
void allocate(const Context& context, hid_t dataset, const std::string& name, std::uint64_t begin) {
  const Properties creation(H5Dget_create_plist(dataset));
  const Shape shape = shape_of_space(Space(H5Dget_space(dataset)));
  std::vector<hsize_t> chunk(shape.size()), at(shape.size(), 0);
  H5Pget_chunk(creation, chunk.size(), chunk.data());
  std::size_t bytes = H5Tget_size(Type(H5Dget_type(dataset)));
  for (const hsize_t extent : chunk) bytes *= extent;
  const std::vector<std::byte> zeros(bytes);
  if (element_count(shape, name) == 0) return;
  context.write_together([&] {
    for (at[0] = begin / chunk[0] * chunk[0]; at[0] < shape[0];) {
      unsigned filters = 0;
      haddr_t place = HADDR_UNDEF;
      hsize_t stored = 0;
      context.check(H5Dget_chunk_info_by_coord(dataset, at.data(), &filters, &place, &stored), name,
                    "find its chunks");
      if (place == HADDR_UNDEF && H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, at.data(), bytes, zeros.data()) < 0)
        context.fail_write(name);
      std::size_t axis = at.size() - 1;  // the next chunk, as a clock counts
      for (; axis > 0 && at[axis] + chunk[axis] >= shape[axis]; --axis) at[axis] = 0;
      at[axis] += chunk[axis];
    }
  });
}

/// A series that is there must have entries of this shape and type.
void check_reopened(const Context& context, hid_t dataset, const std::string& name, const Shape& entry,
                    hid_t type) {
  const Type found_type(H5Dget_type(dataset));
  const Shape found = shape_of_space(Space(H5Dget_space(dataset)));
  const Properties creation(H5Dget_create_plist(dataset));
  QUINTET_CHECK(H5Pget_layout(creation) == H5D_CHUNKED && found.size() == entry.size() + 1 &&
                    std::equal(entry.begin(), entry.end(), found.begin() + 1),
                "{}: {}: has shape {}, but a series with entries of shape {} is to be continued",
                context.path, name, shape_text(found), shape_text(entry));
  QUINTET_CHECK(H5Tequal(found_type, type) > 0, "{}: {}: holds {}, but a series of {} is to be continued",
                context.path, name, type_name(found_type), type_name(type));
}

}  // namespace

double series_bytes(const Shape& entry, std::uint64_t element_bytes, std::uint64_t n) {
  const Shape chunk = chunk_shape(entry, element_bytes);
  const auto pieces = [](std::uint64_t whole, std::uint64_t piece) {
    return static_cast<double>((whole + piece - 1) / piece * piece);
  };
  double bytes = element_bytes * pieces(n, chunk[0]);
  for (std::size_t axis = 0; axis < entry.size(); ++axis) bytes *= pieces(entry[axis], chunk[axis + 1]);
  return bytes;
}

template <class T>
Series Group::series(const std::string& name, const Shape& entry, const Description& description) {
  const auto& own = *implementation_;
  auto series = std::make_shared<Series::Implementation>();
  series->context = own.context;
  series->name = own.full(name);
  series->entry = entry;
  if (own.has(name)) {
    series->dataset = own.open_dataset(name);
    check_reopened(*own.context, series->dataset, series->name, entry, native_type<T>());
    series->size = whole_rows(name);
    series->extent = shape(name)[0];
    series->comes_early = comes_early(series->dataset);
  } else {
    const auto space = growing_space(entry);
    const auto creation = chunked(entry, sizeof(T));
    series->dataset = own.create_dataset(name, native_type<T>(), space, creation, description);
  }
  return Series(std::move(series));
}

void Series::Implementation::shrink(std::uint64_t new_size) {
  set_extent(*context, dataset, name, new_size, entry);
  size = extent = new_size;
  // HDF5 keeps the chunk that it cut in its cache, which parallel writes go past: closing brings it to the
  // file first.
  dataset.reset();
  dataset =
      Dataset(context->check(H5Dopen2(context->file, name.c_str(), H5P_DEFAULT), name, "open the dataset"));
}

void Series::Implementation::append(hid_t memory_type, const void* data, std::uint64_t n,
                                    std::uint64_t first_row, std::uint64_t rows, Writers writers) {
  Slab slab{Shape(1, size), Shape(1, n)};
  slab.start.resize(entry.size() + 1, 0);
  slab.count.insert(slab.count.end(), entry.begin(), entry.end());
  if (entry.empty()) {
    slab.count[0] = n * rows;
  } else {
    slab.start[1] = first_row;
    slab.count[1] = rows;
  }
  if (extent > size) shrink(size);
  set_extent(*context, dataset, name, size + n, entry);
  try {
    context->take_room();
  } catch (const Error&) {  // on all ranks alike, and nothing was written
    set_extent(*context, dataset, name, size, entry);
    throw;
  }
  if (!comes_early && !is_filtered(dataset)) allocate(*context, dataset, name, size);
  try {
    write_slab(*context, dataset, name, memory_type, data, slab, writers);
  } catch (const Error&) {
    if (context->comm.size() == 1) shrink(size);  // an entry that is not whole does not count
    throw;
  }
  size += n;
  extent = size;
}

template <class T>
void Series::append(std::span<const T> entry) {
  append_entries(1, entry);
}

template <class T>
void Series::append_entries(std::uint64_t n, std::span<const T> entries) {
  if (n == 0) return;
  auto& own = *implementation_;
  on_root(own.context->comm, [&] {
    own.context->require_open();
    Shape all(1, n);
    all.insert(all.end(), own.entry.begin(), own.entry.end());
    QUINTET_CHECK(entries.size() == element_count(all, own.name),
                  "{}: {}: {} values given for {} of shape {}", own.context->path, own.name, entries.size(),
                  n == 1 ? "an entry" : fmt::format("{} entries", n), shape_text(own.entry));
  });
  const std::uint64_t rows = own.entry.empty() ? 1 : own.entry[0];
  own.append(native_type<T>(), entries.data(), n, 0, own.context->comm.is_root() ? rows : 0, Writers::root);
}

template <class T>
void Series::append_distributed(std::span<const T> rows, std::uint64_t offset) {
  auto& own = *implementation_;
  std::uint64_t count = 0;
  together(own.context->comm, [&] {
    own.context->require_open();
    QUINTET_CHECK(!own.entry.empty(), "{}: {}: a series of scalars cannot be distributed", own.context->path,
                  own.name);
    const std::uint64_t row = element_count(Shape(own.entry.begin() + 1, own.entry.end()), own.name);
    count = row == 0 ? 0 : rows.size() / row;
    QUINTET_CHECK(
        count * row == rows.size() && offset <= own.entry[0] && count <= own.entry[0] - offset,
        "{}: {}: rank {} gives {} values from row {}, which is not a whole number of rows within an entry "
        "of shape {}",
        own.context->path, own.name, own.context->comm.rank(), rows.size(), offset, shape_text(own.entry));
  });
  if (element_count(own.entry, own.name) > 0)
    check_complete(own.context->comm.sum(count), own.entry[0], own.context->path, own.name);
  own.append(native_type<T>(), rows.data(), 1, offset, count, Writers::all);
}

std::uint64_t Series::size() const { return implementation_->size; }

void Series::truncate(std::uint64_t size) {
  auto& own = *implementation_;
  own.context->require_open();
  QUINTET_CHECK(size <= own.size,
                "{}: {}: has {} entries; it cannot be cut to {}: the file is older than the "
                "checkpoint that is restarted from",
                own.context->path, own.name, own.size, size);
  if (size < own.extent) own.shrink(size);
}

#define QUINTET_INSTANTIATE(T)                                                            \
  template Series Group::series<T>(const std::string&, const Shape&, const Description&); \
  template void Series::append<T>(std::span<const T>);                                    \
  template void Series::append_entries<T>(std::uint64_t, std::span<const T>);             \
  template void Series::append_distributed<T>(std::span<const T>, std::uint64_t);
QUINTET_FOR_ELEMENTS(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::hdf5
