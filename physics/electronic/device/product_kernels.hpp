#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "physics/electronic/device/batches.hpp"
#include "physics/electronic/device/device_product.hpp"

namespace quintet::electronic::device {

/// y = A x by a team for each block column: its threads share out the columns and vectors, their lanes the
/// blocks.
struct MultiplyColumns {
  using Team = Kokkos::TeamPolicy<Exec>::member_type;
  const std::int64_t *column_begin, *offset;
  const std::int32_t *first, *rows, *place;  ///< first: [columns + 1] of y
  const double *value, *x;
  double* y;
  int lanes;

  KOKKOS_INLINE_FUNCTION void operator()(const Team& team) const {
    const int c = team.league_rank();
    const std::int64_t begin = column_begin[c];
    const int n_blocks = static_cast<int>(column_begin[c + 1] - begin), width = first[c + 1] - first[c];
    Kokkos::parallel_for(Kokkos::TeamThreadRange(team, width * lanes), [&](const int t) {
      const int j = t / lanes, lane = t % lanes;
      double sum = 0;
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(team, n_blocks),
          [&](const int q, double& part) {
            const std::int64_t p = begin + q;
            const int n = rows[p];
            const double* const a = value + offset[p] + static_cast<std::int64_t>(j) * n;
            const double* const from = x + static_cast<std::int64_t>(place[p]) * lanes + lane;
            double own = 0;
            for (int i = 0; i < n; ++i) own += a[i] * from[static_cast<std::ptrdiff_t>(i) * lanes];
            part += own;
          },
          sum);
      Kokkos::single(Kokkos::PerThread(team),
                     [&] { y[(static_cast<std::int64_t>(first[c]) + j) * lanes + lane] = sum; });
    });
  }
};

/// See DeviceProduct. The matrix is copied once, vectors each time.
class ProductOnSpace final : public DeviceProduct {
 public:
  explicit ProductOnSpace(const BlockColumnsView& a) : n_columns_(static_cast<int>(a.width.size())) {
    std::vector<std::int32_t> first{0};
    for (const auto width : a.width) first.push_back(first.back() + width);
    first_.copy(first);
    column_begin_.copy(a.column_begin);
    offset_.copy(a.offset);
    rows_.copy(a.rows);
    place_.copy(a.place);
    value_.copy(a.value);
  }

  void apply(std::span<const double> x, std::span<double> y, int lanes) override {
#ifdef KOKKOS_ENABLE_CUDA
    constexpr int threads = 8, vector = 32;
#else
    constexpr int threads = 1, vector = 1;
#endif
    if (y.empty()) return;
    const double* const there = x_.copy(x);
    Kokkos::parallel_for("submatrix::multiply_columns",
                         Kokkos::TeamPolicy<Exec>(Exec(), n_columns_, threads, vector),
                         MultiplyColumns{column_begin_.data(), offset_.data(), first_.data(), rows_.data(),
                                         place_.data(), value_.data(), there, y_.reserve(y.size()), lanes});
    y_.copy_to(y);
  }

 private:
  int n_columns_;
  Buffer<std::int32_t> first_, rows_, place_;
  Buffer<std::int64_t> column_begin_, offset_;
  Buffer<double> value_, x_, y_;
};

}  // namespace quintet::electronic::device
