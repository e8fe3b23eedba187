#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/log/error.hpp"
#include "surrogates/flow/decoder/row_scatter.hpp"

/// Gradients of latents from the decoder's tasks to their nodes: rows owned by N threads beside the serial
/// loop, least wall time of many in turn. Crops of 4 x 16 x 16 nodes, two tasks a crop, latents 32 wide: the
/// paper's batch; one crop alone, whose rows two threads share; and DLRM's shape, 200,000 x 8 random rows.
///
///     training_scatter [--threads N]
namespace quintet::flow {
namespace {

struct Case {
  std::string name;
  std::int64_t n_parts, rows_of_part;
  int pieces_of_part, rows_of_piece;
};

/// Threads that wait for work, whatever Kokkos has: rows owned by them.
class Owners {
 public:
  explicit Owners(int n) : n_(n), begin_(n), end_(n) {
    for (int i = 1; i < n; ++i)
      threads_.emplace_back([this, i] {
        while (true) {
          begin_.arrive_and_wait();
          if (!pieces_) return;
          work(i);
          end_.arrive_and_wait();
        }
      });
  }
  ~Owners() {
    pieces_ = nullptr;
    begin_.arrive_and_wait();
    for (auto& thread : threads_) thread.join();
  }
  void run(const std::vector<RowPiece<float>>& pieces, int width, float* table, std::int64_t n_rows) {
    pieces_ = &pieces;
    width_ = width;
    table_ = table;
    n_rows_ = n_rows;
    begin_.arrive_and_wait();
    work(0);
    end_.arrive_and_wait();
  }

 private:
  void work(int i) {
    add_own_rows<float>(*pieces_, width_, table_, n_rows_ * i / n_, n_rows_ * (i + 1) / n_);
  }
  int n_, width_ = 0;
  float* table_ = nullptr;
  std::int64_t n_rows_ = 0;
  const std::vector<RowPiece<float>>* pieces_ = nullptr;
  std::barrier<> begin_, end_;
  std::vector<std::thread> threads_;
};

template <class Work>
double seconds(const Work& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::string measure(const Case& of, int n_threads, Owners& owners) {
  constexpr int width = 32;
  std::vector<std::vector<int>> rows;
  std::vector<RowPiece<float>> pieces;
  std::uint32_t random = 7;
  for (std::int64_t part = 0; part < of.n_parts; ++part)
    for (int p = 0; p < of.pieces_of_part; ++p) {
      auto& own = rows.emplace_back();
      for (int i = 0; i < of.rows_of_piece; ++i) {
        random = random * 1664525U + 1013904223U;
        own.push_back(static_cast<int>((random >> 8) % static_cast<std::uint32_t>(of.rows_of_part)));
      }
    }
  const std::vector<float> values(static_cast<std::size_t>(of.rows_of_piece) * width, 0.5F);
  for (std::size_t i = 0; i < rows.size(); ++i)
    pieces.push_back({static_cast<std::int64_t>(i) / of.pieces_of_part * of.rows_of_part, of.rows_of_part,
                      rows[i], values.data()});
  const std::int64_t n_rows = of.n_parts * of.rows_of_part;
  std::vector<float> serial(static_cast<std::size_t>(n_rows) * width, 0), owned = serial;
  double best[2] = {1e30, 1e30};
  for (int round = 0; round < 60; ++round) {
    best[0] =
        std::min(best[0], seconds([&] { add_own_rows<float>(pieces, width, serial.data(), 0, n_rows); }));
    best[1] = std::min(best[1], seconds([&] { owners.run(pieces, width, owned.data(), n_rows); }));
  }
  if (serial != owned) throw InternalError("rows owned by threads have other bits than the serial loop's");
  fmt::print("{}: serial {:.4g} ms, {} threads {:.4g} ms\n", of.name, 1e3 * best[0], n_threads,
             1e3 * best[1]);
  return fmt::format(
      R"({{"bench": "training_scatter", "case": "{}, {} threads beside the serial loop", "ours": {:.4g}, "peer": {:.4g}, "ratio": {:.4g}, "unit": "s"}})",
      of.name, n_threads, best[1], best[0], best[0] / best[1]);
}

}  // namespace
}  // namespace quintet::flow

int main(int argc, char** argv) {
  try {
    int n_threads = 2;
    for (int i = 1; i < argc; ++i) {
      if (std::string(argv[i]) != "--threads" || i + 1 == argc)
        throw quintet::UsageError("training_scatter [--threads N]");
      n_threads = std::stoi(argv[++i]);
    }
    quintet::flow::Owners owners(n_threads);
    std::vector<std::string> lines;
    for (const auto& of : {quintet::flow::Case{"10 crops of 1024 nodes", 10, 1024, 2, 700},
                           {"one crop of 1024 nodes", 1, 1024, 2, 700},
                           {"1.6 million random rows", 1, 100000, 8, 200000}})
      lines.push_back(quintet::flow::measure(of, n_threads, owners));
    fmt::print("[{}]\n", fmt::join(lines, ", "));
  } catch (const quintet::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return static_cast<int>(error.code());
  }
  return 0;
}
