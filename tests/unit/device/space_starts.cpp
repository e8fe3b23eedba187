#include <cstdio>
#include <cstring>

#include <Kokkos_Core.hpp>

#include "io/device/device_space.hpp"

/// Several sessions of one process, as its library of a GPU sees them: the last to stop ends Kokkos, after
/// which a start says why it cannot be. In a program of its own, since tests have Kokkos up for their whole
/// life.
int main() {
  int failed = 0;
  const auto expect = [&](bool condition, const char* text) {
    if (condition) return;
    ++failed;
    std::printf("FAILED: %s\n", text);
  };
  quintet::DeviceProperties first, second, third;
  quintet_device_start(0, &first);
  quintet_device_start(0, &second);
  expect(first.error[0] == '\0' && second.error[0] == '\0', "two may start");
  quintet_device_stop();
  expect(Kokkos::is_initialized(), "the other one is still there");
  quintet_device_stop();
  expect(!Kokkos::is_initialized(), "who starts Kokkos ends it");
  quintet_device_start(0, &third);
  expect(std::strstr(third.error, "starts but once") != nullptr, "no start after the end");
  quintet_device_stop();
  return failed;
}
