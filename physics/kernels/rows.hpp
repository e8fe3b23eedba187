#pragma once

#include "physics/kernels/execution.hpp"

namespace quintet {

/// f(k) for k = 0 ... n - 1. With one thread a plain loop: then flows, each its own, may also be stepped by
/// threads of the caller's, which Kokkos's back ends refuse or let in one at a time.
template <class Function>
void for_rows(const Exec& exec, const char* label, int n, const Function& f) {
  if (exec.concurrency() > 1)
    Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(exec, 0, n), f);
  else
    for (int k = 0; k < n; ++k) f(k);
}

/// f(k, result) for the same k; each adds to the result, or raises it, as `reducer` joins results.
template <class Function, class Reducer>
void reduce_rows(const Exec& exec, const char* label, int n, const Function& f, const Reducer& reducer) {
  if (exec.concurrency() > 1)
    return Kokkos::parallel_reduce(label, Kokkos::RangePolicy<Exec>(exec, 0, n), f, reducer);
  typename Reducer::value_type& result = reducer.reference();
  reducer.init(result);
  for (int k = 0; k < n; ++k) f(k, result);
}

}  // namespace quintet
