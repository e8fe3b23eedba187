#include "io/device/device.hpp"

#include <cstdlib>
#include <limits>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "io/device/factory.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/gpu_aware.hpp"

QUINTET_DEVICE_FACTORY int quintet_make_imitated_engine() { return 1; }
QUINTET_DEVICE_FACTORY int quintet_imitated_stops() { return -1; }
QUINTET_DEVICE_FACTORY int quintet_make_engine_of_the_program_alone() { return 1; }

namespace quintet {
namespace {

/// The library that a session finds: an imitation, so that these tests are of the host alone, whatever
/// QUINTET_TEST_DEVICE says.
class DeviceSessionTest : public testing::Test {
 protected:
  static void library(const std::string& path) { setenv("QUINTET_DEVICE_LIBRARY", path.c_str(), 1); }
  void TearDown() override { unsetenv("QUINTET_DEVICE_LIBRARY"); }
  /// What refusing says.
  static std::string refusal(Device device) {
    try {
      const DeviceSession session(device, Comm::world());
    } catch (const ResourceError& error) {
      return error.what();
    }
    return "not refused";
  }
};

TEST_F(DeviceSessionTest, CpuNeedsNoLibrary) {
  library("/nowhere/libquintet_device.so");
  const DeviceSession session(Device::cpu, Comm::world());
  EXPECT_TRUE(session.is_cpu());
  EXPECT_EQ(session.description(), "cpu");
  EXPECT_NO_THROW(session.require_bytes(1e15, "a million atoms"));
}

TEST_F(DeviceSessionTest, PortableTakesTheProgramsOwnEngines) {
  library("/nowhere/libquintet_device.so");
  const DeviceSession session(Device::portable, Comm::world());
  EXPECT_EQ(session.device(), Device::portable);
  EXPECT_NE(session.description().find("host's cores"), std::string::npos);
  EXPECT_EQ(session.factory("quintet_make_imitated_engine", &quintet_make_imitated_engine)(), 1);
}

TEST_F(DeviceSessionTest, GpuTakesTheLibrarysEngines) {
  library(LIBRARY_whole);
  const DeviceSession session(Device::gpu, Comm::world());
  EXPECT_EQ(session.device(), Device::gpu);
  const auto& line = session.description();
  EXPECT_EQ(line.substr(0, line.find(';')), "GPU 0");
  EXPECT_EQ(line.find(gpu_aware_mpi().why) != std::string::npos, Comm::world().size() > 1) << line;
  EXPECT_EQ(session.factory("quintet_make_imitated_engine", &quintet_make_imitated_engine)(), 2);
  EXPECT_THROW((void)session.factory("quintet_make_engine_of_the_program_alone",
                                     &quintet_make_engine_of_the_program_alone),
               ResourceError);
}

TEST_F(DeviceSessionTest, LivesAsLongAsItsLastCopy) {
  library(LIBRARY_whole);
  const DeviceSession witness(Device::gpu, Comm::world());  // the library stays loaded
  const auto stops = witness.factory("quintet_imitated_stops", &quintet_imitated_stops);
  {
    std::optional<DeviceSession> of_the_command(std::in_place, Device::gpu, Comm::world());
    const DeviceSession of_the_state = *of_the_command;
    of_the_command.reset();  // a failure leaves the command; the state is still to be saved
    EXPECT_EQ(of_the_state.device(), Device::gpu);
    EXPECT_EQ(stops(), 0);
  }
  EXPECT_EQ(stops(), 1);
}

/// What require_bytes() says to ranks that ask for `gigabytes` for "1000000 atoms".
std::string lack_of(const DeviceSession& session, double gigabytes) {
  try {
    session.require_bytes(1e9 * gigabytes, "1000000 atoms");
  } catch (const ResourceError& error) {
    return error.what();
  }
  return "none";
}

// The imitated GPU has 1 GB free.
TEST_F(DeviceSessionTest, ABigSystemIsRefusedBeforeItIsAllocated) {
  library(LIBRARY_whole);
  const DeviceSession session(Device::gpu, Comm::self());
  EXPECT_EQ(lack_of(session, 0.9), "none");
  EXPECT_EQ(lack_of(session, 3.5),
            "1000000 atoms: 3.50 GB of the GPU's memory are needed, 1.00 GB are free. Take more GPUs, "
            "or device: cpu");
}

TEST_F(DeviceSessionTest, RanksThatShareAGpuNeedTheSumOfTheirs) {
  if (Comm::world().size() != 2) GTEST_SKIP() << "for two ranks";
  library(LIBRARY_whole);
  const DeviceSession session(Device::gpu, Comm::world());
  const int rank = Comm::world().rank();
  EXPECT_EQ(lack_of(session, rank == 0 ? 0.4 : 0.5), "none");
  EXPECT_EQ(lack_of(session, rank == 0 ? 0.4 : 0.7),
            "1000000 atoms: 1.10 GB of the GPU's memory are needed by the 2 ranks that share it (0.40 + "
            "0.70), 1.00 GB are free. Take more GPUs, or device: cpu");
  EXPECT_EQ(lack_of(session, rank == 0 ? 0 : 0.9), "none");
  EXPECT_EQ(lack_of(session, 0), "none");
}

TEST_F(DeviceSessionTest, RanksWithAGpuEachDoNot) {
  library(LIBRARY_two_gpus);
  const DeviceSession session(Device::gpu, Comm::world());
  const int rank = Comm::world().rank();
  EXPECT_EQ(session.number(), rank);
  EXPECT_EQ(session.count(), 2);
  EXPECT_EQ(lack_of(session, 0.9), "none");
  if (Comm::world().size() == 1) return;
  EXPECT_NE(lack_of(session, rank == 0 ? 0.1 : 1.5), "none") << "an error of one rank is one of all";
}

TEST_F(DeviceSessionTest, TellsARanksShareOfWhatIsFree) {
  const Comm comm = Comm::world();
  library(LIBRARY_whole);
  const DeviceSession shared(Device::gpu, comm);
  EXPECT_EQ(shared.memory_of_a_rank(), 1e9 / comm.size());
  library(LIBRARY_two_gpus);
  const DeviceSession one_each(Device::gpu, comm);
  EXPECT_EQ(one_each.memory_of_a_rank(), 1e9);
  for (const Device none : {Device::cpu, Device::portable})
    EXPECT_EQ(DeviceSession(none, comm).memory_of_a_rank(), std::numeric_limits<double>::infinity());
}

TEST_F(DeviceSessionTest, SaysWhyThereIsNoGpu) {
  library("/nowhere/libquintet_device.so");
  EXPECT_NE(refusal(Device::gpu).find("which is not at /nowhere/libquintet_device.so"), std::string::npos);
  library(LIBRARY_other_sources);
  EXPECT_NE(refusal(Device::gpu).find("was built from 0123456789ab, this program from"), std::string::npos);
  library(LIBRARY_no_gpu);
  EXPECT_EQ(refusal(Device::gpu), "device: gpu: no GPU is seen here (no CUDA-capable device is detected)");
  library("/dev/null");
  EXPECT_NE(refusal(Device::gpu).find("/dev/null cannot be loaded"), std::string::npos);
}

TEST_F(DeviceSessionTest, AutoFallsBackToTheCpuAndSaysWhy) {
  library(LIBRARY_no_gpu);
  const DeviceSession none(Device::automatic, Comm::world());
  EXPECT_TRUE(none.is_cpu());
  EXPECT_NE(none.description().find("no GPU is seen here"), std::string::npos);
  library(LIBRARY_whole);
  const DeviceSession whole(Device::automatic, Comm::world());
  EXPECT_EQ(whole.device(), Device::gpu);
}

}  // namespace
}  // namespace quintet
