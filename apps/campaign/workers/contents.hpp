#pragma once

#include <string>
#include <string_view>

namespace quintet::campaign {

/// "SIZE XXH64" of a file, which is read in pieces of 64 MB, each of which seeds the next. Throws InputError.
[[nodiscard]] std::string contents_of(const std::string& path);

/// 32 hexadecimal digits of a text: XXH64 of two seeds.
[[nodiscard]] std::string key_of(std::string_view text);

}  // namespace quintet::campaign
