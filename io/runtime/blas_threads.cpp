#include "io/runtime/blas_threads.hpp"

#include <dlfcn.h>

namespace quintet {

namespace {

/// The first of these functions that the program has.
template <class Function>
Function* library_function(const char* openblas, const char* mkl) {
  void* found = dlsym(RTLD_DEFAULT, openblas);
  if (found == nullptr) found = dlsym(RTLD_DEFAULT, mkl);
  return reinterpret_cast<Function*>(found);
}

void set_threads(int n) {
  if (auto* set = library_function<void(int)>("openblas_set_num_threads", "MKL_Set_Num_Threads")) set(n);
}

}  // namespace

BlasThreads::BlasThreads(int n) {
  if (auto* get = library_function<int()>("openblas_get_num_threads", "MKL_Get_Max_Threads")) before_ = get();
  if (before_ > 0) set_threads(n);
}

BlasThreads::~BlasThreads() {
  if (before_ > 0) set_threads(before_);
}

}  // namespace quintet
