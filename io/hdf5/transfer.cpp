#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <type_traits>

#include "io/config/tree.hpp"
#include "io/hdf5/detail.hpp"

namespace quintet::hdf5::detail {
namespace {

/// The selections of one transfer: where in the file, and a flat buffer of as many elements in memory.
struct Selection {
  Space file, memory;
};

Selection select(hid_t dataset, const Slab& slab) {
  Selection selection{Space(H5Dget_space(dataset)), Space()};
  const std::uint64_t n = element_count(slab.count, "selection");
  const hsize_t flat = std::max<hsize_t>(n, 1);
  selection.memory = Space(H5Screate_simple(1, &flat, nullptr));
  if (n == 0) {
    H5Sselect_none(selection.file);
    H5Sselect_none(selection.memory);
  } else if (!slab.count.empty()) {
    const std::vector<hsize_t> start(slab.start.begin(), slab.start.end());
    const std::vector<hsize_t> count(slab.count.begin(), slab.count.end());
    H5Sselect_hyperslab(selection.file, H5S_SELECT_SET, start.data(), nullptr, count.data(), nullptr);
  }
  return selection;
}

/// MPI-IO fails on datasets that have no storage; there is nothing to move then on any rank.
bool is_empty(hid_t dataset) { return H5Sget_simple_extent_npoints(Space(H5Dget_space(dataset))) == 0; }

bool is_infinite(hid_t type, const void* value) {
  if (H5Tequal(type, H5T_NATIVE_DOUBLE) > 0) return std::isinf(*static_cast<const double*>(value));
  if (H5Tequal(type, H5T_NATIVE_FLOAT) > 0) return std::isinf(*static_cast<const float*>(value));
  return false;
}

/// HDF5 clamps what does not fit; we stop there (infinities stay what they are).
H5T_conv_ret_t on_conversion(H5T_conv_except_t what, hid_t source, hid_t, void* value, void*, void*) {
  const bool out_of_range = what == H5T_CONV_EXCEPT_RANGE_HI || what == H5T_CONV_EXCEPT_RANGE_LOW;
  return out_of_range && !is_infinite(source, value) ? H5T_CONV_ABORT : H5T_CONV_UNHANDLED;
}

Properties transfer_properties(const Context& context, Writers writers = Writers::all) {
  Properties transfer(H5Pcreate(H5P_DATASET_XFER));
  H5Pset_type_conv_cb(transfer, on_conversion, nullptr);
  if (context.comm.size() > 1 && !context.image && writers == Writers::all)
    H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
  return transfer;
}

/// Filters of a dataset that this HDF5 has not: "zstd (filter 32015)"; empty if it has all. Numbers are those
/// registered with the HDF Group.
std::string missing_filters(hid_t dataset) {
  static const std::map<H5Z_filter_t, const char*> names = {
      {H5Z_FILTER_SZIP, "szip"}, {305, "LZO"},    {307, "bzip2"},        {32000, "LZF"},
      {32001, "blosc"},          {32004, "LZ4"},  {32008, "bitshuffle"}, {32013, "ZFP"},
      {32015, "zstd"},           {32017, "SZ"},   {32018, "FCIDECOMP"},  {32024, "SZ3"},
      {32026, "blosc2"},         {32028, "SPERR"}};
  const Properties creation(H5Dget_create_plist(dataset));
  std::string text;
  for (int i = 0; i < H5Pget_nfilters(creation); ++i) {
    unsigned flags = 0, settings = 0;
    std::size_t n_numbers = 0;
    const auto id = H5Pget_filter2(creation, i, &flags, &n_numbers, nullptr, 0, nullptr, &settings);
    if (id < 0 || H5Zfilter_avail(id) > 0) continue;
    const auto name = names.find(id);
    text += fmt::format(
        "{}{}", text.empty() ? "" : ", ",
        name == names.end() ? fmt::format("filter {}", id) : fmt::format("{} (filter {})", name->second, id));
  }
  return text;
}

/// An error in reading, in words where it is one of a filter.
[[noreturn]] void fail_read(const Context& context, hid_t dataset, const std::string& name,
                            const std::string& type) {
  try {
    context.fail(name, fmt::format("read it as {}", type));
  } catch (const InputError&) {
    const auto missing = missing_filters(dataset);
    QUINTET_CHECK(
        missing.empty(),
        "{}: {}: is compressed by {}, which the HDF5 library here does not have; rewrite the file "
        "where that filter is installed (h5repack -f GZIP=4 IN OUT; a netCDF file: nccopy -F '*,none' "
        "IN OUT), or name the folder of its plugin in HDF5_PLUGIN_PATH",
        context.path, name, missing);
    throw;
  }
}

}  // namespace

bool is_filtered(hid_t dataset) {
  const Properties creation(H5Dget_create_plist(dataset));
  return H5Pget_nfilters(creation) > 0;
}

void write_slab(const Context& context, hid_t dataset, const std::string& name, hid_t memory_type,
                const void* data, const Slab& slab, Writers writers) {
  if (is_empty(dataset)) return;
  if (context.comm.size() > 1 && is_filtered(dataset)) writers = Writers::all;
  const auto selection = select(dataset, slab);
  const auto transfer = transfer_properties(context, writers);
  const std::uint64_t nothing = 0;  // HDF5 wants a buffer where nothing is selected
  context.take_room();
  context.write_together([&] {
    if (writers == Writers::root && !context.comm.is_root()) return;
    if (H5Dwrite(dataset, memory_type, selection.memory, selection.file, transfer, data ? data : &nothing) <
        0) {
      context.fail_write(name);
    }
  });
}

void read_slab(const Context& context, hid_t dataset, const std::string& name, hid_t memory_type, void* data,
               const Slab& slab) {
  if (is_empty(dataset)) return;
  const auto selection = select(dataset, slab);
  const auto transfer = transfer_properties(context);
  std::uint64_t nothing = 0;
  const auto type = type_name(memory_type);  // beforehand: asking HDF5 forgets the reason of an error
  together(context.comm, [&] {
    if (H5Dread(dataset, memory_type, selection.memory, selection.file, transfer, data ? data : &nothing) < 0)
      fail_read(context, dataset, name, type);
  });
}

}  // namespace quintet::hdf5::detail

