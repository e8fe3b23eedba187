#include "io/netcdf/stored_chunks.hpp"

#include <bit>
#include <cmath>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/support/scratch.hpp"
#include "tests/unit/hdf5/foreign.hpp"

namespace quintet::netcdf {
namespace {

/// The bits of numbers: NaN is like NaN.
std::vector<std::uint64_t> bits(const std::vector<double>& values) {
  std::vector<std::uint64_t> all;
  for (const double value : values) all.push_back(std::bit_cast<std::uint64_t>(value));
  return all;
}

Unpacking packing() {
  Unpacking unpacking;
  unpacking.scale = 0.01F, unpacking.offset = 3;
  unpacking.missing = {-999, -32767};
  unpacking.most = 1900;
  return unpacking;
}

class StoredChunks : public ::testing::Test {
 protected:
  StoredChunks() { foreign::write_chunked(path); }
  Scratch scratch{"stored_chunks"};
  std::string path = scratch / "a.nc";
};

TEST_F(StoredChunks, give_what_the_library_gives_to_the_bit) {
  const Box boxes[] = {
      {{0, 0, 0}, {5, 7, 9}}, {{2, 0, 0}, {1, 7, 9}}, {{1, 3, 4}, {3, 2, 2}}, {{4, 6, 8}, {1, 1, 1}}};
  for (const char* name : {"packed", "deflated", "plain"}) {
    const auto file = File::open(path, Checks::all, name);
    const auto* map = file.chunk_map();
    ASSERT_NE(map, nullptr) << name;
    ASSERT_TRUE(can_unpack(*map)) << name;
    EXPECT_EQ(map->places.size(), 5U * 2 * 2);
    for (const auto& box : boxes) {
      const auto past = unpacked_chunks(path, *map, false, box, packing());
      ASSERT_TRUE(past.has_value()) << name;
      EXPECT_EQ(bits(*past), bits(file.read_unpacked(file.variable(name), box, packing()))) << name;
    }
  }
}

TEST_F(StoredChunks, of_unsigned_numbers_are_wrapped) {
  const auto map = *File::open(path, Checks::all, "packed").chunk_map();
  const auto one = unpacked_chunks(path, map, true, {{0, 0, 1}, {1, 1, 1}}, Unpacking{});
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(one->front(), 65536 - 1999);
}

TEST_F(StoredChunks, are_left_to_the_library_where_it_does_more) {
  for (const char* name : {"checked", "swapped", "gap"})
    EXPECT_EQ(File::open(path, Checks::all, name).chunk_map(), nullptr) << name;
  EXPECT_FALSE(can_unpack(*File::open(path, Checks::all, "wide").chunk_map()));
  EXPECT_EQ(File::open(path).chunk_map(), nullptr);
  EXPECT_EQ(File::open(path, Checks::all, "absent").chunk_map(), nullptr);
}

TEST_F(StoredChunks, that_are_not_there_are_not_read) {
  const Box box{{0, 0, 0}, {5, 7, 9}};
  for (const char* name : {"packed", "plain"}) {
    const auto map = *File::open(path, Checks::all, name).chunk_map();
    auto beyond = map, other = map, few = map;
    beyond.places[3].at += 1U << 20U;
    other.places[3].bytes += 1;
    other.places[3].at -= 1;
    few.places.pop_back();
    EXPECT_TRUE(unpacked_chunks(path, map, false, box, {}).has_value());
    for (const auto& wrong : {beyond, other, few})
      EXPECT_FALSE(unpacked_chunks(path, wrong, false, box, {}).has_value()) << name;
    EXPECT_FALSE(unpacked_chunks(scratch / "absent.nc", map, false, box, {}).has_value());
  }
}

TEST_F(StoredChunks, whose_deflated_bytes_have_changed_are_left_to_the_library) {
  const auto map = *File::open(path, Checks::all, "packed").chunk_map();
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(static_cast<std::streamoff>(map.places[2].at + map.places[2].bytes / 2));
  file.put('\x55');
  file.close();
  EXPECT_FALSE(unpacked_chunks(path, map, false, {{0, 0, 0}, {5, 7, 9}}, {}).has_value());
  EXPECT_TRUE(unpacked_chunks(path, map, false, {{0, 0, 0}, {1, 4, 5}}, {}).has_value());
}

TEST_F(StoredChunks, of_numbers_that_make_no_sense_are_left_to_the_library) {
  const auto map = *File::open(path, Checks::all, "packed").chunk_map();
  Unpacking doubtful;
  doubtful.least = 5000;
  doubtful.doubt = Unpacking::Doubt{-1e9, 1e9, "most numbers are left out"};
  EXPECT_FALSE(unpacked_chunks(path, map, false, {{0, 0, 0}, {5, 7, 9}}, doubtful).has_value());
}

}  // namespace
}  // namespace quintet::netcdf
