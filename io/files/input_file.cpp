#include "io/files/input_file.hpp"

#include <cerrno>
#include <cstring>
#include <string_view>

#include <sys/stat.h>

#include "io/log/error.hpp"

namespace quintet {
namespace {

std::string_view kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace

std::uint64_t check_input_file(const std::string& path) {
  struct stat info {};
  const bool found = ::stat(path.c_str(), &info) == 0;
  QUINTET_CHECK(found || errno != ENOENT, "{}: cannot be opened: there is no such file", path);
  QUINTET_CHECK(found, "{}: cannot be opened: {}", path, std::strerror(errno));
  QUINTET_CHECK(S_ISREG(info.st_mode), "{}: is {}; expected a file", path, kind_of(info.st_mode));
  return info.st_size;
}

std::ifstream open_input_file(const std::string& path) {
  check_input_file(path);
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  QUINTET_CHECK(stream.is_open(), "{}: cannot be opened: {}", path, std::strerror(errno));
  return stream;
}

std::string read_input_file(const std::string& path, std::uint64_t most) {
  const std::uint64_t size = check_input_file(path);
  QUINTET_CHECK(size <= most, "{}: has {} bytes; expected at most {}", path, size, most);
  auto stream = open_input_file(path);
  std::string text(size, '\0');
  stream.read(text.data(), size);
  text.resize(stream.gcount());
  QUINTET_CHECK(!stream.bad(), "{}: cannot be read: {}", path, std::strerror(errno));
  return text;
}

}  // namespace quintet
