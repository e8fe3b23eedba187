#pragma once

namespace quintet {

/// While it lives, BLAS and LAPACK use n threads: one where many small problems are solved in turn
/// (OpenBLAS's threads spin at every call, and on a busy machine such problems then take ten times as long).
/// Nothing happens where the library in use cannot be told (reference BLAS has one thread anyway).
class BlasThreads {
 public:
  explicit BlasThreads(int n);
  ~BlasThreads();
  BlasThreads(const BlasThreads&) = delete;
  BlasThreads& operator=(const BlasThreads&) = delete;

 private:
  int before_ = 0;  ///< 0: unknown
};

}  // namespace quintet
