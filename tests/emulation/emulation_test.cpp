#include <gtest/gtest.h>
#include <unistd.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/emulation/run/memory.hpp"
#include "tests/emulation/run/warp.hpp"

namespace quintet::emulation {
namespace {

constexpr const char *head = ".version 9.0\n.target sm_90\n.address_size 64\n";

/// A function of one number.
const std::string square = R"(
.func (.param .b64 result) square(.param .b64 x)
{
  .reg .f64 %fd<4>;
  ld.param.f64 %fd1, [x];
  mul.f64 %fd2, %fd1, %fd1;
  st.param.f64 [result+0], %fd2;
  ret;
}
)";

/// An array of the device that is freed at the end.
template <class T>
class Array {
 public:
  explicit Array(std::vector<T> values) : n_(values.size()), at_(allocate(n_ * sizeof(T))) {
    std::memcpy(bytes_of(at_), values.data(), n_ * sizeof(T));
  }
  ~Array() { release(at_); }
  Array(const Array &) = delete;
  Array &operator=(const Array &) = delete;
  [[nodiscard]] std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(at_); }
  [[nodiscard]] std::vector<T> values() const {
    std::vector<T> out(n_);
    std::memcpy(out.data(), bytes_of(at_), n_ * sizeof(T));
    return out;
  }

 private:
  std::size_t n_;
  void *at_;
};

/// Runs the only kernel, `k`, of a text whose parameters are addresses or
/// 64-bit numbers.
void run(const std::string &text, unsigned blocks, unsigned threads,
         const std::vector<std::uint64_t> &parameters, std::size_t shared = 0) {
  Module module(head + text);
  const Kernel *kernel = module.kernel("k");
  ASSERT_NE(kernel, nullptr);
  std::vector<std::uint8_t> bytes(kernel->parameter_bytes);
  ASSERT_EQ(kernel->parameters.size(), parameters.size());
  for (std::size_t p = 0; p < parameters.size(); ++p)
    std::memcpy(bytes.data() + kernel->parameters[p].first, &parameters[p], kernel->parameters[p].second);
  launch(*kernel, {blocks, 1, 1}, {threads, 1, 1}, shared, bytes);
}

/// A body with the thread's number in %r1, of all threads in %r2, and the
/// address of its 8 bytes of p in %rd2.
std::string kernel_of(const std::string &body) {
  return R"(
.visible .entry k(.param .u64 p)
{
  .reg .pred %p<9>;
  .reg .b32 %r<40>;
  .reg .b64 %rd<20>;
  .reg .f64 %fd<20>;
  .reg .f32 %f<9>;
  .shared .align 8 .b8 buffer[2048];
  mov.u32 %r1, %tid.x;
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mad.lo.s32 %r2, %r3, %r4, %r1;
  ld.param.u64 %rd1, [p];
  mul.wide.s32 %rd3, %r2, 8;
  add.s64 %rd2, %rd1, %rd3;
)" + body +
         "\n  ret;\n}\n";
}

std::string what_of(const std::string &body, unsigned threads, std::size_t numbers) {
  const Array<double> p(std::vector<double>(numbers, 1.0));
  try {
    run(kernel_of(body), 1, threads, {p.address()});
  } catch (const Fault &fault) {
    return fault.what();
  }
  return {};
}

/// Sums of 64 threads by halves in shared memory, the barriers given.
std::string sums(const std::string &barrier) {
  return kernel_of(R"(
  ld.global.f64 %fd1, [%rd2];
  shl.b32 %r5, %r1, 3;
  mov.u32 %r6, buffer;
  add.s32 %r7, %r6, %r5;
  st.shared.f64 [%r7], %fd1;
  mov.u32 %r8, 32;
$again:
  )" + barrier + R"(
  setp.ge.s32 %p1, %r1, %r8;
  @%p1 bra $next;
  shl.b32 %r9, %r8, 3;
  add.s32 %r10, %r7, %r9;
  ld.shared.f64 %fd2, [%r7];
  ld.shared.f64 %fd3, [%r10];
  add.f64 %fd2, %fd2, %fd3;
  st.shared.f64 [%r7], %fd2;
$next:
  shr.u32 %r8, %r8, 1;
  setp.ne.s32 %p2, %r8, 0;
  @%p2 bra $again;
  setp.ne.s32 %p3, %r1, 0;
  @%p3 bra $end;
  ld.shared.f64 %fd4, [buffer];
  st.global.f64 [%rd2], %fd4;
$end:)");
}

