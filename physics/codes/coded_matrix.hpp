#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "io/config/schema_fwd.hpp"
#include "physics/codes/binary_codes.hpp"
#include "physics/codes/code_tables.hpp"
#include "physics/kernels/gemm.hpp"
#include "physics/kernels/gemm_bf16.hpp"

namespace quintet {

/// Kernel that multiplies by a matrix of codes.
enum class CodeKernel {
  automatic,  ///< the fastest of those below, timed
  fp32,       ///< products of the decoded matrix
  bf16,       ///< the same of decoded matrix and vectors rounded to bfloat16
  tables      ///< sums looked up (multiply_codes())
};
[[nodiscard]] const char* name_of(CodeKernel kernel);
/// Whether a kernel's results are those of `fp32` to rounding: bf16 rounds the vectors, too.
[[nodiscard]] bool is_exact(CodeKernel kernel);

/// Section `quantise`.
struct QuantiseOptions {
  CodeOptions codes;
  CodeKernel kernel = CodeKernel::automatic;
};
void describe(Schema& schema, QuantiseOptions& options);
/// The keys of codes alone: bits, with this doc, group and rounds.
void describe_codes(Schema& schema, CodeOptions& codes, const char* bits_doc);

/// A right-hand factor known by its codes: Y = X W~^T or Y += that, for any number of rows of X.
///
/// `automatic` times the three kernels on the matrix itself when a number of rows first comes (up to 64, more
/// count as 64; ten to twenty products by each, 1 ms at least), keeps the answer for all matrices of that
/// shape, and so may differ from run to run. Other kernels give the same bits always, and a row's result does
/// not depend on the rows beside it. Not for several threads at once.
class CodedMatrix {
 public:
  explicit CodedMatrix(BinaryCodes codes, CodeKernel kernel = CodeKernel::automatic);

  [[nodiscard]] const BinaryCodes& codes() const { return codes_; }
  /// @param x `[n, columns]` (stride ldx) @param y `[n, rows]` (stride ldy at least rows padded to packs);
  /// the padding comes out as 0, or, with `add`, as it was
  void multiply(const float* x, std::ptrdiff_t ldx, int n, float* y, std::ptrdiff_t ldy, bool add = false);
  /// Kernel that would multiply n rows.
  [[nodiscard]] CodeKernel kernel_for(int n);
  /// CPU seconds of a product of n rows by fp32, bf16 and tables in turns, the least of some samples each.
  [[nodiscard]] std::array<double, 3> seconds_of_all(int n);

 private:
  void prepare(CodeKernel kernel);
  void multiply_by(CodeKernel kernel, const float* x, std::ptrdiff_t ldx, int n, float* y, std::ptrdiff_t ldy,
                   bool add);

  BinaryCodes codes_;
  CodeKernel kernel_;
  std::map<int, CodeKernel> chosen_;  ///< by rows
  // Made when first needed.
  std::optional<PackedMatrix<float>> fp32_;
  std::optional<PackedBf16> bf16_;
  std::optional<PackedCodes> tables_;
};

}  // namespace quintet
