#include "io/parallel/together.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <new>
#include <stdexcept>
#include <vector>

#include <Kokkos_Core.hpp>

#include "io/parallel/comm.hpp"

/// An error on one rank is an error on all: its kind, its message, its rank.
namespace quintet {
namespace {

int last_rank() { return Comm::world().size() - 1; }

/// An action that fails on the last rank alone.
template <class Exception>
std::function<void()> fails_on_last_rank(Exception exception) {
  return [exception] {
    if (Comm::world().rank() == last_rank()) throw exception;
  };
}

/// What all ranks throw is a Kind with this message, from the last rank.
template <class Kind>
void expect_on_all_ranks(const std::function<void()>& action, const std::string& message) {
  try {
    together(Comm::world(), action);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Kind& error) {
    EXPECT_EQ(error.what(), message);
    EXPECT_EQ(rank_of(error), last_rank());
  }
}

TEST(Together, every_kind_of_error_stays_what_it_is) {
  expect_on_all_ranks<UsageError>(fails_on_last_rank(UsageError("usage")), "usage");
  expect_on_all_ranks<InputError>(fails_on_last_rank(InputError("input")), "input");
  expect_on_all_ranks<NumericalError>(fails_on_last_rank(NumericalError("step 3")), "step 3");
  expect_on_all_ranks<ResourceError>(fails_on_last_rank(ResourceError("disk")), "disk");
  expect_on_all_ranks<InternalError>(fails_on_last_rank(InternalError("bug")), "bug");
  expect_on_all_ranks<Interrupted>(fails_on_last_rank(Interrupted("SIGTERM")), "SIGTERM");
}

TEST(Together, every_exit_code_of_an_error_survives) {
  for (const auto code : {ExitCode::usage, ExitCode::input, ExitCode::numerical, ExitCode::resource,
                          ExitCode::internal, ExitCode::stopped_early})
    try {
      together(Comm::world(), fails_on_last_rank(Error(code, "text")));
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code);
    }
}

TEST(Together, what_is_no_error_of_ours_becomes_one) {
  expect_on_all_ranks<ResourceError>(fails_on_last_rank(std::bad_alloc()), "out of memory");
  expect_on_all_ranks<ResourceError>(fails_on_last_rank(std::length_error("vector")), "out of memory");
  expect_on_all_ranks<ResourceError>(
      [] {
        if (Comm::world().rank() == last_rank())
          const Kokkos::View<double*, Kokkos::HostSpace> all("more than there is", std::size_t{1} << 50);
      },
      "out of memory");
  expect_on_all_ranks<InternalError>(fails_on_last_rank(std::logic_error("not thought of")),
                                     "not thought of");
  expect_on_all_ranks<InternalError>(fails_on_last_rank(7), "an error of unknown kind");
  const std::filesystem::filesystem_error full("no room",
                                               std::make_error_code(std::errc::no_space_on_device));
  expect_on_all_ranks<ResourceError>(fails_on_last_rank(full), full.what());
}

TEST(Together, of_several_errors_the_lowest_ranks_one_counts) {
  const int rank = Comm::world().rank(), first = last_rank() / 2;  // ranks first, first + 1, ... fail
  try {
    together(Comm::world(), [&] {
      if (rank == first) throw NumericalError("the lowest");
      if (rank > first) throw InputError("another");
    });
    ADD_FAILURE() << "nothing was thrown";
  } catch (const NumericalError& error) {
    EXPECT_STREQ(error.what(), "the lowest");
    EXPECT_EQ(rank_of(error), first);
  }
}

TEST(Together, an_error_within_another_keeps_the_rank_that_failed) {
  const auto inner = fails_on_last_rank(ResourceError("disk"));

  expect_on_all_ranks<ResourceError>([&] { together(Comm::world(), inner); }, "disk");
}

TEST(Together, without_an_error_all_go_on_and_every_action_ran) {
  int n = 0;
  together(Comm::world(), [&] { ++n; });
  EXPECT_EQ(n, 1);
  n = 0;
  on_root(Comm::world(), [&] { ++n; });
  EXPECT_EQ(Comm::world().sum(n), 1);
  throw_together(Comm::world(), "");
}

TEST(Together, an_error_on_root_is_thrown_on_all) {
  EXPECT_THROW(on_root(Comm::world(), [] { throw NumericalError("no root"); }), NumericalError);
}

TEST(Together, a_message_of_any_rank_is_thrown_as_the_kind_asked_for) {
  const std::string message = Comm::world().rank() == last_rank() ? "atom 7 is lost" : "";

  EXPECT_THROW(throw_together(Comm::world(), message), InputError);
  EXPECT_THROW(throw_together<NumericalError>(Comm::world(), message), NumericalError);
}

TEST(Together, an_error_that_no_ranks_agreed_on_has_no_rank) {
  EXPECT_EQ(rank_of(InputError("text")), std::nullopt);
}

TEST(Together, alone_nothing_travels) {
  const Comm self = Comm::self();

  together(self, [] {});
  EXPECT_THROW(together(self, [] { throw InputError("text"); }), InputError);

  EXPECT_EQ(self.counter(Comm::Call::reduce).messages, 0);
  EXPECT_EQ(self.counter(Comm::Call::broadcast).messages, 0);
}

}  // namespace
}  // namespace quintet
