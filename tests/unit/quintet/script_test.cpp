#include "apps/quintet/submit/script.hpp"

#include <csignal>
#include <cstdlib>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "apps/quintet/campaign/job_script.hpp"
#include "io/config/tree.hpp"
#include "io/files/input_file.hpp"
#include "io/machine/command.hpp"
#include "io/machine/launch_line.hpp"
#include "tests/support/scratch.hpp"

namespace quintet {
namespace {

Job plasma_job() {
  return {.name = "weibel",
          .directory = "/groups/gaa50000/runs/weibel",
          .input = "weibel.yaml",
          .executable = "/opt/quintet/bin/vlasov",
          .command = "run",
          .queue = "rt_HF",
          .shape = {.account = "gaa50000",
                    .nodes = 4,
                    .ranks_per_node = 8,
                    .threads = 12,
                    .gpus_per_node = 8,
                    .walltime = 7200,
                    .margin = 600,
                    .chain = 3}};
}

/// The stored script of this name; QUINTET_WRITE_GOLDEN=1 stores it anew, for a look at the difference.
void expect_golden(const std::string& name, const std::string& text) {
  const char* source = std::getenv("QUINTET_SOURCE_DIR");
  ASSERT_NE(source, nullptr);
  const std::string file = std::string(source) + "/tests/unit/quintet/golden/" + name;
  if (std::getenv("QUINTET_WRITE_GOLDEN") != nullptr) write_text_file(file, text);
  EXPECT_EQ(text, read_input_file(file));
}

TEST(script, of_abci3) { expect_golden("abci3.sh", script_text(read_machine("abci3"), plasma_job())); }

TEST(script, of_a_slurm_machine_with_gpus) {
  Job job = plasma_job();
  job.queue = "gpu";
  job.shape.gpus_per_node = 4, job.shape.memory = 400e9, job.shape.threads = 8;
  expect_golden("slurm_gpu.sh", script_text(read_machine("slurm_gpu"), job));
}

TEST(script, of_an_array_on_a_slurm_machine_without_gpus) {
  Job job = plasma_job();
  job.queue = "cpu", job.directory = "/projects/my group/it's";
  job.shape = {.nodes = 1, .ranks_per_node = 128, .walltime = 86400, .margin = 300, .array_tasks = 12};
  expect_golden("slurm_cpu_array.sh", script_text(read_machine("slurm_cpu"), job));
}

TEST(script, of_an_array_on_abci3) {
  Job job = plasma_job();
  job.queue = "rt_HC";
  job.shape = {
      .account = "gaa50000", .ranks_per_node = 16, .walltime = 86400, .margin = 600, .array_tasks = 100};
  expect_golden("abci3_array.sh", script_text(read_machine("abci3"), job));
}

TEST(script, of_a_campaigns_stage) {
  campaign::TaskOrder order{.file = "/projects/my group/ocean.yaml",
                            .directory = "/groups/gaa50000/runs/ocean",
                            .machine = "abci3",
                            .path = "/home/ada/bin:/usr/bin",
                            .about = "250 items of stage training, after those of modes"};
  Job job = plasma_job();
  job.name = "training", job.executable = "/opt/quintet/bin/quintet",
  job.directory = "/groups/gaa50000/runs/ocean/jobs/training", job.queue = "rt_HG";
  job.shape = {.account = "gaa50000",
               .threads = 8,
               .gpus_per_node = 1,
               .walltime = 7200,
               .margin = 600,
               .array_tasks = 50};
  expect_golden("abci3_campaign.sh", campaign::task_script(read_machine("abci3"), job, order));
  job.queue = "gpu", job.shape.memory = 40e9, job.shape.margin = 300, order.machine = "slurm_gpu";
  expect_golden("slurm_gpu_campaign.sh", campaign::task_script(read_machine("slurm_gpu"), job, order));
}

TEST(script, bash_finds_no_fault_in_any) {
  const Scratch scratch("script");
  for (const char* name : {"abci3", "slurm_gpu", "slurm_cpu"}) {
    const Machine machine = read_machine(name);
    Job job = plasma_job();
    job.queue = machine.queues.front().name;
    for (const auto& text : {script_text(machine, job),
                             campaign::task_script(machine, job, {"a.yaml", "/b", name, "/usr/bin", "c"})}) {
      write_text_file(scratch / "job.sh", text);
      const auto result = run_command({"bash", "-n", scratch / "job.sh"}, 10);
      EXPECT_TRUE(result.good()) << result.errors;
    }
  }
}

TEST(script, placeholders_are_replaced_and_variables_of_the_shell_left) {
  const JobShape shape{.nodes = 3, .ranks_per_node = 4, .threads = 5, .gpus_per_node = 2};
  EXPECT_EQ(launch_line("{nodes} {ranks} {ranks_per_node} {threads} {gpus_per_node} {ranks} ${HOME}", shape),
            "3 12 4 5 2 12 ${HOME}");
}

TEST(script, words_stand_for_themselves_in_a_shell) {
  for (const std::string text : {"plain-1.0", "two words", "it's", "$HOME `id` \"x\" \\ * ; & |", "", "-n"}) {
    const auto result = run_command({"bash", "-c", "printf %s " + shell_word(text)}, 10);
    EXPECT_EQ(result.out, text == "-n" ? "-n" : text);
  }
}

TEST(script, names_of_jobs_are_such_as_all_schedulers_take) {
  EXPECT_EQ(job_name("weibel"), "weibel");
  EXPECT_EQ(job_name("2d run"), "q_2d_run");
  EXPECT_EQ(job_name("a_very_long_name_indeed"), "a_very_long_nam");
  EXPECT_EQ(job_name(""), "_");
}

/// Runs a job's script as a scheduler would, with the program replaced by a script; returns job.log.
class Link : public testing::Test {
 protected:
  void SetUp() override {
    machine_.name = "m";
    machine_.scheduler.kind = SchedulerKind::slurm;
    machine_.queues = {{.name = "q"}};
    machine_.launch.command = "";
    job_ = plasma_job();
    job_.queue = "q", job_.directory = scratch_.path(), job_.executable = scratch_ / "program";
  }
  /// One link in which the program does this; returns the script's exit code.
  int link(const std::string& program, const std::string& before = "") {
    write_text_file(scratch_ / "program", "#!/bin/bash\n" + program + "\n");
    write_text_file(scratch_ / "job.sh", script_text(machine_, job_));
    return run_command(
               {"bash", "-c",
                "chmod +x " + (scratch_ / "program") + "; " + before + " bash " + (scratch_ / "job.sh")},
               20)
        .code;
  }
  [[nodiscard]] std::string log() const { return read_input_file(scratch_ / "job.log"); }
  [[nodiscard]] bool has_ended() const { return std::filesystem::exists(scratch_ / "job.ended"); }

