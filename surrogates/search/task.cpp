#include "surrogates/search/task.hpp"

#include <algorithm>
#include <cstring>

#include "io/log/error.hpp"

namespace quintet::search {

namespace {

/// Appends values to bytes of a known length.
class Packer {
 public:
  explicit Packer(std::span<std::byte> bytes) : bytes_(bytes) {}
  template <class T>
  void put(const T& value) {
    put(&value, 1);
  }
  template <class T>
  void put(const T* values, std::size_t n) {
    if (n * sizeof(T) > bytes_.size() - at_) throw InternalError("a trial longer than its room");
    if (n > 0) std::memcpy(bytes_.data() + at_, values, n * sizeof(T));
    at_ += n * sizeof(T);
  }
  [[nodiscard]] std::size_t size() const { return at_; }

 private:
  std::span<std::byte> bytes_;
  std::size_t at_ = 0;
};

class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : bytes_(bytes) {}
  template <class T>
  [[nodiscard]] T take() {
    return take<T>(1)[0];
  }
  template <class T>
  [[nodiscard]] std::vector<T> take(std::size_t n) {
    if (n > (bytes_.size() - at_) / sizeof(T)) throw InternalError("a trial that was cut");
    std::vector<T> values(n);
    if (n > 0) std::memcpy(values.data(), bytes_.data() + at_, n * sizeof(T));
    at_ += n * sizeof(T);
    return values;
  }

 private:
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
};

}  // namespace

std::size_t TaskShape::task_bytes() const {
  return 3 * sizeof(std::int64_t) + genes * sizeof(int) + most_rungs * sizeof(Rung);
}
std::size_t TaskShape::result_bytes() const {
  return 3 * sizeof(double) + 3 * sizeof(std::uint64_t) + (epochs + facts) * sizeof(double) + message_bytes;
}

std::vector<std::byte> pack_trial(const Trial& trial, const TaskShape& shape) {
  std::vector<std::byte> bytes(shape.task_bytes());
  Packer packer(bytes);
  packer.put(trial.id);
  packer.put(trial.seed);
  packer.put(static_cast<std::uint64_t>(trial.rungs.size()));
  packer.put(trial.genes.data(), trial.genes.size());
  packer.put(trial.rungs.data(), trial.rungs.size());
  bytes.resize(packer.size());
  return bytes;
}

Trial unpack_trial(std::span<const std::byte> bytes, const TaskShape& shape) {
  Unpacker unpacker(bytes);
  Trial trial;
  trial.id = unpacker.take<std::int64_t>();
  trial.seed = unpacker.take<std::uint64_t>();
  const auto rungs = unpacker.take<std::uint64_t>();
  trial.genes = unpacker.take<int>(shape.genes);
  trial.rungs = unpacker.take<Rung>(rungs);
  return trial;
}

std::size_t pack_outcome(const Outcome& outcome, const TaskShape& shape, std::span<std::byte> bytes) {
  Packer packer(bytes);
  const std::size_t facts = std::min(outcome.facts.size(), shape.facts);
  const std::size_t message = std::min(outcome.message.size(), TaskShape::message_bytes);
  packer.put(static_cast<std::int64_t>(outcome.state));
  packer.put(outcome.objective);
  packer.put(static_cast<std::uint64_t>(outcome.curve.size()));
  packer.put(static_cast<std::uint64_t>(facts));
  packer.put(static_cast<std::uint64_t>(message));
  packer.put(outcome.curve.data(), outcome.curve.size());
  packer.put(outcome.facts.data(), facts);
  packer.put(outcome.message.data(), message);
  return packer.size();
}

Outcome unpack_outcome(std::span<const std::byte> bytes, const TaskShape& shape) {
  Unpacker unpacker(bytes);
  Outcome outcome;
  outcome.state = static_cast<TrialState>(unpacker.take<std::int64_t>());
  outcome.objective = unpacker.take<double>();
  const auto epochs = unpacker.take<std::uint64_t>(), facts = unpacker.take<std::uint64_t>(),
             message = unpacker.take<std::uint64_t>();
  if (epochs > shape.epochs || facts > shape.facts) throw InternalError("an outcome longer than its room");
  outcome.curve = unpacker.take<double>(epochs);
  outcome.facts = unpacker.take<double>(facts);
  const auto text = unpacker.take<char>(message);
  outcome.message.assign(text.begin(), text.end());
  return outcome;
}

}  // namespace quintet::search
