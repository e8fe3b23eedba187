#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

/// Files of cases: what a benchmark on a device starts from, and what CPUs have found for it, since programs
/// there know neither HDF5 nor the code that makes it.
namespace device_bench {

/// Writes or reads numbers, plain structs, vectors and arrays; other structs by their `visit(archive,
/// value)`.
template <class Stream>
class Archive {
 public:
  explicit Archive(const std::string& path)
      : stream_(path, std::ios::binary | (writes ? std::ios::out : std::ios::in)), path_(path) {
    if (!stream_) throw std::runtime_error("cannot open " + path);
  }
  template <class T>
  void operator()(T& value) {
    if constexpr (std::is_trivially_copyable_v<T>)
      raw(&value, sizeof(T));
    else
      parts(value);
  }
  template <class... T>
  void all(T&... values) {
    ((*this)(values), ...);
  }
  void close() {
    stream_.close();
    if (!stream_) throw std::runtime_error(path_ + " could not be written");
  }

 private:
  static constexpr bool writes = std::is_base_of_v<std::ostream, Stream>;
  template <class T>
  void parts(T& value) {
    visit(*this, value);
  }
  template <class T>
  void parts(std::vector<T>& values) {
    list(values);
  }
  void parts(std::string& text) { list(text); }
  template <class T, std::size_t N>
  void parts(std::array<T, N>& values) {
    for (T& value : values) (*this)(value);
  }
  template <class List>
  void list(List& values) {
    std::uint64_t n = values.size();
    raw(&n, sizeof n);
    values.resize(n);
    if constexpr (std::is_trivially_copyable_v<typename List::value_type>)
      raw(values.data(), n * sizeof(typename List::value_type));
    else
      for (auto& value : values) (*this)(value);
  }
  void raw(void* data, std::size_t bytes) {
    if constexpr (writes)
      stream_.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
    else if (!stream_.read(static_cast<char*>(data), static_cast<std::streamsize>(bytes)))
      throw std::runtime_error(path_ + " is cut short");
  }
  Stream stream_;
  std::string path_;
};

template <class Cases>
Cases read_cases(const std::string& path) {
  Archive<std::ifstream> archive(path);
  Cases cases;
  archive(cases);
  return cases;
}
template <class Cases>
void write_cases(Cases& cases, const std::string& path) {
  Archive<std::ofstream> archive(path);
  archive(cases);
  archive.close();
}

}  // namespace device_bench
