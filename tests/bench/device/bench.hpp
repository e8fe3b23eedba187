#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <Kokkos_Core.hpp>

#include "io/device/device_space.hpp"

/// What benchmarks of a device share. A measurement or a check is one JSON object a line.
namespace device_bench {

using Space = Kokkos::DefaultExecutionSpace;

/// One H200, estimates: bytes a second of a copy (read and written), double precision operations a second of
/// its vector and of its matrix units. What a floor of time is made of.
constexpr double h200_copy = 4.3e12, h200_vector = 34e12, h200_matrix = 67e12;

/// One line of output: `{"bench": …, "case": …, "name": number, …}`.
class Row {
 public:
  Row(std::string_view bench, std::string_view name) {
    text("bench", bench);
    text("case", name);
  }
  ~Row() {
    std::printf("{%s}\n", line_.c_str());
    std::fflush(stdout);
  }
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;
  Row& text(std::string_view key, std::string_view value) {
    begin(key).append("\"").append(value).append("\"");
    return *this;
  }
  Row& number(std::string_view key, double value) {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.4g", value);
    begin(key).append(std::isfinite(value) ? digits : "null");
    return *this;
  }

 private:
  std::string& begin(std::string_view key) {
    if (!line_.empty()) line_ += ", ";
    return line_.append("\"").append(key).append("\": ");
  }
  std::string line_;
};

/// Starts Kokkos on the device and says what it is; ok() is false, with the reason on stderr, where it cannot
/// be used.
class Session {
 public:
  explicit Session(const char* bench) {
    quintet::DeviceProperties properties;
    quintet_device_start(0, &properties);
    ok_ = properties.error[0] == '\0';
    if (!ok_) {
      std::fprintf(stderr, "%s: %s\n", bench, properties.error);
      return;
    }
    Row(bench, "device")
        .text("on", properties.name)
        .number("gib", static_cast<double>(properties.total_bytes) / (1 << 30))
        .number("h200_copy_bytes_per_s", h200_copy)
        .number("h200_vector_flops_per_s", h200_vector)
        .number("h200_matrix_flops_per_s", h200_matrix);
  }
  ~Session() { quintet_device_stop(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  bool ok_ = false;
};

/// Whether so many bytes are free on the device; what is not known is.
inline bool has_room(double bytes) {
  const std::size_t free = quintet_device_free_bytes();
  return free == 0 || bytes < 0.95 * free;
}

/// Words after the mode: `--quick` little work, `--large` the largest sizes alone, `--only TEXT` cases with
/// TEXT in their name.
struct Choice {
  bool quick = false, large = false;
  std::string only;
  Choice(int argc, char** argv, int first) {
    for (int i = first; i < argc; ++i) {
      const std::string_view word = argv[i];
      if (word == "--quick")
        quick = true;
      else if (word == "--large")
        large = true;
      else if (word == "--only" && i + 1 < argc)
        only = argv[++i];
      else
        throw std::runtime_error("an option that is not known: " + std::string(word));
    }
  }
  [[nodiscard]] bool wants(std::string_view name) const { return name.find(only) != std::string_view::npos; }
};

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds from the device's reaching `body` to its being done with it: by events of a GPU, by the clock of
/// the host.
template <class Body>
double seconds_of(const Body& body) {
  Space().fence();
#ifdef KOKKOS_ENABLE_CUDA
  struct Event {
    cudaEvent_t event{};
    Event() { cudaEventCreate(&event); }
    ~Event() { cudaEventDestroy(event); }
  } begin, end;
  cudaEventRecord(begin.event, Space().cuda_stream());
  body();
  cudaEventRecord(end.event, Space().cuda_stream());
  cudaEventSynchronize(end.event);
  float milliseconds = 0;
  cudaEventElapsedTime(&milliseconds, begin.event, end.event);
  return 1e-3 * static_cast<double>(milliseconds);
#else
  const double start = seconds_now();
  body();
  Space().fence();
  return seconds_now() - start;
#endif
}

/// The median of so many runs after one that warms up, or of as many as two seconds hold; of that one where
/// it takes longer.
template <class Body>
double median_seconds(int repeats, const Body& body) {
  const double limit = 2, once = seconds_of(body);
  if (once > limit) return once;
  std::vector<double> times;
  for (double spent = 0; std::ssize(times) < repeats && (times.empty() || spent < limit);
       spent += times.back())
    times.push_back(seconds_of(body));
  const auto middle = times.begin() + times.size() / 2;
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

/// Bytes a second of a copy, read and written ones counted.
inline double copy_rate(std::size_t n) {
  const Kokkos::View<double*, Space> a("a", n), b("b", n);
  return 16.0 * n / median_seconds(15, [&] { Kokkos::deep_copy(Space(), b, a); });
}

/// Numbers in -1 ... 1, the same on every machine.
struct Numbers {
  std::uint64_t state = 88172645463325252ull;
  double next() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return 2 * static_cast<double>(state >> 11) / 9007199254740992.0 - 1;
  }
};

/// to[i] = middle + a number in -spread ... spread of i alone.
struct FillWithNumbers {
  double *to, middle, spread;
  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    std::uint64_t k = (static_cast<std::uint64_t>(i) + 0x9E3779B97F4A7C15ull) * 0xBF58476D1CE4E5B9ull;
    k = (k ^ k >> 27) * 0x94D049BB133111EBull;
    to[i] = middle + spread * (((k ^ k >> 31) >> 11) * 0x1.0p-52 - 1);
  }
};
inline void fill_on_device(double* to, std::int64_t n, double middle, double spread) {
  Kokkos::parallel_for("bench::fill", Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>(0, n),
                       FillWithNumbers{to, middle, spread});
  Space().fence();
}

/// The largest |found - expected|, over the largest |expected|; infinite where one is no number or the
/// lengths differ.
inline double relative_difference(const std::vector<double>& found, const std::vector<double>& expected) {
  if (found.size() != expected.size()) return HUGE_VAL;
  double most = 0, scale = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double difference = std::abs(found[i] - expected[i]);
    if (!(difference <= most)) most = std::isnan(difference) ? HUGE_VAL : difference;
    scale = std::max(scale, std::abs(expected[i]));
  }
  return most / (scale > 0 ? scale : 1);
}

/// `action`'s exit code, or 1 and what went wrong on stderr.
inline int guarded(const char* bench, const std::function<int()>& action) {
  try {
    return action();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", bench, error.what());
    return 1;
  }
}

}  // namespace device_bench
