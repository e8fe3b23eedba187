#pragma once

#include <memory>

#include <gtest/gtest.h>

#include "io/device/device.hpp"
#include "io/parallel/comm.hpp"

/// The session of device engines that the tests of a program share, as a run has one: where a GPU stands for
/// the host's cores, LibTorch and its libraries keep the session's stream, which must not end between two
/// tests.
namespace quintet {

class PortableSession : public testing::Environment {
 public:
  /// Of all ranks; begins with the first call, which is collective.
  static const DeviceSession& shared() {
    if (!session) session = std::make_unique<DeviceSession>(Device::portable, Comm::world());
    return *session;
  }
  /// While MPI is still there.
  void TearDown() override { session.reset(); }

 private:
  inline static std::unique_ptr<DeviceSession> session;
};

inline const auto* const ends_with_the_tests = testing::AddGlobalTestEnvironment(new PortableSession);

inline const DeviceSession& portable_session() { return PortableSession::shared(); }

}  // namespace quintet
