#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/netcdf/netcdf_file.hpp"
#include "io/netcdf/unpacking.hpp"

namespace quintet::netcdf {
namespace {

Attribute words(const std::string& text) { return {"text", true, text, {}}; }
Attribute numbers(const std::string& type, std::vector<double> values) {
  return {type, false, "", std::move(values)};
}

/// Packed as NOAA packs: shorts of a hundredth.
Variable packed_short(std::map<std::string, Attribute> more = {}) {
  Variable v;
  v.name = "sst", v.where = "a.nc: sst", v.type = "short", v.n_bits = 16;
  v.attributes = std::move(more);
  v.attributes.try_emplace("scale_factor", numbers("float", {static_cast<double>(0.01F)}));
  v.attributes.try_emplace("add_offset", numbers("float", {0}));
  return v;
}
Variable unsigned_short(std::map<std::string, Attribute> more = {}) {
  auto v = packed_short(std::move(more));
  v.attributes["_Unsigned"] = words("true");
  v.is_unsigned = true;
  return v;
}
Variable plain(const std::string& type, std::map<std::string, Attribute> attributes = {}) {
  Variable v;
  v.name = "sst", v.where = "a.nc: sst", v.type = type, v.attributes = std::move(attributes);
  v.n_bits = type == "byte" ? 8 : type == "short" ? 16 : 0;
  return v;
}

std::vector<double> unpacked(const Unpacking& unpacking, const std::vector<double>& stored) {
  std::vector<double> values(stored.size());
  unpacking.unpack<double>(stored, values);
  return values;
}
bool missing(const Variable& variable, double stored, const UnpackingOptions& options = {}) {
  return std::isnan(unpacked(unpacking_of(variable, options), {stored})[0]);
}

std::string refusal(const Variable& variable, const UnpackingOptions& options = {}) {
  try {
    static_cast<void>(unpacking_of(variable, options));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Unpacking, marks_of_an_unsigned_type_that_is_signed_by_word_wrap) {
  auto v = packed_short({{"_FillValue", numbers("ushort", {64537})}, {"_Unsigned", words("false")}});
  v.type = "ushort";
  EXPECT_TRUE(missing(v, -999));
  EXPECT_FALSE(missing(v, 999));
}

TEST(Unpacking, limits_of_scale_factors_type_are_of_unpacked_numbers) {
  const auto v = packed_short({{"valid_range", numbers("float", {-3, 45})}});
  EXPECT_FALSE(missing(v, -300));
  EXPECT_TRUE(missing(v, -301));
  EXPECT_FALSE(missing(v, 4500));
  EXPECT_TRUE(missing(v, 4501));
  const auto one_end = packed_short({{"valid_max", numbers("float", {static_cast<double>(20.3F)})}});
  EXPECT_FALSE(missing(one_end, 2030));
  EXPECT_TRUE(missing(one_end, 2031));
}

TEST(Unpacking, limits_of_the_stored_type_are_of_stored_numbers) {
  const auto v = packed_short({{"valid_range", numbers("short", {-300, 4500})}});
  EXPECT_FALSE(missing(v, -300));
  EXPECT_TRUE(missing(v, -301));
  EXPECT_FALSE(missing(packed_short({{"valid_min", numbers("int", {-300})}}), -300));
  // The wider of scale_factor and add_offset counts.
  auto wide = packed_short({{"add_offset", numbers("double", {0})}, {"valid_min", numbers("double", {-3})}});
  EXPECT_FALSE(missing(wide, -299));
  EXPECT_TRUE(missing(wide, -302));
}

TEST(Unpacking, limits_of_a_third_type_are_asked_for) {
  const auto v = packed_short({{"valid_max", numbers("double", {40})}});
  const auto message = refusal(v, {Limits::from_file, {}, "fields.valid_range"});
  EXPECT_NE(message.find("a.nc: sst: valid_max 40 is a double"), std::string::npos) << message;
  EXPECT_NE(message.find("fields.valid_range: stored, unpacked or ignored"), std::string::npos) << message;
  EXPECT_TRUE(missing(v, 41, {Limits::stored, {}, ""}));
  EXPECT_FALSE(missing(v, 4000, {Limits::unpacked, {}, ""}));
  EXPECT_TRUE(missing(v, 4001, {Limits::unpacked, {}, ""}));
  EXPECT_FALSE(missing(v, 4001, {Limits::ignored, {}, ""}));
  EXPECT_EQ(unpacking_of(v, {Limits::ignored, {}, ""}).reading.text(), "not used: valid_max");
  // Without a scale there is one reading.
  EXPECT_TRUE(missing(plain("short", {{"valid_max", numbers("double", {40})}}), 41));
}

TEST(Unpacking, limits_of_stored_numbers_that_leave_none_are_asked_for) {
  // As netCDF4-python writes valid_range = (-3, 45) beside shorts: it casts to their type.
  const auto v =
      packed_short({{"valid_range", numbers("short", {-3, 45})}, {"_FillValue", numbers("short", {-1})}});
  const UnpackingOptions with_key{Limits::from_file, {}, "fields.valid_range"};
  const auto unpacking = unpacking_of(v, with_key);
  const std::vector<double> sea{2000, 2100, 4, -1}, half{2000, 2100, 4, 5, -1}, beyond{2000, 2100, 4501};
  EXPECT_THROW(static_cast<void>(unpacked(unpacking, sea)), InputError);
  EXPECT_NO_THROW(unpacked(unpacking, half));    // half of them are inside
  EXPECT_NO_THROW(unpacked(unpacking, beyond));  // no reading makes sense of all
  EXPECT_NO_THROW(unpacked(unpacking_of(v, {Limits::stored, {}, "fields.valid_range"}), sea));
  EXPECT_FALSE(missing(v, 2000, {Limits::unpacked, {}, "fields.valid_range"}));
}

TEST(Unpacking, of_many_numbers_is_that_of_each_in_every_type) {
  const auto v = packed_short({{"valid_range", numbers("short", {-300, 4500})},
                               {"_FillValue", numbers("short", {-999})},
                               {"missing_value", numbers("short", {17})}});
  const auto unpacking = unpacking_of(v);
  std::vector<std::int16_t> stored;
  for (int i = 0; i < 10007; ++i) stored.push_back(static_cast<std::int16_t>((i * 7919) % 6000 - 1000));
  stored[5000] = 17, stored[5001] = -999;
  std::vector<double> values(stored.size());
  unpacking.unpack<std::int16_t>(stored, values);
  const auto wide = unpacked(unpacking, {stored.begin(), stored.end()});
  for (std::size_t i = 0; i < stored.size(); ++i) {
    const bool is_missing = stored[i] < -300 || stored[i] > 4500 || stored[i] == 17;
    ASSERT_EQ(std::isnan(values[i]), is_missing) << stored[i];
    if (is_missing) continue;
    ASSERT_EQ(values[i], wide[i]);
    ASSERT_NEAR(values[i], 0.01 * stored[i], 1e-5);
  }
  const std::vector<std::uint16_t> high{40000, 65535};
  std::vector<double> two(2);
  const auto marked = unpacking_of(unsigned_short({{"_FillValue", numbers("short", {-1})}}));
  marked.unpack<std::uint16_t>(high, two);
  EXPECT_NEAR(two[0], 400, 1e-4);
  EXPECT_TRUE(std::isnan(two[1]));
}

TEST(Unpacking, limits_are_rounded_to_the_stored_type) {
  const double clamped = 20.3F;  // < 20.3
  const auto v = plain("float", {{"valid_min", numbers("double", {20.3})}});
  EXPECT_FALSE(missing(v, clamped));
  EXPECT_TRUE(missing(v, std::nextafter(20.3F, 0.0F)));
  EXPECT_TRUE(missing(plain("double", {{"valid_min", numbers("double", {20.3})}}), clamped));
}

TEST(Unpacking, limits_of_unsigned_numbers_are_wrapped_as_they_are) {
  const auto v =
      unsigned_short({{"valid_range", numbers("short", {0, -6})}, {"_FillValue", numbers("short", {-1})}});
  EXPECT_FALSE(missing(v, 65530));
  EXPECT_TRUE(missing(v, 65531));
  EXPECT_TRUE(missing(v, 65535));
  EXPECT_FALSE(missing(v, 40000));
  EXPECT_NE(refusal(packed_short({{"valid_range", numbers("short", {0, -6})}})).find("no number is one"),
            std::string::npos);
}

TEST(Unpacking, a_mark_that_cannot_be_stored_is_an_unpacked_number) {
  EXPECT_TRUE(
      missing(packed_short({{"missing_value", numbers("float", {static_cast<double>(-9.99F)})}}), -999));
  EXPECT_TRUE(missing(packed_short({{"missing_value", numbers("short", {-999})}}), -999));
  const auto far = packed_short({{"missing_value", numbers("float", {1e30})}});
  EXPECT_FALSE(missing(far, 1));
  EXPECT_EQ(unpacking_of(far).reading.text(), "not used: missing_value 1e+30, which no short of it can be");
}

TEST(Unpacking, the_user_may_name_marks) {
  const UnpackingOptions marks{Limits::from_file, {-1000, 0}, ""};
  EXPECT_TRUE(missing(plain("float"), 0, marks));
  EXPECT_TRUE(missing(plain("float"), -1000, marks));
  EXPECT_FALSE(missing(plain("float"), 1e-3, marks));
  EXPECT_TRUE(missing(plain("float"), -9.99F, {Limits::from_file, {-9.99}, ""}));
  EXPECT_TRUE(missing(packed_short(), 0, marks));
  EXPECT_FALSE(missing(packed_short(), 1, marks));
}

/// Every attribute that numbers hang on, by every type that it cannot have.
TEST(Unpacking, attributes_of_a_wrong_type_are_refused_by_name) {
  for (const char* name : {"scale_factor", "add_offset", "_FillValue", "missing_value", "valid_min",
                           "valid_max", "valid_range"}) {
    for (const auto& wrong :
         {words("0.01"), words(""), Attribute{"other", false, "", {}}, numbers("float", {})}) {
      const auto message = refusal(packed_short({{name, wrong}}));
      EXPECT_NE(message.find(fmt::format("a.nc: sst: its attribute {}", name)), std::string::npos)
          << name << ": " << message;
    }
  }
  for (const char* name : {"scale_factor", "add_offset", "valid_min"})
    EXPECT_NE(refusal(packed_short({{name, numbers("float", {1, 2})}})).find("has 2 numbers; expected one"),
              std::string::npos);
  EXPECT_NE(refusal(packed_short({{"valid_range", numbers("short", {1, 2, 3})}})), "");
  EXPECT_NE(refusal(packed_short(
                {{"valid_range", numbers("short", {1, 9})}, {"valid_min", numbers("short", {2})}})),
            "");
  EXPECT_EQ(refusal(packed_short(
                {{"valid_range", numbers("short", {1, 9})}, {"valid_min", numbers("short", {1})}})),
            "");
  EXPECT_NE(refusal(packed_short({{"_Unsigned", words("yes")}})), "");
  EXPECT_NE(refusal(packed_short({{"_Unsigned", numbers("int", {1})}})), "");
  EXPECT_EQ(refusal(packed_short({{"_Unsigned", words("false")}})), "");
  EXPECT_NE(refusal(packed_short({{"scale_factor", numbers("float", {0})}})), "");
}

TEST(Unpacking, a_text_where_a_number_is_expected_is_no_absence) {
  const auto v = plain("float", {{"units", numbers("int", {1})}, {"n_train", words("60")}});
  EXPECT_THROW(static_cast<void>(v.text("units")), InputError);
  EXPECT_THROW(static_cast<void>(v.number("n_train")), InputError);
  EXPECT_FALSE(v.text("calendar"));
  EXPECT_FALSE(v.number("n_fit"));
}

}  // namespace
}  // namespace quintet::netcdf
