#pragma once

namespace quintet {

/// While it lives, BLAS and LAPACK use n threads: one where many small problems are solved in turn
/// (OpenBLAS's threads spin at every call, and on a busy machine such problems then take ten times as long).
/// Does nothing where the library in use has no way to set threads (reference BLAS has one thread anyway).
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
