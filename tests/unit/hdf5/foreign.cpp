#include "tests/unit/hdf5/foreign.hpp"

#include <vector>

#include <hdf5.h>

namespace foreign {
namespace {

hid_t create(const std::string& path) {
  return H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
}

hid_t text_type(std::size_t size, H5T_str_t padding) {
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, size);
  H5Tset_strpad(type, padding);
  return type;
}

void write_attribute(hid_t object, const char* name, hid_t type, hid_t space, const void* data) {
  const hid_t attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, type, data);
  H5Aclose(attribute);
}

void write_dataset(hid_t file, const char* name, hid_t type, hid_t memory, const std::vector<hsize_t>& shape,
                   const void* data, hid_t creation = H5P_DEFAULT) {
  const hid_t space =
      shape.empty() ? H5Screate(H5S_SCALAR) : H5Screate_simple(shape.size(), shape.data(), nullptr);
  const hid_t dataset = H5Dcreate2(file, name, type, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  if (data) H5Dwrite(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data);
  H5Dclose(dataset);
  H5Sclose(space);
}

void write_texts(hid_t file) {
  const hid_t scalar = H5Screate(H5S_SCALAR);
  const hsize_t two = 2;
  const hid_t list = H5Screate_simple(1, &two, nullptr);
  const hid_t spaced = text_type(8, H5T_STR_SPACEPAD), nulled = text_type(4, H5T_STR_NULLPAD);
  write_attribute(file, "spaced", spaced, scalar, "abc     ");
  write_attribute(file, "nulled", nulled, list, "O\0\0\0full");
  write_dataset(file, "fixed_text", spaced, spaced, {}, "hello   ");
  const hid_t variable = text_type(H5T_VARIABLE, H5T_STR_NULLTERM);
  const char* texts[2] = {"of any length", ""};
  write_dataset(file, "variable_text", variable, variable, {}, texts);
  write_dataset(file, "variable_texts", variable, variable, {2}, texts);
  write_dataset(file, "fixed_texts", nulled, nulled, {2}, "O\0\0\0full");
  for (const hid_t type : {spaced, nulled, variable}) H5Tclose(type);
  H5Sclose(scalar);
  H5Sclose(list);
}

void write_compound(hid_t file) {
  const hid_t pair = H5Tcreate(H5T_COMPOUND, 16);
  H5Tinsert(pair, "a", 0, H5T_NATIVE_DOUBLE);
  H5Tinsert(pair, "b", 8, H5T_NATIVE_INT64);
  const double values[2] = {1, 0};
  write_dataset(file, "compound", pair, pair, {1}, values);
  H5Tclose(pair);
}

void write_deepmd_system(hid_t file, const char* name, bool first) {
  const hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const hid_t set = H5Gcreate2(group, "set.000", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const long long types[2] = {1, 0};
  write_dataset(group, "type.raw", H5T_STD_I64LE, H5T_NATIVE_LLONG, {2}, types);
  const hid_t text = first ? text_type(1, H5T_STR_NULLPAD) : text_type(H5T_VARIABLE, H5T_STR_NULLTERM);
  const char* names[2] = {"O", "H"};
  write_dataset(group, "type_map.raw", text, text, {2}, first ? static_cast<const void*>("OH") : names);
  H5Tclose(text);
  std::vector<double> values;
  for (int i = 1; i <= 18; ++i) values.push_back(0.1 * i);
  const hid_t stored = first ? H5T_IEEE_F64LE : H5T_IEEE_F32LE;
  const auto array = [&](const char* label, hsize_t columns) {
    write_dataset(set, label, stored, H5T_NATIVE_DOUBLE, {2, columns}, values.data());
  };
  array("coord.npy", 6);
  if (first) array("force.npy", 6);
  write_dataset(set, "energy.npy", stored, H5T_NATIVE_DOUBLE, {2}, values.data());
  values = {10, 0, 0, 0, 10, 0, 0, 0, 10, 10, 0, 0, 0, 10, 0, 0, 0, 10};
  array("box.npy", 9);
  H5Gclose(set);
  H5Gclose(group);
}

}  // namespace

void write_deepmd_systems(const std::string& path) {
  const hid_t file = create(path);
  const hid_t water = H5Gcreate2(file, "water", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  write_deepmd_system(file, "water/a", true);
  write_deepmd_system(file, "water/b", false);
  H5Gclose(water);
  H5Fclose(file);
}

void write_model(const std::string& path, const std::string& json) {
  const hid_t file = create(path);
  const hid_t type = text_type(H5T_VARIABLE, H5T_STR_NULLTERM);
  H5Tset_cset(type, H5T_CSET_UTF8);
  const hid_t scalar = H5Screate(H5S_SCALAR);
  const char* text = json.c_str();
  write_attribute(file, "json", type, scalar, &text);
  const double doubles[6] = {0, 1, 2, 3, 4, 5};
  const float floats[4] = {0.5f, 1.5f, 2.5f, 3.5f};
  write_dataset(file, "variable_0000", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {1, 2, 3}, doubles);
  write_dataset(file, "variable_0001", H5T_IEEE_F32LE, H5T_NATIVE_FLOAT, {2, 2}, floats);
  write_dataset(file, "variable_0002", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {}, doubles + 5);
  write_dataset(file, "variable_0003", H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {0}, nullptr);
  H5Sclose(scalar);
  H5Tclose(type);
  H5Fclose(file);
}

void write_mixture(const std::string& path) {
  const hid_t file = create(path);
  write_texts(file);
  write_compound(file);
  const double values[4] = {1, -2, 3.5, 4};
  write_dataset(file, "big_endian", H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, {4}, values);
  const hid_t compressed = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t chunk = 100'000;
  H5Pset_chunk(compressed, 1, &chunk);
  H5Pset_deflate(compressed, 9);
  const std::vector<double> zeros(100'000);
  write_dataset(file, "compressed", H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, {chunk}, zeros.data(), compressed);
  H5Pclose(compressed);
  const hid_t group = H5Gcreate2(file, "circle", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Lcreate_hard(file, "circle", file, "circle/again", H5P_DEFAULT, H5P_DEFAULT);
  H5Gclose(group);
  H5Lcreate_soft("/nowhere", file, "dangling", H5P_DEFAULT, H5P_DEFAULT);
  H5Fclose(file);
}

void write_liar(const std::string& path) {
  const hid_t file = create(path);
  write_dataset(file, "huge", H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, {1'000'000'000'000'000}, nullptr);
  const hid_t chunked = H5Pcreate(H5P_DATASET_CREATE);
  const hsize_t chunk[2] = {1, 1};
  H5Pset_chunk(chunked, 2, chunk);
  write_dataset(file, "overflow", H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, {1ULL << 40, 1ULL << 40}, nullptr,
                chunked);
  H5Pclose(chunked);
  const hid_t external = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_external(external, "/etc/hostname", 0, 8);
  write_dataset(file, "outside", H5T_NATIVE_DOUBLE, H5T_NATIVE_DOUBLE, {1}, nullptr, external);
  H5Pclose(external);
  H5Fclose(file);
}

namespace {

/// A growing dataset of doubles 1 2 3 ..., not one value of which is written by this.
hid_t growing(hid_t file, const char* name, const std::vector<hsize_t>& shape,
              const std::vector<hsize_t>& chunk, bool deflated = false) {
  std::vector<hsize_t> most = shape;
  most[0] = H5S_UNLIMITED;
  const hid_t space = H5Screate_simple(shape.size(), shape.data(), most.data());
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(creation, chunk.size(), chunk.data());
  if (deflated) {  // as h5repack makes of a series of ours
    H5Pset_deflate(creation, 4);
    H5Pset_alloc_time(creation, H5D_ALLOC_TIME_EARLY);
  }
  H5Pset_fill_time(creation, H5D_FILL_TIME_NEVER);
  const hid_t dataset = H5Dcreate2(file, name, H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  H5Pclose(creation);
  H5Sclose(space);
  return dataset;
}

void write_rows(hid_t dataset, hsize_t first, hsize_t count) {
  const hid_t there = H5Dget_space(dataset), here = H5Screate_simple(1, &count, nullptr);
  H5Sselect_hyperslab(there, H5S_SELECT_SET, &first, nullptr, &count, nullptr);
  std::vector<double> values;
  for (hsize_t i = 0; i < count; ++i) values.push_back(first + i + 1);
  H5Dwrite(dataset, H5T_NATIVE_DOUBLE, here, there, H5P_DEFAULT, values.data());
  H5Sclose(here);
  H5Sclose(there);
}

}  // namespace

void write_gap(const std::string& path) {
  const hid_t file = create(path), x = growing(file, "x", {30}, {10});
  write_rows(x, 0, 10);
  write_rows(x, 20, 10);
  H5Dclose(x);
  H5Fclose(file);
}

namespace {

std::size_t keep(unsigned, std::size_t, const unsigned*, std::size_t bytes, std::size_t*, void**) {
  return bytes;
}
std::size_t give_up(unsigned, std::size_t, const unsigned*, std::size_t, std::size_t*, void**) { return 0; }

void have_filter(H5Z_filter_t id, H5Z_func_t action) {
  const H5Z_class2_t row = {H5Z_CLASS_T_VERS, id, 1, 1, "of a test", nullptr, nullptr, action};
  H5Zregister(&row);
}

}  // namespace

void write_filtered(const std::string& path) {
  const hid_t file = create(path);
  std::vector<double> values(30);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i + 1;
  const auto write = [&](const char* name, H5Z_filter_t id, unsigned flags, H5Z_func_t action) {
    have_filter(id, action);
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = 10;
    H5Pset_chunk(creation, 1, &chunk);
    H5Pset_filter(creation, id, flags, 0, nullptr);
    write_dataset(file, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {30}, values.data(), creation);
    H5Pclose(creation);
  };
  write("zstd", 32015, H5Z_FLAG_MANDATORY, keep);
  write("unknown", 300, H5Z_FLAG_MANDATORY, keep);
  write("skipped", 301, H5Z_FLAG_OPTIONAL, give_up);
  H5Fclose(file);
  for (const H5Z_filter_t id : {32015, 300, 301}) H5Zunregister(id);
}

void write_chunked(const std::string& path) {
  const hid_t file = create(path);
  std::vector<double> values(5 * 7 * 9);
  for (std::size_t i = 0; i < values.size(); ++i)
    values[i] = i % 11 == 0 ? -999 : static_cast<double>(i * i % 4001) - 2000;
  const auto write = [&](const char* name, hid_t type, bool shuffle, bool deflate, bool check,
                         bool is_written = true) {
    const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk[] = {1, 4, 5};
    H5Pset_chunk(creation, 3, chunk);
    if (shuffle) H5Pset_shuffle(creation);
    if (deflate) H5Pset_deflate(creation, 4);
    if (check) H5Pset_fletcher32(creation);
    write_dataset(file, name, type, H5T_NATIVE_DOUBLE, {5, 7, 9}, is_written ? values.data() : nullptr,
                  creation);
    H5Pclose(creation);
  };
  write("packed", H5T_STD_I16LE, true, true, false);
  write("deflated", H5T_IEEE_F32LE, false, true, false);
  write("plain", H5T_IEEE_F32LE, false, false, false);
  write("checked", H5T_STD_I16LE, true, true, true);
  write("swapped", H5T_STD_I16BE, true, true, false);
  write("wide", H5T_STD_I32LE, true, true, false);
  write("gap", H5T_STD_I16LE, true, true, false, false);
  H5Fclose(file);
}

void install_filter(bool there) {
  if (there)
    have_filter(32015, keep);
  else
    H5Zunregister(32015);
}

void write_late_series(const std::string& path) {
  const hid_t file = create(path), x = growing(file, "x", {20}, {10}),
              wide = growing(file, "wide", {2, 6}, {1, 6}),
              packed = growing(file, "packed", {20}, {10}, true);
  write_rows(x, 0, 20);
  write_rows(packed, 0, 20);
  std::vector<double> values(12);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = i + 1;
  H5Dwrite(wide, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  for (const hid_t dataset : {x, wide, packed}) H5Dclose(dataset);
  H5Fclose(file);
}

}  // namespace foreign
