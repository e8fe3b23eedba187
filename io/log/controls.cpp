#include "io/log/controls.hpp"

namespace quintet::log {

std::string without_controls(std::string_view text) {
  std::string clean(text);
  bool after_c2 = false;  // C2 before 80 to 9F: a control of UTF-8
  for (char& c : clean) {
    const unsigned char byte = c;
    const bool is_control =
        (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f || (after_c2 && byte >= 0x80 && byte < 0xa0);
    after_c2 = byte == 0xc2;
    if (is_control) c = '?';
  }
  return clean;
}

}  // namespace quintet::log
