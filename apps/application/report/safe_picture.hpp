#pragma once

#include <string>

namespace quintet {

/// `svg` if it is made of nothing but shapes, text and embedded PNG images, as pictures of ours are, else "".
///
/// What stands in another person's report must not run script in a page of ours: the markup is compared with
/// a list of what is known to be harmless, and one unknown element or attribute refuses the whole picture.
[[nodiscard]] std::string safe_picture(const std::string& svg);

/// A relative path as a link of a page: "./" in front, all but letters, digits and -_.~/ as %XX, so that a
/// folder "javascript:..." stays a folder.
[[nodiscard]] std::string link_of_path(const std::string& path);

}  // namespace quintet
