#include <chrono>
#include <ctime>
#include <optional>

#include "io/log/error.hpp"
#include "io/parallel/together.hpp"
#include "surrogates/search/workers.hpp"

namespace quintet::search {

namespace {

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + 1e-9 * now.tv_nsec;
}

class WorkerInPlace final : public LocalWorkers {
 public:
  WorkerInPlace(const Options& options, const Work& work)
      : options_(options), work_(work), result_(options.result_bytes) {}

  [[nodiscard]] int size() const override { return 1; }

  void start(int, std::span<const std::byte> task) override {
    if (task_) throw InternalError("a task for a worker that has one");
    task_.emplace(task.begin(), task.end());
  }

  [[nodiscard]] std::vector<Ended> wait(double) override {
    if (!task_) return {};
    Ended ended;
    const auto begin = std::chrono::steady_clock::now();
    const double cpu = cpu_seconds();
    try {
      ended.result = {result_.data(), work_(*task_, result_)};
    } catch (const Interrupted&) {
      task_.reset();
      throw;
    } catch (const std::exception& error) {
      ended.end = TaskEnd::threw;
      ended.message = error.what();
    } catch (...) {
      ended.end = TaskEnd::threw;
      ended.message = "an exception of an unknown kind";
    }
    task_.reset();
    ended.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    ended.cpu_seconds = cpu_seconds() - cpu;
    return {ended};
  }

 private:
  Options options_;
  Work work_;
  std::vector<std::byte> result_;
  std::optional<std::vector<std::byte>> task_;
};

}  // namespace

std::unique_ptr<LocalWorkers> make_worker_in_place(const LocalWorkers::Options& options, const Work& work) {
  return std::make_unique<WorkerInPlace>(options, work);
}

}  // namespace quintet::search
