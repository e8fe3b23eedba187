#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <limits>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "physics/kinetics/files/distribution_io.hpp"
#include "tests/unit/hdf5/shared_scratch.hpp"
#include "tests/unit/kinetics/files/files_support.hpp"

namespace quintet::kinetics {
namespace {

using namespace testing;

const hdf5::Description of_f{"1", {"x", "v", "mode"}, "Distribution."};

struct Shape {
  int cdim, vdim, order;
  Family family;
};

TEST(DistributionIo, every_split_is_read_by_other_splits_bit_by_bit) {
  const auto comm = Comm::world();
  for (const auto& [cdim, vdim, order, family] :
       {Shape{1, 1, 2, Family::serendipity}, Shape{1, 2, 1, Family::hybrid},
        Shape{2, 2, 1, Family::tensor}}) {
    const PhaseBasis basis(cdim, vdim, order, family);
    const auto grid = odd_grid(cdim, vdim);
    const SharedScratch scratch("distribution_io");
    const auto splits = rank_grids(comm.size(), grid.dim());
    for (std::size_t i = 0; i < splits.size(); ++i) {
      const Decomposition from(comm, grid, splits[i]);
      auto file = hdf5::File::create(comm, scratch / "f.h5");
      write(file.root(), "f", from, basis, numbered(from, grid, basis), of_f);
      for (const std::size_t other : {i, 2 * i + 1}) {
        const Decomposition to(comm, grid, splits[other % splits.size()]);
        Distribution f("read", to.block(grid), basis.size());

        read(file.root(), "f", to, basis, f);

        EXPECT_TRUE(equal(f, numbered(to, grid, basis)));
      }
    }
  }
}

TEST(DistributionIo, more_ranks_than_rows_leave_some_without) {
  const auto comm = Comm::world();
  const PhaseBasis basis(1, 1, 1, Family::hybrid);
  auto grid = odd_grid(1, 1);
  grid.cells[0] = 2;
  const SharedScratch scratch("few_rows");
  const Decomposition in_v(comm, grid, {1, comm.size()});
  auto file = hdf5::File::create(comm, scratch / "f.h5");
  Distribution f("read", in_v.block(grid), basis.size());

  write(file.root(), "f", in_v, basis, numbered(in_v, grid, basis), of_f);
  read(file.root(), "f", in_v, basis, f);

  EXPECT_TRUE(equal(f, numbered(in_v, grid, basis)));
}

TEST(DistributionIo, the_dataset_is_the_global_grid_with_gkeylls_modes) {
  const auto comm = Comm::world();
  const PhaseBasis basis(1, 1, 2, Family::serendipity);
  const auto grid = odd_grid(1, 1);
  const Decomposition decomposition(comm, grid, {});
  const SharedScratch scratch("distribution_io");
  auto file = hdf5::File::create(comm, scratch / "f.h5");

  write(file.root(), "f", decomposition, basis, numbered(decomposition, grid, basis), of_f);

  const auto values = file.root().read<double>("f", {7, 13, 8});
  for (std::int64_t cell = 0; cell < 7 * 13; ++cell)
    for (int mode = 0; mode < 8; ++mode)
      EXPECT_EQ(values[8 * cell + basis.gkeyll_order()[mode]], unique_value(cell, mode));
  EXPECT_EQ(file.root().member_text_attribute("f", "modes"), "00 10 01 11 20 02 21 12");
  EXPECT_EQ(file.root().member_text_attribute("f", "basis"), "serendipity of order 2 in 1x1v");
  EXPECT_EQ(file.root().member_text_attribute("f", "grid"), "cells [7, 13], lower [0, -5], upper [2.5, 5]");
}

TEST(DistributionIo, small_chunks_bring_the_same_rows) {
  const auto comm = Comm::world();
  const PhaseBasis basis(2, 2, 1, Family::serendipity);
  const auto grid = odd_grid(2, 2);
  for (const auto& ranks : rank_grids(comm.size(), grid.dim()))
    for (const auto owner : {RowExchange::Owner::shared, RowExchange::Owner::root}) {
      const Decomposition decomposition(comm, grid, ranks);
      const auto f = numbered(decomposition, grid, basis);
      const auto exchange = phase_rows(decomposition, f, owner, 1);

      int n_rows = 0;
      for (int i = 0; i < exchange.n_chunks(); ++i) {
        const auto chunk = exchange.chunk(i);
        ASSERT_LE(chunk.size(), 1);
        std::vector<double> rows(chunk.size() * exchange.row_size());
        exchange.collect(i, give_modes(basis, f), rows);
        const auto first = std::int64_t{chunk.begin} * 5 * 13 * 6;
        for (std::size_t k = 0; k < rows.size(); k += 16)
          ASSERT_EQ(rows[k], unique_value(first + static_cast<std::int64_t>(k / 16), 0));
        n_rows += chunk.size();
      }

      EXPECT_EQ(comm.sum(n_rows), 7);
    }
}

TEST(DistributionIo, fields_are_written_once_and_read_by_all) {
  const auto comm = Comm::world();
  const PhaseBasis basis(2, 2, 2, Family::serendipity);
  const auto grid = odd_grid(2, 2);
  const SharedScratch scratch("field_io");
  const auto splits = rank_grids(comm.size(), grid.dim());
  for (std::size_t i = 0; i < splits.size(); ++i) {
    const Decomposition from(comm, grid, splits[i]);
    auto file = hdf5::File::create(comm, scratch / "e.h5");
    const auto field = numbered_field(from.block(grid), 8, 8);
    if (from.velocity_comm().rank() > 0) Kokkos::deep_copy(field, -1.0);
    write(file.root(), "field", from, grid, basis, field, {"1", {"x", "y", "component", "mode"}, "E, B."});
    for (const std::size_t other : {i, 2 * i + 1}) {
      const Decomposition to(comm, grid, splits[other % splits.size()]);
      ConfField read_back("read", static_cast<std::size_t>(to.block(grid).n_conf()), 8, 8);

      read(file.root(), "field", to, grid, basis, read_back);

      EXPECT_TRUE(equal(read_back, numbered_field(to.block(grid), 8, 8)));
    }
  }
}

/// A file with f of the 1x1v p2 case, and what reading it into another case says.
struct Bad {
  Comm comm = Comm::world();
  SharedScratch scratch{"distribution_io_bad"};
  PhaseBasis basis{1, 1, 2, Family::serendipity};
  PhaseGrid grid = odd_grid(1, 1);
  std::string path = scratch / "f.h5";