std::vector<double> numbers(std::size_t n) {
  std::vector<double> out(n);
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<double>(i + 1);
  return out;
}

/// Settings of one test.
class Emulation : public ::testing::Test {
 protected:
  void TearDown() override {
    settings() = {};
    races().clear();
  }
};

TEST_F(Emulation, every_thread_of_every_block_does_its_part) {
  const Array<double> p(numbers(3 * 50));  // the last warps have 18 threads
  run(kernel_of("ld.global.f64 %fd1, [%rd2];\n fma.rn.f64 %fd2, %fd1, "
                "0d4000000000000000, "
                "0d3FF0000000000000;\n st.global.f64 [%rd2], %fd2;"),
      3, 50, {p.address()});
  const auto values = p.values();
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_EQ(values[i], 2.0 * static_cast<double>(i + 1) + 1.0);
}

TEST_F(Emulation, lanes_part_and_meet_again) {
  // 1 + 2 + ... + t by threads that turn a different number of times; odd ones
  // then take its negative.
  const Array<double> p(std::vector<double>(70, 0.0));
  run(kernel_of(R"(
  mov.u32 %r5, 0;
  mov.u32 %r6, 0;
$loop:
  setp.ge.s32 %p1, %r6, %r1;
  @%p1 bra $done;
  add.s32 %r6, %r6, 1;
  add.s32 %r5, %r5, %r6;
  bra.uni $loop;
$done:
  and.b32 %r7, %r1, 1;
  setp.eq.s32 %p2, %r7, 0;
  @!%p2 neg.s32 %r5, %r5;
  cvt.rn.f64.s32 %fd1, %r5;
  st.global.f64 [%rd2], %fd1;)"),
      1, 70, {p.address()});
  const auto values = p.values();
  for (int t = 0; t < 70; ++t) EXPECT_EQ(values[t], (t % 2 ? -0.5 : 0.5) * t * (t + 1));
}

TEST_F(Emulation, registers_live_through_blocks_that_lie_before_them) {
  // %r5 and %r6 live while a block is run that lies before their first use, and
  // that needs registers, too.
  const Array<double> p(std::vector<double>(32, 0.0));
  run(kernel_of(R"(
  bra.uni $start;
$aside:
  add.s32 %r20, %r1, 7;
  add.s32 %r21, %r20, 9;
  mul.lo.s32 %r22, %r20, %r21;
  cvt.rn.f64.s32 %fd1, %r22;
  bra.uni $back;
$start:
  mul.lo.s32 %r5, %r1, 3;
  add.s32 %r6, %r5, 11;
  bra.uni $aside;
$back:
  add.s32 %r7, %r5, %r6;
  cvt.rn.f64.s32 %fd2, %r7;
  add.f64 %fd3, %fd1, %fd2;
  st.global.f64 [%rd2], %fd3;)"),
      1, 32, {p.address()});
  const auto values = p.values();
  for (int t = 0; t < 32; ++t) EXPECT_EQ(values[t], (t + 7) * (t + 16) + 6 * t + 11);
}

TEST_F(Emulation, sums_over_a_block_are_right_in_every_order_of_warps) {
  for (const int order : {0, 1, 2, 3}) {
    settings().order = order;
    settings().races = true;
    const Array<double> p(numbers(64));
    run(sums("bar.sync 0;"), 1, 64, {p.address()});
    EXPECT_EQ(p.values()[0], 64 * 65 / 2);
    EXPECT_TRUE(races().empty()) << races().front();
  }
}

TEST_F(Emulation, a_barrier_that_is_missing_is_found) {
  settings().races = true;
  const Array<double> p(numbers(64));
  run(sums(""), 1, 64, {p.address()});
  EXPECT_NE(p.values()[0], 64 * 65 / 2) << "warps do not run side by side by chance";
  ASSERT_FALSE(races().empty());
  EXPECT_NE(races().front().find("in shared memory at byte"), std::string::npos) << races().front();
}

