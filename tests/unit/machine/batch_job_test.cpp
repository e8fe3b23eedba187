#include "io/machine/batch_job.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/scratch.hpp"

namespace quintet {
namespace {

/// Commands of a scheduler that answer what the test says, and the variables of a job.
class InJob : public testing::Test {
 protected:
  InJob() {
    for (const char* name :
         {"PATH", "SLURM_JOB_ID", "SLURM_CLUSTER_NAME", "SLURM_RESTART_COUNT", "PBS_JOBID"})
      if (const char* value = std::getenv(name))
        former_[name] = value;
      else
        former_[name] = std::nullopt;
    for (const auto& [name, value] : former_)
      if (name != "PATH") unsetenv(name.c_str());
    setenv("PATH", (scratch_.path() + ":" + *former_["PATH"]).c_str(), 1);
  }
  ~InJob() override {
    for (const auto& [name, value] : former_)
      if (value)
        setenv(name.c_str(), value->c_str(), 1);
      else
        unsetenv(name.c_str());
  }
  void command(const std::string& name, const std::string& body) {
    std::ofstream(scratch_ / name) << "#!/bin/sh\n" << body << "\n";
    std::filesystem::permissions(scratch_ / name, std::filesystem::perms::owner_all);
  }

  Scratch scratch_{"batch_job"};
  std::map<std::string, std::optional<std::string>> former_;
};

TEST_F(InJob, is_named_by_its_variables) {
  EXPECT_FALSE(this_job());
  setenv("PBS_JOBID", "12[3].pbs1", 1);
  EXPECT_EQ(this_job(), "pbs pbs1 12[3].pbs1 0");
  setenv("SLURM_JOB_ID", "7", 1);
  setenv("SLURM_CLUSTER_NAME", "c", 1);
  setenv("SLURM_RESTART_COUNT", "2", 1);
  EXPECT_EQ(this_job(), "slurm c 7 2");
}

TEST_F(InJob, life_of_another_is_as_slurm_clearly_says) {
  EXPECT_EQ(life_of_job("slurm c 5 0"), JobLife::unknown) << "asked from outside";
  setenv("SLURM_JOB_ID", "7", 1);
  setenv("SLURM_CLUSTER_NAME", "c", 1);
  const auto life = [&](const std::string& body, const std::string& job = "slurm c 5 0") {
    command("squeue", body);
    return life_of_job(job);
  };
  EXPECT_EQ(life("echo '5|RUNNING'"), JobLife::runs);
  EXPECT_EQ(life("echo '5|COMPLETING'"), JobLife::runs);
  EXPECT_EQ(life("echo '5|NODE_FAIL'"), JobLife::ended);
  EXPECT_EQ(life("echo '5|PENDING'"), JobLife::ended) << "requeued";
  EXPECT_EQ(life("echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1"), JobLife::ended);
  for (const char* body : {"exit 0", "echo 'Unable to contact slurm controller' >&2; exit 1", "echo '5|RUN'",
                           "echo '55|FAILED'", "echo hello"})
    EXPECT_EQ(life(body), JobLife::unknown) << body;
  EXPECT_EQ(life("echo '5|FAILED'", "slurm other 5 0"), JobLife::unknown) << "a number of another cluster";
  EXPECT_EQ(life("echo '5|FAILED'", "half"), JobLife::unknown);
  setenv("SQUEUE_PARTITION", "others", 1);
  EXPECT_EQ(life("[ $SQUEUE_PARTITION ] || echo '5|FAILED'"), JobLife::ended) << "squeue's own variables";
  unsetenv("SQUEUE_PARTITION");
}

TEST_F(InJob, a_job_that_began_again_is_alone) {
  setenv("SLURM_JOB_ID", "7", 1);
  setenv("SLURM_CLUSTER_NAME", "c", 1);
  setenv("SLURM_RESTART_COUNT", "1", 1);
  EXPECT_EQ(life_of_job("slurm c 7 0"), JobLife::ended);
  EXPECT_EQ(life_of_job("slurm c 7 1"), JobLife::runs);
}

TEST_F(InJob, life_of_another_is_as_pbs_clearly_says) {
  setenv("PBS_JOBID", "7.pbs1", 1);
  const auto life = [&](const std::string& body) {
    command("qstat", body);
    return life_of_job("pbs pbs1 5.pbs1 0");
  };
  EXPECT_EQ(life("printf 'Job Id: 5.pbs1\\n    job_state = R\\n'"), JobLife::runs);
  EXPECT_EQ(life("printf 'Job Id: 5.pbs1\\n    job_state = F\\n'"), JobLife::ended);
  EXPECT_EQ(life("echo 'qstat: Unknown Job Id 5.pbs1' >&2; exit 153"), JobLife::ended);
  EXPECT_EQ(life("exit 0"), JobLife::unknown);
  EXPECT_EQ(life("echo 'qstat: cannot connect' >&2; exit 1"), JobLife::unknown);
}

}  // namespace
}  // namespace quintet