  Scratch scratch_{"link"};
  Machine machine_;
  Job job_;
};

constexpr const char* checkpoint = "mkdir -p checkpoints; touch checkpoints/step_00000000000$1.h5; ";

std::string writes(int step) { return fmt::format("set -- {}; {}", step, checkpoint); }

/// As LastWord does; the launcher may end with another code.
std::string leaves(int code, const std::string& reason = "", const std::string& start = "$QUINTET_START") {
  return fmt::format("printf 'start: %s\\ncode: {}\\n{}' {} > .quintet/last_word_{}; ", code,
                     reason.empty() ? "" : "reason: " + reason + "\\n", start, start);
}

TEST_F(Link, goes_on_after_75_and_stops_when_the_program_is_done) {
  EXPECT_EQ(link(writes(1) + leaves(75, "SIGUSR1") + "exit 1"), 0);
  EXPECT_FALSE(has_ended());
  EXPECT_NE(log().find("stopped early with a checkpoint (SIGUSR1)"), std::string::npos) << log();
  EXPECT_EQ(link(writes(2) + leaves(0) + "exit 1"), 0);
  EXPECT_TRUE(has_ended());
  EXPECT_EQ(link("echo must not run; exit 1"), 0);
  EXPECT_NE(log().find("Nothing to do: exit code 0"), std::string::npos);
  EXPECT_EQ(log().find("must not run"), std::string::npos);
}

TEST_F(Link, says_where_a_stopped_program_has_kept_nothing) {
  EXPECT_EQ(link(leaves(75, "SIGUSR1") + "exit 1"), 0);
  EXPECT_NE(log().find("stopped early without a checkpoint (SIGUSR1); the next job begins anew"),
            std::string::npos)
      << log();
}

TEST_F(Link, last_words_of_the_program_end_the_chain) {
  for (const int code : {1, 2, 3, 4, 70}) {
    std::filesystem::remove(scratch_ / "job.ended");
    std::filesystem::remove(scratch_ / "job.began");
    EXPECT_EQ(link(leaves(code, "it is wrong") + "exit 1"), code);
    EXPECT_EQ(read_input_file(scratch_ / "job.ended"), fmt::format("exit code {}: it is wrong\n", code));
  }
}

TEST_F(Link, codes_of_the_launcher_and_words_of_other_starts_end_nothing) {
  for (const int code : {1, 2, 137}) {
    std::filesystem::remove(scratch_ / "job.began");
    EXPECT_EQ(link(fmt::format("exit {}", code)), code);
    EXPECT_FALSE(has_ended()) << code;
  }
  std::filesystem::remove(scratch_ / "job.began");
  EXPECT_EQ(link(leaves(2, "", "another") + "mv .quintet/last_word_another .quintet/last_word; exit 1"), 1);
  EXPECT_EQ(link("exit 0"), 1);  // a launcher that is content, and no program
  EXPECT_FALSE(has_ended()) << log();
  EXPECT_NE(log().find("no last word"), std::string::npos);
}

TEST_F(Link, goes_on_after_a_kill_that_left_a_new_checkpoint) {
  for (int step = 1; step < 6; ++step) EXPECT_EQ(link(writes(step) + "kill -9 $$"), 137);
  EXPECT_FALSE(has_ended());
  EXPECT_EQ(link(leaves(0)), 0);
}

TEST_F(Link, two_more_tries_where_there_is_no_progress) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(link("kill -9 $$"), 137);
    EXPECT_FALSE(has_ended());
  }
  EXPECT_NE(log().find("try 3 of 3"), std::string::npos) << log();
  EXPECT_EQ(link("echo must not run"), 1);
  EXPECT_TRUE(has_ended());
  EXPECT_NE(log().find("no progress: 3 jobs began at checkpoint ''"), std::string::npos);
}

