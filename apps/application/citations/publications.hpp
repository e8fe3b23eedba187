#pragma once

#include <span>
#include <string>
#include <string_view>

namespace quintet {

/// A publication as BibTeX has it, each text as it stands between the braces of its field; "" for a field
/// that it lacks.
struct Publication {
  std::string_view key;   ///< "zhang2018deepmd"
  std::string_view kind;  ///< article, inproceedings, book or misc
  std::string_view author, title;
  std::string_view venue = {};  ///< the journal, the proceedings, or the publisher of a book
  std::string_view volume = {}, pages = {}, year = {}, doi = {}, note = {};
};

/// All publications that a run may cite. The one place for them.
[[nodiscard]] std::span<const Publication> publications();

/// The entry of BibTeX.
[[nodiscard]] std::string bibtex(const Publication& publication);

}  // namespace quintet
