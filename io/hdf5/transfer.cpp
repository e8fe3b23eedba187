#include <algorithm>
#include <cmath>

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

Properties transfer_properties(const Context& context) {
  Properties transfer(H5Pcreate(H5P_DATASET_XFER));
  H5Pset_type_conv_cb(transfer, on_conversion, nullptr);
  if (context.comm.size() > 1 && !context.image) H5Pset_dxpl_mpio(transfer, H5FD_MPIO_COLLECTIVE);
  return transfer;
}

}  // namespace

void write_slab(const Context& context, hid_t dataset, const std::string& name, hid_t memory_type,
                const void* data, const Slab& slab) {
  if (is_empty(dataset)) return;
  const auto selection = select(dataset, slab);
  const auto transfer = transfer_properties(context);
  const std::uint64_t nothing = 0;  // HDF5 wants a buffer where nothing is selected
  context.take_room();
  context.write_together([&] {
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
  together(context.comm, [&] {
    context.check(
        H5Dread(dataset, memory_type, selection.memory, selection.file, transfer, data ? data : &nothing),
        name, fmt::format("read it as {}", type_name(memory_type)));
  });
}

}  // namespace quintet::hdf5::detail
