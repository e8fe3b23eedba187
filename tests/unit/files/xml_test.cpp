#include "io/files/xml.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "io/log/error.hpp"
#include "tests/support/scratch.hpp"

namespace {

using quintet::XmlReader;
using Piece = XmlReader::Piece;

struct Xml : ::testing::Test {
  Scratch scratch{"xml"};

  XmlReader open(const std::string& text) {
    std::ofstream(scratch / "a.xml", std::ios::binary) << text;
    return XmlReader(scratch / "a.xml");
  }

  /// The whole file in one line: <a|x=1> "text" </a>.
  std::string pieces(const std::string& text) {
    auto xml = open(text);
    std::string all;
    for (auto piece = xml.next(); piece != Piece::end; piece = xml.next()) {
      if (piece == Piece::open) all += "<" + xml.name() + "|" + xml.attribute("x") + ">";
      if (piece == Piece::text) all += "'" + xml.text() + "'";
      if (piece == Piece::close) all += "</" + xml.name() + ">";
    }
    return all + (xml.open_tags() == 0 ? "" : " cut");
  }

  std::string message(const std::string& text) {
    try {
      return pieces(text);
    } catch (const quintet::InputError& error) {
      return error.what();
    }
  }
};

TEST_F(Xml, tags_attributes_and_texts_come_in_order) {
  EXPECT_EQ(pieces("<?xml version='1.0' a=\"<>\"?>\n<!-- a <b> -- > -->\n<a x=\"1>2\" y='z'>one<b/>\n <c x = "
                   "\"4\" >two\n"
                   "</c ></a>\n"),
            "<a|1>2>'one'<b|></b><c|4>'two\n'</c></a>");
  EXPECT_EQ(pieces("<a x='&lt;&amp;&#65;'>&gt;&quot;</a>"), "<a|<&A>'>\"'</a>");
  EXPECT_EQ(pieces("<a><b>1"), "<a|><b|> cut");
  EXPECT_EQ(pieces("<a><b>1</b"), "<a|><b|>'1' cut");
}

TEST_F(Xml, what_is_no_xml_is_named_with_its_line) {
  EXPECT_NE(message("<a>\n<b>\n</a>").find("a.xml:3: </a> closes <b>"), std::string::npos);
  EXPECT_NE(message("</a>").find("closes nothing"), std::string::npos);
  EXPECT_NE(message("<a x>1</a>").find("<a> has an attribute without a value"), std::string::npos);
  EXPECT_NE(message("<a>&who;</a>").find("'&who' is no entity"), std::string::npos);
  EXPECT_NE(message("<a><![CDATA[1]]></a>").find("CDATA"), std::string::npos);
  EXPECT_NE(message("< >").find("without a name"), std::string::npos);
}

}  // namespace