TEST_F(Link, a_word_that_the_script_could_not_heed_any_more_is_heeded_by_the_next) {
  EXPECT_EQ(link(leaves(3, "x is NaN") + "kill -9 $PPID; exit 3"), 137);
  EXPECT_FALSE(has_ended());
  EXPECT_EQ(link("echo must not run"), 0);
  EXPECT_EQ(read_input_file(scratch_ / "job.ended"), "exit code 3: x is NaN\n");
  EXPECT_EQ(log().find("must not run"), std::string::npos);
}

TEST_F(Link, a_walltime_that_brings_no_checkpoint_is_not_tried_again) {
  EXPECT_EQ(link(writes(1) + leaves(75, "walltime of 00:00:09 is nearly used")), 0);
  EXPECT_EQ(link(leaves(75, "walltime of 00:00:09 is nearly used")), 1);
  EXPECT_TRUE(has_ended());
}

TEST_F(Link, a_directory_in_use_is_left_alone) {
  EXPECT_EQ(link("kill -9 $$"), 137);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(link(leaves(2) + "echo 'directory: in use' >> .quintet/last_word_$QUINTET_START; exit 2"), 0);
    EXPECT_FALSE(has_ended());
  }
  EXPECT_EQ(link("kill -9 $$"), 137);  // the second that counts
  EXPECT_NE(log().find("try 2 of 3"), std::string::npos) << log();
  EXPECT_FALSE(has_ended());
}

TEST_F(Link, hands_signals_on_as_usr1_and_waits_for_the_program) {
  std::signal(SIGHUP, SIG_DFL);  // tests may run under nohup, and bash cannot trap what was ignored before
  const std::string program = writes(1) + "end() { echo asked; sleep 0.3; " + leaves(75) +
                              "exit 75; }; trap end USR1; touch ready; while :; do sleep 0.02; done";
  for (const char* name : {"USR1", "TERM", "HUP"}) {
    std::filesystem::remove(scratch_ / "ready");
    std::filesystem::remove(scratch_ / "job.log");
    const std::string sends =
        fmt::format("(until [ -e {0} ]; do sleep 0.02; done; kill -{1} $$) & exec", scratch_ / "ready", name);
    EXPECT_EQ(link(program, sends), 0) << log();
    EXPECT_NE(log().find("asked"), std::string::npos);
  }
}

TEST_F(Link, a_signal_before_the_program_runs_does_not_end_the_script) {
  machine_.launch.command = "kill -USR1 $$;";
  link(writes(1) + leaves(75) + "exit 75");
  EXPECT_NE(log().find("the next job goes on"), std::string::npos) << log();
}

TEST(script, ranks_of_mpirun_have_the_time_that_the_scheduler_gives) {
  Machine machine;
  machine.launch.command = "mpirun -np {ranks}", machine.stop.grace = 12;
  EXPECT_NE(patience_lines(machine, 300).find("OMPI_MCA_odls_base_sigkill_timeout=9 "), std::string::npos);
  EXPECT_NE(patience_lines(machine, 20).find("OMPI_MCA_odls_base_sigkill_timeout=5 "), std::string::npos);
  machine.launch.command = "srun";
  EXPECT_EQ(patience_lines(machine, 300), "");
}

TEST_F(Link, asks_for_the_walltime_without_the_margin) {
  EXPECT_EQ(link("echo words: $@; " + leaves(0)), 0);
  EXPECT_NE(log().find("words: run weibel.yaml --output " + scratch_.path() +
                       " --restart auto --walltime 1:50:00 --threads 12"),
            std::string::npos)
      << log();
}

}  // namespace
}  // namespace quintet
