#include "physics/tasks/kernel.hpp"

#include <array>
#include <cmath>
#include <cstring>

#include "io/config/schema.hpp"
#include "io/config/table.hpp"
#include "io/config/tree.hpp"
#include "physics/kernels/pack.hpp"
#include "physics/tasks/hash.hpp"

namespace quintet::tasks {
namespace {

constexpr int n_numbers = 64;  ///< that compute_bound works on, all in registers

double nothing(const KernelOptions&, std::int64_t, std::span<std::byte>, int) { return 0; }

/// A chain of integer operations that nothing can shorten.
double wait(const KernelOptions&, std::int64_t n, std::span<std::byte>, int) {
  std::int64_t x = 113;
  for (std::int64_t i = 0; i < n; ++i) x = x * 139 % 2147483647;
  return x;
}

/// x = x x + x, n times, of 64 numbers: 2 operations each, and 64 for their sum. From -1/2 on x tends to 0 as
/// -1/n: no overflow, no denormal numbers.
double compute(const KernelOptions&, std::int64_t n, std::span<std::byte>, int) {
  constexpr int width = pack_width<double>, count = n_numbers / width;
  Pack<double> x[count];
  for (int k = 0; k < count; ++k) x[k] = broadcast<double>(-0.5 - 0.001 * k);
  for (std::int64_t i = 0; i < n; ++i) {
#pragma GCC unroll 32
    for (int k = 0; k < count; ++k) x[k] = x[k] * x[k] + x[k];
  }
  Pack<double> sum{};
  for (const auto& pack : x) sum += pack;
  return horizontal_sum<double>(sum);
}

/// Copies the first half of a sample onto its second; a task goes on where that of the step before ended.
double copy(const KernelOptions& kernel, std::int64_t n, std::span<std::byte> scratch, int step) {
  const std::size_t bytes = scratch.size() / kernel.samples, half = bytes / 2;
  std::size_t sample = step * n % kernel.samples;
  for (std::int64_t i = 0; i < n; ++i) {
    std::byte* from = scratch.data() + sample * bytes;
    std::memcpy(from + half, from, half);
    if (++sample == static_cast<std::size_t>(kernel.samples)) sample = 0;
  }
  return scratch.empty() ? 0 : static_cast<double>(scratch[scratch.size() - 1]);
}

struct TaskKernelRow {
  KernelKind value;
  const char *name, *doc, *unit;
  double (*run)(const KernelOptions&, std::int64_t n, std::span<std::byte>, int step);
  double (*work)(const KernelOptions&, std::int64_t n);
};

double no_work(const KernelOptions&, std::int64_t) { return 0; }
double turns(const KernelOptions&, std::int64_t n) { return n; }
double operations(const KernelOptions&, std::int64_t n) { return 2.0 * n_numbers * n + n_numbers; }
double bytes_copied(const KernelOptions& kernel, std::int64_t n) {
  return static_cast<double>(kernel.scratch_bytes) * n / kernel.samples;
}

constexpr TaskKernelRow rows[] = {
    {KernelKind::empty, "empty", "nothing", "", nothing, no_work},
    {KernelKind::busy_wait, "busy_wait", "a chain of integer operations", "iterations", wait, turns},
    {KernelKind::compute_bound, "compute_bound", "multiply-adds in registers", "flop", compute, operations},
    {KernelKind::memory_bound, "memory_bound", "copies inside a working set of constant size", "B", copy,
     bytes_copied},
    {KernelKind::load_imbalance, "load_imbalance", "compute_bound, of random length", "flop", compute,
     operations},
};

/// Iterations of one task.
std::int64_t iterations_of(const KernelOptions& kernel, int step, int point) {
  if (kernel.kernel != KernelKind::load_imbalance) return kernel.iterations;
  const double u = uniform(std::array<std::int64_t, 3>{0, step, point});
  return std::llround((1 + (u - 0.5) * kernel.imbalance) * kernel.iterations);
}

}  // namespace

void describe(Schema& schema, KernelOptions& o) {
  schema.choice("kernel", o.kernel, choices_of(rows), "Work of a task");
  schema.number("imbalance", o.imbalance, "Spread of load_imbalance: lengths of 1 - f/2 to 1 + f/2")
      .at_least(0)
      .at_most(2);
  schema.integer("scratch_bytes", o.scratch_bytes, "Working set of each point of memory_bound")
      .at_least(0)
      .at_most(1 << 30);
  schema.integer("samples", o.samples, "Pieces of that working set, one of which an iteration copies")
      .at_least(1)
      .at_most(1 << 20);
  schema.check([&o]() -> std::optional<std::string> {
    if (o.kernel != KernelKind::memory_bound || o.scratch_bytes >= std::int64_t{16} * o.samples) return {};
    return fmt::format(
        "scratch_bytes: memory_bound copies pieces of 16 bytes at least; expected {} or more for {} "
        "samples",
        16 * o.samples, o.samples);
  });
}

double run_kernel(const KernelOptions& kernel, int step, int point, std::span<std::byte> scratch) {
  return row_of(rows, kernel.kernel).run(kernel, iterations_of(kernel, step, point), scratch, step);
}
double work_of(const KernelOptions& kernel, int step, int point) {
  return row_of(rows, kernel.kernel).work(kernel, iterations_of(kernel, step, point));
}
std::string work_unit(KernelKind kernel) { return row_of(rows, kernel).unit; }
std::string name_of(KernelKind kernel) { return row_of(rows, kernel).name; }
std::vector<std::pair<std::string, std::string>> kernels() {
  std::vector<std::pair<std::string, std::string>> list;
  for (const auto& row : rows) list.emplace_back(row.name, row.doc);
  return list;
}

}  // namespace quintet::tasks
