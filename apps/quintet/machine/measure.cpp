#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <functional>
#include <numeric>

#include "apps/quintet/machine/machine.hpp"
#include "apps/quintet/machine/samples.hpp"
#include "io/config/schema.hpp"
#include "io/config/tree.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "io/machine/detect.hpp"
#include "io/parallel/comm.hpp"
#include "io/parallel/together.hpp"
#include "physics/kernels/gemm.hpp"
#include "physics/kernels/gemm_bf16.hpp"

namespace quintet::commands {
namespace {

constexpr int n_repeats = 7;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Rate of `work` units a call, on all ranks at once: of the slowest rank, a value a repeat of about
/// `repeat_s`. Collective.
std::vector<double> rates_of(const Comm& comm, double work, const std::function<void()>& call,
                             double repeat_s = 0.1) {
  call();  // pages and caches
  double start = now();
  call();
  const double once = comm.maximum(now() - start);
  const int n_calls = std::max<int>(1, repeat_s / std::max(once, 1e-7));
  std::vector<double> rates;
  for (int repeat = 0; repeat < n_repeats; ++repeat) {
    comm.barrier();
    start = now();
    for (int i = 0; i < n_calls; ++i) call();
    rates.push_back(work * n_calls / comm.maximum(now() - start));
  }
  return rates;
}

/// Bytes of the largest cache of this processor, as the kernel says.
double largest_cache() {
  double most = 0;
  for (int index = 0; index < 8; ++index) {
    std::FILE* file =
        std::fopen(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", index).c_str(), "r");
    if (file == nullptr) break;
    double kilobytes = 0;
    if (std::fscanf(file, "%lfK", &kilobytes) == 1) most = std::max(most, kilobytes * 1024);
    std::fclose(file);
  }
  return most;
}

/// Copies between arrays that no cache holds: four times the largest, or what an eighth of the memory allows.
std::vector<double> copy_rates(const Comm& comm, const MachineNode& node) {
  const double wanted = std::max(4 * largest_cache() / comm.node_size(), 64e6);
  const double most = node.memory.value_or(4e9) / 16 / comm.node_size();
  const std::size_t n = std::min(wanted, most);
  std::vector<char> from(n, 1), to(n);
  return rates_of(comm, 2.0 * n, [&] { std::memcpy(to.data(), from.data(), n); });
}

// A product of matrices that second-level caches hold: 2 m n k operations.
constexpr int m = 480, k = 384, n = 384;
constexpr double flops = 2.0 * m * n * k;

template <class T>
std::vector<double> gemm_rates(const Comm& comm) {
  const std::vector<double> values(std::int64_t{k} * n, 0.5);
  const PackedMatrix<T> right(values.data(), k, n);
  const AlignedVector<T> left(std::int64_t{m} * k, T(0.25));
  AlignedVector<T> product(std::int64_t{m} * right.stride());
  return rates_of(comm, flops, [&] { multiply(left.data(), k, m, right, product.data(), right.stride()); });
}

std::vector<double> bf16_rates(const Comm& comm) {
  const AlignedVector<float> values(std::int64_t{k} * n, 0.5F), left(std::int64_t{m} * k, 0.25F);
  PackedBf16 right;
  right.assign(values.data(), n, k, n);
  AlignedVector<float> product(std::int64_t{m} * n);
  return rates_of(comm, flops, [&] { multiply_bf16(left.data(), k, m, right, product.data(), n); });
}

/// One way of a message between ranks 0 and `partner`: half the time of there and back. Collective.
double message_time(const Comm& comm, int partner, std::vector<char>& buffer, int n_trips) {
  const std::span<const char> send(buffer), nothing;
  const std::span<char> receive(buffer), none;
  comm.barrier();
  const double start = now();
  for (int trip = 0; trip < n_trips; ++trip) {
    if (comm.rank() == 0) {
      comm.exchange(send, partner, none, -1, 0);
      comm.exchange(nothing, -1, receive, partner, 1);
    } else if (comm.rank() == partner) {
      comm.exchange(nothing, -1, receive, 0, 0);
      comm.exchange(send, 0, none, -1, 1);
    }
  }
  return comm.maximum((now() - start) / (2.0 * n_trips));
}

std::vector<std::size_t> message_sizes() {
  std::vector<std::size_t> sizes;
  for (std::size_t size = 8; size <= (std::size_t{1} << 22); size *= 8) sizes.push_back(size);
  sizes.push_back(std::size_t{1} << 22);
  return sizes;
}

/// Alpha and beta between ranks 0 and `partner`: of the least times, with the spread of the repeats' fits.
MachineLink measure_link(const Comm& comm, LinkLevel level, int partner) {
  const auto sizes = message_sizes();
  std::vector<MessageTime> least;
  std::vector<std::vector<MessageTime>> repeats(n_repeats);
  for (const auto size : sizes) {
    std::vector<char> buffer(size, 1);
    (void)message_time(comm, partner, buffer, 10);
    const double once = message_time(comm, partner, buffer, 10);
    const int n_trips = std::clamp<int>(0.02 / std::max(once, 1e-8), 5, 20000);
    std::vector<double> times;
    for (auto& repeat : repeats) {
      times.push_back(message_time(comm, partner, buffer, n_trips));
      repeat.push_back({static_cast<double>(size), times.back()});
    }
    least.push_back({static_cast<double>(size), best_time(times).best});
  }
  std::vector<double> alphas, betas;
  for (const auto& repeat : repeats) {
    const auto fit = fit_link(repeat);
    alphas.push_back(fit.alpha), betas.push_back(fit.beta);
  }
  const auto fit = fit_link(least);
  const auto spread = [](const std::vector<double>& values) {
    return *std::min_element(values.begin(), values.end()) > 0 ? std::optional(best_time(values).spread)
                                                               : std::nullopt;
  };
  return {.level = level,
          .alpha = fit.alpha,
          .beta = fit.beta,
          .measured = true,
          .alpha_spread = spread(alphas),
          .beta_spread = spread(betas)};
}

/// Between two ranks of a node, and of two nodes, where there are such. Collective.
std::vector<MachineLink> measure_links(const Comm& comm) {
  std::vector<MachineLink> links;
  const std::vector<int> is_with_root = comm.all_gather([&] {
    const auto members = comm.node().all_gather(comm.rank());
    return std::find(members.begin(), members.end(), 0) != members.end() ? 1 : 0;
  }());
  for (const bool inside : {true, false})
    for (int partner = 1; partner < comm.size(); ++partner)
      if ((is_with_root[partner] == 1) == inside) {
        links.push_back(measure_link(comm, inside ? LinkLevel::node : LinkLevel::network, partner));
        break;
      }
  return links;
}

std::vector<MachineAllReduce> measure_all_reduce(const Comm& comm) {
  std::vector<MachineAllReduce> rows;
  if (comm.size() == 1) return rows;
  for (std::size_t size = 8; size <= (std::size_t{1} << 24); size *= 8) {
    std::vector<double> values(size / 8, 1.0);
    const auto rates = rates_of(
        comm, 1, [&] { comm.reduce(std::span(values), Comm::Reduction::maximum); }, 0.03);
    const auto best = best_rate(rates);
    rows.push_back({comm.size(), static_cast<double>(size), 1 / best.best, best.spread});
  }
  return rows;
}

/// Measures the disk on one rank: writes and flushes a file of at most a sixteenth of the free room, then
/// reads it past the kernel's page cache.
class DiskMeasurement {
 public:
  explicit DiskMeasurement(const std::string& folder)
      : path_(folder + fmt::format("/quintet_measure_{}", getpid())) {
    struct statvfs disk {};
    if (statvfs(folder.c_str(), &disk) != 0)
      throw InputError(fmt::format("'{}' cannot be measured: {}", folder, std::strerror(errno)));
    const double free = static_cast<double>(disk.f_bavail) * disk.f_frsize;
    bytes_ = std::min(128e6, free / 16);
    QUINTET_CHECK(bytes_ >= std::size_t{1} << 20,
                  "There is no room in '{}' to measure the disk: {:.3g} MB are free", folder, free / 1e6);
  }
  ~DiskMeasurement() { unlink(path_.c_str()); }
  DiskMeasurement(const DiskMeasurement&) = delete;
  DiskMeasurement& operator=(const DiskMeasurement&) = delete;

  double write_rate() {
    return rate(O_WRONLY | O_CREAT | O_TRUNC,
                [this](int file) { return ::write(file, block_.data(), block_.size()); });
  }
  double read_rate() {
    return rate(O_RDONLY, [this](int file) { return ::read(file, block_.data(), block_.size()); });
  }

 private:
  double rate(int flags, const std::function<ssize_t(int)>& move) {
    const int file = open(path_.c_str(), flags | O_CLOEXEC, 0600);
    if (file < 0) throw InputError(fmt::format("'{}' cannot be opened: {}", path_, std::strerror(errno)));
    posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
    const double start = now();
    std::size_t done = 0;
    bool good = true;
    while (good && done < bytes_) {
      const auto n_moved = move(file);
      good = n_moved > 0;
      done += good ? static_cast<std::size_t>(n_moved) : 0;
    }
    good = fsync(file) == 0 && good;
    const double seconds = now() - start;
    close(file);
    if (!good)
      throw ResourceError(
          fmt::format("'{}': the disk could not be measured: {}", path_, std::strerror(errno)));
    return done / seconds;
  }

  std::string path_;
  std::size_t bytes_ = 0;
  std::vector<char> block_ = std::vector<char>(std::size_t{1} << 20, 7);
};

void measure_disk(const Comm& comm, const std::string& folder, MachineRates& rates) {
  std::vector<double> writes, reads;
  on_root(comm, [&] {
    DiskMeasurement disk(folder);
    for (int repeat = 0; repeat < 3; ++repeat)
      writes.push_back(disk.write_rate()), reads.push_back(disk.read_rate());
    return 0;
  });
  if (!comm.is_root()) return;
  rates.disk_write = best_rate(writes).best, rates.disk_read = best_rate(reads).best;
  rates.spread.emplace_back("disk_write", best_rate(writes).spread);
  rates.spread.emplace_back("disk_read", best_rate(reads).spread);
}

std::string date_text() {
  const std::time_t time = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&time, &parts);
  return fmt::format("{:04}-{:02}-{:02} {:02}:{:02} UTC", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min);
}

std::string host_name() {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  return name.data();
}

/// Replace the file's links by the measured ones of the same kind.
void take_links(Machine& machine, const std::vector<MachineLink>& links) {
  for (const auto& link : links)
    std::erase_if(machine.links, [&](const auto& old) { return old.level == link.level; });
  machine.links.insert(machine.links.end(), links.begin(), links.end());
}

void measure_into(const Comm& comm, const std::string& disk, Machine& machine) {
  MachineRates rates;
  rates.host = host_name(), rates.date = date_text(), rates.ranks = comm.size();
  const auto take = [&](const char* name, std::optional<double>& rate, const std::vector<double>& measured) {
    const auto best = best_rate(measured);
    rate = best.best;
    rates.spread.emplace_back(name, best.spread);
  };
  const auto ours = [&comm](ProcessorTime time) {
    time.ours = comm.node().sum(time.ours);
    return time;
  };
  const double start = now();
  const auto before = ours(processor_time());
  take("copy", rates.copy, copy_rates(comm, machine.node));
  take("gemm_fp64", rates.gemm_fp64, gemm_rates<double>(comm));
  take("gemm_fp32", rates.gemm_fp32, gemm_rates<float>(comm));
  take("gemm_bf16", rates.gemm_bf16, bf16_rates(comm));
  const auto links = measure_links(comm);
  rates.all_reduce = measure_all_reduce(comm);
  const auto after = ours(processor_time());
  rates.remark = busy_remark(before, after, now() - start);
  const auto cores = detected_machine().node.cores;
  if (cores && comm.node_size() > *cores)
    rates.remark += fmt::format("{}{} on {}", rates.remark.empty() ? "" : "; ",
                                counted(comm.node_size(), "rank"), counted(*cores, "core"));
  measure_disk(comm, disk, rates);
  take_links(machine, links);
  // GPUs are not measured here: what the file says of them stays.
  rates.gpu_copy = machine.rates.gpu_copy, rates.gpu_gemm_fp64 = machine.rates.gpu_gemm_fp64;
  rates.gpu_gemm_fp32 = machine.rates.gpu_gemm_fp32, rates.gpu_gemm_bf16 = machine.rates.gpu_gemm_bf16;
  machine.rates = rates;
}

}  // namespace

void describe(Schema& schema, MeasureFlags& flags) {
  schema.text("name", flags.name, "the machine that the ranks run on, by name or file");
  schema.text("output", flags.output,
              "the file to write: the machine's with what was measured; absent: print it");
  schema.text("disk", flags.disk, "folder whose disk is measured");
}

void measure(const Comm& comm, const MeasureFlags& flags) {
  Machine machine;
  together(comm, [&] { machine = read_machine(flags.name); });
  if (comm.is_root()) log::info("Measuring on {} (some ten seconds)", counted(comm.size(), "rank"));
  measure_into(comm, flags.disk, machine);
  if (!comm.is_root()) return;
  if (!machine.rates.remark.empty()) log::warning("Do not rely on these numbers: {}", machine.rates.remark);
  if (machine.node.gpus) log::warning("GPUs are not measured: their rates stay as the file has them");
  if (!flags.output) return void(std::fputs(machine_text(machine).c_str(), stdout));
  write_text_file(*flags.output, machine_text(machine));
  log::info("Written to {}", *flags.output);
}

}  // namespace quintet::commands
