#include "apps/quintet/submit/scheduler.hpp"

#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "io/machine/command.hpp"
#include "tests/support/scratch.hpp"

namespace quintet {
namespace {

using Kind = JobState::Kind;

/// A scheduler whose commands answer what the test says.
class Answers : public testing::Test {
 protected:
  void command(const std::string& name, const std::string& body) {
    write_text_file(scratch_ / name, "#!/bin/sh\n" + body + "\n");
    std::filesystem::permissions(scratch_ / name, std::filesystem::perms::owner_all);
  }
  Scheduler scheduler(SchedulerKind kind) {
    for (const char* name : {"submit", "status", "cancel"})
      if (!std::filesystem::exists(scratch_ / name)) command(name, "exit 0");
    Machine machine;
    machine.name = "m";
    machine.scheduler = {.kind = kind,
                         .submit = scratch_ / "submit",
                         .status = scratch_ / "status",
                         .cancel = scratch_ / "cancel"};
    return Scheduler(machine);
  }
  std::string refusal(const std::function<void()>& action) {
    try {
      action();
      return "";
    } catch (const InputError& error) {
      return error.what();
    }
  }
  Scratch scratch_{"scheduler"};
};

TEST_F(Answers, ids_are_read_as_each_scheduler_prints_them) {
  command("submit", "echo '1234;cluster'");
  EXPECT_EQ(scheduler(SchedulerKind::slurm).submit("job.sh", {}), "1234");
  command("submit", "echo 'qsub: waiting' >&2; echo '77[].pbs1'");
  EXPECT_EQ(scheduler(SchedulerKind::pbs).submit("job.sh", {}), "77[].pbs1");
}

TEST_F(Answers, the_job_before_is_named) {
  command("submit", "echo \"$@\" > $(dirname $0)/words; echo 2");
  (void)scheduler(SchedulerKind::slurm).submit("job.sh", {.ended = {"1"}});
  EXPECT_EQ(run_command({"cat", scratch_ / "words"}, 5).out, "--parsable --dependency=afterany:1 job.sh\n");
  (void)scheduler(SchedulerKind::pbs).submit("job.sh", {.ended = {"1.pbs1"}});
  EXPECT_EQ(run_command({"cat", scratch_ / "words"}, 5).out, "-W depend=afterany:1.pbs1 job.sh\n");
}

TEST_F(Answers, tasks_wait_for_their_own_where_the_scheduler_can) {
  command("submit", "echo \"$@\" > $(dirname $0)/words; echo 2");
  const auto words = [&](const JobOrder& after) {
    (void)scheduler(SchedulerKind::slurm).submit("job.sh", after);
    return run_command({"cat", scratch_ / "words"}, 5).out;
  };
  EXPECT_EQ(words({.ended = {"1", "3"}, .tasks = {"4"}}),
            "--parsable --dependency=afterany:1:3,aftercorr:4 --kill-on-invalid-dep=yes job.sh\n");
  EXPECT_EQ(words({.tasks = {"4", "5"}}),
            "--parsable --dependency=aftercorr:4?aftercorr:5 --kill-on-invalid-dep=yes job.sh\n");
  EXPECT_THROW((void)words({.ended = {"1"}, .tasks = {"4", "5"}}), InternalError);
  EXPECT_THROW((void)scheduler(SchedulerKind::pbs).submit("job.sh", {.tasks = {"4[].pbs1"}}), InternalError);
}

TEST_F(Answers, garbage_is_no_id_and_told_as_it_is) {
  command("submit", "echo 'Welcome to the machine!'");
  const auto text = refusal([&] { (void)scheduler(SchedulerKind::slurm).submit("job.sh", {}); });
  EXPECT_NE(text.find("'Welcome to the machine!', which is no id of a job"), std::string::npos) << text;
}

TEST_F(Answers, a_refusal_keeps_the_schedulers_words) {
  command("submit", "echo 'sbatch: error: Invalid account' >&2; exit 1");
  const auto text = refusal([&] { (void)scheduler(SchedulerKind::slurm).submit("job.sh", {}); });
  EXPECT_NE(text.find("(exit code 1): sbatch: error: Invalid account"), std::string::npos) << text;
}

TEST_F(Answers, a_scheduler_that_is_missing_is_named) {
  Machine machine;
  machine.scheduler = {.kind = SchedulerKind::pbs, .submit = "/nowhere/qsub"};
  EXPECT_NE(refusal([&] { const Scheduler none(machine); }).find("/nowhere/qsub of PBS Pro is not here"),
            std::string::npos);
  machine.scheduler.kind = SchedulerKind::none;
  EXPECT_NE(refusal([&] { const Scheduler none(machine); }).find("has no scheduler"), std::string::npos);
}

TEST_F(Answers, states_of_slurm) {
  command(
      "status",
      "case \"$*\" in *--jobs=*) echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1;; esac\n"
      "printf '7|PENDING|Dependency\\n8|RUNNING|None\\n9|TIMEOUT|TimeLimit\\n3|COMPLETED|None\\n'");
  const auto states = scheduler(SchedulerKind::slurm).states({"7", "8", "9", "10"});
  EXPECT_EQ(states.at("7").kind, Kind::waiting);
  EXPECT_EQ(states.at("7").reason, "Dependency");
  EXPECT_EQ(states.at("8").kind, Kind::running);
  EXPECT_EQ(states.at("9").kind, Kind::ended);
  EXPECT_EQ(states.at("10").kind, Kind::gone);
}

TEST_F(Answers, a_job_is_gone_only_if_the_scheduler_says_so) {
  const auto kind = [&](SchedulerKind scheduler_kind, const std::string& id) {
    std::string why;
    return scheduler(scheduler_kind).told_states({id}, why).at(id).kind;
  };
  // an empty list, one without this job, half a line, garbage, an error
  for (const char* body : {"exit 0", "echo '3|COMPLETED|None'", "printf '7'", "printf '7|RUN'", "echo hello",
                           "echo 'Unable to contact slurm controller' >&2; exit 1"}) {
    command("status", body);
    EXPECT_EQ(kind(SchedulerKind::slurm, "7"), Kind::unknown) << body;
  }
  for (const char* body : {"echo '{}'", "echo '{\"Jobs\": {}}'", "echo '{\"Jobs\": {\"1.pbs1\": {\"job_st'",
                           "echo 'Connection refused' >&2; exit 111"}) {
    command("status", body);
    EXPECT_EQ(kind(SchedulerKind::pbs, "1.pbs1"), Kind::unknown) << body;
  }
  EXPECT_TRUE(JobState{}.may_live() && !JobState{}.is_alive());
}

TEST_F(Answers, jobs_of_a_script_are_found_in_the_queue) {
  command(
      "status",
      "printf '7|RUNNING|/a/job.sh\\n8|PENDING|/a/job.sh x\\n9|PENDING|/a/job.sh2\\n5|FAILED|/a/job.sh\\n'");
  EXPECT_EQ(scheduler(SchedulerKind::slurm).jobs_of_script("/a/job.sh"),
            (std::vector<std::string>{"7", "8"}));
  command("qselect", "printf '1.pbs1\\n2.pbs1\\n'");
  command("status",
          R"(echo '{"Jobs": {"1.pbs1": {"job_state": "Q", "queue": "q", "Submit_arguments": "-W x /a/job.sh"},
"2.pbs1": {"job_state": "R", "queue": "q", "Submit_arguments": "/b/a/job.sh"}}}')");
  EXPECT_EQ(scheduler(SchedulerKind::pbs).jobs_of_script("/a/job.sh"), (std::vector<std::string>{"1.pbs1"}));
}

TEST_F(Answers, words_that_leave_a_submission_in_doubt) {
  const Scheduler slurm = scheduler(SchedulerKind::slurm), pbs = scheduler(SchedulerKind::pbs);
  EXPECT_TRUE(
      slurm.is_doubtful("refuses (exit code 1): Batch job submission failed: Socket timed out on send/recv"));
  EXPECT_TRUE(slurm.is_doubtful("Unable to contact slurm controller (connect failure)"));
  EXPECT_TRUE(slurm.is_doubtful("sbatch refuses (exit code 137): "));
  EXPECT_TRUE(slurm.is_doubtful("sbatch does not answer within 60 s"));
  EXPECT_FALSE(
      slurm.is_doubtful("refuses (exit code 1): Batch job submission failed: Invalid partition name"));
  EXPECT_TRUE(pbs.is_doubtful("qsub: cannot connect to server pbs1 (errno=110)"));
  EXPECT_FALSE(pbs.is_doubtful("qsub: Bad project: none"));
  EXPECT_FALSE(pbs.is_doubtful("qsub refuses (exit code 170): qsub: Unknown queue"));
}

TEST_F(Answers, an_array_is_as_alive_as_its_liveliest_task) {
  command("status", "printf '7|COMPLETED|None\\n7|RUNNING|None\\n7|PENDING|Resources\\n'");
  EXPECT_EQ(scheduler(SchedulerKind::slurm).states({"7"}).at("7").kind, Kind::running);
}

TEST_F(Answers, states_of_pbs) {
  command("status", R"(for id; do :; done
case $id in
  1.pbs1) echo '{"Jobs": {"1.pbs1": {"job_state": "Q", "comment": "Not Running: queue is full"}}}' ;;
  2.pbs1) echo '{"Jobs": {"2.pbs1": {"job_state": "F", "Exit_status": 75}}}' ;;
  *) echo "qstat: Unknown Job Id $id" >&2; exit 153 ;;
