#include "tests/unit/readers/hdf5_faults.hpp"

#include <cstdint>

#include <hdf5.h>

namespace quintet::readers {
namespace {

bool is_number(H5T_class_t kind) { return kind == H5T_INTEGER || kind == H5T_FLOAT; }

void add(std::vector<Place>& places, const std::string& object, const std::string& attribute, hid_t type) {
  const auto kind = H5Tget_class(type);
  if (kind == H5T_STRING || is_number(kind))
    places.push_back({object, attribute, kind == H5T_STRING, kind == H5T_INTEGER});
}

struct Walk {
  std::vector<Place>* places;
  std::string object;
};

herr_t each_attribute(hid_t object, const char* name, const H5A_info_t*, void* data) {
  auto& walk = *static_cast<Walk*>(data);
  const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT), type = H5Aget_type(attribute);
  add(*walk.places, walk.object, name, type);
  H5Tclose(type);
  H5Aclose(attribute);
  return 0;
}

herr_t each_object(hid_t file, const char* name, const H5O_info_t* info, void* data) {
  auto& places = *static_cast<std::vector<Place>*>(data);
  const std::string object = name == std::string(".") ? "/" : std::string("/") + name;
  const hid_t id = H5Oopen(file, object.c_str(), H5P_DEFAULT);
  Walk walk{&places, object};
  H5Aiterate2(id, H5_INDEX_NAME, H5_ITER_INC, nullptr, each_attribute, &walk);
  if (info->type == H5O_TYPE_DATASET) {
    const hid_t type = H5Dget_type(id);
    add(places, object, "", type);
    H5Tclose(type);
  }
  H5Oclose(id);
  return 0;
}

/// A type of text of 5 bytes, or float64, or int64.
hid_t other_type(const Place& place, Fault fault) {
  if (fault == Fault::fraction) return H5Tcopy(H5T_NATIVE_DOUBLE);
  if (place.is_text) return H5Tcopy(H5T_NATIVE_INT64);
  const hid_t type = H5Tcopy(H5T_C_S1);
  H5Tset_size(type, 5);
  return type;
}

/// As many of the other type: 7, "1.5", or 1.5 more than what was there.
std::vector<char> other_values(const std::vector<double>& old, std::size_t n, const Place& place,
                               Fault fault) {
  std::vector<char> bytes;
  const auto put = [&](auto value) {
    const char* begin = reinterpret_cast<const char*>(&value);
    bytes.insert(bytes.end(), begin, begin + sizeof value);
  };
  for (std::size_t i = 0; i < n; ++i) {
    if (fault == Fault::fraction)
      put(old[i] + 1.5);
    else if (place.is_text)
      put(std::int64_t{7});
    else
      bytes.insert(bytes.end(), {'1', '.', '5', '\0', '\0'});
  }
  return bytes;
}

bool change_attribute(hid_t object, const Place& place, Fault fault) {
  const char* name = place.attribute.c_str();
  const hid_t attribute = H5Aopen(object, name, H5P_DEFAULT), space = H5Aget_space(attribute);
  const std::size_t n = H5Sget_simple_extent_npoints(space);
  std::vector<double> old(n);
  if (fault == Fault::fraction) H5Aread(attribute, H5T_NATIVE_DOUBLE, old.data());
  H5Aclose(attribute);
  bool done = H5Adelete(object, name) >= 0;
  if (done && fault != Fault::absent) {
    const hid_t type = other_type(place, fault);
    const hid_t made = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    const auto bytes = other_values(old, n, place, fault);
    done = made >= 0 && (n == 0 || H5Awrite(made, type, bytes.data()) >= 0);
    H5Aclose(made);
    H5Tclose(type);
  }
  H5Sclose(space);
  return done;
}

herr_t copy_attribute(hid_t from, const char* name, const H5A_info_t*, void* to) {
  const hid_t old = H5Aopen(from, name, H5P_DEFAULT), type = H5Aget_type(old), space = H5Aget_space(old);
  const auto kind = H5Tget_class(type);
  if (kind == H5T_STRING || is_number(kind)) {
    const std::size_t n = H5Sget_simple_extent_npoints(space);
    std::vector<char> bytes(n * H5Tget_size(type) + 1);
    H5Aread(old, type, bytes.data());
    const hid_t made = H5Acreate2(*static_cast<hid_t*>(to), name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(made, type, bytes.data());
    H5Aclose(made);
  }
  H5Sclose(space);
  H5Tclose(type);
  H5Aclose(old);
  return 0;
}

bool change_dataset(hid_t file, const Place& place, Fault fault) {
  const char* name = place.object.c_str();
  if (fault == Fault::absent) return H5Ldelete(file, name, H5P_DEFAULT) >= 0;
  const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT), space = H5Dget_space(dataset);
  const std::size_t n = H5Sget_simple_extent_npoints(space);
  std::vector<double> old(n);
  if (fault == Fault::fraction)
    H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, old.data());
  hsize_t shape[H5S_MAX_RANK];
  const int rank = H5Sget_simple_extent_dims(space, shape, nullptr);
  const hid_t fixed = H5Screate_simple(rank, shape, nullptr), type = other_type(place, fault);
  hid_t made = H5Dcreate2(file, "/changed", type, fixed, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  const auto bytes = other_values(old, n, place, fault);
  const bool done = H5Dwrite(made, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()) >= 0;
  H5Aiterate2(dataset, H5_INDEX_NAME, H5_ITER_INC, nullptr, copy_attribute, &made);
  H5Dclose(made);
  H5Dclose(dataset);
  H5Ldelete(file, name, H5P_DEFAULT);
  H5Lmove(file, "/changed", file, name, H5P_DEFAULT, H5P_DEFAULT);
  H5Tclose(type);
  H5Sclose(fixed);
  H5Sclose(space);
  return done;
}

}  // namespace

std::vector<Place> places_of(const std::string& path) {
  std::vector<Place> places;
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  H5Ovisit2(file, H5_INDEX_NAME, H5_ITER_INC, each_object, &places, H5O_INFO_BASIC);
  H5Fclose(file);
  return places;
}

bool damage(const std::string& path, const Place& place, Fault fault) {
  if (fault == Fault::fraction && !place.is_integer) return false;
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
  bool done = false;
  if (place.attribute.empty()) {
    done = change_dataset(file, place, fault);
  } else {
    const hid_t object = H5Oopen(file, place.object.c_str(), H5P_DEFAULT);
    done = change_attribute(object, place, fault);
    H5Oclose(object);
  }
  H5Fclose(file);
  return done;
}

}  // namespace quintet::readers
