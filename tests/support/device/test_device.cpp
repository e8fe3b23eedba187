#include "tests/support/device/test_device.hpp"

#include <cstdlib>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::test {
namespace {

std::optional<DeviceSession> session;

/// Ends the session before MPI and the program's own Kokkos.
class EndOfSession : public testing::Environment {
 public:
  void TearDown() override { session.reset(); }
};
const auto* const end_of_session = testing::AddGlobalTestEnvironment(new EndOfSession);

}  // namespace

Device device() {
  const char* const word = std::getenv("QUINTET_TEST_DEVICE");
  const std::string wanted = word == nullptr || *word == '\0' ? "portable" : word;
  if (wanted == "gpu") return Device::gpu;
  QUINTET_CHECK(wanted == "portable", "QUINTET_TEST_DEVICE is '{}'; expected portable or gpu", wanted);
  return Device::portable;
}

const DeviceSession& device_session() {
  if (!session) session.emplace(device(), Comm::world());
  return *session;
}

}  // namespace quintet::test