esac)");
  const auto states = scheduler(SchedulerKind::pbs).states({"1.pbs1", "2.pbs1", "3.pbs1"});
  EXPECT_EQ(states.at("1.pbs1").kind, Kind::waiting);
  EXPECT_EQ(states.at("1.pbs1").reason, "Not Running: queue is full");
  EXPECT_EQ(states.at("2.pbs1").kind, Kind::ended);
  EXPECT_EQ(states.at("2.pbs1").reason, "exit code 75");
  EXPECT_EQ(states.at("3.pbs1").kind, Kind::gone);
}

TEST_F(Answers, jobs_of_a_user_of_slurm) {
  command("status", R"(echo "$@" > $(dirname $0)/words
printf '7|RUNNING|gpu|2|gres:gpu:a100:4\n8|PENDING|gpu,cpu|1|N/A\n9|COMPLETING|cpu|3|gpu\n5|FAILED|cpu|1|N/A\n')");
  const auto jobs = scheduler(SchedulerKind::slurm).jobs_of_user();
  EXPECT_NE(run_command({"cat", scratch_ / "words"}, 5).out.find(fmt::format("--user={}", getuid())),
            std::string::npos);
  ASSERT_EQ(jobs.size(), 3u);
  EXPECT_EQ(jobs[0].kind, Kind::running);
  EXPECT_EQ(*jobs[0].gpus, 8);
  EXPECT_TRUE(jobs[1].is_in("cpu") && jobs[1].is_in("gpu") && !jobs[1].is_in("gp"));
  EXPECT_EQ(*jobs[1].gpus, 0);
  EXPECT_EQ(jobs[2].nodes, 3);
  EXPECT_EQ(*jobs[2].gpus, 3);
}

