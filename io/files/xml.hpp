#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace quintet {

/// Reads an XML file piece by piece: tags and the text between them, in the order of the file.
///
/// Comments, declarations and processing instructions are passed over; the five entities of XML and numbers
/// (&#65;) are put in place; namespaces, own document types and CDATA sections are not supported. Checks that
/// each tag is closed.
class XmlReader {
 public:
  enum class Piece { open, close, text, end };

  /// Throws InputError if the file cannot be opened.
  explicit XmlReader(std::string path);
  /// Step to the next piece. `<a/>` is an open piece and a close one; text that is blank is passed over; end
  /// is the end of the file, wherever it comes: open_tags() says whether it is whole. Throws InputError with
  /// file:line for text that is not XML.
  Piece next();
  [[nodiscard]] const std::string& name() const { return name_; }  ///< of the tag opened or closed
  /// An attribute of the tag opened; "" if it has none of that name.
  [[nodiscard]] std::string attribute(const std::string& name) const;
  [[nodiscard]] const std::string& text() const { return text_; }  ///< between tags, of a text piece
  [[nodiscard]] std::size_t open_tags() const { return open_.size(); }
  [[nodiscard]] std::string where() const;  ///< "file.xml:12"
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  int get();
  bool read_tag();  ///< behind '<'; false: it was a comment or a declaration, or the file ends
  void read_attributes(const std::string& tag);
  [[nodiscard]] std::string decoded(const std::string& raw) const;

  std::string path_;
  std::ifstream stream_;
  std::uint64_t bytes_ = 0;
  std::int64_t line_ = 1;
  std::string name_, text_;
  std::map<std::string, std::string> attributes_;
  std::vector<std::string> open_;
  Piece piece_ = Piece::end;
  bool closes_itself_ = false;  ///< the tag opened last is <a/>
  bool at_tag_ = false;         ///< '<' was read
};

}  // namespace quintet
