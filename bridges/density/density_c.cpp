#include <limits>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "bridges/c/guarded.hpp"
#include "bridges/density/density.hpp"
#include "bridges/density/quintet_density.h"
#include "io/log/error.hpp"
#include "io/parallel/foreign_comm.hpp"

/// What a C handle points to.
struct quintet_density {
  std::optional<quintet::bridges::Density> solver;
  std::string error;
};

namespace {

using quintet::Comm;
using quintet::bridges::Density;

template <class MakeComm>
quintet_density* open_with(const MakeComm& make_comm) noexcept {
  auto* handle = new (std::nothrow) quintet_density;
  if (handle == nullptr) return nullptr;
  quintet::bridges::guarded(handle->error, [&] { handle->solver.emplace(make_comm()); });
  return handle;
}

/// Do `work` with the solver. Where there is none the text says why still.
template <class Work>
int with_solver(quintet_density* handle, Work&& work) noexcept {
  if (handle == nullptr || !handle->solver) return quintet::bridges::mistake;
  return quintet::bridges::guarded(handle->error, [&] { work(*handle->solver); });
}

}  // namespace

extern "C" {

int quintet_density_api_version(void) { return QUINTET_DENSITY_API_VERSION; }

quintet_density* quintet_density_open(void) {
  return open_with([] { return Comm::self(); });
}
quintet_density* quintet_density_open_mpi(int comm) {
  return open_with([=] { return quintet::comm_of_fortran(comm); });
}
void quintet_density_close(quintet_density* density) { delete density; }

const char* quintet_density_error(const quintet_density* density) {
  return density == nullptr ? "the handle is NULL" : density->error.c_str();
}
const char* quintet_density_warning(const quintet_density* density) {
  return density == nullptr || !density->solver ? "" : density->solver->warning().c_str();
}

int quintet_density_set(quintet_density* density, const char* name, double value) {
  return with_solver(density, [=](Density& solver) {
    QUINTET_CHECK(name != nullptr, "the name of a setting is NULL");
    solver.set(name, value);
  });
}

int quintet_density_set_blocks(quintet_density* density, int n_blocks, const int* rows) {
  return with_solver(density, [=](Density& solver) {
    QUINTET_CHECK(n_blocks >= 0, "{} blocks: expected 0 or more", n_blocks);
    QUINTET_CHECK(rows != nullptr || n_blocks == 0, "rows is NULL");
    solver.set_blocks(n_blocks == 0 ? std::vector<int>() : std::vector<int>(rows, rows + n_blocks));
  });
}

int quintet_density_set_csc(quintet_density* density, int n_rows, int nnz_l, int n_lcol, const int* row_ind,
                            const int* col_ptr) {
  return with_solver(density,
                     [=](Density& solver) { solver.set_pattern(n_rows, nnz_l, n_lcol, row_ind, col_ptr); });
}

int quintet_density_dm_real_sparse(quintet_density* density, const double* ham, const double* ovlp,
                                   double* dm, double* energy) {
  return with_solver(density, [=](Density& solver) {
    const double found = solver.compute(ham, ovlp, dm);
    if (energy != nullptr) *energy = found;
  });
}

int quintet_density_edm_real_sparse(quintet_density* density, double* edm) {
  return with_solver(density, [=](Density& solver) { solver.energy_weighted(edm); });
}

double quintet_density_number(const quintet_density* density, const char* name) {
  double number = std::numeric_limits<double>::quiet_NaN();
  if (density == nullptr || !density->solver || name == nullptr) return number;
  std::string ignored;
  quintet::bridges::guarded(ignored, [&] { number = density->solver->number(name); });
  return number;
}

}  // extern "C"
