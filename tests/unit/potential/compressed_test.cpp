#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/potential/evaluation/deep_potential.hpp"
#include "surrogates/potential/model/dp_writer.hpp"
#include "tests/support/deep_potential_case.hpp"
#include "tests/support/deep_potential_writer.hpp"
#include "tests/support/scratch.hpp"

/// Tables of descriptors beside se_e2_a: dpa1 with gates, distances alone, triplets.
namespace quintet::potential {
namespace {

std::string data(const std::string& name) {
  return std::string(std::getenv("QUINTET_SOURCE_DIR")) + "/tests/data/deep_potential/" + name;
}

const std::vector<std::string> compressible{"dpa1_strip",     "dpa1_strip_davg",  "dpa1_strip_oneside_rough",
                                            "dpa1_ten_types", "se_e2_r",          "se_e3",
                                            "se_e3_exclude",  "se_e3_three_types"};

/// Coarse, and so short that near neighbours read the coarse rows and what is beyond the ends.
Model coarse(const std::string& name, double stride = 0.05) {
  const double extrapolate = name.rfind("se_e3", 0) == 0 ? 3.5 : 1.5;  // whole numbers of rows
  return compressed(read_dp(data(name + ".dp")), 2.5, {stride, 5 * stride}, extrapolate);
}

struct Errors {
  double value = 0, slope = 0;
};

/// Largest differences between the tables and the networks, between the ends of the fine rows.
Errors errors_of(const Model& model) {
  Errors worst;
  std::vector<double> g, dg, value(model.n_channels()), slope(model.n_channels());
  for (std::size_t i = 0; i < model.tables.size(); ++i) {
    const auto& table = model.tables[i];
    for (int k = 0; k < 2000; ++k) {
      const double s = table.lower + (k + 0.437) / 2000 * (table.upper - table.lower);
      evaluate_scalar(model.embedding[i], s, g, dg);
      table.evaluate(s, value.data(), slope.data());
      for (int m = 0; m < model.n_channels(); ++m) {
        worst.value = std::max(worst.value, std::abs(value[m] - g[m]));
        worst.slope = std::max(worst.slope, std::abs(slope[m] - dg[m]));
      }
    }
  }
  return worst;
}

TEST(Tables, of_half_the_stride_are_64_times_as_near_and_their_slopes_32_times) {
  for (const std::string name : {"dpa1_strip", "se_e2_r", "se_e3"}) {
    const Model model = read_dp(data(name + ".dp"));
    const double h = name == "se_e3" ? 0.05 : name == "se_e2_r" ? 0.25 : 0.5;  // of theta: ten times as wide
    const Errors wide = errors_of(compressed(model, 2.5, {h, h}, 2)),
                 narrow = errors_of(compressed(model, 2.5, {h / 2, h / 2}, 2));
    EXPECT_GT(wide.value, 1e-10) << name;
    EXPECT_NEAR(std::log2(wide.value / narrow.value), 6, 0.4) << name;
    EXPECT_NEAR(std::log2(wide.slope / narrow.slope), 5, 0.4) << name;
  }
}

TEST(Tables, go_on_as_straight_lines_beyond_their_ends) {
  for (const std::string name : {"dpa1_strip", "se_e2_r", "se_e3"}) {
    const Model model = coarse(name);
    const auto& table = model.tables.front();
    const int n = model.n_channels();
    std::vector<double> at(n), slope(n), near(n), near_slope(n), far(n), far_slope(n);
    EXPECT_EQ(table.minimum(), name == "se_e3" ? -table.maximum : table.lower) << name;
    for (const double end : {table.minimum(), table.maximum}) {
      const double out = end == table.maximum ? 1 : -1;
      table.evaluate(end, at.data(), slope.data());
      table.evaluate(end - out * 1e-9, near.data(), near_slope.data());
      table.evaluate(end + out * 3, far.data(), far_slope.data());
      for (int m = 0; m < n; ++m) {
        EXPECT_NEAR(near[m], at[m], 1e-8) << name;
        EXPECT_NEAR(near_slope[m], slope[m], 1e-7) << name;
        EXPECT_NEAR(far[m], at[m] + out * 3 * slope[m], 1e-12 * (1 + std::abs(at[m]))) << name;
        EXPECT_EQ(far_slope[m], slope[m]) << name;
      }
    }
  }
}

TEST(Tables, that_are_fine_give_energies_and_forces_of_the_networks) {
  const std::vector<std::string> few{"dpa1_strip", "se_e2_r", "se_e3"};
  for (const auto& name : Comm::world().size() > 1 ? few : compressible) {
    const Model model = read_dp(data(name + ".dp"));
    DeepPotential table(compressed(model, 0.9), {Precision::model, Compression::file});
    DeepPotential mixed(compressed(model, 0.9), {Precision::mixed, Compression::file});
    EXPECT_NE(table.description().find("quintic tables"), std::string::npos) << table.description();
    for (const auto& item : read_cases(data(name + ".ref.json"), model.type_names)) {
      if (item.name.find("overflow") != std::string::npos) continue;
      if (Comm::world().size() > 2 && item.name.find("below") != std::string::npos) continue;  // too small
      const auto found = evaluate(Comm::world(), table, item.configuration);
      const auto single = evaluate(Comm::world(), mixed, item.configuration);
      EXPECT_NEAR(found.energy, item.energy, 1e-9) << name << " " << item.name;
      EXPECT_NEAR(single.energy, item.energy, 2e-5) << name << " " << item.name;
      for (std::size_t i = 0; i < item.force.size(); ++i) {
        EXPECT_NEAR(found.force[i], item.force[i], 2e-8) << name << " " << item.name;
        EXPECT_NEAR(single.force[i], item.force[i], 2e-4) << name << " " << item.name;
      }
    }
  }
}

TEST(Tables, that_are_coarse_are_used_and_their_forces_are_gradients) {
  for (const auto& name : compressible) {
    const bool has_timesteps = name == "se_e3_three_types";  // networks are taken if not asked for tables
    DeepPotential field(coarse(name),
                        {Precision::model, has_timesteps ? Compression::file : Compression::automatic});
    EXPECT_NE(field.description().find("quintic tables"), std::string::npos) << field.description();
    const auto cases = read_cases(data(name + ".ref.json"), field.type_names());
    for (const auto& item : {cases[0], cases[2]}) {
      const auto whole = evaluate(Comm::world(), field, item.configuration);
      double largest = 1;
      for (const double f : whole.force) largest = std::max(largest, std::abs(f));
      for (std::size_t k = 0; k < whole.force.size(); k += 5) {
        constexpr double h = 3e-5;
        double energy[2];
        for (const int side : {0, 1}) {
          auto moved = item.configuration;
          moved.positions[k / 3][k % 3] += side == 0 ? -h : h;
          energy[side] = evaluate(Comm::world(), field, moved).energy;
        }
        EXPECT_NEAR(whole.force[k], -(energy[1] - energy[0]) / (2 * h), 1e-6 * largest) << name << " " << k;
      }
    }
  }
}

/// A pair of atoms comes so near that s leaves the table: the work of the force is the loss of energy.
TEST(Tables, conserve_energy_beyond_their_ends) {
  for (const std::string name : {"dpa1_strip", "se_e2_r", "se_e3"}) {
    DeepPotential field(coarse(name), {});
    Configuration pair = read_cases(data(name + ".ref.json"), field.type_names()).front().configuration;
    const auto at = [&](double r) {
      pair.positions[1] = pair.positions[0];
      pair.positions[1][0] += 0.6 * r;
      pair.positions[1][1] += 0.8 * r;
      return evaluate(Comm::world(), field, pair);
    };
    constexpr int n = 1200;  // of Simpson's rule
    constexpr double first = 0.55, last = 1.15, h = (last - first) / n;
    double work = 0;
    for (int k = 0; k <= n; ++k) {
      const auto force = at(first + k * h).force;
      const double weight = k == 0 || k == n ? 1 : k % 2 == 1 ? 4 : 2;
      work += weight * h / 3 * (0.6 * force[3] + 0.8 * force[4]);
    }
    const double loss = at(first).energy - at(last).energy;
    EXPECT_GT(std::abs(loss), 1e-3) << name;
    EXPECT_NEAR(work, loss, 1e-6 * std::max(1.0, std::abs(loss))) << name;
  }
}

TEST(Tables, have_an_empty_slot_as_a_neighbour_at_the_cutoff) {
  DeepPotential field(compressed(read_dp(data("dpa1_strip_davg.dp")), 2.5, {0.5, 0.5}, 2),
                      {Precision::model, Compression::file});
  Configuration pair = read_cases(data("dpa1_strip.ref.json"), {"O", "H"}).front().configuration;
  pair.types.resize(2);
  pair.positions.resize(2);
  const auto at = [&](double r) {
    pair.positions[1] = pair.positions[0];
    pair.positions[1][0] += r;
    return evaluate(Comm::world(), field, pair).energy;
  };
  EXPECT_NEAR(at(4.5 - 1e-9), at(4.5 + 1e-9), 1e-13);
  EXPECT_GT(std::abs(at(4.5 - 1e-1) - at(4.5 + 1e-9)), 1e-12);
}

void expect_equal(const std::vector<QuinticTable>& a, const std::vector<QuinticTable>& b,
                  const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(a[i].lower == b[i].lower && a[i].upper == b[i].upper && a[i].maximum == b[i].maximum &&
                a[i].stride == b[i].stride && a[i].two_sided == b[i].two_sided)
        << what;
    EXPECT_EQ(a[i].coefficients, b[i].coefficients) << what;
  }
}

TEST(Tables, read_back_are_those_written) {
  const Scratch scratch("tables");
  for (const auto& name : compressible) {
    const Model model = coarse(name);
    write_dp(scratch / "table.dp", model);
    write_dp(scratch / "table.yaml", model);
    for (const char* file : {"table.dp", "table.yaml"}) {
      const Model again = read_dp(scratch / file);
      EXPECT_EQ(again.version, 3) << name;
      EXPECT_EQ(again.gates, model.gates) << name;
      expect_equal(again.tables, model.tables, name + " " + file);
    }
  }
}

TEST(Tables, of_single_precision_files_are_no_coarser_than_their_numbers) {
  const Scratch scratch("single");
  const Model model = read_dp(data("dpa1_strip_float32.dp"));
  const auto description = [&](const Model& written) {
    write_dp(scratch / "table.dp", written);
    return DeepPotential(read_dp(scratch / "table.dp"), {}).description();
  };
  EXPECT_NE(description(compressed(model, 0.9)).find("piecewise polynomials"), std::string::npos);
  EXPECT_NE(description(coarse("dpa1_strip_float32")).find("quintic tables"), std::string::npos);
}

TEST(Tables, of_deepmd_kit_are_ours) {
  for (const std::string name : {"dpa1_strip", "dpa1_strip_oneside_rough", "se_e2_r"}) {
    const Model ours = coarse(name), theirs = read_dp(data(name + "_compressed.dp"));
    ASSERT_EQ(ours.tables.size(), theirs.tables.size()) << name;
    for (std::size_t i = 0; i < ours.tables.size(); ++i) {
      const auto &a = ours.tables[i], &b = theirs.tables[i];
      EXPECT_TRUE(a.lower == b.lower && a.upper == b.upper && a.maximum == b.maximum && a.stride == b.stride)
          << name;
      ASSERT_EQ(a.coefficients.size(), b.coefficients.size()) << name;
      for (std::size_t k = 0; k < a.coefficients.size(); ++k) {
        const double weight = std::pow(a.stride[1], static_cast<double>(k % 6));
        ASSERT_NEAR(a.coefficients[k] * weight, b.coefficients[k] * weight, 1e-9) << name << " " << k;
      }
    }
  }
}

/// "" where a model of a changed file is read, else the text of its InputError.
template <class Change>
std::string complaint_of(const std::string& name, Change&& change) {
  const Scratch scratch("changed");
  dp::Document document = dp::read(data(name));
  change(document);
  dp::write(document, scratch / "changed.dp");
  try {
    (void)read_dp(scratch / "changed.dp");
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(Tables, of_gates_must_be_those_of_the_files_own_networks) {
  const auto with_gate = [](double error) {
    return complaint_of("dpa1_strip_compressed.dp", [error](dp::Document& document) {
      const Tree& variables =
          document.description.at("model").at("descriptor").at("compress").at("@variables");
      document.datasets[variables.at("type_embd_data").as_text()].values[3] += error;
    });
  };
  EXPECT_EQ(with_gate(0.9e-10), "");
  EXPECT_NE(with_gate(2e-10).find("compress the model again"), std::string::npos) << with_gate(2e-10);
}

TEST(Tables, of_impossible_ranges_or_endless_rows_are_refused) {
  const auto with_range = [](int place, double value) {
    return complaint_of("dpa1_strip_compressed.dp", [&](dp::Document& document) {
      const Tree& variables =
          document.description.at("model").at("descriptor").at("compress").at("@variables");
      document.datasets[variables.at("compress_info").items().front().as_text()].values[place] = value;
    });
  };
  EXPECT_EQ(with_range(5, 7), "");  // how often DeePMD-kit warns
  EXPECT_NE(with_range(1, -100).find("impossible ranges"), std::string::npos);
  EXPECT_NE(with_range(3, 1e-12).find("more than"), std::string::npos);
  EXPECT_NE(with_range(3, 0.04).find("expected"), std::string::npos) << with_range(3, 0.04);
}

std::string refusal(const std::string& name) {
  try {
    (void)coarse(name);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(Tables, of_strides_that_do_not_divide_their_ranges_are_refused) {
  const auto complaint = [](std::array<double, 2> stride, double extrapolate) -> std::string {
    try {
      (void)compressed(read_dp(data("dpa1_strip.dp")), 2.5, stride, extrapolate);  // from 0 to 3
      return "";
    } catch (const InputError& error) {
      return error.what();
    }
  };
  EXPECT_EQ(complaint({0.05, 0.5}, 1.5), "");
  EXPECT_NE(complaint({0.07, 0.7}, 1.5).find("0.07 does not divide"), std::string::npos)
      << complaint({0.07, 0.7}, 1.5);
  EXPECT_NE(complaint({0.05, 0.4}, 1.5).find("0.4 does not divide"), std::string::npos);
  EXPECT_EQ(complaint({0.05, 0.05}, 1), "") << "no coarse rows";
}

TEST(Tables, are_refused_where_networks_read_more_than_one_number) {
  for (const auto& name : compressible) EXPECT_EQ(refusal(name), "") << name;
  EXPECT_NE(refusal("dpa1_concat").find("train with tebd_input_mode: strip"), std::string::npos);
  EXPECT_NE(refusal("hybrid_mixed").find("tables of one descriptor"), std::string::npos);
  EXPECT_NE(refusal("frame_parameters").find("reads 2"), std::string::npos);
  for (const auto* name : {"dpa1_concat", "hybrid_mixed", "frame_parameters"})
    EXPECT_NE(refusal(name).find("potential.compress: auto"), std::string::npos) << name;
}

}  // namespace
}  // namespace quintet::potential
