#include "io/netcdf/stored_chunks.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>

#include "io/files/decompress.hpp"
#include "io/files/input_file.hpp"
#include "io/log/error.hpp"
#include "io/netcdf/index.hpp"

namespace quintet::netcdf {
namespace {

constexpr std::uint64_t most_deflated = 1032;  ///< bytes that a byte of deflate can stand for

/// The bytes of a chunk's elements. Throws InputError where the file has others.
std::string elements_of(std::ifstream& file, const hdf5::ChunkMap& map, const hdf5::ChunkMap::Place& place,
                        const std::string& path) {
  const std::uint64_t n = product(map.chunk) * map.element_size;
  QUINTET_CHECK(map.is_deflated ? n / most_deflated <= place.bytes : n == place.bytes,
                "{}: a chunk of {} bytes cannot be one of {}", path, place.bytes, n);
  std::string bytes(place.bytes, '\0');
  file.seekg(static_cast<std::streamoff>(place.at));
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  QUINTET_CHECK(file.good(), "{}: is shorter than its chunks", path);
  if (map.is_deflated) bytes = decompressed(Codec::zlib, bytes, n, path);
  return map.is_shuffled ? unshuffled(bytes, map.element_size) : bytes;
}

/// Put what a chunk and a box share into the box.
template <class T>
void put(const std::string& bytes, const Index& chunk, const Index& index, const Box& box,
         std::vector<T>& values) {
  const std::size_t n_axes = chunk.size(), last = n_axes - 1;
  Index begin(n_axes), end(n_axes);
  for (std::size_t d = 0; d < n_axes; ++d) {
    begin[d] = std::max(box.start[d], index[d] * chunk[d]);
    end[d] = std::min(box.start[d] + box.count[d], (index[d] + 1) * chunk[d]);
  }
  const std::uint64_t run = end[last] - begin[last];
  end[last] = begin[last] + 1;  // whole runs along the last axis
  Index at = begin;
  do {
    std::uint64_t from = 0, to = 0;
    for (std::size_t d = 0; d < n_axes; ++d) {
      from = from * chunk[d] + at[d] - index[d] * chunk[d];
      to = to * box.count[d] + at[d] - box.start[d];
    }
    std::memcpy(values.data() + to, bytes.data() + from * sizeof(T), run * sizeof(T));
  } while (next(at, begin, end));
}

template <class T>
std::vector<T> chunks_of_box(const std::string& path, const hdf5::ChunkMap& map, const Box& box) {
  const std::size_t n_axes = map.shape.size();
  auto file = open_input_file(path);
  std::vector<T> values(product(box.count));
  Index first(n_axes), end(n_axes);
  for (std::size_t d = 0; d < n_axes; ++d) {
    first[d] = box.start[d] / map.chunk[d];
    end[d] = (box.start[d] + box.count[d] - 1) / map.chunk[d] + 1;
  }
  Index index = first;
  do {
    std::uint64_t number = 0;
    for (std::size_t d = 0; d < n_axes; ++d)
      number = number * ((map.shape[d] - 1) / map.chunk[d] + 1) + index[d];
    QUINTET_CHECK(number < map.places.size(), "{}: has {} chunks", path, map.places.size());
    put(elements_of(file, map, map.places[number], path), map.chunk, index, box, values);
  } while (next(index, first, end));
  return values;
}

std::vector<double> unpacked_box(const std::string& path, const hdf5::ChunkMap& map, bool is_unsigned,
                                 const Box& box, const Unpacking& unpacking) {
  if (map.element_type == "int16")
    return unpacking.unpacked(chunks_of_box<std::int16_t>(path, map, box), is_unsigned);
  const auto stored = chunks_of_box<float>(path, map, box);
  std::vector<double> values(stored.begin(), stored.end());
  unpacking.unpack<double>(values, values);
  return values;
}

}  // namespace

bool can_unpack(const hdf5::ChunkMap& map) {
  return map.element_type == "int16" || map.element_type == "float32";
}

std::optional<std::vector<double>> unpacked_chunks(const std::string& path, const hdf5::ChunkMap& map,
                                                   bool is_unsigned, const Box& box,
                                                   const Unpacking& unpacking) {
  QUINTET_ASSERT(can_unpack(map), "elements of type {}", map.element_type);
  try {
    return unpacked_box(path, map, is_unsigned, box, unpacking);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace quintet::netcdf
