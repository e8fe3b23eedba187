#include "io/files/reading.hpp"

#include <gtest/gtest.h>

namespace {

using quintet::Reading;

TEST(Reading, is_one_line_however_many_frames_say_something) {
  Reading all;
  for (int frame = 0; frame < 40; ++frame) all.assume("frame " + std::to_string(frame));
  EXPECT_NE(all.text().find("frame 38; frame 39"), std::string::npos) << all.text();
  EXPECT_EQ(all.text().find("more"), std::string::npos) << all.text();
  all.assume("frame 40");
  all.assume("frame 40");
  all.leave("charges");
  EXPECT_NE(all.text().find("frame 39; and 1 more; not used: charges"), std::string::npos) << all.text();
}

}  // namespace
