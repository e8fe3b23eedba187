#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "io/log/error.hpp"
#include "io/netcdf/netcdf_file.hpp"
#include "tests/support/scratch.hpp"

// A zarr array b [3, 4] of values 10 i + j in chunks [2, 3].

namespace quintet::netcdf::zarr_test {
namespace {

using Index = std::vector<std::uint64_t>;

constexpr int n_i = 3, n_j = 4;
double value(int i, int j) { return i < n_i && j < n_j ? 10 * i + j : 77; }  // beyond the array: never seen

void write(const std::string& path, const std::string& bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

template <class T>
std::string element(double number, bool big) {
  const T stored = static_cast<T>(number);
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &stored, sizeof(T));
  if (big) std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

/// The bytes of chunk (I, J).
template <class T>
std::string chunk(int first_i, int first_j, bool big = false, bool turned = false) {
  std::string bytes;
  for (int k = 0; k < 6; ++k) {
    const int i = turned ? k % 2 : k / 3, j = turned ? k / 2 : k % 3;
    bytes += element<T>(value(2 * first_i + i, 3 * first_j + j), big);
  }
  return bytes;
}

std::string same(const std::string& bytes) { return bytes; }

std::string zlib_packed(const std::string& bytes) {
  std::string result(compressBound(bytes.size()), '\0');
  uLongf n = result.size();
  compress2(reinterpret_cast<Bytef*>(result.data()), &n, reinterpret_cast<const Bytef*>(bytes.data()),
            bytes.size(), 6);
  return result.substr(0, n);
}

/// Four chunks under names such as PREFIX0SEPARATOR1.
template <class T>
void write_chunks(const std::string& folder, const std::string& prefix, const std::string& separator,
                  bool big, bool turned, std::string (*pack)(const std::string&) = same) {
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      write(fmt::format("{}/{}{}{}{}", folder, prefix, i, separator, j), pack(chunk<T>(i, j, big, turned)));
}

std::string zarray(
    const std::string& type,
    const std::string& more = R"("compressor": null, "filters": null, "order": "C", "fill_value": null)") {
  return fmt::format(R"({{"zarr_format": 2, "shape": [3, 4], "chunks": [2, 3], "dtype": "{}", {}}})", type,
                     more);
}

std::string zarr_json(
    const std::string& type, const std::string& codecs, const std::string& fill = "0",
    const std::string& keys = R"({"name": "default", "configuration": {"separator": "/"}})") {
  return fmt::format(
      R"({{"zarr_format": 3, "node_type": "array", "shape": [3, 4], "data_type": "{}", "chunk_grid": {{"name": "regular", )"
      R"("configuration": {{"chunk_shape": [2, 3]}}}}, "chunk_key_encoding": {}, "fill_value": {}, "codecs": [{}], )"
      R"("attributes": {{}}, "dimension_names": ["i", "j"]}})",
      type, keys, fill, codecs);
}

void begin_2(const std::string& folder, const std::string& array,
             const std::string& attributes = R"({"_ARRAY_DIMENSIONS": ["i", "j"]})") {
  write(folder + "/.zgroup", R"({"zarr_format": 2})");
  write(folder + "/b/.zarray", array);
  write(folder + "/b/.zattrs", attributes);
}

void begin_3(const std::string& folder, const std::string& array) {
  write(folder + "/zarr.json", R"({"zarr_format": 3, "node_type": "group", "attributes": {}})");
  write(folder + "/b/zarr.json", array);
}

void expect_values(const std::string& folder) {
  const auto file = File::open(folder);
  const auto& b = file.variable("b");
  EXPECT_EQ(b.dimensions, (std::vector<std::string>{"i", "j"}));
  const auto all = file.read(b, {{0, 0}, {3, 4}}), part = file.read(b, {{1, 1}, {2, 2}});
  for (int i = 0; i < n_i; ++i)
    for (int j = 0; j < n_j; ++j) EXPECT_EQ(all[i * n_j + j], value(i, j)) << folder;
  EXPECT_EQ(part, (std::vector<double>{11, 12, 21, 22})) << folder;
}

std::string refused(const std::string& folder) {
  try {
    const auto file = File::open(folder);
    (void)file.read_unpacked(file.variable("b"));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Zarr, version_2_of_any_type_order_and_name_of_chunks) {
  const Scratch scratch("zarr_2");
  begin_2(scratch / "plain", zarray("<f8"));
  write_chunks<double>(scratch / "plain/b", "", ".", false, false);
  begin_2(
      scratch / "big",
      zarray(
          ">i2",
          R"("compressor": null, "filters": null, "order": "F", "fill_value": 0, "dimension_separator": "/")"));
  write_chunks<std::int16_t>(scratch / "big/b", "", "/", true, true);
  begin_2(
      scratch / "packed",
      zarray(
          "<f4",
          R"("compressor": {"id": "zlib", "level": 6}, "filters": [], "order": "C", "fill_value": "NaN")"));
  write_chunks<float>(scratch / "packed/b", "", ".", false, false, zlib_packed);
  for (const char* name : {"plain", "big", "packed"}) expect_values(scratch / name);
}

TEST(Zarr, version_3_of_any_order_of_bytes_axes_and_names) {
  const Scratch scratch("zarr_3");
  const std::string little = R"({"name": "bytes", "configuration": {"endian": "little"}})";
  begin_3(scratch / "plain", zarr_json("float64", little));
  write_chunks<double>(scratch / "plain/b", "c/", "/", false, false);
  begin_3(
      scratch / "turned",
      zarr_json(
          "int32",
          R"({"name": "transpose", "configuration": {"order": [1, 0]}}, {"name": "bytes", "configuration": {"endian": "big"}}, {"name": "gzip", "configuration": {"level": 5}})",
          "0", R"({"name": "v2", "configuration": {"separator": "."}})"));
  write_chunks<std::int32_t>(scratch / "turned/b", "", ".", true, true, zlib_packed);
  for (const char* name : {"plain", "turned"}) expect_values(scratch / name);
}

TEST(Zarr, checksums_are_compared) {
  const Scratch scratch("zarr_checksum");
  begin_3(scratch / "a", zarr_json("uint8", R"("bytes", {"name": "crc32c"})"));
  // CRC-32C of the six bytes of each chunk, little-endian (RFC 3720; that of "123456789" is e3069283).
  const char* sums[] = {"9ef8d243", "e005c770", "434d575a", "70825bc5"};
  for (int k = 0; k < 4; ++k) {
    std::string sum;
    for (int d = 0; d < 4; ++d)
      sum.push_back(
          static_cast<char>(std::stoi(std::string(sums[k]).substr(2 * std::int64_t{d}, 2), nullptr, 16)));
    write(fmt::format("{}/b/c/{}/{}", scratch / "a", k / 2, k % 2), chunk<std::uint8_t>(k / 2, k % 2) + sum);
  }
  expect_values(scratch / "a");
  write(scratch / "a/b/c/1/1", std::string(10, '\1'));
  EXPECT_TRUE(contains(refused(scratch / "a"), "b/c/1/1: does not agree with its checksum"));
}

TEST(Zarr, a_chunk_that_is_not_there_is_its_fill_value_and_told) {
  const Scratch scratch("zarr_fill");
  const auto with = [&](const std::string& fill) {
    std::filesystem::remove_all(scratch / "a");
    begin_2(scratch / "a",
            zarray("<f8", R"("compressor": null, "filters": null, "order": "C", "fill_value": )" + fill));
    write_chunks<double>(scratch / "a/b", "", ".", false, false);
    std::filesystem::remove(scratch / "a/b/1.0");
    return File::open(scratch / "a");
  };
  for (const std::string fill : {"0.0", "-9.5", "\"NaN\""}) {
    const auto file = with(fill);
    const auto& b = file.variable("b");
    const auto values = file.read_unpacked(b);
    EXPECT_EQ(values[0], 0);  // 0 where it is stored
    EXPECT_EQ(values[7], 13);
    if (fill == "0.0")
      EXPECT_EQ(values[8], 0);
    else
      EXPECT_TRUE(std::isnan(values[8])) << fill;
    EXPECT_TRUE(
        contains(unpacking_of(b).reading.text(), "1 of 4 chunks of b are not there: all their values are"))
        << fill;
  }
  (void)with("null");
  EXPECT_TRUE(contains(refused(scratch / "a"), "b/1.0 is not there, and no fill_value is given"));
}

TEST(Zarr, packed_integers_are_unpacked_and_limits_are_known_by_how_they_are_written) {
  const Scratch scratch("zarr_packed");
  const auto values = [&](const std::string& attributes) {
    begin_2(scratch / "a",
            zarray("<i2", R"("compressor": null, "filters": null, "order": "C", "fill_value": 23)"),
            R"({"_ARRAY_DIMENSIONS": ["i", "j"], "scale_factor": 0.5, "add_offset": 1)" + attributes + "}");
    write_chunks<std::int16_t>(scratch / "a/b", "", ".", false, false);
    const auto file = File::open(scratch / "a");
    return file.read_unpacked(file.variable("b"));
  };
  EXPECT_EQ(values("")[10], 12);
  EXPECT_TRUE(std::isnan(values("")[11]));                        // 23, the fill value
  EXPECT_TRUE(std::isnan(values(R"(, "valid_max": 11.5)")[10]));  // 12 unpacked
  EXPECT_EQ(values(R"(, "valid_max": 12.5)")[10], 12);
  EXPECT_TRUE(std::isnan(values(R"(, "valid_range": [0, 21])")[10]));  // 22 stored
  EXPECT_EQ(values(R"(, "valid_range": [0, 22])")[10], 12);
  EXPECT_EQ(values(R"(, "_FillValue": 22)")[11], 12.5);  // an attribute goes first
  EXPECT_THROW((void)values(R"(, "scale_factor": "0.5")"), InputError);
}

TEST(Zarr, a_fill_value_of_version_3_is_a_mark_as_xarray_writes_it) {
  const Scratch scratch("zarr_mark");
  auto meta = zarr_json("float64", R"({"name": "bytes", "configuration": {"endian": "little"}})");
  meta.replace(meta.find("\"attributes\": {}"), 16, R"("attributes": {"_FillValue": "AAAAAAAAJkA="})");  // 11
  begin_3(scratch / "a", meta);
  write_chunks<double>(scratch / "a/b", "c/", "/", false, false);
  const auto file = File::open(scratch / "a");
  const auto values = file.read_unpacked(file.variable("b"));
  EXPECT_TRUE(std::isnan(values[5]));
  EXPECT_EQ(values[0], 0);
}

TEST(Zarr, what_cannot_be_read_is_named) {
  const Scratch scratch("zarr_refused");
  const auto with = [&](const std::string& array, bool chunks = true) {
    std::filesystem::remove_all(scratch / "a");
    begin_2(scratch / "a", array);
    if (chunks) write_chunks<double>(scratch / "a/b", "", ".", false, false);
    return refused(scratch / "a");
  };
  EXPECT_EQ(with(zarray("<f8")), "");
  EXPECT_TRUE(contains(
      with(zarray("<f8", R"("compressor": {"id": "bz2"}, "filters": null, "order": "C", "fill_value": 0)")),
      "a: b: is packed by 'bz2', which is not read. Store it anew"));
  EXPECT_TRUE(contains(
      with(zarray("<f8",
                  R"("compressor": null, "filters": [{"id": "delta"}], "order": "C", "fill_value": 0)")),
      "is packed by 'delta', which is not read"));
  EXPECT_TRUE(contains(with(zarray("<c16")), "its type <c16 is none of numbers"));
  EXPECT_TRUE(contains(with(zarray("<f4")), "holds 48 bytes; a chunk [2, 3] of float32 has 24"));
  EXPECT_TRUE(contains(with(R"({"zarr_format": 2, "shape": [3, -4]})"), "an extent of -4"));
  EXPECT_NE(with(R"({"zarr_format": 2, "shape": [3, 4], "chunks": [2, 0], "dtype": "<f8", "order": "C"})"),
            "");
  EXPECT_NE(with(R"({"zarr_format": 2, "shape": [3)"), "");
  begin_3(scratch / "s", zarr_json("float64", R"({"name": "sharding_indexed", "configuration": {}})"));
  EXPECT_TRUE(contains(refused(scratch / "s"), "is packed by 'sharding_indexed'"));
  EXPECT_TRUE(contains(refused(scratch / "s/b"), "is one array of zarr: name the folder of its group"));
}

}  // namespace
}  // namespace quintet::netcdf::zarr_test