TEST_F(Emulation, a_warp_needs_its_own_barrier_and_a_shuffle_is_none) {
  // All lanes read a number that lane 0 then writes.
  const auto body = [](const std::string &between) {
    return kernel_of(
        "mov.u32 %r5, buffer;\n @%p1 mov.u32 %r6, 0;\n ld.shared.u32 %r7, "
        "[%r5];\n" +
        between + "\n setp.eq.s32 %p2, %r1, 0;\n @%p2 st.shared.u32 [%r5], %r1;");
  };
  settings().races = true;
  const Array<double> p(std::vector<double>(1, 0.0));
  run(body("bar.warp.sync -1;"), 1, 32, {p.address()});
  EXPECT_TRUE(races().empty());
  run(body("shfl.sync.bfly.b32 %r8|%p3, %r1, 1, 31, -1;"), 1, 32, {p.address()});
  ASSERT_EQ(races().size(), 1u);
  EXPECT_NE(races()[0].find("write after read"), std::string::npos) << races()[0];
}

TEST_F(Emulation, what_is_copied_meanwhile_is_there_when_it_was_waited_for) {
  const auto body = [](const std::string &wait) {
    return kernel_of(
        "mov.u32 %r5, buffer;\n shl.b32 %r6, %r1, 4;\n add.s32 %r7, %r5, %r6;\n"
        "add.s64 %rd4, %rd2, %rd3;\n cp.async.cg.shared.global [%r7], [%rd4], "
        "16, 16;\n"
        "cp.async.commit_group;\n" +
        wait +
        "\n ld.shared.f64 %fd1, [%r7];\n add.f64 %fd1, %fd1, %fd1;\n "
        "st.global.f64 [%rd4], %fd1;");
  };
  const Array<double> p(numbers(8));
  run(body(""), 1, 1, {p.address()});
  EXPECT_TRUE(std::isnan(p.values()[0])) << "not waited for";
  const Array<double> q(numbers(8));
  run(body("cp.async.wait_group 1;"), 1, 1, {q.address()});
  EXPECT_TRUE(std::isnan(q.values()[0])) << "all groups but the latest";
  const Array<double> r(numbers(8));
  run(body("cp.async.wait_group 0;"), 1, 4, {r.address()});
  EXPECT_EQ(r.values(), (std::vector<double>{2, 2, 6, 4, 10, 6, 14, 8}));
}

TEST_F(Emulation, memory_that_was_freed_is_refused_by_a_kernel_that_knew_it) {
  Module module(head + kernel_of("ld.global.f64 %fd1, [%rd2];"));
  const Kernel *kernel = module.kernel("k");
  std::vector<std::uint8_t> bytes(8);
  void *p = allocate(64);
  std::memcpy(bytes.data(), &p, sizeof p);
  launch(*kernel, {1, 1, 1}, {8, 1, 1}, 0, bytes);
  release(p);
  EXPECT_THROW(launch(*kernel, {1, 1, 1}, {8, 1, 1}, 0, bytes), Fault);
}

TEST_F(Emulation, warps_shuffle_and_vote) {
  const Array<double> p(std::vector<double>(64, 0.0));
  run(kernel_of(R"(
  mov.u32 %r5, %r1;
  shfl.sync.bfly.b32 %r6|%p1, %r5, 16, 31, -1;
  add.s32 %r5, %r5, %r6;
  shfl.sync.bfly.b32 %r6|%p1, %r5, 8, 31, -1;
  add.s32 %r5, %r5, %r6;
  shfl.sync.down.b32 %r7|%p2, %r1, 1, 31, -1;
  setp.lt.u32 %p3, %r1, 5;
  vote.sync.ballot.b32 %r8, %p3, -1;
  popc.b32 %r9, %r8;
  mul.lo.s32 %r10, %r9, 1000;
  add.s32 %r5, %r5, %r10;
  selp.b32 %r11, 100000, 0, %p2;
  add.s32 %r5, %r5, %r11;
  cvt.rn.f64.s32 %fd1, %r5;
  st.global.f64 [%rd2], %fd1;)"),
      1, 64, {p.address()});
  const auto values = p.values();
  for (int t = 0; t < 64; ++t) {
    const int lane = t % 32, first = t / 32 * 32;
    const int sum = 4 * first + (lane ^ 0) + (lane ^ 16) + (lane ^ 8) + (lane ^ 24);
    EXPECT_EQ(values[t], sum + (t < 32 ? 5000 : 0) + (lane < 31 ? 100000 : 0)) << t;
  }
}

