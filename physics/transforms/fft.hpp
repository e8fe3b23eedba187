#pragma once

#include <span>
#include <vector>

#include "physics/kernels/aligned.hpp"
#include "physics/kernels/pack.hpp"

namespace quintet {

/// Discrete Fourier transforms of a length n, `lanes` of them at a time:
///
///     Z_k = sum_j z_j exp(-2 pi i j k / n),  k = 0 ... n-1
///
/// by Stockham's self-sorting algorithm with radices 8, 5, 4, 3, 2 (and odd primes up to most_prime). Element
/// j of lane l lies at [j * lanes + l], real and imaginary parts in arrays of their own. Source: Van Loan
/// 1992, Computational Frameworks for the FFT, section 1.7.
class Fft {
 public:
  static constexpr int lanes = pack_width<double>;
  static constexpr int most_prime = 13;
  using Lanes = Pack<double>;

  /// Throws InputError if n < 1 or n has a prime factor above most_prime; see possible().
  explicit Fft(int n);
  [[nodiscard]] int size() const { return n_; }
  /// Doubles that transform() needs beside its data: two arrays as long as the data.
  [[nodiscard]] std::size_t work_size() const { return 2 * std::int64_t{n_} * lanes; }

  struct Parts {
    double *re, *im;
  };
  /// Transform: where the result lies, in place of the data or in `work`, [work_size()], aligned as the data
  /// to 64 bytes. What lies in the other one is lost.
  [[nodiscard]] Parts transform(double* re, double* im, double* work) const;
  /// The other way round, without the factor 1/n: real and imaginary part change places.
  [[nodiscard]] Parts inverse(double* re, double* im, double* work) const {
    const Parts swapped = transform(im, re, work);
    return {swapped.im, swapped.re};
  }

  [[nodiscard]] static bool possible(int n);
  /// The possible length not below n that is nearest.
  [[nodiscard]] static int next_possible(int n);

 private:
  struct Stage {
    int radix, m, s;      ///< n = radix m s; s transforms of what is left are done side by side
    std::size_t twiddle;  ///< first of (radix - 1) m complex factors
  };
  int n_;
  std::vector<Stage> stages_;
  std::vector<double> twiddles_;            ///< pairs (cos, -sin)
  std::vector<std::vector<double>> roots_;  ///< cos and -sin of 2 pi k/p for radices p without a formula
};

}  // namespace quintet
