#include "apps/quintet/bench/application_case.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "io/config/table.hpp"
#include "io/log/error.hpp"

namespace quintet::bench {
namespace {

double number(const Tree& summary, const char* key) { return summary.at(key).as_number(); }

/// Of all steps, observers and files apart; the mean over the ranks.
double mean_step(const Tree& summary) {
  return summary.at("timings_s").at("steps").as_number() / number(summary, "steps");
}

std::vector<std::string> steps(std::int64_t n) { return {fmt::format("time.steps={}", n)}; }
/// However long they are.
std::vector<std::string> steps_of_time(std::int64_t n) {
  return {fmt::format("time.steps={}", n), "time.end=1e30", "theory=null"};
}
/// An evaluation is one step; a dense diagonalisation would be another algorithm.
std::vector<std::string> no_dense(std::int64_t) { return {"method.dense=never"}; }

double cells(const Tree& summary) { return number(summary, "cells"); }
double atoms(const Tree& summary) { return number(summary, "atoms"); }
/// Submatrices of a small case are smaller too: operations are what stays comparable.
double operations(const Tree& summary) {
  return number(summary, "gflops_per_s") * number(summary, "submatrices_s");
}
double submatrices(const Tree& summary) { return number(summary, "submatrices_s"); }

constexpr ApplicationCase rows[] = {
    {"vlasov", "run", "grid.cells", "cells", "cells", nullptr, steps_of_time, mean_step, cells},
    {"dpmd", "run", "system.replicate", "atoms", "atoms", nullptr, steps, mean_step, atoms},
    {"submatrix", "evaluate", "matrices.repeat", "orbitals", "orbitals", "kernel", no_dense, submatrices,
     operations},
};

}  // namespace

const ApplicationCase& application_case(const std::string& name) { return row_given(rows, name, "--app"); }

std::vector<std::int64_t> size_of(const ApplicationCase& row, const Tree& document) {
  const Tree* found = &document;
  std::istringstream path(row.size_key);
  for (std::string key; found && std::getline(path, key, '.');) found = found->find(key);
  QUINTET_CHECK(found && !found->items().empty(),
                "{} is missing: it says how large the case is, and smaller ones are made of it",
                row.size_key);
  std::vector<std::int64_t> size;
  for (const auto& item : found->items()) size.push_back(item.as_integer());
  return size;
}

std::vector<std::int64_t> halved(std::vector<std::int64_t> size) {
  const auto largest = std::max_element(size.begin(), size.end());
  if (*largest <= 1) return {};
  *largest = (*largest + 1) / 2;
  return size;
}

}  // namespace quintet::bench
