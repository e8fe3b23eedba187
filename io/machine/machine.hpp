#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/config/schema_fwd.hpp"

/// A computer as one YAML file in configs/machines: what jobs it takes, and how fast it is.
///
/// SI units throughout: seconds, bytes, flop/s. What is absent (null in YAML) is unknown, never a guess; what
/// depends on it says so. Source and date of what is published stand in `provenance`.
namespace quintet {

enum class SchedulerKind { none, slurm, pbs };

/// How jobs are handed over.
struct MachineScheduler {
  SchedulerKind kind = SchedulerKind::none;
  bool account_required = false;  ///< jobs without an account are refused
  std::string account_flag{};     ///< "-P"; "" for the scheduler's usual one
  std::string submit{}, status{},
      cancel{};              ///< commands; "" for the scheduler's usual ones (sbatch, qsub ...)
  std::string id_pattern{};  ///< regular expression of a job's id; "" for the scheduler's usual one
  /// Jobs ask for memory; else a node of a queue comes with all it has.
  bool memory_request = true;
  /// Tasks that wait for one that failed are taken from the queue (Slurm: --kill-on-invalid-dep=yes); else
  /// the site's own rule holds.
  bool kill_on_invalid_dependency = true;
  double patience = 60;             ///< (s) for an answer of its commands
  std::optional<double> history{};  ///< (s) for how long the scheduler knows of a job that has ended
};

/// A queue (Slurm: partition) and the limits of one job in it.
///
/// A "node" is what one unit of the request is: a whole node or, where `whole_node` is false, a share of one.
struct MachineQueue {
  std::string name{};
  bool whole_node = true;
  std::int64_t nodes_min = 1;
  std::optional<std::int64_t> nodes_max{};
  std::optional<std::int64_t> cores{}, threads{};         ///< of a node: physical cores, hardware threads
  std::int64_t gpus = 0;                                  ///< of a node
  std::optional<double> memory{}, disk{};                 ///< (B) of a node: main memory, local disk
  std::optional<double> walltime_max{};                   ///< (s)
  std::optional<double> walltime_default{};               ///< (s) of a job that does not ask
  std::optional<double> node_hours_max{};                 ///< nodes x hours of one job
  std::optional<std::int64_t> running_max{};              ///< nodes that run at once, of all users
  std::optional<std::int64_t> user_jobs{};                ///< of a user that wait or run; an array is one
  std::optional<std::int64_t> user_nodes{}, user_gpus{};  ///< of a user's jobs that run at once
  std::optional<double> points_per_hour{};                ///< price of one node for an hour
  bool reserved = false;                                  ///< goes by the name of a reservation
  std::vector<std::string> options{};                     ///< further words for the head of a job script
};

/// Limits of one user over all queues.
struct MachineLimits {
  std::optional<std::int64_t> array_tasks{};      ///< of one job array
  std::optional<std::int64_t> unfinished_jobs{};  ///< waiting or running; an array is one job
  std::optional<std::int64_t> running_jobs{};
};

/// One kind of GPU. Peaks as the maker says.
struct MachineGpus {
  std::int64_t count = 1;
  std::string model{};
  std::optional<double> memory{};                               ///< (B) of one
  std::optional<double> bandwidth{};                            ///< (B/s) of its memory
  std::optional<double> peak_fp64{}, peak_fp32{}, peak_bf16{};  ///< (flop/s)
};

/// Network adapters of a node.
struct MachineNics {
  std::int64_t count = 1;
  std::optional<double> bandwidth{};  ///< (B/s) of one, one way
  /// Adapters that one process uses at once: for large messages (rendezvous) and for small ones (eager).
  std::optional<std::int64_t> rails_large{}, rails_small{};
};

struct MachineNode {
  std::string processor{};
  std::optional<std::int64_t> sockets{}, cores{},
      threads{};                   ///< of the node: physical cores, hardware threads
  std::optional<double> memory{};  ///< (B)
  std::optional<MachineGpus> gpus{};
  std::optional<MachineNics> nics{};
  std::string scratch{};                 ///< folder on the node's own disk, as a job's script names it
  std::optional<double> scratch_size{};  ///< (B)
};

/// Level of the link between two ranks.
enum class LinkLevel {
  node,     ///< ranks of one node
  network,  ///< ranks of two nodes
  gpus      ///< GPUs of one node
};

/// A message of m bytes takes alpha + beta m (Hockney's model) for jobs of at most `ranks_max` ranks.
struct MachineLink {
  LinkLevel level = LinkLevel::network;
  std::optional<std::int64_t> ranks_max{};              ///< absent: any number
  std::optional<double> alpha{};                        ///< (s) latency
  std::optional<double> beta{};                         ///< (s/B) inverse bandwidth
  double sharing = 1;                                   ///< messages at once that share the bandwidth
  bool measured = false;                                ///< here, not published
  std::optional<double> alpha_spread{}, beta_spread{};  ///< (max - min)/min over repeats
};

/// Seconds that an all-reduce of this many bytes takes.
struct MachineAllReduce {
  std::int64_t ranks = 1;
  double bytes = 0, seconds = 0;
  std::optional<double> spread{};
};

/// Measured rates. Of the CPU: of one core while all that were measured are busy; of the disk: of one rank.
struct MachineRates {
  std::optional<double> copy{};  ///< (B/s) read and written by a copy in main memory
  std::optional<double> gemm_fp64{}, gemm_fp32{}, gemm_bf16{};  ///< (flop/s) of matrix products
  std::optional<double> disk_write{}, disk_read{};              ///< (B/s)
  std::optional<double> gpu_copy{};                             ///< (B/s) of one GPU, read and written
  std::optional<double> gpu_gemm_fp64{}, gpu_gemm_fp32{}, gpu_gemm_bf16{};  ///< (flop/s) of one GPU
  std::vector<MachineAllReduce> all_reduce{};
  /// (max - min)/min over the repeats, by the name of the rate.
  std::vector<std::pair<std::string, double>> spread{};
  std::optional<std::int64_t> ranks{};  ///< that measured at once
  std::string host{}, date{};           ///< where and when
  std::string remark{};                 ///< "" or why not to rely on them: what kept the machine busy
};

/// Set-up in a job's script before the program.
struct MachineEnvironment {
  std::string init{};                    ///< a line of shell
  std::vector<std::string> modules{};    ///< in this order
  std::vector<std::string> variables{};  ///< "NAME=value"
};

struct MachineLaunch {
  /// The words before the program; {nodes} {ranks} {ranks_per_node} {threads} {gpus_per_node} are replaced,
  /// and {variables} by a -x NAME for each variable that ranks on other nodes must have.
  std::string command = "mpirun -np {ranks}";
};

/// How a job ends that runs out of time.
struct MachineStop {
  std::optional<double>
      warning;  ///< (s) before the limit at which the script is signalled; absent: nobody warns
  std::optional<double> grace{};  ///< (s) from SIGTERM to SIGKILL
  double margin = 300;            ///< (s) before the limit at which the program stops by itself (--walltime)
};

/// Resources that the next job of a chain asks for if the one before had too little.
struct MachineRetry {
  double memory = 2;      ///< times as much after an end for want of memory; 1: no more
  double walltime = 1.5;  ///< times as long after an end at the limit of time; 1: no longer
  bool exclude = true;    ///< nodes that failed are left out
};

/// Where numbers of this file come from.
struct MachineSource {
  std::string of{};      ///< the keys
  std::string source{};  ///< document
  std::string date{};    ///< of the document
};

struct Machine {
  std::string name{}, about{};
  bool detect = false;  ///< what is unknown below is asked of the machine that reads the file
  MachineScheduler scheduler{};
  std::vector<MachineQueue> queues{};
  MachineLimits limits{};
  MachineNode node{};
  std::vector<MachineLink> links{};
  MachineRates rates{};
  MachineEnvironment environment{};
  MachineLaunch launch{};
  MachineStop stop{};
  MachineRetry retry{};
  std::vector<std::string> remarks{};  ///< what whoever submits should know
  std::vector<MachineSource> provenance{};
};

void describe(Schema& schema, MachineScheduler& scheduler);
void describe(Schema& schema, MachineQueue& queue);
void describe(Schema& schema, MachineLimits& limits);
void describe(Schema& schema, MachineGpus& gpus);
void describe(Schema& schema, MachineNics& nics);
void describe(Schema& schema, MachineNode& node);
void describe(Schema& schema, MachineLink& link);
void describe(Schema& schema, MachineAllReduce& all_reduce);
void describe(Schema& schema, MachineRates& rates);
void describe(Schema& schema, MachineEnvironment& environment);
void describe(Schema& schema, MachineLaunch& launch);
void describe(Schema& schema, MachineStop& stop);
void describe(Schema& schema, MachineRetry& retry);
void describe(Schema& schema, MachineSource& source);
void describe(Schema& schema, Machine& machine);

/// The file of a machine: `name` itself where it is a path (it has a '/' or ends in .yaml), else NAME.yaml in
/// one of machine_folders(). Throws InputError that names those there are.
[[nodiscard]] std::string machine_file(const std::string& name);
/// Folders that hold machine files: configs/machines and share/quintet/machines of this program's folder and
/// of those above it (the source tree of a build, the prefix of an installation), then of the working folder.
[[nodiscard]] std::vector<std::string> machine_folders();

/// Read a machine by name or file; with `detect`, what it leaves unknown is asked of this computer. Throws
/// InputError with all mistakes, each with its place.
[[nodiscard]] Machine read_machine(const std::string& name);
/// The whole file as YAML, each value with unit and meaning; parses back to the same.
[[nodiscard]] std::string machine_text(const Machine& machine);

/// The link of a level for a job of this many ranks: that of the smallest ranks_max that is enough. Null if
/// no link is.
[[nodiscard]] const MachineLink* find_link(const Machine& machine, LinkLevel level, std::int64_t ranks);
/// The queue of this name. Throws InputError.
[[nodiscard]] const MachineQueue& queue_named(const Machine& machine, const std::string& name);

}  // namespace quintet
