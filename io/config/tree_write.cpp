#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "io/config/scalar.hpp"
#include "io/config/tree.hpp"
#include "io/log/error.hpp"

namespace quintet {

namespace {

/// Length of the valid UTF-8 sequence that starts at `i`, or 0.
std::size_t utf8_length(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u; };
  const unsigned lead = byte(i);
  const std::size_t length = lead < 0x80                   ? 1
                             : lead >= 0xC2 && lead < 0xE0 ? 2
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                                                           : 0;
  for (std::size_t k = 1; k < length; ++k)
    if ((byte(i + k) & 0xC0) != 0x80) return 0;
  // No overlong forms, surrogates or values beyond U+10FFFF.
  const bool excluded = (lead == 0xE0 && byte(i + 1) < 0xA0) || (lead == 0xED && byte(i + 1) > 0x9F) ||
                        (lead == 0xF0 && byte(i + 1) < 0x90) || (lead == 0xF4 && byte(i + 1) > 0x8F);
  return excluded ? 0 : length;
}

/// A text in double quotes, valid in JSON and YAML; bytes that are not UTF-8 become U+FFFD.
std::string quoted_text(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    const auto length = utf8_length(text, i);
    if (length == 0)
      out += "\xef\xbf\xbd";
    else if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F)
      out += fmt::format("\\u{:04x}", int(c));
    else
      out += text.substr(i, length);
    i += std::max<std::size_t>(length, 1);
  }
  return out += '"';
}

bool is_json_number(std::string_view text) {
  const auto digits = text.starts_with('-') ? text.substr(1) : text;
  const bool zero_padded = digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9';
  const auto dot = digits.find('.');
  const bool bare_dot = dot != std::string_view::npos && (dot == 0 || dot + 1 == digits.size() ||
                                                          digits[dot + 1] < '0' || digits[dot + 1] > '9');
  return !text.starts_with('+') && !zero_padded && !bare_dot && to_number(text).has_value();
}

std::string json_scalar(const Tree& tree) {
  const auto& text = tree.as_text();
  if (tree.quoted()) return quoted_text(text);
  if (is_json_number(text)) return text;
  if (is_nonfinite_text(text)) return "null";
  if (const auto number = to_number(text)) return number_text(*number);
  const auto word = lower_case(text);
  return word == "true" || word == "false" ? word : quoted_text(text);
}

// Indented by `indent` a level, or on one line where it is 0.
void write_json(std::string& out, const Tree& tree, int indent, int depth) {
  if (tree.is_null()) {
    out += "null";
    return;
  }
  if (tree.is_scalar()) {
    out += json_scalar(tree);
    return;
  }
  const auto new_line = [&](int level) {
    if (indent > 0) out.append("\n").append(std::int64_t{indent} * level, ' ');
  };
  const char* separator = "";
  const auto next = [&] {
    out += separator;
    separator = indent > 0 ? "," : ", ";
    new_line(depth + 1);
  };
  out += tree.is_list() ? '[' : '{';
  if (tree.is_list()) {
    for (const auto& item : tree.items()) {
      next();
      write_json(out, item, indent, depth + 1);
    }
  } else {
    for (const auto& [key, value] : tree.entries()) {
      next();
      out += quoted_text(key) + ": ";
      write_json(out, value, indent, depth + 1);
    }
  }
  if (*separator) new_line(depth);
  out += tree.is_list() ? ']' : '}';
}

bool is_letter_or_digit(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || static_cast<unsigned char>(c) >= 0x80;
}

/// Whether a text may stand in YAML without quotes, also inside a list in brackets. On the safe side.
bool is_plain(std::string_view text) {
  if (is_null_text(text) || text.ends_with(' ')) return false;
  const bool is_signed = std::string_view("+-.").find(text[0]) != std::string_view::npos && text.size() > 1 &&
                         (is_letter_or_digit(text[1]) || text[1] == '/' || text.substr(0, 3) == "../");
  if (!is_letter_or_digit(text[0]) && text[0] != '_' && text[0] != '/' && !is_signed) return false;
  for (std::size_t i = 0; i < text.size();) {
    const bool allowed = is_letter_or_digit(text[i]) ||
                         std::string_view("_./+-^*()=% ").find(text[i]) != std::string_view::npos;
    const auto length = utf8_length(text, i);
    if (!allowed || length == 0) return false;
    i += length;
  }
  return true;
}

bool is_compact(const Tree& tree) {
  if (tree.is_map()) return tree.entries().empty();
  if (!tree.is_list()) return true;
  for (const auto& item : tree.items())
    if (!is_compact(item)) return false;
  return true;
}

/// A value without line breaks: scalars, lists of scalars, empty maps.
std::string compact_yaml(const Tree& tree) {
  if (tree.is_null()) return "null";
  if (tree.is_map()) return "{}";
  if (tree.is_scalar()) {
    const auto& text = tree.as_text();
    return !tree.quoted() && is_plain(text) ? text : quoted_text(text);
  }
  std::string out = "[";
  for (const auto& item : tree.items()) out.append(out.size() > 1 ? ", " : "").append(compact_yaml(item));
  return out += ']';
}

/// A map or list in block style; its first line continues the text before it ("- "), the others are indented.
void block_yaml(std::string& out, const Tree& tree, std::size_t indent) {
  const std::string margin(indent, ' ');
  bool first = true;
  const auto begin = [&](const std::string& head) {
    if (!first) out += margin;
    first = false;
    out += head;
  };
  if (tree.is_list()) {
    for (const auto& item : tree.items()) {
      begin("- ");
      if (is_compact(item))
        out.append(compact_yaml(item)).append("\n");
      else
        block_yaml(out, item, indent + 2);
    }
    return;
  }
  for (const auto& [key, value] : tree.entries()) {
    begin(is_plain(key) ? key : quoted_text(key));
    if (is_compact(value)) {
      out.append(": ").append(compact_yaml(value)).append("\n");
    } else {
      out.append(":\n").append(margin).append("  ");
      block_yaml(out, value, indent + 2);
    }
  }
}

}  // namespace

std::string to_yaml(const Tree& tree) {
  if (is_compact(tree)) return compact_yaml(tree) + "\n";
  std::string out;
  block_yaml(out, tree, 0);
  return out;
}

std::string to_json(const Tree& tree, int indent) {
  std::string out;
  write_json(out, tree, indent, 0);
  return out;
}

void write_text_file(const std::string& path, std::string_view text) {
  const auto temporary = fmt::format("{}.tmp{}", path, getpid());
  const auto fail = [&](const char* what) {
    const std::string reason = std::strerror(errno);
    unlink(temporary.c_str());
    throw ResourceError(fmt::format("{}: cannot {}: {}", path, what, reason));
  };
  unlink(temporary.c_str());  // the name can be foreseen: a link that was laid there is not followed
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) fail("be created");
  for (std::size_t done = 0; done < text.size();) {
    const auto written = write(file, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      const int reason = errno;
      close(file);
      errno = reason;
      fail("be written");
    }
    done += written;
  }
  const bool flushed = fsync(file) == 0;
  const bool closed = close(file) == 0;
  if (!flushed || !closed) fail("be written");
  if (std::rename(temporary.c_str(), path.c_str()) != 0) fail("be renamed from its temporary name");
}

}  // namespace quintet