TEST_F(Emulation, a_function_is_called_and_local_memory_is_each_threads_own) {
  const Array<double> p(numbers(40));
  run(square + kernel_of(R"(
  .local .align 8 .b8 mine[32];
  .reg .b64 %SP;
  .reg .b64 %SPL;
  mov.u64 %SPL, mine;
  cvta.local.u64 %SP, %SPL;
  ld.global.f64 %fd1, [%rd2];
  { // callseq 0
  .param .b64 param0;
  st.param.f64 [param0+0], %fd1;
  .param .b64 retval0;
  call.uni (retval0), square, (param0);
  ld.param.f64 %fd2, [retval0+0];
  }
  st.local.f64 [%SPL+8], %fd2;
  st.f64 [%SP+16], %fd1;
  bar.sync 0;
  ld.f64 %fd3, [%SP+8];
  ld.local.f64 %fd4, [%SPL+16];
  add.f64 %fd5, %fd3, %fd4;
  st.global.f64 [%rd2], %fd5;)"),
      1, 40, {p.address()});
  const auto values = p.values();
  for (std::size_t t = 0; t < 40; ++t) EXPECT_EQ(values[t], static_cast<double>((t + 1) * (t + 1) + t + 1));
}

TEST_F(Emulation, atomic_sums_lose_nothing) {
  const Array<std::uint64_t> p({0, 0, 0});
  run(kernel_of(R"(
  atom.global.add.u64 %rd4, [%rd1], 2;
  atom.global.inc.u32 %r5, [%rd1+8], 9;
  atom.global.max.s32 %r6, [%rd1+16], %r2;)"),
      4, 33, {p.address()});
  EXPECT_EQ(p.values(), (std::vector<std::uint64_t>{264, 132 % 10, 131}));
}

TEST_F(Emulation, conversions_round_and_saturate) {
  const Array<double> p({2.5, -2.5, 3.5, 1e300, -1e300, std::nan("")});
  run(kernel_of(R"(
  ld.global.f64 %fd1, [%rd2];
  cvt.rni.s32.f64 %r5, %fd1;
  cvt.rzi.s32.f64 %r6, %fd1;
  cvt.s64.s32 %rd4, %r5;
  shl.b64 %rd5, %rd4, 32;
  cvt.u64.u32 %rd6, %r6;
  or.b64 %rd7, %rd5, %rd6;
  st.global.u64 [%rd2], %rd7;)"),
      1, 6, {p.address()});
  const std::vector<std::pair<std::int32_t, std::int32_t>> expected{{2, 2},
                                                                    {-2, -2},
                                                                    {4, 3},
                                                                    {2147483647, 2147483647},
                                                                    {-2147483648, -2147483648},
                                                                    {-2147483648, -2147483648}};
  const auto values = p.values();
  for (std::size_t i = 0; i < 6; ++i) {
    const auto bits = std::bit_cast<std::uint64_t>(values[i]);
    EXPECT_EQ(static_cast<std::int32_t>(bits >> 32), expected[i].first) << i;
    EXPECT_EQ(static_cast<std::int32_t>(bits), expected[i].second) << i;
  }
}

TEST_F(Emulation, integers_have_their_signs_and_widths) {
  const Array<std::int64_t> p({-7, 0, 0, 0, 0, 0});
  run(kernel_of(R"(
  ld.global.s32 %rd4, [%rd1];
  cvt.u32.u64 %r5, %rd4;
  mul.hi.s32 %r6, %r5, 3;
  shr.s32 %r7, %r5, 1;
  shr.u32 %r8, %r5, 28;
  div.s32 %r9, %r5, 2;
  rem.s32 %r10, %r5, 4;
  cvt.s64.s32 %rd5, %r6;
  st.global.s64 [%rd1+8], %rd5;
  cvt.s64.s32 %rd5, %r7;
  st.global.s64 [%rd1+16], %rd5;
  cvt.u64.u32 %rd5, %r8;
  st.global.s64 [%rd1+24], %rd5;
  cvt.s64.s32 %rd5, %r9;
  st.global.s64 [%rd1+32], %rd5;
  cvt.s64.s32 %rd5, %r10;
  st.global.s64 [%rd1+40], %rd5;)"),
      1, 1, {p.address()});
  EXPECT_EQ(p.values(), (std::vector<std::int64_t>{-7, -1, -4, 15, -3, -3}));
}

