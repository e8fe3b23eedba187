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

/// A chunk as it lies in the file, and which of the filters it did not go through.
struct StoredChunk {
  ChunkMap::Place place;
  unsigned skipped;
};

/// Nothing where the chunk is not in the file, or not all of it.
std::optional<StoredChunk> find_chunk(const Context& context, hid_t dataset, const hsize_t* at,
                                      std::uint64_t file_bytes) {
  unsigned skipped = 0;
  haddr_t place = HADDR_UNDEF;
  hsize_t bytes = 0;
  context.check(H5Dget_chunk_info_by_coord(dataset, at, &skipped, &place, &bytes), "chunk", "find it");
  if (place == HADDR_UNDEF || place > file_bytes || bytes > file_bytes - place) return std::nullopt;
  return StoredChunk{{place, bytes}, skipped};
}

bool is_in_file(const Context& context, hid_t dataset, const hsize_t* at, std::uint64_t file_bytes) {
  return find_chunk(context, dataset, at, file_bytes).has_value();
}

/// Whether a dataset's chunks are made by shuffling and deflating, in this order, or less.
bool take_filters(hid_t creation, ChunkMap& map) {
  const int n = H5Pget_nfilters(creation);
  for (int i = 0; i < n; ++i) {
    unsigned flags = 0, configuration = 0;
    std::size_t n_values = 0;
    const auto filter = H5Pget_filter2(creation, i, &flags, &n_values, nullptr, 0, nullptr, &configuration);
    if (filter == H5Z_FILTER_SHUFFLE && i == 0)
      map.is_shuffled = true;
    else if (filter == H5Z_FILTER_DEFLATE && i + 1 == n)
      map.is_deflated = true;
    else
      return false;
  }
  return n >= 0;
}

/// Element type, shape and filters of a map; nothing where they are others than it can say.
std::optional<ChunkMap> begin_map(hid_t dataset, hid_t creation) {
  const Type type(H5Dget_type(dataset));
  const Type native(H5Tget_native_type(type, H5T_DIR_ASCEND));
  const auto kind = H5Tget_class(type);
  const bool usual = (kind == H5T_INTEGER || kind == H5T_FLOAT) && native >= 0 && H5Tequal(type, native) > 0;
  if (!usual || H5Pget_layout(creation) != H5D_CHUNKED) return std::nullopt;
  ChunkMap map;
  map.element_type = type_name(type);
  map.element_size = H5Tget_size(type);
  map.shape = shape_of_space(Space(H5Dget_space(dataset)));
  if (map.shape.empty() || !take_filters(creation, map)) return std::nullopt;
  return map;
}

/// Bytes before the file proper, which addresses may or may not count; -1: not known.
std::int64_t user_block(hid_t file) {
  const Properties creation(H5Fget_create_plist(file));
  hsize_t bytes = 0;
  return H5Pget_userblock(creation, &bytes) < 0 ? -1 : static_cast<std::int64_t>(bytes);
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

std::optional<ChunkMap> Group::chunk_map(const std::string& name, std::uint64_t most) const {
  const auto& context = *implementation_->context;
  if (context.image || user_block(context.file) != 0) return std::nullopt;
  const auto dataset = implementation_->open_dataset(name);
  const Properties creation(H5Dget_create_plist(dataset));
  auto map = begin_map(dataset, creation);
  if (!map || std::count(map->shape.begin(), map->shape.end(), 0) > 0) return std::nullopt;
  const Chunks chunks = chunks_of(creation, map->shape);
  map->chunk.assign(chunks.extent.begin(), chunks.extent.end());
  constexpr std::uint64_t most_bytes = std::uint64_t{1}
                                       << 31U;  // of a chunk; a false extent may say any number
  std::uint64_t chunk_bytes = map->element_size;
  for (const auto extent : map->chunk) {
    if (extent == 0 || chunk_bytes > most_bytes / extent) return std::nullopt;
    chunk_bytes *= extent;
  }
  const std::uint64_t file_bytes = context.bytes();
  if (chunks.needed > most || chunks.needed > file_bytes) return std::nullopt;
  std::vector<hsize_t> at(map->shape.size());
  for (hsize_t i = 0; i < chunks.needed; ++i) {
    hsize_t rest = i;
    for (std::size_t d = at.size(); d-- > 0; rest /= chunks.number[d])
      at[d] = rest % chunks.number[d] * chunks.extent[d];
    const auto chunk = find_chunk(context, dataset, at.data(), file_bytes);
    if (!chunk || chunk->skipped != 0) return std::nullopt;
    map->places.push_back(chunk->place);
  }
  return map;
}

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
