#include "surrogates/experts/router.hpp"

#include <gtest/gtest.h>

#include "io/config/schema.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/experts/chosen_model.hpp"
#include "tests/unit/experts/samples.hpp"

namespace quintet::experts {
namespace {

/// Flows by Rayleigh and Prandtl number, and a model of water.
const Registry& flows() {
  static const Registry registry = [] {
    static const Scratch scratch("router");
    const auto path = scratch / "flows.h5", model = write_model(scratch, 1);
    const auto flow = [&](const std::string& id, double ra0, double ra1, double pr0, double pr1) {
      Expert expert;
      expert.id = id, expert.app = "meshfreeflow", expert.memory = 1;
      expert.range = {{"Ra", ra0, ra1, "1"}, {"Pr", pr0, pr1, "1"}};
      expert.words = {{"field", "b"}};
      add_expert(path, expert, model, false, maker());
    };
    flow("low", 1e4, 1e6, 0.7, 1);
    flow("high", 1e6, 1e8, 0.7, 1);
    flow("wide", 1e5, 1e7, 0.7, 10);
    add_expert(path, water("water"), model, false, maker());
    return Registry::read(Comm::self(), path);
  }();
  return registry;
}

std::string asked(const RouterOptions& options, double ra, double pr) {
  const auto choice = Router(flows(), "meshfreeflow", options).choose({"run", {{"Ra", ra}, {"Pr", pr}}, {}});
  return flows().experts()[choice.expert].id + (choice.outside ? " outside" : "");
}

std::string complaint(const RouterOptions& options, double ra, double pr) {
  try {
    return "none: " + asked(options, ra, pr);
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(Router, a_rule_takes_the_one_whose_range_holds_it_and_refuses_to_guess) {
  RouterOptions options;
  options.by = {"Ra", "Pr"};
  EXPECT_EQ(asked(options, 2e4, 0.8), "low");
  EXPECT_EQ(asked(options, 5e7, 1), "high");
  EXPECT_EQ(asked(options, 1e6, 5), "wide");
  EXPECT_NE(complaint(options, 2e5, 0.8).find("low and wide would answer"), std::string::npos)
      << complaint(options, 2e5, 0.8);
  options.order = {"wide"};
  EXPECT_EQ(asked(options, 2e5, 0.8), "wide");
  options.order = {"low", "wide"};
  EXPECT_EQ(asked(options, 2e5, 0.8), "low");
}

TEST(Router, the_nearest_middle_in_logarithms) {
  RouterOptions options;
  options.kind = RouterKind::nearest;
  options.by = {"Ra"};
  EXPECT_EQ(asked(options, 1.2e5, 0), "low");  // 1e5 is the middle of low, 1e6 that of wide
  EXPECT_EQ(asked(options, 8e5, 0), "wide");
  EXPECT_EQ(asked(options, 9e6, 0), "high");
}

TEST(Router, outside_is_refused_unless_told_otherwise) {
  RouterOptions options;
  options.by = {"Ra", "Pr"};
  const auto text = complaint(options, 1e9, 1);
  EXPECT_NE(text.find("run: no expert of"), std::string::npos) << text;
  EXPECT_NE(text.find("high (Ra = 1e+09 (1e+06 to 1e+08)"), std::string::npos) << text;
  options.outside = Outside::nearest;
  EXPECT_EQ(asked(options, 1e9, 1), "high outside");
  EXPECT_EQ(asked(options, 1e3, 1), "low outside");
  options.outside = Outside::fallback;
  options.fallback = "wide";
  EXPECT_EQ(asked(options, 1e9, 1), "wide outside");
  EXPECT_EQ(asked(options, 5e7, 1), "high");
}

TEST(Router, longitudes_go_round) {
  static const Scratch scratch("turns");
  const auto path = scratch / "seas.h5", model = write_model(scratch, 1);
  const auto sea = [&](const std::string& id, double west, double east) {
    Expert expert;
    expert.id = id, expert.app = "podlstm", expert.memory = 1;
    expert.range = {{"longitude", west, east, "degree"}};
    add_expert(path, expert, model, false, maker());
  };
  sea("atlantic", -60, 10);
  sea("pacific", 150, 260);
  const Registry seas = Registry::read(Comm::self(), path);
  RouterOptions options;
  options.by = {"longitude"};
  options.outside = Outside::nearest;
  const auto asked = [&](double longitude) {
    const auto choice = Router(seas, "podlstm", options).choose({"sea", {{"longitude", longitude}}, {}});
    return seas.experts()[choice.expert].id + (choice.outside ? " outside" : "");
  };
  for (const double turn : {-360.0, 0.0, 360.0}) {
    EXPECT_EQ(asked(350 + turn), "atlantic");
    EXPECT_EQ(asked(5 + turn), "atlantic");
    EXPECT_EQ(asked(200 + turn), "pacific");
    EXPECT_EQ(asked(20 + turn), "atlantic outside");
    EXPECT_EQ(asked(130 + turn), "pacific outside");
  }
}

TEST(Router, never_gives_a_request_to_one_that_does_not_know_its_words) {
  RouterOptions options;
  options.by = {"Ra"};
  options.outside = Outside::fallback;
  options.fallback = "low";
  const Router router(flows(), "meshfreeflow", options);
  EXPECT_THROW(static_cast<void>(router.choose({"run", {{"Ra", 1e5}}, {{"field", {"b", "q"}}}})), InputError);
  EXPECT_THROW(static_cast<void>(router.choose({"run", {}, {}})), InputError);
}

TEST(Router, refuses_what_is_not_there) {
  const auto refused = [](const std::string& app, const RouterOptions& options) {
    EXPECT_THROW(Router(flows(), app, options), InputError);
  };
  RouterOptions options;
  refused("podlstm", options);
  options.by = {"Rayleigh"};
  refused("meshfreeflow", options);
  options.by = {"Ra"};
  options.order = {"lowe"};
  refused("meshfreeflow", options);
  options.order = {"water"};
  refused("meshfreeflow", options);
  options.order = {};
  options.fallback = "water";
  refused("meshfreeflow", options);
}

TEST(Router, a_model_by_name_needs_no_router) {
  const auto chosen = chosen_model(Comm::self(), "model.h5", std::nullopt, "meshfreeflow", {"run", {}, {}});
  EXPECT_EQ(chosen.name, "model.h5");
  EXPECT_EQ(chosen.expert, "");
  ExpertsOptions experts;
  experts.registry = flows().path();
  experts.router.by = {"Ra", "Pr"};
  const auto routed =
      chosen_model(Comm::self(), "", experts, "meshfreeflow", {"run", {{"Ra", 5e7}, {"Pr", 1}}, {}});
  EXPECT_EQ(routed.name, flows().path() + ":high");
  EXPECT_EQ(routed.reason, "inside its range: Ra = 5e+07 (1e+06 to 1e+08), Pr = 1 (0.7 to 1)");
}

}  // namespace
}  // namespace quintet::experts
