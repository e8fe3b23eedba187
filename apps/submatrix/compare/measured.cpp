#include "apps/submatrix/compare/measured.hpp"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "io/parallel/comm.hpp"

namespace quintet::submatrix {

namespace {

/// Resident memory of this process (bytes); 0 if unknown.
double resident_bytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0, resident = 0;
  file >> total >> resident;
  return file ? resident * sysconf(_SC_PAGESIZE) : 0;
}

}  // namespace

Measurement::Measurement() {
  malloc_trim(0);  // what earlier work left behind would hide what this one takes
  base_bytes_ = resident_bytes();
  wall_ = std::chrono::steady_clock::now();
  cpu_ = std::clock();
  watcher_ = std::thread([this] { watch(); });
}

Measurement::~Measurement() {
  done_ = true;
  if (watcher_.joinable()) watcher_.join();
}

void Measurement::watch() {
  while (!done_) {
    peak_bytes_ = std::max(peak_bytes_.load(), resident_bytes());
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

Cost Measurement::finish(const Comm& comm) {
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - wall_).count();
  const double cpu = static_cast<double>(std::clock() - cpu_) / CLOCKS_PER_SEC;
  const double peak = std::max({0.0, peak_bytes_.load() - base_bytes_, resident_bytes() - base_bytes_});
  done_ = true;
  watcher_.join();
  return {comm.maximum(wall), comm.maximum(cpu), comm.maximum(peak)};
}

}  // namespace quintet::submatrix
