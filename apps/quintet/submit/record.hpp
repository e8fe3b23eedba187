#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/application/life/run_owner.hpp"
#include "apps/quintet/submit/scheduler.hpp"
#include "io/config/schema_fwd.hpp"

namespace quintet {

/// One run of a submission: of a sweep, a task with a folder of its own.
struct RecordedPoint {
  std::string folder{};                 ///< relative to the directory; "" for the directory itself
  std::vector<std::string> settings{};  ///< of the sweep: "integrator.temperature=300 K"
};

/// Record of the jobs queued from a run directory: its file jobs.yaml.
struct JobRecord {
  std::string machine{};  ///< name, or path of its file
  std::string name{}, queue{}, application{}, command{}, input{}, date{};
  double walltime = 0;             ///< (s) of a job
  std::int64_t chain = 1;          ///< jobs asked for
  bool submitting = false;         ///< the scheduler was asked, and has not answered
  std::vector<std::string> ids{};  ///< those queued, first to last
  std::vector<RecordedPoint> points{};
};
void describe(Schema& schema, RecordedPoint& point);
void describe(Schema& schema, JobRecord& record);

/// jobs.yaml of a directory; nothing if it does not exist. Throws InputError if it is damaged.
[[nodiscard]] std::optional<JobRecord> read_record(const std::string& directory);
void write_record(const std::string& directory, const JobRecord& record);

/// Throws InputError if jobs of this directory wait or run, or may do so unseen.
void require_nothing_queued(const std::string& directory, const Scheduler& scheduler);

/// Queue a script to begin after others, and write its id, and before it is known
/// that it is asked for, into the directory's record. Where the scheduler fails, the queue is asked for a job
/// of this script, which may have been taken nevertheless. Throws InputError: the scheduler's words, and how
/// many of `n_jobs` were queued; the record then says whether one more may be.
void queue_job(const Scheduler& scheduler, const std::string& directory, JobRecord& record,
               const std::string& script, const JobOrder& after, std::int64_t n_jobs);

/// "2026-01-30 12:00:00", of now.
[[nodiscard]] std::string date_text();

/// The directory's lock (its RunOwner, as every run takes it), made with it. Throws InputError if a run or
/// another submission is at it.
[[nodiscard]] std::unique_ptr<RunOwner> lock_directory(const std::string& directory,
                                                       const std::string& program);

}  // namespace quintet
