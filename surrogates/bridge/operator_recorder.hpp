#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "surrogates/bridge/torch_recording.hpp"

namespace quintet {

/// State of operators that are computed repeatedly on tensors that stay in place.
struct RepeatedOperators {
  int n_calls = 0;
  std::unique_ptr<TorchRecording> recording;  ///< none yet
};

/// Computes such operators: calls them the first times, in which LibTorch's libraries choose their algorithms
/// and allocate what they keep, then records them and replays that. What cannot be recorded is called ever
/// after, and what is new when there are enough recordings: to make one takes longer than to call.
class OperatorRecorder {
 public:
  static constexpr int most_recordings = 12;  ///< in its life
  using Record = std::function<std::unique_ptr<TorchRecording>(std::function<void()> operators)>;

  /// @param records whether anything is to be recorded
  OperatorRecorder(c10::Device device, bool records);
  /// @param record as TorchRecorder::record()
  explicit OperatorRecorder(Record record) : record_(std::move(record)) {}

  /// @param operators the same in each call with this `of`: as TorchRecorder::record() wants them, and all
  /// they read or write but what they make lies in tensors that stay where they are
  void compute(RepeatedOperators& of, const std::function<void()>& operators);
  /// Why nothing is recorded any more, once; else empty.
  [[nodiscard]] std::string take_notice();

 private:
  Record record_;  ///< none: nothing is recorded
  int n_recordings_ = 0;
  std::string notice_;
};

}  // namespace quintet
