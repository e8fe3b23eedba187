#include "io/netcdf/classic_header.hpp"

#include <array>
#include <vector>

#include "io/files/input_file.hpp"
#include "io/log/error.hpp"

namespace quintet::netcdf {
namespace {

constexpr std::array type_bytes = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};  ///< of nc_type 1 to 11
constexpr std::uint64_t most_elements = 1U << 20U;                       ///< of a list of the header

/// `a * b`, or the largest number where that is more.
std::uint64_t product(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  return __builtin_mul_overflow(a, b, &result) ? ~std::uint64_t{0} : result;
}
std::uint64_t sum(std::uint64_t a, std::uint64_t b) {
  std::uint64_t result = 0;
  return __builtin_add_overflow(a, b, &result) ? ~std::uint64_t{0} : result;
}

struct ClassicVariable {
  std::string name;
  std::uint64_t begin = 0, bytes = 0;  ///< of a record where it has one
  bool has_records = false;
};

class HeaderReader {
 public:
  HeaderReader(const std::string& path, std::uint64_t bytes)
      : path_(path), bytes_(bytes), stream_(open_input_file(path)) {}

  void check() {
    std::array<char, 4> magic{};
    stream_.read(magic.data(), 4);
    if (!stream_ || magic[0] != 'C' || magic[1] != 'D' || magic[2] != 'F') return;
    version_ = magic[3];
    if (version_ != 1 && version_ != 2 && version_ != 5) return;
    const std::uint64_t n_records = size();
    QUINTET_CHECK(n_records != (version_ == 5 ? ~std::uint64_t{0} : 0xFFFFFFFFU),
                  "{}: says no number of records, as a file that was never closed", path_);
    std::vector<std::uint64_t> dimensions;
    for (std::uint64_t i = 0, n = list(10); i < n; ++i) {
      static_cast<void>(name());
      dimensions.push_back(size());
    }
    attributes();
    std::vector<ClassicVariable> variables;
    for (std::uint64_t i = 0, n = list(11); i < n; ++i) variables.push_back(variable(dimensions));
    check_size(variables, n_records);
  }

 private:
  std::uint64_t big_endian(int n) {
    std::array<unsigned char, 8> bytes{};
    stream_.read(reinterpret_cast<char*>(bytes.data()), n);
    QUINTET_CHECK(stream_.gcount() == n, "{}: ends within its header: it was cut short", path_);
    std::uint64_t value = 0;
    for (int i = 0; i < n; ++i) value = value << 8U | bytes[i];
    return value;
  }
  std::uint64_t size() { return big_endian(version_ == 5 ? 8 : 4); }
  /// Number of elements of a list with a tag in front.
  std::uint64_t list(std::uint64_t tag) {
    const std::uint64_t found = big_endian(4), n = size();
    QUINTET_CHECK((found == tag || (found == 0 && n == 0)) && n <= most_elements, "{}: its header is damaged",
                  path_);
    return n;
  }
  std::string bytes_padded(std::uint64_t n) {
    QUINTET_CHECK(n <= bytes_, "{}: its header is damaged", path_);
    std::string text(n, '\0');
    stream_.read(text.data(), n);
    stream_.ignore((4 - n % 4) % 4);
    QUINTET_CHECK(stream_.good(), "{}: ends within its header: it was cut short", path_);
    return text;
  }
  std::string name() { return bytes_padded(size()); }
  std::uint64_t type() {
    const std::uint64_t value = big_endian(4);
    QUINTET_CHECK(value >= 1 && value < type_bytes.size(), "{}: its header is damaged: there is no type {}",
                  path_, value);
    return type_bytes[value];
  }
  void attributes() {
    for (std::uint64_t i = 0, n = list(12); i < n; ++i) {
      static_cast<void>(name());
      const std::uint64_t bytes = type();
      static_cast<void>(bytes_padded(product(bytes, size())));
    }
  }
  ClassicVariable variable(const std::vector<std::uint64_t>& dimensions) {
    ClassicVariable result;
    result.name = name();
    const std::uint64_t rank = size();
    QUINTET_CHECK(rank <= 1024, "{}: its header is damaged", path_);
    std::uint64_t elements = 1;
    for (std::uint64_t d = 0; d < rank; ++d) {
      const std::uint64_t number = size();
      QUINTET_CHECK(number < dimensions.size(), "{}: {} has a dimension that there is not", path_,
                    result.name);
      if (dimensions[number] == 0 && d == 0)
        result.has_records = true;
      else
        elements = product(elements, dimensions[number]);
    }
    attributes();
    result.bytes = product(elements, type());
    static_cast<void>(size());  // vsize, which cannot hold what is large and is not to be trusted
    result.begin = big_endian(version_ == 1 ? 4 : 8);
    return result;
  }
  void check_size(const std::vector<ClassicVariable>& variables, std::uint64_t n_records) const {
    std::uint64_t record = 0, n_with_records = 0;
    for (const auto& variable : variables)
      if (variable.has_records)
        record = sum(record, sum(variable.bytes, (4 - variable.bytes % 4) % 4)), ++n_with_records;
    for (const auto& variable : variables) {
      if (n_with_records == 1 && variable.has_records) record = variable.bytes;  // the only one is not padded
      std::uint64_t end = sum(variable.begin, variable.bytes);
      if (variable.has_records) end = n_records == 0 ? 0 : sum(end, product(n_records - 1, record));
      QUINTET_CHECK(end <= bytes_, "{}: has {} bytes, {} ends at byte {}: it was cut short", path_, bytes_,
                    variable.name, end);
    }
  }

  std::string path_;
  std::uint64_t bytes_;
  std::ifstream stream_;
  int version_ = 0;
};

}  // namespace

void check_classic_file(const std::string& path, std::uint64_t bytes) { HeaderReader(path, bytes).check(); }

}  // namespace quintet::netcdf
