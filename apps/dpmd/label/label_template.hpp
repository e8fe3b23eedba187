#pragma once

#include <string>
#include <utility>
#include <vector>

namespace quintet::dpmd {

/// Names and texts of the placeholders of an input template, written {{name}} there.
using Placeholders = std::vector<std::pair<std::string, std::string>>;

/// The whole text of a file. Throws InputError.
[[nodiscard]] std::string read_text_file(const std::string& path);

/// Throws InputError unless the template has each of the `required` placeholders and no unknown one.
void check_template(const std::string& text, const std::string& path,
                    const std::vector<std::string>& required, const std::vector<std::string>& optional);

/// The template with its placeholders filled in.
[[nodiscard]] std::string fill_template(std::string text, const Placeholders& values);

}  // namespace quintet::dpmd
