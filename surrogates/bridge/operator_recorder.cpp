#include "surrogates/bridge/operator_recorder.hpp"

#include <algorithm>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <utility>

#include <c10/util/Exception.h>
#include <fmt/format.h>

namespace quintet {

namespace {

constexpr int n_calls_before = 2;  ///< the first one makes what is made once, the second one finds all of it

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

OperatorRecorder::OperatorRecorder(c10::Device device, bool records) {
  if (!records) return;
  record_ = [recorder = std::make_shared<const TorchRecorder>(device),
             most = std::int64_t{0}](std::function<void()> operators) mutable {
    recorder->give_back_memory();  // a recording takes its own, and cannot have more freed meanwhile
    const std::int64_t before = recorder->free_bytes();
    auto recording = recorder->record(std::move(operators));
    const std::int64_t after = recorder->free_bytes();
    most = std::max(most, before - after);
    if (after < most) {  // operators of another shape are called first, and need about as much
      recording.reset();
      recorder->give_back_memory();
      throw std::runtime_error(
          fmt::format("a recording takes {:.2f} GB of the GPU's memory, and leaves {:.2f} GB for what is "
                      "called; the same is needed",
                      1e-9 * most, 1e-9 * after));
    }
    return recording;
  };
}

void OperatorRecorder::compute(RepeatedOperators& of, const std::function<void()>& operators) {
  const bool records = record_ && n_recordings_ < most_recordings && of.n_calls >= n_calls_before;
  if (!of.recording && records) {
    try {
      of.recording = record_(operators);
      ++n_recordings_;
    } catch (const c10::Error& error) {
      notice_ = first_line(error.what_without_backtrace());
    } catch (const std::exception& error) {  // ours, of what LibTorch has said
      notice_ = first_line(error.what());
    }
    if (!of.recording) record_ = nullptr;
  }
  if (of.recording) return of.recording->replay();
  ++of.n_calls;
  operators();
}

std::string OperatorRecorder::take_notice() { return std::exchange(notice_, {}); }

}  // namespace quintet
