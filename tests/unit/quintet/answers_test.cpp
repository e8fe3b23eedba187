#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "apps/quintet/submit/answers.hpp"
#include "io/config/tree.hpp"
#include "tests/support/scratch.hpp"

namespace quintet {
namespace {

using Kind = JobState::Kind;

/// Commands of a scheduler in a folder of their own, which answer what the test says.
class Ends : public testing::Test {
 protected:
  void command(const std::string& name, const std::string& body) {
    write_text_file(scratch_ / name, "#!/bin/sh\n" + body + "\n");
    std::filesystem::permissions(scratch_ / name, std::filesystem::perms::owner_all);
  }
  Scheduler scheduler(SchedulerKind kind) {
    command("submit", "exit 0");
    command("cancel", "exit 0");
    Machine machine;
    machine.name = "m";
    machine.scheduler = {.kind = kind,
                         .submit = scratch_ / "submit",
                         .status = scratch_ / "status",
                         .cancel = scratch_ / "cancel"};
    return Scheduler(machine);
  }
  Scratch scratch_{"answers"};
};

TEST_F(Ends, of_slurm_say_what_came_of_a_job_and_where_it_ran) {
  command(
      "status",
      "printf '1|OUT_OF_MEMORY|OutOfMemory|N/A|n3\\n2|TIMEOUT|TimeLimit|N/A|n1\\n3|NODE_FAIL|NodeDown|N/A|"
      "n[1-2]\\n4|FAILED|JobLaunchFailure|N/A|n1\\n5|COMPLETED|None|N/A|n1\\n6|PENDING|Priority|N/A|\\n'");
  const auto states = scheduler(SchedulerKind::slurm).states({"1", "2", "3", "4", "5", "6"});
  EXPECT_EQ(states.at("1").end, JobEnd::out_of_memory);
  EXPECT_EQ(states.at("1").nodes, "n3");
  EXPECT_EQ(states.at("2").end, JobEnd::time_limit);
  EXPECT_EQ(states.at("3").end, JobEnd::node_failure);
  EXPECT_EQ(states.at("3").nodes, "n[1-2]");
  EXPECT_EQ(states.at("4").end, JobEnd::launch_failure);
  EXPECT_EQ(states.at("5").end, JobEnd::completed);
  EXPECT_EQ(states.at("6").end, JobEnd::none);
  EXPECT_EQ(states.at("6").kind, Kind::waiting);
}

TEST_F(Ends, an_array_tells_of_each_task_and_as_a_whole_the_end_that_needs_most_help) {
  command(
      "status",
      "printf '7|COMPLETED|None|0|n1\\n7|OUT_OF_MEMORY|OutOfMemory|1|n2\\n7|FAILED|NonZeroExitCode|2|n3\\n'");
  const auto ended = scheduler(SchedulerKind::slurm).states({"7"}).at("7");
  EXPECT_EQ(ended.end, JobEnd::out_of_memory);
  ASSERT_EQ(ended.tasks.size(), 3u);
  EXPECT_EQ(ended.tasks[2].task, 2);
  EXPECT_EQ(ended.tasks[2].end, JobEnd::failed);
  command("status", "printf '7|RUNNING|None|1|n2\\n7|PENDING|Resources|2-4,9%%2|\\n'");
  const auto running = scheduler(SchedulerKind::slurm).states({"7"}).at("7");
  EXPECT_EQ(running.kind, Kind::running);
  ASSERT_EQ(running.tasks.size(), 5u);
  EXPECT_EQ(running.tasks[4].task, 9);
  EXPECT_EQ(running.tasks[4].kind, Kind::waiting);
}

TEST_F(Ends, accounting_is_asked_where_the_queue_has_forgotten) {
  command(
      "status",
      "case \"$*\" in *--jobs=*) echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1;; esac");
  EXPECT_EQ(scheduler(SchedulerKind::slurm).states({"5"}).at("5").kind, Kind::gone);
  EXPECT_EQ(scheduler(SchedulerKind::slurm).states({"5"}).at("5").end, JobEnd::none);
  command(
      "sacct",
      "printf '5|OUT_OF_MEMORY|0:125|n4\\n6_[2-3]|CANCELLED by 0|0:0|None assigned\\n6_1|FAILED|3:0|n1\\n'");
  const auto states = scheduler(SchedulerKind::slurm).states({"5", "6"});
  EXPECT_EQ(states.at("5").end, JobEnd::out_of_memory);
  EXPECT_EQ(states.at("5").nodes, "n4");
  EXPECT_EQ(states.at("6").end, JobEnd::failed);
  EXPECT_EQ(states.at("6").reason, "exit code 3");
  EXPECT_EQ(states.at("6").tasks.size(), 3u);
}

TEST_F(Ends, without_accounting_nothing_is_guessed) {
  command("status", "exit 0");
  command("sacct", "echo 'Slurm accounting storage is disabled' >&2; exit 1");
  const auto state = scheduler(SchedulerKind::slurm).states({"5"}).at("5");
  EXPECT_EQ(state.kind, Kind::unknown);
  EXPECT_EQ(state.end, JobEnd::none);
}

TEST_F(Ends, a_job_of_others_in_a_state_that_is_new_stops_nothing) {
  command("status", "printf '5|RUNNING|None|N/A|n1\\n9|DREAMING|None|N/A|n1\\n'");
  EXPECT_EQ(scheduler(SchedulerKind::slurm).states({"5"}).at("5").kind, Kind::running);
}

TEST_F(Ends, of_pbs_are_read_from_its_exit_status) {
  command("status", R"sh(for id; do :; done
case $id in
  1.pbs1) a='"job_state":"F","Exit_status":-27,"exec_vnode":"(n1:ncpus=4+n2:ncpus=4)"' ;;
  2.pbs1) a='"job_state":"F","Exit_status":-29' ;;
  3.pbs1) a='"job_state":"F","Exit_status":-1,"comment":"job could not be started"' ;;
  4.pbs1) a='"job_state":"F","Exit_status":271' ;;
  5.pbs1) a='"job_state":"F","Exit_status":137,"comment":"Job exceeded mem limit"' ;;
  6.pbs1) a='"job_state":"F"' ;;
