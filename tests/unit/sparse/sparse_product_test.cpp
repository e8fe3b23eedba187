#include "physics/sparse/sparse_product.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/config/tree.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "physics/sparse/layout.hpp"
#include "physics/sparse/row_parts.hpp"
#include "physics/sparse/transpose.hpp"

namespace quintet {
namespace {

/// A whole square matrix, dense, and a panel of f columns.
struct Problem {
  int n = 0, f = 0;
  std::vector<double> a, h;
  [[nodiscard]] double product(int i, int c) const {
    double sum = 0;
    for (int k = 0; k < n; ++k) sum += a[i * n + k] * h[k * f + c];
    return sum;
  }
};

/// Not symmetric, with a band, some nonzeros far from it, and rows and columns that are empty.
Problem sample(int n, int f) {
  Problem p{n, f, std::vector<double>(std::int64_t{n} * n, 0.0), {}};
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k)
      if (i % 11 != 4 && k % 13 != 7 && (std::abs(i - k) < 3 || (i * 37 + k * 91) % 29 == 0))
        p.a[i * n + k] = std::sin(1.0 + 3 * i + 7 * k);
  for (int k = 0; k < n * f; ++k) p.h.push_back(std::cos(0.3 * k));
  return p;
}

/// Blocks of 1 to 4 rows by turns, shared out unevenly.
RowShares odd_blocks(int n, int n_ranks) {
  RowShares blocks;
  for (int size = 1; blocks.n_rows() < n; size = size % 4 + 1)
    blocks.unit_begin.push_back(std::min(n, blocks.n_rows() + size));
  blocks.rank_begin.clear();
  for (int r = 0; r <= n_ranks; ++r) blocks.rank_begin.push_back((blocks.n_units() * r + r % 2) / n_ranks);
  blocks.rank_begin.back() = blocks.n_units();
  return blocks;
}

/// A rank's rows of a matrix; its memory is `value`.
struct Rows {
  SparseRows rows;
  AlignedVector<double> value;
  Rows(const Problem& p, RowShares shares, int rank) {
    rows.shares = std::move(shares);
    const RowShares& s = rows.shares;
    for (int u = s.rank_begin[rank]; u < s.rank_begin[rank + 1]; ++u) {
      for (int v = 0; v < s.n_units(); ++v) {
        bool any = false;
        for (int i = s.unit_begin[u]; i < s.unit_begin[u + 1]; ++i)
          for (int k = s.unit_begin[v]; k < s.unit_begin[v + 1]; ++k) any = any || p.a[i * p.n + k] != 0;
        if (!any) continue;
        rows.column.push_back(v);
        rows.offset.push_back(value.size());
        for (int i = s.unit_begin[u]; i < s.unit_begin[u + 1]; ++i)
          for (int k = s.unit_begin[v]; k < s.unit_begin[v + 1]; ++k) value.push_back(p.a[i * p.n + k]);
      }
      rows.row_begin.push_back(rows.column.size());
    }
    rows.value = value.data();
  }
};

/// A part of a whole panel, row-major.
template <class Real = double>
AlignedVector<Real> part_of(const std::vector<double>& whole, const PanelPart& part, int f) {
  AlignedVector<Real> x;
  for (int i = part.first; i < part.last; ++i)
    for (int c = part.first_column(f); c < part.last_column(f); ++c) x.push_back(whole[i * f + c]);
  return x;
}

/// Call action(comm) on the first P ranks, P = 1 to as many as there are.
void on_any_number_of_ranks(const std::function<void(const Comm&)>& action) {
  const Comm world = Comm::world();
  for (int p = 1; p <= world.size(); ++p) {
    const Comm some = world.split(world.rank() < p ? 0 : 1, world.rank());
    if (world.rank() < p) action(some);
  }
}

/// Product, words and messages in one layout; what is received is what was counted, and what Comm counts.
template <class Real = double>
SpmmTraffic expect_product(const Comm& comm, const Problem& p, const RowShares& shares,
                           const SpmmLayout& layout) {
  const Rows mine(p, shares, comm.rank());
  const auto counted = count_traffic(comm, mine.rows, layout, p.f);
  SparseProduct<Real> product(comm, mine.rows, layout);
  const PanelPart& part = product.part();
  const auto x = part_of<Real>(p.h, part, p.f);
  AlignedVector<Real> z;
  for (int again = 0; again < 2; ++again) {
    comm.barrier();
    comm.reset_counters();
    product(x, z, p.f);
  }
  const std::string what = fmt::format("{} ranks, {}", comm.size(), layout.name());
  EXPECT_EQ(z.size(), x.size()) << what;
  std::size_t at = 0;
  double worst = 0;
  for (int i = part.first; i < part.last; ++i)
    for (int c = part.first_column(p.f); c < part.last_column(p.f) && at < z.size(); ++c, ++at)
      worst = std::max(worst, std::abs(z[at] - p.product(i, c)));
  EXPECT_LT(worst, sizeof(Real) == 4 ? 5e-6 : 1e-13) << what;

  const SpmmTraffic& got = product.received();
  EXPECT_EQ(got, counted[comm.rank()]) << what;
  const auto counter = comm.counter(Comm::Call::point_to_point);
  EXPECT_EQ(counter.received, sizeof(Real) * (got.dense_words + got.nonzeros)) << what;
  EXPECT_EQ(comm.sum(static_cast<long>(counter.messages)), comm.sum(static_cast<long>(got.messages))) << what;
  return got;
}

TEST(SparseProduct, equals_the_serial_product_in_all_layouts_and_receives_what_was_counted) {
  on_any_number_of_ranks([](const Comm& comm) {
    for (const int f : {1, 7}) {
      const Problem p = sample(47, f);
      const RowShares blocks = odd_blocks(p.n, comm.size());
      for (const auto& layout : layouts_of(SpmmKind::automatic, comm.size())) {
        expect_product(comm, p, even_rows(p.n, comm.size()), layout);
        expect_product(comm, p, blocks, layout);
        expect_product<float>(comm, p, even_rows(p.n, comm.size()), layout);
        expect_product<float>(comm, p, blocks, layout);
      }
    }
  });
}

/// ../shared/data/training/spmm.json: words and messages of each rank, played message by message.
TEST(SparseProduct, words_and_messages_are_those_of_the_reference) {
  const char* source = std::getenv("QUINTET_SOURCE_DIR");
  const std::string path =
      std::string(source != nullptr ? source : ".") + "/../shared/data/training/spmm.json";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "../shared/data/training is not here";
  const Tree given = read_yaml(path);
  Problem p;
  p.n = given.at("n").as_integer();
  p.f = given.at("f").as_integer();
  p.a.assign(std::int64_t{p.n} * p.n, 0.0);
  for (std::size_t k = 0; k < given.at("row").items().size(); ++k)
    p.a[given.at("row").items()[k].as_integer() * p.n + given.at("column").items()[k].as_integer()] =
        given.at("value").items()[k].as_number();
  for (const Tree& x : given.at("dense").items()) p.h.push_back(x.as_number());
  for (int i = 0; i < p.n; ++i) {
    double sum = 0;
    for (int c = 0; c < p.f; ++c) sum += p.product(i, c);
    EXPECT_NEAR(sum, given.at("product_row_sums").items()[i].as_number(), 1e-11);
  }
  on_any_number_of_ranks([&](const Comm& comm) {
    for (const Tree& expected : given.at("cases").items()) {
      if (expected.at("ranks").as_integer() != comm.size()) continue;
      const std::string kind = expected.at("algorithm").as_text();
      const auto layout = [&] {
        if (kind == "1.5d") return layout_one_and_a_half_d(comm.size(), expected.at("c").as_integer());
        if (kind == "2d")
          return layout_2d(comm.size(), expected.at("grid").items()[0].as_integer(),
                           expected.at("grid").items()[1].as_integer());
        if (kind == "3d") return layout_3d(comm.size());
        return layout_1d(comm.size(), kind == "1d_sparse");
      }();
      const SpmmTraffic got = expect_product(comm, p, even_rows(p.n, comm.size()), layout);
      const auto of_this_rank = [&](const char* key) {
        return expected.at(key).items()[comm.rank()].as_integer();
      };
      EXPECT_EQ(got.dense_words, of_this_rank("dense_words")) << layout.name();
      EXPECT_EQ(got.nonzeros, of_this_rank("nonzeros")) << layout.name();
      EXPECT_EQ(got.messages, of_this_rank("messages")) << layout.name();
    }
  });
}

TEST(SparseProduct, copies_are_bitwise_equal) {
  on_any_number_of_ranks([](const Comm& comm) {
    if (comm.size() % 2 != 0 || comm.size() < 4) return;
    const Problem p = sample(41, 5);
    const Rows mine(p, even_rows(p.n, comm.size()), comm.rank());
    SparseProduct<double> product(comm, mine.rows, layout_one_and_a_half_d(comm.size(), 2));
    AlignedVector<double> z;
    product(part_of(p.h, product.part(), p.f), z, p.f);
    const Comm copies = comm.split(comm.rank() / 2, comm.rank());
    const auto both = copies.all_gather(std::span<const double>(z));
    EXPECT_EQ(both.size(), 2 * z.size());
    EXPECT_TRUE(std::equal(z.begin(), z.end(), both.begin() + (copies.rank() == 0 ? z.size() : 0)));
    EXPECT_EQ(comm.sum(product.part().counts ? part_of(p.h, product.part(), p.f).size() / 5 : 0), 41U);
  });
}

TEST(Transpose, gives_the_product_with_the_transposed_matrix) {
  on_any_number_of_ranks([](const Comm& comm) {
    const Problem p = sample(47, 3);
    for (const auto& shares : {even_rows(p.n, comm.size()), odd_blocks(p.n, comm.size())}) {
      const Rows mine(p, shares, comm.rank());
      const OwnedRows there = transpose(comm, mine.rows);
      EXPECT_FALSE(equal(comm, mine.rows, there.rows));
      EXPECT_TRUE(equal(comm, mine.rows, transpose(comm, there.rows).rows));
      SparseProduct<double> product(comm, there.rows, layout_1d(comm.size(), true));
      AlignedVector<double> z;
      product(part_of(p.h, product.part(), p.f), z, p.f);
      for (int i = 0; i < product.part().n_rows(); ++i)
        for (int c = 0; c < p.f; ++c) {
          double sum = 0;
          for (int k = 0; k < p.n; ++k) sum += p.a[k * p.n + product.part().first + i] * p.h[k * p.f + c];
          EXPECT_NEAR(z[i * p.f + c], sum, 1e-13);
        }
    }
  });
}

TEST(SpmmLayout, automatic_takes_the_least_time_and_says_why) {
  on_any_number_of_ranks([](const Comm& comm) {
    Problem band = sample(48, 8), dense = band;
    for (int i = 0; i < band.n; ++i)
      for (int k = 0; k < band.n; ++k) {
        if (std::abs(i - k) > 1) band.a[i * band.n + k] = 0;
        dense.a[i * band.n + k] = 1;
      }
    const auto shares = even_rows(band.n, comm.size());
    const Rows banded(band, shares, comm.rank()), full(dense, shares, comm.rank());
    const MessageCosts slow_words{0, 1e-9, "of a test"}, slow_messages{1e-3, 0, "of a test"};
    const auto chosen = [&](const Rows& a, const MessageCosts& costs) {
      return choose_layout(comm, a.rows, 8, SpmmKind::automatic, costs);
    };
    EXPECT_EQ(chosen(banded, slow_words).layout.kind, SpmmKind::sparse_1d);
    // Every layout that there is costs as much or more, by its own count.
    for (const auto* a : {&banded, &full})
      for (const auto& costs : {slow_words, slow_messages, MessageCosts{}}) {
        const auto worst = [&](const SpmmLayout& layout) {
          double seconds = 0;
          for (const auto& t : count_traffic(comm, a->rows, layout, 8))
            seconds =
                std::max(seconds, t.messages * costs.message + (t.dense_words + t.nonzeros) * costs.word);
          return seconds;
        };
        const auto choice = chosen(*a, costs);
        for (const auto& layout : layouts_of(SpmmKind::automatic, comm.size()))
          EXPECT_LE(worst(choice.layout), worst(layout)) << layout.name();
        EXPECT_NE(choice.reason.find(comm.size() == 1 ? "one rank" : "words of H"), std::string::npos)
            << choice.reason;
      }
    if (comm.size() == 8) {
      EXPECT_EQ(chosen(full, slow_messages).layout.kind, SpmmKind::three_d);
    }
    if (comm.size() == 2) {  // as good as 1d
      EXPECT_EQ(chosen(full, slow_words).layout.kind, SpmmKind::sparse_1d);
    }
  });
}

template <class Real>
void expect_all_columns() {
  on_any_number_of_ranks([](const Comm& comm) {
    for (const int f : {1, 2, 7}) {
      const Problem p = sample(47, f);
      for (const auto& shares : {even_rows(p.n, comm.size()), odd_blocks(p.n, comm.size())})
        for (const auto& layout : layouts_of(SpmmKind::automatic, comm.size())) {
          const PanelPart part = panel_part(shares, layout, comm.rank());
          RowParts<Real> parts(comm, layout, part);
          EXPECT_EQ(parts.are_cut(), layout.columns > 1);
          std::vector<int> seen;
          comm.barrier();
          comm.reset_counters();
          parts.visit(part_of<Real>(p.h, part, f), f, [&](int group, const Real* x) {
            const auto expected = part_of<Real>(p.h, part.beside(group), f);
            EXPECT_TRUE(std::equal(expected.begin(), expected.end(), x)) << layout.name();
            if (seen.empty() && part.n_columns(f) > 0) {
              EXPECT_EQ(group, part.group);
            }
            seen.push_back(group);
          });
          std::sort(seen.begin(), seen.end());
          std::vector<int> all;
          for (int j = 0; j < layout.columns; ++j)
            if (part.n_rows() * part.beside(j).n_columns(f) > 0) all.push_back(j);
          EXPECT_EQ(seen, all);
          EXPECT_EQ(parts.received(), count_row_parts(shares, layout, f)[comm.rank()]) << layout.name();
          EXPECT_EQ(comm.counter(Comm::Call::point_to_point).received,
                    sizeof(Real) * parts.received().dense_words);
        }
    }
  });
}
TEST(RowParts, give_all_columns_of_a_rank_s_rows_and_receive_what_was_counted) {
  expect_all_columns<double>();
  expect_all_columns<float>();
}

TEST(SpmmLayout, automatic_counts_products_with_weights_where_they_follow) {
  on_any_number_of_ranks([](const Comm& comm) {
    Problem p = sample(48, 32);
    for (double& x : p.a) x = 1;
    const auto shares = even_rows(p.n, comm.size());
    const Rows mine(p, shares, comm.rank());
    const MessageCosts costs{0, 1, "of a test"};
    const auto worst = [&](const SpmmLayout& layout, bool weighs) {
      std::int64_t most = 0;
      const auto product = count_traffic(comm, mine.rows, layout, p.f);
      const auto parts = count_row_parts(shares, layout, p.f);
      for (std::size_t r = 0; r < product.size(); ++r)
        most = std::max(most,
                        product[r].dense_words + product[r].nonzeros + (weighs ? parts[r].dense_words : 0));
      return most;
    };
    const auto layouts = layouts_of(SpmmKind::automatic, comm.size());
    for (const bool weighs : {false, true}) {
      const auto choice = choose_layout(comm, mine.rows, p.f, layouts, costs, weighs);
      for (const auto& layout : layouts)
        EXPECT_LE(worst(choice.layout, weighs), worst(layout, weighs)) << layout.name();
      EXPECT_EQ(choice.reason.find("with weights") != std::string::npos, weighs && comm.size() > 1);
    }
  });
}

TEST(SpmmLayout, ranks_that_do_not_fit_are_told_the_nearest_that_do) {
  const auto message = [](SpmmKind kind, int n_ranks) -> std::string {
    try {
      static_cast<void>(layouts_of(kind, n_ranks));
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  const auto expect = [&](SpmmKind kind, int n_ranks, const std::string& text) {
    EXPECT_NE(message(kind, n_ranks).find(text), std::string::npos) << message(kind, n_ranks);
  };
  for (const auto kind : {SpmmKind::one_and_a_half_d, SpmmKind::two_d}) {
    expect(kind, 1, "nearest: 4;");
    expect(kind, 3, "nearest: 4;");
    expect(kind, 5, "nearest: 4 or 6;");
    for (const int fit : {4, 6, 8, 9}) EXPECT_EQ(message(kind, fit), "") << fit;
  }
  expect(SpmmKind::three_d, 1, "nearest: 8");
  expect(SpmmKind::three_d, 17, "nearest: 8");
  expect(SpmmKind::three_d, 18, "nearest: 27");
  for (const int fit : {8, 27, 64}) EXPECT_EQ(message(SpmmKind::three_d, fit), "") << fit;
  for (const auto kind : {SpmmKind::automatic, SpmmKind::one_d, SpmmKind::sparse_1d})
    for (int n_ranks = 1; n_ranks < 9; ++n_ranks) EXPECT_EQ(message(kind, n_ranks), "");
}

TEST(SpmmLayout, what_cannot_be_is_refused) {
  EXPECT_THROW(static_cast<void>(layout_one_and_a_half_d(6, 4)), InputError);
  EXPECT_THROW(static_cast<void>(layout_one_and_a_half_d(6, 3)), InputError);  // 2 groups for 3 copies
  EXPECT_THROW(static_cast<void>(layout_one_and_a_half_d(6, 1)), InputError);
  EXPECT_THROW(static_cast<void>(layout_2d(6, 4, 2)), InputError);
  EXPECT_THROW(static_cast<void>(layout_2d(6, 6, 1)), InputError);
  EXPECT_THROW(static_cast<void>(layout_3d(6)), InputError);
  EXPECT_THROW(static_cast<void>(layout_3d(1)), InputError);
  EXPECT_EQ(layout_3d(27).rows, 3);
  EXPECT_THROW(static_cast<void>(layouts_of(SpmmKind::two_d, 5)), InputError);
  EXPECT_THROW(static_cast<void>(layouts_of(SpmmKind::one_and_a_half_d, 3)), InputError);

  const Comm comm = Comm::world();
  if (comm.size() < 2) GTEST_SKIP() << "needs 2 ranks";
  const Problem p = sample(comm.size() - 1, 3);
  const auto shares = even_rows(p.n, comm.size());
  Rows mine(p, shares, comm.rank());
  const auto make = [&](const SpmmLayout& layout) { SparseProduct<double>(comm, mine.rows, layout); };
  EXPECT_THROW(make(layout_1d(comm.size(), false)), InputError);  // fewer rows than ranks
  EXPECT_NO_THROW(make(layout_1d(comm.size(), true)));
  EXPECT_THROW(make(layout_1d(comm.size() + 1, true)), InputError);
  EXPECT_THROW(static_cast<void>(choose_layout(comm, mine.rows, 3, SpmmKind::automatic, {-1, 0, ""})),
               InputError);

  SparseProduct<double> product(comm, mine.rows, layout_1d(comm.size(), true));
  AlignedVector<double> x(std::int64_t{product.part().n_rows()} * 3 + 1), z;
  EXPECT_THROW(product(x, z, 3), InputError);
  EXPECT_THROW(product(x, z, 0), InputError);
  if (comm.rank() == comm.size() - 1 && !mine.rows.column.empty())
    mine.rows.column.back() = p.n;  // on one rank, told on all
  EXPECT_THROW(make(layout_1d(comm.size(), true)), InputError);
}

}  // namespace
}  // namespace quintet