TEST_F(Answers, jobs_of_a_user_of_pbs) {
  command("qselect", "printf '1.pbs1\\n2[].pbs1\\n3.pbs1\\n'");
  command("status", R"(echo '{"Jobs": {
"1.pbs1": {"job_state": "R", "queue": "rt_HF", "Resource_List": {"nodect": 4, "ngpus": 32}},
"2[].pbs1": {"job_state": "B", "queue": "rt_HC", "Resource_List": {"nodect": 1}}}}'
echo 'qstat: Unknown Job Id 3.pbs1' >&2; exit 153)");
  const auto jobs = scheduler(SchedulerKind::pbs).jobs_of_user();
  ASSERT_EQ(jobs.size(), 2u);
  EXPECT_EQ(jobs[0].queue, "rt_HF");
  EXPECT_EQ(jobs[0].nodes, 4);
  EXPECT_EQ(*jobs[0].gpus, 32);
  EXPECT_EQ(jobs[1].kind, Kind::running);
  EXPECT_FALSE(jobs[1].gpus);
  command("qselect", "exit 0");
  EXPECT_TRUE(scheduler(SchedulerKind::pbs).jobs_of_user().empty());
}

TEST_F(Answers, garbage_about_jobs_of_a_user_is_one_line) {
  const auto line = [&](SchedulerKind kind) {
    const auto text = refusal([&] { (void)scheduler(kind).jobs_of_user(); });
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    return text;
  };
  for (const char* garbage : {"echo hello", "echo '7|RUNNING|cpu'", "echo '7|RUNNING|cpu|many|N/A'"}) {
    command("status", garbage);
    EXPECT_NE(line(SchedulerKind::slurm).find("unexpected answer"), std::string::npos);
  }
  command("status", "echo slurm_load_jobs error: Unable to contact >&2; exit 1");
  EXPECT_NE(line(SchedulerKind::slurm).find("Unable to contact"), std::string::npos);
  command("qselect", "echo Welcome");
  EXPECT_NE(line(SchedulerKind::pbs).find("'Welcome'"), std::string::npos);
  command("qselect", "echo 1.pbs1");
  for (const char* garbage : {"echo hello", "echo '{\"Jobs\": {\"1.pbs1\": 3}}'"}) {
    command("status", garbage);
    EXPECT_NE(line(SchedulerKind::pbs).find("unexpected answer"), std::string::npos);
  }
}

TEST_F(Answers, a_state_or_an_answer_that_is_not_known_is_an_error) {
  command("status", "echo '7|DREAMING|None'");
  EXPECT_NE(refusal([&] { (void)scheduler(SchedulerKind::slurm).states({"7"}); }).find("'DREAMING'"),
            std::string::npos);
  command("status", "echo hello");
  EXPECT_NE(refusal([&] { (void)scheduler(SchedulerKind::slurm).states({"7"}); }).find("'hello'"),
            std::string::npos);
  EXPECT_NE(refusal([&] { (void)scheduler(SchedulerKind::pbs).states({"7"}); }).find("unexpected answer"),
            std::string::npos);
  command("status", "echo down for maintenance >&2; exit 1");
  EXPECT_NE(
      refusal([&] { (void)scheduler(SchedulerKind::slurm).states({"7"}); }).find("down for maintenance"),
      std::string::npos);
}

}  // namespace
}  // namespace quintet