esac
echo "{\"Jobs\":{\"$id\":{$a}}}")sh");
  const auto states =
      scheduler(SchedulerKind::pbs).states({"1.pbs1", "2.pbs1", "3.pbs1", "4.pbs1", "5.pbs1", "6.pbs1"});
  EXPECT_EQ(states.at("1.pbs1").end, JobEnd::out_of_memory);
  EXPECT_EQ(states.at("1.pbs1").nodes, "n1,n2");
  EXPECT_EQ(states.at("2.pbs1").end, JobEnd::time_limit);
  EXPECT_EQ(states.at("3.pbs1").end, JobEnd::launch_failure);
  EXPECT_EQ(states.at("3.pbs1").reason, "exit code -1: job could not be started");
  EXPECT_EQ(states.at("4.pbs1").end, JobEnd::failed);
  EXPECT_EQ(states.at("5.pbs1").end, JobEnd::out_of_memory);
  EXPECT_EQ(states.at("6.pbs1").end, JobEnd::none);
}

TEST_F(Ends, one_job_with_odd_variables_stops_no_question) {
  command("qselect", "printf '1.pbs1\\n2.pbs1\\n3.pbs1\\n'");
  command("status", R"(cat <<'ANSWER'
{"Jobs":{"1.pbs1":{"job_state":"R","queue":"rt_HG","Variable_List":{"D":"/a\,b","E":"say "hi"","F":"\x"}},
"2.pbs1":3,"3.pbs1":{"job_state":"Q","queue":"rt_HC","Resource_List":{"nodect":2,"ngpus":"many"}}}}
ANSWER)");
  const auto jobs = scheduler(SchedulerKind::pbs).jobs_of_user();
  ASSERT_EQ(jobs.size(), 3u);
  EXPECT_EQ(jobs[0].queue, "rt_HG");
  EXPECT_EQ(jobs[1].kind, Kind::waiting);
  EXPECT_EQ(jobs[2].nodes, 2);
  EXPECT_FALSE(jobs[2].gpus);
}

TEST_F(Ends, a_log_says_what_states_do_not) {
  const std::string log =
      "slurmstepd: error: StepId=41.batch exceeded memory limit (305299456 > 62914560), being killed\n"
      "slurmstepd: error: *** JOB 43 ON n1 CANCELLED AT 2026-11-28T07:56:58 DUE TO TIME LIMIT ***\n"
      "slurmstepd: error: Detected 1 oom-kill event(s) in StepId=44.batch. Some of your processes\n";
  EXPECT_EQ(end_by_log(log, "41"), JobEnd::out_of_memory);
  EXPECT_EQ(end_by_log(log, "4"), JobEnd::none);
  EXPECT_EQ(end_by_log(log, "43"), JobEnd::time_limit);
  EXPECT_EQ(end_by_log(log, "44"), JobEnd::out_of_memory);
  EXPECT_EQ(end_by_log("=>> PBS: job killed: walltime 62 exceeded limit 60\n", "9.pbs1"), JobEnd::time_limit);
  EXPECT_EQ(end_by_log("=>> PBS: job killed: mem 9000kb exceeded limit 8000kb\n", "9.pbs1"),
            JobEnd::out_of_memory);
  write_text_file(scratch_ / "log", log);
  EXPECT_EQ(end_of_job({.kind = Kind::ended, .end = JobEnd::launch_failure}, "41", scratch_ / "log"),
            JobEnd::out_of_memory);
  EXPECT_EQ(end_of_job({.kind = Kind::ended, .end = JobEnd::completed}, "41", scratch_ / "log"),
            JobEnd::completed);
  EXPECT_EQ(end_of_job({.kind = Kind::running}, "41", scratch_ / "log"), JobEnd::none);
  EXPECT_EQ(end_of_job({.kind = Kind::gone}, "41", scratch_ / "no_log"), JobEnd::none);
}

TEST_F(Ends, of_several_nodes_those_that_slurm_took_away_are_left_out) {
  command("status", "exit 0");
  command("sinfo", "printf 'n1|idle\\nn2|down*\\nn3|drained\\nn4|allocated\\n'");
  const auto slurm = scheduler(SchedulerKind::slurm);
  EXPECT_EQ(slurm.failed_nodes("n7"), std::vector<std::string>{"n7"});
  EXPECT_EQ(slurm.failed_nodes("n[1-4]"), (std::vector<std::string>{"n2", "n3"}));
  EXPECT_TRUE(slurm.failed_nodes("").empty());
  EXPECT_TRUE(scheduler(SchedulerKind::pbs).failed_nodes("n7").empty());
}

}  // namespace
}  // namespace quintet
