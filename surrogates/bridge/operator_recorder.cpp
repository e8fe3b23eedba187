#include "surrogates/bridge/operator_recorder.hpp"

#include <exception>
#include <utility>

#include <c10/util/Exception.h>

namespace quintet {

namespace {

constexpr int n_calls_before = 2;  ///< the first one makes what is made once, the second one finds all of it

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

void OperatorRecorder::compute(RepeatedOperators& of, const std::function<void()>& operators) {
  if (!of.recording && records_ && of.n_calls >= n_calls_before) {
    try {
      recorder_.give_back_memory();  // a recording takes its own, and cannot have more freed meanwhile
      of.recording = recorder_.record(operators);
    } catch (const c10::Error& error) {
      notice_ = first_line(error.what_without_backtrace());
    } catch (const std::exception& error) {  // ours, of what LibTorch has said
      notice_ = first_line(error.what());
    }
    if (!of.recording) {
      records_ = false;
      recorder_.give_back_memory();
    }
  }
  if (of.recording) return of.recording->replay();
  ++of.n_calls;
  operators();
}

std::string OperatorRecorder::take_notice() { return std::exchange(notice_, {}); }

}  // namespace quintet
