#include "io/machine/loose_json.hpp"

#include <random>
#include <string>

#include <gtest/gtest.h>

namespace quintet {
namespace {

/// qstat's answer about one job with this variable, and a second job behind it.
std::string answer(const std::string& variable) {
  return R"({"timestamp":1,"Jobs":{"7.pbs1":{"Variable_List":{)" + variable +
         R"(},"job_state":"R","queue":"rt_HG"},"8.pbs1":{"job_state":"Q","Exit_status":-27}}})";
}

void expect_both(const std::string& text) {
  const Tree tree = parse_loose_json(text);
  const Tree* jobs = tree.is_map() ? tree.find("Jobs") : nullptr;
  ASSERT_TRUE(jobs != nullptr && jobs->is_map()) << text;
  ASSERT_TRUE(jobs->has("7.pbs1") && jobs->has("8.pbs1")) << text;
  EXPECT_EQ(jobs->at("7.pbs1").at("job_state").as_text(), "R") << text;
  EXPECT_EQ(jobs->at("8.pbs1").at("Exit_status").as_integer(), -27) << text;
}

TEST(loose_json, what_is_json_is_read_as_such) {
  const Tree tree = parse_loose_json(R"( {"a": [1, 2.5, "x\n\"y\"", null, true], "b": {}} )");
  EXPECT_EQ(tree.at("a").items().size(), 5u);
  EXPECT_EQ(tree.at("a").items()[2].as_text(), "x\n\"y\"");
  EXPECT_TRUE(tree.at("a").items()[3].is_null());
  EXPECT_TRUE(tree.at("b").is_map());
}

TEST(loose_json, odd_variables_of_a_job_hide_no_other) {
  for (const std::string variable :
       {R"("D":"/a\,b")", R"("D":"say "hi" to")", "\"D\":\"line\nbreak\ttab\x01\"", "\"D\":\"\xff\xfe\"",
        R"("D":1.2.3)", R"("D":01:00:00)", R"("D":nan,"E":inf,"F":0012)", R"("D":,"E":)",
        R"("D":"a","D":"b")", R"("BASH_FUNC_module%%":"() {  eval `modulecmd bash $*`\n}")", R"("":"")",
        R"("D":some words)", R"("D":"\x \' \u00e4 \ ")"})
    expect_both(answer(variable));
}

TEST(loose_json, of_a_key_that_comes_twice_the_first_stands) {
  EXPECT_EQ(parse_loose_json(R"({"a": 1, "a": 2})").at("a").as_integer(), 1);
}

TEST(loose_json, what_is_no_document_is_null_and_what_breaks_off_ends_there) {
  EXPECT_TRUE(parse_loose_json("Moin").is_null());
  EXPECT_TRUE(parse_loose_json("").is_null());
  EXPECT_TRUE(parse_loose_json(R"({"Jobs":{"7.pbs1":{"job_st)").at("Jobs").has("7.pbs1"));
  EXPECT_NO_THROW((void)parse_loose_json(std::string(100000, '[')));
}

TEST(loose_json, no_bytes_stop_it) {
  std::mt19937 random(42);
  const std::string letters = "{}[]:,\"\\ \n\ta1\xff";
  for (int i = 0; i < 2000; ++i) {
    std::string text = "{";
    for (int n = 0; n < 60; ++n) text += letters[random() % letters.size()];
    EXPECT_NO_THROW((void)parse_loose_json(text)) << text;
  }
}

}  // namespace
}  // namespace quintet