  explicit Bad(double value = 1.0) {
    const Decomposition decomposition(comm, grid, {});
    const auto f = numbered(decomposition, grid, basis);
    for (int conf = 0; conf < f.block.n_conf(); ++conf)
      for (int last = 0; last < f.block.n_last(); ++last)
        if (global_number(f.block, conf, 0, last) == 4 * 13 + 11) f.at(conf, 0, last, 3) = value;
    auto file = hdf5::File::create(comm, path);
    write(file.root(), "f", decomposition, basis, f, of_f);
  }
  [[nodiscard]] std::string reading(const PhaseGrid& other, const PhaseBasis& other_basis) const {
    return message_of<InputError>([&] {
      const auto file = hdf5::File::open(comm, path);
      const Decomposition decomposition(comm, other, {});
      read(file.root(), "f", decomposition, other_basis,
           Distribution("f", decomposition.block(other), other_basis.size()));
    });
  }
};

TEST(DistributionIo, another_basis_grid_or_dataset_is_named) {
  const Bad bad;
  auto longer = bad.grid, shifted = bad.grid;
  longer.cells[1] = 14;
  shifted.lower[0] = -1;

  EXPECT_EQ(bad.reading(bad.grid, bad.basis), "");
  EXPECT_EQ(
      bad.reading(bad.grid, PhaseBasis(1, 1, 1, Family::hybrid)),
      "f has another basis than this run: the file has serendipity of order 2 in 1x1v, the run hybrid of "
      "order 1 in 1x1v; give the run the file's basis");
  EXPECT_EQ(
      bad.reading(longer, bad.basis),
      "f has another grid than this run: the file has cells [7, 13], lower [0, -5], upper [2.5, 5], the run "
      "cells [7, 14], lower [0, -5], upper [2.5, 5]; give the run the file's grid");
  EXPECT_TRUE(contains(bad.reading(shifted, bad.basis), "the run cells [7, 13], lower [-1, -5]"));
}

TEST(DistributionIo, values_that_are_not_finite_are_found_with_their_place) {
  const Bad infinite(std::numeric_limits<double>::infinity()), nan(std::nan(""));
  const int theirs = nan.basis.gkeyll_order()[3];

  for (const Bad* bad : {&infinite, &nan})
    EXPECT_EQ(bad->reading(bad->grid, bad->basis),
              fmt::format("f is not finite at [4, 11, {}]: the file is damaged or its run had failed; use an "
                          "earlier one",
                          theirs));
}

TEST(DistributionIo, files_that_are_cut_or_lie_about_their_shape_are_refused) {
  const Bad bad;
  {
    auto file = hdf5::File::open_for_update(bad.comm, bad.path);
    file.root().write<double>("f", std::vector<double>(7 * 13 * 7), {7, 13, 7}, of_f);
  }
  EXPECT_TRUE(contains(bad.reading(bad.grid, bad.basis), "f has no attribute 'basis'"));
  {
    auto file = hdf5::File::open_for_update(bad.comm, bad.path);
    file.root().set_member_attribute("f", "basis", basis_text(bad.basis));
    file.root().set_member_attribute("f", "grid", grid_text(bad.grid, 2));
    file.root().set_member_attribute("f", "modes", modes_text(bad.basis));
  }
  EXPECT_EQ(bad.reading(bad.grid, bad.basis), "f has shape [7, 13, 7], this run needs [7, 13, 8]");
  bad.comm.barrier();
  if (bad.comm.is_root()) std::filesystem::resize_file(bad.path, 6000);
  bad.comm.barrier();
  EXPECT_TRUE(contains(bad.reading(bad.grid, bad.basis), "truncated"));
}

}  // namespace
}  // namespace quintet::kinetics
