#pragma once

#include <span>
#include <vector>

#include "io/parallel/comm_fwd.hpp"
#include "surrogates/flow/data/block.hpp"

namespace quintet::meshfreeflow {

/// Errors of a model's fields on rows whose truth is known, beside those of linear interpolation: root mean
/// squares over all points, over the deviation of the truth. Fields are without their offsets.
class TruthErrors {
 public:
  explicit TruthErrors(std::size_t n_fields) : sums_(n_fields * n_sums, 0) {}

  /// Coarse values of the frame that is next, between which is interpolated.
  void take(flow::FieldBlock coarse) { coarse_ = std::move(coarse); }
  void begin_frame() { before_ = sums_; }
  void drop_frame() { sums_ = before_; }
  /// @param points [point][axis] @param truth [field][point] @param values [point][field] of the model
  void add(std::span<const double> points, std::span<const float> truth, std::span<const float> values);
  /// Sum over the ranks, once. Collective.
  void combine(const Comm& comm);

  [[nodiscard]] std::size_t n_fields() const { return sums_.size() / n_sums; }
  [[nodiscard]] double deviation(std::size_t field) const;
  [[nodiscard]] double model(std::size_t field) const { return error(field, 3); }
  [[nodiscard]] double linear(std::size_t field) const { return error(field, 4); }

 private:
  [[nodiscard]] double error(std::size_t field, std::size_t k) const;

  static constexpr std::size_t n_sums = 5;  // number, values, squares, errors squared: the model's, linear
  flow::FieldBlock coarse_;
  std::vector<float> interpolated_;
  std::vector<double> sums_, before_;  ///< before_: without the frame that was begun
};

}  // namespace quintet::meshfreeflow
