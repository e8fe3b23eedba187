#include "physics/tasks/stamp.hpp"

#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

using namespace quintet::tasks;

namespace {

/// The task (7, 3) needs points 2 and 4 of step 6; outputs are three stamps long.
struct Inputs {
  static constexpr int step = 7, length = 3;
  std::vector<int> needed = {2, 4};
  std::vector<Stamp> from_2{3, {6, 2}}, from_4{3, {6, 4}};
  std::vector<const Stamp*> inputs = {from_2.data(), from_4.data()};
  [[nodiscard]] bool right() const { return inputs_are_right(step, needed, inputs, length); }
  [[nodiscard]] std::string wrong() const { return what_is_wrong(step, 3, needed, inputs, length); }
};

}  // namespace

TEST(TaskInputs, are_right_as_they_should_be) {
  const Inputs inputs;
  EXPECT_TRUE(inputs.right());
  EXPECT_EQ(inputs.wrong(), "");
}

TEST(TaskInputs, are_wrong_where_any_byte_is) {
  for (std::size_t byte = 0; byte < 3 * sizeof(Stamp); ++byte) {
    Inputs inputs;
    reinterpret_cast<std::byte*>(inputs.from_4.data())[byte] ^= std::byte{64};
    EXPECT_FALSE(inputs.right()) << byte;
    EXPECT_NE(inputs.wrong().find("byte " + std::to_string(byte) + " of the 48 bytes from point 4 is wrong"),
              std::string::npos)
        << inputs.wrong();
  }
}

TEST(TaskInputs, are_wrong_where_one_is_missing_surplus_or_of_another_step) {
  Inputs missing, surplus, other_step, exchanged;
  missing.inputs.pop_back();
  surplus.inputs.push_back(surplus.from_2.data());
  other_step.from_2.assign(3, {5, 2});
  std::swap(exchanged.inputs[0], exchanged.inputs[1]);

  for (const auto* inputs : {&missing, &surplus, &other_step, &exchanged}) EXPECT_FALSE(inputs->right());
  EXPECT_EQ(
      missing.wrong(),
      "Task (step 7, point 3): a missing input: 1 came; needed are 2, from the points [2, 4] of step 6");
  EXPECT_EQ(
      surplus.wrong(),
      "Task (step 7, point 3): a surplus input: 3 came; needed are 2, from the points [2, 4] of step 6");
  EXPECT_EQ(other_step.wrong(),
            "Task (step 7, point 3): byte 0 of the 48 bytes from point 2 is wrong: expected (step 6, point "
            "2), found (step 5, "
            "point 2)");
}
