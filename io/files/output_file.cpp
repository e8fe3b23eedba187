#include "io/files/output_file.hpp"

#include <cctype>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include "io/log/error.hpp"

namespace quintet {

void make_new_file(const std::string& path) {
  ::unlink(path.c_str());  // what cannot be removed makes the next call fail
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) throw ResourceError(fmt::format("{}: cannot be created: {}", path, std::strerror(errno)));
  ::close(file);
}

std::string file_name_part(std::string_view word) {
  constexpr std::size_t longest = 100;
  std::string name(word.substr(0, longest));
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const bool stays = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '+' ||
                       (c == '.' && i > 0);
    if (!stays) name[i] = '_';
  }
  return name.empty() ? "_" : name;
}

}  // namespace quintet
