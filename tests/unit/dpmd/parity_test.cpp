#include "apps/dpmd/test/parity.hpp"

#include <cmath>
#include <cstdlib>

#include <gtest/gtest.h>

#include "apps/application/report/report.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/potential/evaluation/deep_potential.hpp"
#include "surrogates/potential/training/data.hpp"

namespace quintet::dpmd {
namespace {

using potential::LabelledSystem;

std::string copper(const std::string& path) {
  return std::string(std::getenv("QUINTET_SOURCE_DIR")) + "/inputs/dpmd/copper/" + path;
}

std::vector<LabelledSystem> held_out() {
  potential::DataOptions options;
  options.type_map = {"Cu"};
  return potential::read_systems({copper("data/valid_vacancy31"), copper("data/valid_liquid32")}, options);
}

TEST(Parity, errors_by_hand) {
  const Errors e = errors({{1, 2, 3, 4}, {1, 3, 3, 1}});

  EXPECT_EQ(e.n, 4);
  EXPECT_DOUBLE_EQ(e.rmse(), std::sqrt(10.0 / 4));
  EXPECT_DOUBLE_EQ(e.mae(), 1);
  EXPECT_DOUBLE_EQ(e.largest, 3);
  EXPECT_EQ(errors({}).rmse(), 0);
}

TEST(Parity, a_model_that_says_the_mean_has_learnt_nothing) {
  Parity parity;
  for (int i = 0; i < 100; ++i) {
    const double label = std::sin(i);
    parity.force.label.push_back(label);
    parity.force.model.push_back(0.06 * label);  // explains 1 - 0.94^2 = 0.1164
  }
  EXPECT_NEAR(*explained_variance(parity.force), 0.1164, 1e-3);
  EXPECT_EQ(learnt_nothing(parity), "");
  for (double& model : parity.force.model) model *= 0.8;  // 1 - 0.952^2 = 0.0937
  EXPECT_NE(learnt_nothing(parity).find("learnt nothing of the forces: 9 %"), std::string::npos);
  for (double& model : parity.force.model) model *= -1;
  EXPECT_NE(learnt_nothing(parity).find("nothing of their variance"), std::string::npos);
  EXPECT_EQ(explained_variance({{2, 2, 2}, {1, 2, 3}}), std::nullopt);
  EXPECT_EQ(learnt_nothing({}), "");
}

TEST(Parity, chosen_frames_are_spread_over_all) {
  std::vector<LabelledSystem> systems(2);
  systems[0].frames.resize(30);
  systems[1].frames.resize(10);

  const auto all = frames_of(systems), some = frames_of(systems, 4);

  ASSERT_EQ(all.size(), 40);
  EXPECT_EQ(all[35].system, 1);
  EXPECT_EQ(all[35].frame, 5);
  ASSERT_EQ(some.size(), 4);
  EXPECT_EQ(some[1].frame, 10);
  EXPECT_EQ(some[3].system, 1);
  EXPECT_EQ(some[3].frame, 0);
}

TEST(Parity, copper_model_is_as_near_to_its_labels_as_its_page_says) {
  const Comm comm = Comm::world();
  const auto systems = held_out();
  potential::DeepPotential field(potential::read_dp(copper("copper.dp")), {});

  const auto result = parity(systems, predict(comm, field, systems, frames_of(systems)));

  if (!comm.is_root()) return;
  EXPECT_EQ(result.force.label.size(), 3 * (systems[0].frames.size() * 31 + systems[1].frames.size() * 32));
  EXPECT_NEAR(errors(result.energy).rmse(), 1.3e-3, 1e-3);
  EXPECT_NEAR(errors(result.force).rmse(), 0.03, 0.02);
  EXPECT_NEAR(errors(result.virial).rmse(), 0.0105, 0.01);
}

TEST(Parity, predictions_come_in_the_order_asked_for) {
  const Comm comm = Comm::world();
  const auto systems = held_out();
  potential::DeepPotential field(potential::read_dp(copper("copper.dp")), {});
  const std::vector<FrameIndex> asked{{1, 2}, {0, 1}, {1, 0}, {0, 0}, {1, 1}};
  ASSERT_TRUE(systems[0].frames.size() > 1 && systems[1].frames.size() > 2);

  const auto together = predict(comm, field, systems, asked);

  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto alone = predict(Comm::self(), field, systems, std::span(asked).subspan(i, 1));
    if (!comm.is_root()) continue;
    EXPECT_EQ(together[i].index.system, asked[i].system);
    EXPECT_EQ(together[i].index.frame, asked[i].frame);
    EXPECT_EQ(together[i].energy, alone.front().energy);
    EXPECT_EQ(together[i].forces, alone.front().forces);
    EXPECT_EQ(together[i].virial, alone.front().virial);
  }
}

TEST(Parity, report_has_a_table_and_a_picture_of_each_label_there_is) {
  Report report;

  report_parity(report, "Held out", {{{1, 2}, {1, 2.5}}, {{0, 1}, {0.5, 1}}, {}});

  const std::string page = report.html();
  EXPECT_NE(page.find("Energy per atom"), std::string::npos);
  EXPECT_NE(page.find("Force component"), std::string::npos);
  EXPECT_EQ(page.find("Virial"), std::string::npos);
}

}  // namespace
}  // namespace quintet::dpmd
