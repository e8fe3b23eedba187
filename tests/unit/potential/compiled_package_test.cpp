#include "surrogates/potential/exported/compiled_package.hpp"

#include <gtest/gtest.h>

namespace quintet::potential {
namespace {

TEST(CompiledPackage, lacks_the_first_instructions_that_a_processor_does_not_have) {
  EXPECT_EQ(missing_instructions("AVX2", "sse2 avx2 fma"), std::nullopt);
  EXPECT_EQ(missing_instructions("AVX2", "sse2 avx2"), "AVX2");
  EXPECT_EQ(missing_instructions("AVX2", "sse2 avx2x fma"), "AVX2");
  EXPECT_EQ(missing_instructions("AVX512", "avx2 fma avx512f avx512dq avx512bw avx512vl"), std::nullopt);
  EXPECT_EQ(missing_instructions("AVX512", "avx2 fma avx512f avx512dq avx512bw"), "AVX512");
  EXPECT_EQ(missing_instructions("AVX2 AVX512", "avx2 fma"), "AVX512");
}

TEST(CompiledPackage, lacks_none_where_none_are_named_or_known) {
  EXPECT_EQ(missing_instructions("", ""), std::nullopt);
  EXPECT_EQ(missing_instructions("INVALID_VEC_ISA", "sse2"), std::nullopt);
}

TEST(CompiledPackage, is_an_archive_with_a_member_of_its_compiler) {
  EXPECT_TRUE(is_compiled_package({"m/data/aotinductor/model/x.so"}));
  EXPECT_TRUE(is_compiled_package({"m/archive_format"}));
  EXPECT_FALSE(is_compiled_package({"m/data.pkl", "m/aotinductor"}));
}

}  // namespace
}  // namespace quintet::potential
