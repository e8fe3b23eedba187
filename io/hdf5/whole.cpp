#include <algorithm>
#include <filesystem>

#include "io/config/tree.hpp"
#include "io/hdf5/detail.hpp"
#include "io/parallel/comm.hpp"

// What a killed writer left of a file.

namespace quintet::hdf5 {
namespace {

using namespace detail;

/// The chunks of a dataset: how many along each axis, and how large.
struct Chunks {
  std::vector<hsize_t> extent, number;
  hsize_t needed = 1;
};

Chunks chunks_of(hid_t creation, const Shape& shape) {
  Chunks chunks{std::vector<hsize_t>(shape.size()), std::vector<hsize_t>(shape.size())};
  H5Pget_chunk(creation, shape.size(), chunks.extent.data());
  for (std::size_t d = 0; d < shape.size(); ++d) {
    chunks.number[d] = (shape[d] + chunks.extent[d] - 1) / chunks.extent[d];
    chunks.needed *= chunks.number[d];
  }
  return chunks;
}

bool is_in_file(const Context& context, hid_t dataset, const hsize_t* at, std::uint64_t file_bytes) {
  unsigned filters = 0;
  haddr_t place = HADDR_UNDEF;
  hsize_t bytes = 0;
  context.check(H5Dget_chunk_info_by_coord(dataset, at, &filters, &place, &bytes), "chunk", "find it");
  return place != HADDR_UNDEF && place <= file_bytes && bytes <= file_bytes - place;
}

/// The first row along `axis` of which a chunk is missing.
std::uint64_t first_missing(const Context& context, hid_t dataset, const Shape& shape, const Chunks& chunks,
                            std::size_t axis) {
  const std::uint64_t file_bytes = context.bytes();
  hsize_t first = chunks.number[axis];
  for (hsize_t i = 0; i < chunks.needed; ++i) {
    std::vector<hsize_t> at(shape.size());
    hsize_t rest = i, number = 0;
    for (std::size_t d = shape.size(); d-- > 0; rest /= chunks.number[d]) {
      at[d] = rest % chunks.number[d] * chunks.extent[d];
      if (d == axis) number = rest % chunks.number[d];
    }
    if (number < first && !is_in_file(context, dataset, at.data(), file_bytes)) first = number;
  }
  return std::min<std::uint64_t>(shape[axis], first * chunks.extent[axis]);
}

}  // namespace

namespace detail {

std::uint64_t stored_bytes(hid_t dataset, const Shape& shape) {
  const Properties creation(H5Dget_create_plist(dataset));
  if (H5Pget_layout(creation) != H5D_CHUNKED) return 0;
  const Chunks chunks = chunks_of(creation, shape);
  std::uint64_t bytes = H5Tget_size(Type(H5Dget_type(dataset)));
  for (const hsize_t extent : chunks.extent) bytes *= extent;
  return chunks.needed * (bytes + metadata_of_chunk);
}

bool has_chunks(const Context& context, hid_t dataset, const Stored& stored, const Slab& part) {
  const Properties creation(H5Dget_create_plist(dataset));
  if (H5Pget_layout(creation) != H5D_CHUNKED || stored.shape.empty()) return false;
  const Chunks chunks = chunks_of(creation, stored.shape);
  Chunks wanted = chunks;  // those that the part touches, from `first` on
  std::vector<hsize_t> first(stored.shape.size());
  wanted.needed = 1;
  for (std::size_t d = 0; d < first.size(); ++d) {
    if (part.count[d] == 0) return true;
    first[d] = part.start[d] / chunks.extent[d];
    wanted.number[d] = (part.start[d] + part.count[d] - 1) / chunks.extent[d] + 1 - first[d];
    wanted.needed *= wanted.number[d];
  }
  if (wanted.needed > stored.file_bytes) return false;
  std::vector<hsize_t> at(first.size());
  for (hsize_t i = 0; i < wanted.needed; ++i) {
    hsize_t rest = i;
    for (std::size_t d = at.size(); d-- > 0; rest /= wanted.number[d])
      at[d] = (first[d] + rest % wanted.number[d]) * chunks.extent[d];
    if (!is_in_file(context, dataset, at.data(), stored.file_bytes)) return false;
  }
  return true;
}

void require_stored(const Context& context, hid_t dataset, const Stored& stored, const Slab& part) {
  QUINTET_CHECK(stored.lack.empty() || has_chunks(context, dataset, stored, part), "{}", stored.lack);
}

}  // namespace detail

namespace {

/// "" for a dataset or group that can be opened.
std::string damage_of(const Group& group, const std::string& name) {
  try {
    if (!group.is_group(name)) {
      static_cast<void>(group.shape(name).empty() ? 0 : group.whole_rows(name));
      return "";
    }
    const Group inner = group.open_group(name);
    for (const auto& member : inner.names())
      if (auto text = damage_of(inner, member); !text.empty()) return text;
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

}  // namespace

std::uint64_t Group::whole_rows(const std::string& name, std::size_t axis) const {
  const auto& own = *implementation_;
  const auto& context = *own.context;
  const auto dataset = own.open_dataset(name);
  const Space space(context.check(H5Dget_space(dataset), own.full(name), "find its shape"));
  const Shape shape = shape_of_space(space);
  QUINTET_CHECK(axis < shape.size(), "{}: {}: has {} axes; number {} is asked for", context.path,
                own.full(name), shape.size(), axis);
  const Properties creation(
      context.check(H5Dget_create_plist(dataset), own.full(name), "find how it is stored"));
  if (H5Pget_layout(creation) != H5D_CHUNKED || element_count(shape, own.full(name)) == 0) return shape[axis];
  const Chunks chunks = chunks_of(creation, shape);
  hsize_t found = 0;
  context.check(H5Dget_num_chunks(dataset, space, &found), own.full(name), "count its chunks");
  // A claim of more chunks than fit into the file is looked at no further.
  QUINTET_CHECK(found >= chunks.needed || chunks.needed <= context.bytes(),
                "{}: {}: shape {} is more than the file can hold: it is corrupt", context.path,
                own.full(name), shape_text(shape));
  return found >= chunks.needed ? shape[axis] : first_missing(context, dataset, shape, chunks, axis);
}

std::optional<std::string> damage(const Comm& comm, const std::string& path) {
  std::string text;
  on_root(comm, [&] {
    QUINTET_CHECK(std::filesystem::exists(path), "{}: no such file", path);
    try {
      const File file = File::open(Comm::self(), path);
      file.check_attributes();
      for (const auto& name : file.root().names())
        if (text.empty()) text = damage_of(file.root(), name);
    } catch (const InputError& error) {
      text = error.what();
      // A refusal of the system (a reader's lock, no permission) does not mean damage.
      if (text.find("errno = ") != std::string::npos) throw;
    }
  });
  text = comm.broadcast(text);
  return text.empty() ? std::nullopt : std::optional(text);
}

}  // namespace quintet::hdf5