namespace quintet::hdf5 {
namespace {

using namespace detail;

void check_box(const Context& context, const std::string& name, const Shape& shape, const Box& box) {
  bool fits = box.start.size() == shape.size() && box.count.size() == shape.size();
  for (std::size_t d = 0; fits && d < shape.size(); ++d)
    fits = box.start[d] <= shape[d] && box.count[d] <= shape[d] - box.start[d];
  QUINTET_CHECK(fits, "{}: {}: a part of shape {} from {} is asked for, but it has shape {}", context.path,
                name, shape_text(box.count), shape_text(box.start), shape_text(shape));
}

/// Slab of a box; empty for a rank without elements, which takes part, too.
Slab slab_of(const Box& box) {
  const bool nothing = std::find(box.count.begin(), box.count.end(), 0u) != box.count.end();
  return nothing ? Slab{{}, Shape(box.count.size(), 0)} : Slab{box.start, box.count};
}

}  // namespace

template <class T>
void Group::make_growing(const std::string& name, const Shape& shape, std::size_t growing, const Shape& chunk,
                         const Description& description) {
  const auto& own = *implementation_;
  own.context->require_open();
  QUINTET_CHECK(growing < shape.size() && chunk.size() == shape.size(),
                "{}: {}: axis {} of shape {} cannot grow in chunks of shape {}", own.context->path,
                own.full(name), growing, shape_text(shape), shape_text(chunk));
  const std::vector<hsize_t> now(shape.begin(), shape.end()), pieces(chunk.begin(), chunk.end());
  std::vector<hsize_t> most = now;
  most[growing] = H5S_UNLIMITED;
  const Space space(H5Screate_simple(now.size(), now.data(), most.data()));
  const Properties creation(H5Pcreate(H5P_DATASET_CREATE));
  H5Pset_chunk(creation, pieces.size(), pieces.data());
  H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
  H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
  const auto dataset = own.create_dataset(name, native_type<T>(), space, creation, description);
}

void Group::resize(const std::string& name, const Shape& shape) {
  const auto& own = *implementation_;
  const auto& context = *own.context;
  context.require_open();
  const auto dataset = own.open_dataset(name);
  const auto found = shape_of_space(Space(H5Dget_space(dataset)));
  QUINTET_CHECK(found.size() == shape.size(), "{}: {}: has shape {}; it cannot become {}", context.path,
                own.full(name), shape_text(found), shape_text(shape));
  const std::vector<hsize_t> extents(shape.begin(), shape.end());
  context.write_together([&] {
    if (H5Dset_extent(dataset, extents.data()) < 0) context.fail_write(own.full(name));
  });
  context.grow(stored_bytes(dataset, found), stored_bytes(dataset, shape));
}

template <class T>
void Group::write_box(const std::string& name, std::span<const T> values, const Box& box) {
  const auto& own = *implementation_;
  const auto& context = *own.context;
  const auto dataset = own.open_dataset(name);
  const auto path = own.full(name);
  together(context.comm, [&] {
    context.require_open();
    check_box(context, path, shape_of_space(Space(H5Dget_space(dataset))), box);
    QUINTET_CHECK(values.size() == element_count(box.count, path), "{}: {}: {} values given for shape {}",
                  context.path, path, values.size(), shape_text(box.count));
  });
  write_slab(context, dataset, path, native_type<T>(), values.data(), slab_of(box));
}

template <class T>
std::vector<T> Group::read_box(const std::string& name, const Box& box) const {
  const auto& own = *implementation_;
  const auto& context = *own.context;
  const auto path = own.full(name);
  const auto dataset = own.open_dataset(name);
  const auto stored = own.stored(dataset, name, std::is_integral_v<T>);
  std::vector<T> values;
  together(context.comm, [&] {
    check_box(context, path, stored.shape, box);
    require_stored(context, dataset, stored, {box.start, box.count});
    values.resize(element_count(box.count, path));
  });
  read_slab(context, dataset, path, native_type<T>(), values.data(), slab_of(box));
  return values;
}

#define QUINTET_INSTANTIATE(T)                                                                      \
  template void Group::make_growing<T>(const std::string&, const Shape&, std::size_t, const Shape&, \
                                       const Description&);                                         \
  template void Group::write_box<T>(const std::string&, std::span<const T>, const Box&);            \
  template std::vector<T> Group::read_box<T>(const std::string&, const Box&) const;
QUINTET_FOR_ELEMENTS(QUINTET_INSTANTIATE)
#undef QUINTET_INSTANTIATE

}  // namespace quintet::hdf5
