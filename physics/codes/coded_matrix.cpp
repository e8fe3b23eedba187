#include "physics/codes/coded_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <mutex>
#include <tuple>

#include "io/config/schema.hpp"
#include "io/config/table.hpp"
#include "io/log/error.hpp"
#include "physics/kernels/pack.hpp"

namespace quintet {

namespace {

struct KernelRow {
  CodeKernel value;
  const char *name, *doc;
};
constexpr KernelRow kernels[] = {
    {CodeKernel::automatic, "auto", "the fastest of the others, timed at the start"},
    {CodeKernel::fp32, "fp32", "products of the decoded matrix"},
    {CodeKernel::bf16, "bf16", "the same, matrix and vectors rounded to bfloat16"},
    {CodeKernel::tables, "tables", "sums looked up in tables of signed sums"}};
constexpr CodeKernel timed_kernels[] = {CodeKernel::fp32, CodeKernel::bf16, CodeKernel::tables};

constexpr double least_sample = 5e-5;  // seconds
constexpr int most_rows = 64, samples = 7;
constexpr double near = 1.1;  // kernels whose times are within that of the least are sampled longer

/// CPU seconds of this thread: others on its core do not count.
double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

/// Answers of `automatic`, by the matrix' shape, planes, group and the number of rows.
using Shape = std::tuple<int, int, int, int, int>;
struct Answers {
  std::mutex mutex;
  std::map<Shape, CodeKernel> by_shape;
};
Answers& answers() {
  static Answers all;
  return all;
}

}  // namespace

const char* name_of(CodeKernel kernel) { return row_of(kernels, kernel).name; }

bool is_exact(CodeKernel kernel) { return kernel == CodeKernel::fp32 || kernel == CodeKernel::tables; }

void describe_codes(Schema& schema, CodeOptions& codes, const char* bits_doc) {
  schema.integer("bits", codes.bits, bits_doc).at_least(1).at_most(8);
  schema
      .integer("group", codes.group,
               "Inputs of an output that share a scale, a multiple of 4; 0: all of them")
      .at_least(0)
      .at_most(1 << 20);
  schema.integer("rounds", codes.rounds, "Alternating rounds after the greedy start")
      .at_least(0)
      .at_most(1000);
  schema.check([&codes]() -> std::optional<std::string> {
    if (codes.group % 4 == 0) return std::nullopt;
    return fmt::format("group: {}; expected a multiple of 4, or 0 for one scale a row", codes.group);
  });
}

void describe(Schema& schema, QuantiseOptions& options) {
  describe_codes(schema, options.codes, "Planes of signs a weight");
  schema.choice("kernel", options.kernel, choices_of(kernels), "Who multiplies by the coded weights");
}

CodedMatrix::CodedMatrix(BinaryCodes codes, CodeKernel kernel) : codes_(std::move(codes)), kernel_(kernel) {
  check_codes(codes_, "binary codes");
}

void CodedMatrix::prepare(CodeKernel kernel) {
  const int k = codes_.columns, n = codes_.rows;
  const auto weights = [&] {
    const auto w = decode(codes_);
    return std::vector<float>(w.begin(), w.end());
  };
  switch (kernel) {
    case CodeKernel::fp32:
      if (!fp32_) fp32_.emplace().assign(weights().data(), k, n, true);
      return;
    case CodeKernel::bf16:
      if (!bf16_) bf16_.emplace().assign(weights().data(), k, k, n, true);
      return;
    case CodeKernel::tables:
      if (!tables_) tables_.emplace(codes_);
      return;
    case CodeKernel::automatic:
      break;
  }
  throw InternalError("a kernel of coded matrices without a form");
}

void CodedMatrix::multiply_by(CodeKernel kernel, const float* x, std::ptrdiff_t ldx, int n, float* y,
                              std::ptrdiff_t ldy, bool add) {
  prepare(kernel);
  if (kernel == CodeKernel::tables) return multiply_codes(x, ldx, n, *tables_, y, ldy, add);
  if (kernel == CodeKernel::bf16) return multiply_bf16(x, ldx, n, *bf16_, y, ldy, add);
  if (!add) return quintet::multiply(x, static_cast<int>(ldx), n, *fp32_, y, static_cast<int>(ldy));
  static thread_local AlignedVector<float> products;
  const int stride = fp32_->stride();
  if (products.size() < static_cast<std::size_t>(n) * stride) products.resize(std::int64_t{n} * stride);
  quintet::multiply(x, static_cast<int>(ldx), n, *fp32_, products.data(), stride);
  constexpr int w = pack_width<float>;
  for (int row = 0; row < n; ++row)
    for (int i = 0; i < stride; i += w)
      store<float>(y + row * ldy + i, load<float>(y + row * ldy + i) +
                                          load<float>(products.data() + std::ptrdiff_t{row} * stride + i));
}

void CodedMatrix::multiply(const float* x, std::ptrdiff_t ldx, int n, float* y, std::ptrdiff_t ldy,
                           bool add) {
  if (n > 0) multiply_by(kernel_for(n), x, ldx, n, y, ldy, add);
}

std::array<double, 3> CodedMatrix::seconds_of_all(int n) {
  const int stride = padded(codes_.rows, pack_width<float>);
  AlignedVector<float> x(std::int64_t{n} * codes_.columns), y(std::int64_t{n} * stride);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(std::sin(0.7 * i));
  const auto sample = [&](CodeKernel kernel, int calls) {
    const double start = thread_seconds();
    for (int i = 0; i < calls; ++i) multiply_by(kernel, x.data(), codes_.columns, n, y.data(), stride, false);
    return (thread_seconds() - start) / calls;
  };
  std::array<int, 3> calls{};
  std::array<double, 3> least{};
  for (std::size_t k = 0; k < 3; ++k) {
    (void)sample(timed_kernels[k], 1);  // its form is made, memory is touched
    least[k] = sample(timed_kernels[k], 1);
    calls[k] = std::max<int>(1, std::ceil(least_sample / std::max(least[k], 1e-9)));
  }
  double limit = HUGE_VAL;
  for (int round = 0; round < 3 * samples; ++round) {
    if (round == samples) limit = near * *std::min_element(least.begin(), least.end());
    if (round >= samples && std::ranges::count_if(least, [&](double s) { return s <= limit; }) == 1) break;
    for (std::size_t k = 0; k < 3; ++k)
      if (least[k] <= limit) least[k] = std::min(least[k], sample(timed_kernels[k], calls[k]));
  }
  return least;
}

CodeKernel CodedMatrix::kernel_for(int n) {
  if (kernel_ != CodeKernel::automatic) return kernel_;
  n = std::min(n, most_rows);
  if (const auto found = chosen_.find(n); found != chosen_.end()) return found->second;
  const Shape shape{codes_.rows, codes_.columns, codes_.bits, codes_.group, n};
  const std::lock_guard lock(answers().mutex);
  auto& known = answers().by_shape;
  if (const auto found = known.find(shape); found == known.end()) {
    const auto seconds = seconds_of_all(n);
    known[shape] = timed_kernels[std::min_element(seconds.begin(), seconds.end()) - seconds.begin()];
    fp32_.reset(), bf16_.reset(), tables_.reset();
  }
  return chosen_[n] = known[shape];
}

}  // namespace quintet