TEST_F(Emulation, matrices_are_multiplied_by_a_warp) {
  // a[r][k] = r + 8 k + 1, b[k][c] = (k + 1) / (c + 1), c = 0
  const Array<double> p(std::vector<double>(64, 0.0));
  run(kernel_of(R"(
  shr.u32 %r5, %r1, 2;
  and.b32 %r6, %r1, 3;
  mad.lo.s32 %r7, %r6, 8, %r5;
  add.s32 %r7, %r7, 1;
  cvt.rn.f64.s32 %fd1, %r7;
  add.s32 %r8, %r6, 1;
  add.s32 %r9, %r5, 1;
  cvt.rn.f64.s32 %fd2, %r8;
  cvt.rn.f64.s32 %fd3, %r9;
  div.rn.f64 %fd4, %fd2, %fd3;
  mov.f64 %fd5, 0d0000000000000000;
  mov.f64 %fd6, %fd5;
  mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%fd5, %fd6}, {%fd1}, {%fd4}, {%fd5, %fd6};
  add.s64 %rd4, %rd2, %rd3;
  st.global.v2.f64 [%rd4], {%fd5, %fd6};)"),
      1, 32, {p.address()});
  const auto values = p.values();
  for (int r = 0; r < 8; ++r)
    for (int c = 0; c < 8; ++c) {
      double sum = 0;
      for (int k = 0; k < 4; ++k) sum = std::fma(r + 8 * k + 1, (k + 1.0) / (c + 1.0), sum);
      EXPECT_EQ(values[8 * r + c], sum);
    }
}

TEST_F(Emulation, memory_that_is_not_there_is_refused) {
  const std::string beyond = what_of("st.global.f64 [%rd2], 0d0000000000000000;", 8, 7);
  EXPECT_NE(beyond.find("the allocation ends before"), std::string::npos) << beyond;
  EXPECT_NE(beyond.find("thread (7, 0, 0) of (8, 1, 1)"), std::string::npos) << beyond;
  EXPECT_NE(beyond.find("st.global.f64 [%rd2]"), std::string::npos) << beyond;
  EXPECT_NE(what_of("ld.global.f64 %fd1, [%rd2+4];", 1, 8).find("not a multiple of 8"), std::string::npos);
  EXPECT_NE(
      what_of("mov.u32 %r5, 2048;\n ld.shared.f64 %fd1, [%r5];", 1, 1).find("shared memory has 2048 bytes"),
      std::string::npos);
  double host = 1;
  const auto address = std::to_string(reinterpret_cast<std::uint64_t>(&host));
  EXPECT_NE(what_of("mov.u64 %rd4, " + address + ";\n ld.global.f64 %fd1, [%rd4];", 1, 1)
                .find("no memory of the device"),
            std::string::npos);
  void *gone = allocate(64);
  const auto freed = std::to_string(reinterpret_cast<std::uint64_t>(gone));
  release(gone);
  EXPECT_NE(what_of("mov.u64 %rd4, " + freed + ";\n ld.global.f64 %fd1, [%rd4];", 1, 1)
                .find("no memory of the device"),
            std::string::npos);
}

TEST_F(Emulation, what_would_hang_or_be_undefined_is_refused) {
  EXPECT_NE(what_of("setp.lt.s32 %p1, %r1, 40;\n @%p1 bra $out;\n bar.sync "
                    "0;\n bar.sync 0;\n$out:\n bar.sync 0;",
                    64, 1)
                .find("a barrier while other threads wait at that of line"),
            std::string::npos);
  EXPECT_NE(what_of("setp.lt.s32 %p1, %r1, 8;\n @%p1 bra $out;\n bar.sync 0;\n "
                    "shfl.sync.bfly.b32 %r6|%p2, "
                    "%r1, 1, 31, -1;\n$out:\n bar.sync 0;",
                    32, 1),
            "");
  EXPECT_NE(what_of("setp.lt.s32 %p1, %r1, 40;\n @%p1 bar.sync 0;\n @!%p1 bar.sync 1;", 64, 1)
                .find("a barrier that some threads do not come to"),
            std::string::npos);
  EXPECT_NE(what_of("trap;", 1, 1).find("a trap"), std::string::npos);
}

TEST_F(Emulation, the_host_cannot_read_the_devices_memory_and_new_memory_is_no_number) {
  void *p = allocate(64);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_EQ(write(ends[1], p, 8), -1) << "the system could read it for the host";
  EXPECT_EQ(write(ends[1], bytes_of(p), 8), 8);
  close(ends[0]);
  close(ends[1]);
  double value = 0;
  std::memcpy(&value, bytes_of(p), sizeof value);
  EXPECT_TRUE(std::isnan(value));
  EXPECT_TRUE(release(p));
  EXPECT_FALSE(release(p));
}

}  // namespace
}  // namespace quintet::emulation
