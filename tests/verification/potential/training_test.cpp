#include <filesystem>
#include <limits>
#include <random>
#include <tuple>

#include <gtest/gtest.h>

#include "io/hdf5/file.hpp"
#include "io/log/error.hpp"
#include "surrogates/potential/training/trainer.hpp"
#include "tests/verification/potential/models.hpp"

namespace quintet::potential {
namespace {

bool is_float(const ModelCase& item) { return item.name.ends_with("float32"); }

/// The case's configuration with labels: the model's own values, or those moved by random amounts.
Configuration labelled(const ModelCase& item, double energy_off, double force_off, unsigned seed = 5) {
  const auto values = evaluate(Comm::self(), field_of(item), item.reference.configuration);
  auto configuration = item.reference.configuration;
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  configuration.energy = values.energy + energy_off;
  configuration.virial = values.virial;
  for (double& v : *configuration.virial) v += force_off * uniform(random);
  configuration.forces.clear();
  for (std::size_t i = 0; i < configuration.n_atoms(); ++i)
    configuration.forces.push_back({values.force[3 * i] + force_off * uniform(random),
                                    values.force[3 * i + 1] + force_off * uniform(random),
                                    values.force[3 * i + 2] + force_off * uniform(random)});
  return configuration;
}

/// The models that are trained: se_e2_a, of distances alone se_e2_r, which empty slots reach, too, dpa1,
/// whose networks read types, se_e3 of angles, and se_e2_a and dpa1 with parameters of atoms.
std::vector<ModelCase> trained_cases() {
  auto cases = model_cases();
  for (const char* name :
       {"se_e2_r", "se_e2_r_float32", "dpa1_strip", "dpa1_strip_davg", "dpa1_strip_exclude",
        "dpa1_strip_oneside_rough", "dpa1_strip_float32", "dpa1_concat", "dpa1_concat_oneside",
        "dpa1_concat_exclude", "dpa1_ten_types", "se_e3", "se_e3_float32", "se_e3_three_types",
        "se_e3_exclude", "atom_parameters", "dpa1_strip_aparam", "dpa1_concat_aparam"}) {
    const std::string path = source("tests/data/deep_potential/" + std::string(name));
    cases.push_back(
        {name, path + ".dp", case_named(path + ".ref.json", read_dp(path + ".dp").type_names, "triclinic")});
  }
  return cases;
}

/// Whether every parameter or rank is looked at: one model of each kind.
bool is_of_each_kind(const std::string& name) {
  return name == "se_e2_r" || name == "dpa1_strip" || name == "dpa1_strip_oneside_rough" ||
         name == "dpa1_concat" || name == "se_e3" || name == "se_e3_three_types" ||
         name == "atom_parameters" || name == "dpa1_strip_aparam";
}

constexpr LossPrefactors prefactors{0.7, 1.3, 0.4};

double loss(Trainer& trainer, const TrainingFrame& frame) {
  const TrainingFrame* one[] = {&frame};
  return trainer.evaluate(one, prefactors).loss;
}

TEST(Trainer, predicts_what_the_force_field_predicts) {
  for (const auto& item : trained_cases()) {
    const Model model = read_dp(item.model);
    const auto trainer = Trainer::create(model, SelRule::per_type);
    const TrainingFrame frame = make_frame(labelled(item, 0, 0), model.rcut);
    const TrainingFrame* one[] = {&frame};
    const auto deviations = trainer->evaluate(one, prefactors);
    // Polynomials follow kinks (relu6) less closely than smooth functions; tables are not the networks
    // themselves.
    const double tolerance = is_float(item) ? 2e-4 : item.name == "relu6_linear" ? 2e-5 : 2e-9;
    EXPECT_LT(deviations.rmse_energy(), tolerance) << item.name;
    EXPECT_LT(deviations.rmse_force(), tolerance) << item.name;
    EXPECT_LT(deviations.rmse_virial(), tolerance) << item.name;
    EXPECT_EQ(deviations.with_virial, 1);
  }
}

TEST(Trainer, loss_is_what_its_definition_says) {
  const auto item = model_cases().front();
  const Model model = read_dp(item.model);
  const auto trainer = Trainer::create(model, SelRule::per_type);
  const auto configuration = labelled(item, 0.3, 0);
  const TrainingFrame frame = make_frame(configuration, model.rcut);
  const double n = configuration.n_atoms();
  EXPECT_NEAR(loss(*trainer, frame), prefactors.energy * 0.3 * 0.3 / n, 1e-9);
  const TrainingFrame* one[] = {&frame};
  LossPrefactors intensive = prefactors;
  intensive.intensive = true;
  EXPECT_NEAR(trainer->evaluate(one, intensive).loss, prefactors.energy * 0.3 * 0.3 / n / n, 1e-9);
}

TEST(Trainer, huber_loss_is_half_the_square_inside_its_width_and_linear_beyond) {
  const auto item = model_cases().front();
  const Model model = read_dp(item.model);
  const auto trainer = Trainer::create(model, SelRule::per_type);
  const auto configuration = labelled(item, 0.3, 0.1);
  const TrainingFrame frame = make_frame(configuration, model.rcut);
  const TrainingFrame* one[] = {&frame};
  const double n = configuration.n_atoms(), d = 0.3 / n;
  const LossPrefactors energy{.energy = 0.7};
  LossPrefactors wide = energy, narrow = energy;
  wide.energy_huber = 1.001 * d;
  narrow.energy_huber = 0.5 * d;
  EXPECT_NEAR(trainer->evaluate(one, wide).loss, 0.7 * d * d / 2, 1e-11);
  EXPECT_NEAR(trainer->evaluate(one, narrow).loss, 0.7 * 0.5 * d * (d - 0.25 * d), 1e-11);
  LossPrefactors squares{.force = 1.3, .virial = 0.4, .intensive = true}, huber = squares;
  huber.force_huber = huber.virial_huber = 100;
  EXPECT_NEAR(trainer->evaluate(one, huber).loss, trainer->evaluate(one, squares).loss / 2, 1e-12);
}

/// The widths leave some deviations inside and others outside of all terms.
TEST(Trainer, gradient_of_the_huber_loss_is_its_derivative) {
  for (const auto& item : trained_cases()) {
    if (item.name != "oneside" && item.name != "twoside" && item.name != "copper" &&
        !is_of_each_kind(item.name))
      continue;
    const Model model = read_dp(item.model);
    const auto trainer = Trainer::create(model, SelRule::per_type);
    const TrainingFrame frame = make_frame(labelled(item, 0.8, 0.3), model.rcut);
    const TrainingFrame* one[] = {&frame};
    LossPrefactors huber = prefactors;
    huber.energy_huber = 0.4 / frame.n_atoms;
    huber.force_huber = 0.15;
    huber.virial_huber = 0.15 / frame.n_atoms;
    trainer->gradient(one, huber, 1);
    const auto gradient = trainer->gradient_values(), start = trainer->parameters();
    std::mt19937_64 random(12);
    std::normal_distribution<double> normal;
    for (int direction = 0; direction < 4; ++direction) {
      std::vector<double> along(start.size());
      double slope = 0, side[2];
      for (std::size_t i = 0; i < along.size(); ++i) slope += (along[i] = normal(random)) * gradient[i];
      for (const int s : {0, 1}) {
        auto moved = start;
        for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += (s == 0 ? -1e-6 : 1e-6) * along[i];
        trainer->set_parameters(moved);
        side[s] = trainer->evaluate(one, huber).loss;
      }
      const double difference = (side[1] - side[0]) / 2e-6;
      EXPECT_NEAR(slope, difference, 2e-6 * std::abs(difference) + 2e-7) << item.name;
    }
  }
}

/// Every parameter of a block in turn would take minutes for all models: random directions see all of them.
TEST(Trainer, gradient_is_the_derivative_of_the_loss_along_random_directions) {
  for (const auto& item : trained_cases()) {
    if (is_float(item)) continue;
    const Model model = read_dp(item.model);
    const auto trainer = Trainer::create(model, SelRule::per_type);
    const TrainingFrame frame = make_frame(labelled(item, 0.8, 0.3), model.rcut);
    const TrainingFrame* one[] = {&frame};
    trainer->gradient(one, prefactors, 1);
    const auto gradient = trainer->gradient_values();
    const auto start = trainer->parameters();
    std::mt19937_64 random(11);
    std::normal_distribution<double> normal;
    for (int direction = 0; direction < 6; ++direction) {
      std::vector<double> along(start.size());
      double slope = 0;
      for (std::size_t i = 0; i < along.size(); ++i) {
        along[i] = normal(random);
        slope += along[i] * gradient[i];
      }
      const double h = 1e-6;
      double side[2];
      for (const int s : {0, 1}) {
        auto moved = start;
        for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += (s == 0 ? -h : h) * along[i];
        trainer->set_parameters(moved);
        side[s] = loss(*trainer, frame);
      }
      const double difference = (side[1] - side[0]) / (2 * h);
      EXPECT_NEAR(slope, difference, 2e-6 * std::abs(difference) + 2e-7) << item.name;
    }
  }
}

TEST(Trainer, gradient_is_the_derivative_of_the_loss_for_every_parameter) {
  for (const auto& item : trained_cases()) {
    if (item.name != "oneside" && item.name != "idt_protection_outstd" && !is_of_each_kind(item.name))
      continue;
    const Model model = read_dp(item.model);
    const auto trainer = Trainer::create(model, SelRule::per_type);
    const TrainingFrame frame = make_frame(labelled(item, 0.8, 0.3), model.rcut);
    const TrainingFrame* one[] = {&frame};
    trainer->gradient(one, prefactors, 1);
    const auto gradient = trainer->gradient_values();
    const double scale = largest(gradient);
    auto values = trainer->parameters();
    const std::size_t step = Comm::world().size();  // the ranks share the parameters out
    for (std::size_t i = Comm::world().rank(); i < values.size(); i += step) {
      const double h = 2e-5, kept = values[i];
      double side[2];
      for (const int s : {0, 1}) {
        values[i] = kept + (s == 0 ? -h : h);
        trainer->set_parameters(values);
        side[s] = loss(*trainer, frame);
      }
      values[i] = kept;
      ASSERT_NEAR(gradient[i], (side[1] - side[0]) / (2 * h), 1e-6 * scale)
          << item.name << ", parameter " << i;
    }
  }
}

TEST(Trainer, single_precision_has_the_same_gradient) {
  for (auto& item : trained_cases()) {
    if (!is_float(item)) continue;
    Model model = read_dp(item.model);
    const TrainingFrame frame = make_frame(labelled(item, 0.8, 0.3), model.rcut);
    const TrainingFrame* one[] = {&frame};
    const auto single = Trainer::create(model, SelRule::per_type);
    model.single_precision = false;
    const auto twice = Trainer::create(model, SelRule::per_type);
    single->gradient(one, prefactors, 1);
    twice->gradient(one, prefactors, 1);
    const auto expected = twice->gradient_values();
    EXPECT_LT(largest_difference(single->gradient_values(), expected), 1e-4 * largest(expected));
  }
}

TEST(Trainer, frames_shared_out_over_ranks_give_the_gradient_of_all) {
  const auto item = model_cases()[1];
  const Model model = read_dp(item.model);
  std::vector<TrainingFrame> frames;
  for (unsigned seed = 1; seed <= 4; ++seed)
    frames.push_back(make_frame(labelled(item, 0.1 * seed, 0.2, seed), model.rcut));
  std::vector<const TrainingFrame*> all, own;
  const Comm comm = Comm::world();
  for (std::size_t i = 0; i < frames.size(); ++i) {
    all.push_back(&frames[i]);
    if (static_cast<int>(i) % comm.size() == comm.rank()) own.push_back(&frames[i]);
  }
  const auto alone = Trainer::create(model, SelRule::per_type),
             shared = Trainer::create(model, SelRule::per_type, {}, comm);
  const auto whole = alone->gradient(all, prefactors, 4);
  const auto part = sum(comm, shared->gradient(own, prefactors, 4));
  EXPECT_NEAR(part.loss, whole.loss, 1e-11 * whole.loss);
  EXPECT_EQ(part.frames, whole.frames);
  const auto expected = alone->gradient_values();
  EXPECT_LT(largest_difference(shared->gradient_values(), expected), 1e-11 * largest(expected));
  alone->update(1e-3);
  shared->update(1e-3);
  EXPECT_LT(largest_difference(shared->parameters(), alone->parameters()), 1e-6);
}

TEST(Trainer, atoms_shared_out_over_ranks_give_the_gradient_of_all) {
  for (const auto& item : trained_cases()) {
    if (item.name != "twoside" && item.name != "atom_exclude" && item.name != "copper" &&
        !is_of_each_kind(item.name))
      continue;
    const Model model = read_dp(item.model);
    const TrainingFrame frame = make_frame(labelled(item, 0.5, 0.2), model.rcut);
    const TrainingFrame* one[] = {&frame};
    const Comm comm = Comm::world();
    const auto alone = Trainer::create(model, SelRule::per_type),
               shared = Trainer::create(model, SelRule::per_type, {}, comm);
    const auto whole = alone->gradient(one, prefactors, 1);
    const auto part = sum(comm, shared->gradient(one, prefactors, 1, Sharing::atoms));
    EXPECT_EQ(part.frames, 1);
    EXPECT_NEAR(part.loss, whole.loss, 1e-11 * whole.loss) << item.name;
    const auto expected = alone->gradient_values();
    EXPECT_LT(largest_difference(shared->gradient_values(), expected), 1e-11 * largest(expected))
        << item.name;
  }
}

TEST(Trainer, learns_the_labels_of_a_frame) {
  const auto item = model_cases().front();
  const Model model = read_dp(item.model);
  const auto trainer = Trainer::create(model, SelRule::per_type);
  const TrainingFrame frame = make_frame(labelled(item, 0.5, 0.05), model.rcut);
  const TrainingFrame* one[] = {&frame};
  const double before = loss(*trainer, frame);
  for (int step = 0; step < 300; ++step) {
    trainer->gradient(one, prefactors, 1);
    trainer->update(1e-3);
  }
  EXPECT_LT(loss(*trainer, frame), 0.3 * before);
}

/// Who holds a training's arrays, and where its states are.
struct Place {
  ParallelOptions parallel;
  OffloadOptions offload;
  [[nodiscard]] std::string text() const {
    return fmt::format("stage {}, holder {}, offload {}", parallel.zero_stage(),
                       static_cast<int>(parallel.holder), static_cast<int>(offload.optimiser));
  }
};

Place place_of(int stage, Holder holder, OffloadKind kind, bool delays = false) {
  Place place;
  place.parallel.holder = holder;
  place.parallel = place.parallel.at_stage(stage);
  place.offload.optimiser = kind;
  if (kind == OffloadKind::file) place.offload.path = ".";
  if (delays) place.offload.delayed_update = DelayedUpdateOptions{0};
  return place;
}

/// Six frames of a model, of which each rank is given its own in each step; the last one's atoms are shared
/// out.
class Lesson {
 public:
  explicit Lesson(const ModelCase& item) : model(read_dp(item.model)) {
    for (unsigned seed = 1; seed <= 6; ++seed)
      frames_.push_back(make_frame(labelled(item, 0.1 * seed, 0.2, seed), model.rcut));
  }
  [[nodiscard]] std::unique_ptr<Trainer> trainer(const Place& place) const {
    return Trainer::create(model, SelRule::per_type, {}, Comm::world(), place.parallel, place.offload);
  }
  double gradient(Trainer& trainer, std::int64_t t) {
    const Comm comm = Comm::world();
    const std::int64_t n = frames_.size();
    const TrainingFrame* own[] = {&frames_[(t + comm.rank()) % (n - 1)]};
    const TrainingFrame* shared[] = {&frames_.back()};
    Deviations found = trainer.gradient(own, prefactors, comm.size() + 1);
    found += trainer.gradient(shared, prefactors, comm.size() + 1, Sharing::atoms);
    return sum(comm, found).loss;
  }
  /// Steps first, first + 1, ...; their losses.
  std::vector<double> steps(Trainer& trainer, std::int64_t first, std::int64_t last) {
    std::vector<double> losses;
    for (std::int64_t t = first; t <= last; ++t) {
      trainer.begin_update();
      losses.push_back(gradient(trainer, t));
      trainer.update(rate);
    }
    return losses;
  }
  TrainingFrame& frame(std::size_t i) { return frames_[i]; }

  Model model;
  static constexpr double rate = 1e-3;
  static constexpr std::int64_t n_steps = 4;

 private:
  std::vector<TrainingFrame> frames_;
};

/// Some of the models, one in single precision.
std::vector<ModelCase> taught() {
  std::vector<ModelCase> cases;
  for (auto& item : trained_cases())
    if (item.name == "twoside" || item.name == "float32" || item.name == "dpa1_strip" || item.name == "se_e3")
      cases.push_back(item);
  return cases;
}

TEST(Trainer, stages_and_states_in_files_change_no_bit) {
  for (const auto& item : taught()) {
    Lesson lesson(item);
    const auto plain = lesson.trainer({});
    constexpr std::int64_t n_steps = 3;
    const auto losses = lesson.steps(*plain, 1, n_steps);
    for (const auto& [stage, holder, kind] :
         {std::tuple(0, Holder::node, OffloadKind::file), std::tuple(0, Holder::rank, OffloadKind::none),
          std::tuple(1, Holder::node, OffloadKind::none), std::tuple(1, Holder::rank, OffloadKind::file),
          std::tuple(2, Holder::node, OffloadKind::file), std::tuple(2, Holder::rank, OffloadKind::none)}) {
      Place place = place_of(stage, holder, kind);
      if (kind == OffloadKind::file)  // a quarter of the states
        place.offload.budget.host = 1e-6 * plain->account().held.optimiser / 4;
      const auto trainer = lesson.trainer(place);
      EXPECT_EQ(lesson.steps(*trainer, 1, n_steps), losses) << item.name << place.text();
      EXPECT_EQ(trainer->parameters(), plain->parameters()) << item.name << place.text();
      const auto account = trainer->account();
      EXPECT_EQ(account.ledger.peak(Tier::host, ByteCategory::optimiser), account.held.optimiser);
      EXPECT_EQ(account.offload.writes.bytes > 0, kind == OffloadKind::file);
      EXPECT_EQ(account.bytes_sent > 0, Comm::world().size() > 1 && holder == Holder::rank);
    }
  }
}

TEST(Trainer, a_delayed_update_is_the_serial_loop_that_is_one_step_late_to_the_bit) {
  for (const auto& item : taught()) {
    Lesson lesson(item);
    // w(k) = w(k-1) - Adam(g(w(k-2))), w(-1) = w(0).
    const auto serial = lesson.trainer({});
    std::vector<double> before = serial->parameters(), now = before;
    std::vector<double> losses;
    for (std::int64_t t = 1; t < Lesson::n_steps; ++t) {
      serial->set_parameters(before);
      losses.push_back(lesson.gradient(*serial, t));
      serial->set_parameters(now);
      before = now;
      serial->update(Lesson::rate);
      now = serial->parameters();
    }
    for (const Place& place : {place_of(0, Holder::node, OffloadKind::host, true),
                               place_of(1, Holder::rank, OffloadKind::host, true),
                               place_of(2, Holder::rank, OffloadKind::file, true)}) {
      const auto late = lesson.trainer(place);
      auto found = lesson.steps(*late, 1, Lesson::n_steps);
      found.pop_back();  // the gradient of the last step waits
      EXPECT_EQ(found, losses) << item.name << place.text();
      EXPECT_EQ(late->parameters(), now) << item.name << place.text();
    }
  }
}

TEST(Trainer, goes_on_at_another_stage_and_place_to_the_bit_with_the_gradient_that_waits) {
  const Comm comm = Comm::world();
  const std::string path = fmt::format("goes_on_{}.h5", comm.size());
  for (const bool delays : {false, true}) {
    Lesson lesson(taught().front());
    const auto whole = lesson.trainer(place_of(0, Holder::node, OffloadKind::host, delays));
    const auto losses = lesson.steps(*whole, 1, Lesson::n_steps);
    const auto save = [&](Trainer& trainer) {
      auto file = hdf5::File::create(comm, path);
      auto group = file.root().group("trainer");
      trainer.save(group);
    };
    {
      const auto first = lesson.trainer(place_of(2, Holder::rank, OffloadKind::file, delays));
      static_cast<void>(lesson.steps(*first, 1, 2));
      save(*first);
    }
    const auto load = [&](Trainer& trainer) {
      const auto file = hdf5::File::open(comm, path);
      auto group = file.root().open_group("trainer");
      trainer.load(group);
    };
    const auto second = lesson.trainer(place_of(1, Holder::rank, OffloadKind::host, delays));
    load(*second);
    const auto rest = lesson.steps(*second, 3, Lesson::n_steps);
    EXPECT_EQ(rest, std::vector<double>(losses.begin() + 2, losses.end())) << delays;
    EXPECT_EQ(second->parameters(), whole->parameters()) << delays;
    const auto plain = lesson.trainer({});
    if (delays) {
      EXPECT_THROW(load(*plain), InputError);
    } else {
      load(*plain);
    }
    const auto other = Lesson(taught().back()).trainer({});
    EXPECT_THROW(load(*other), InputError);
  }
  comm.barrier();
  if (comm.is_root()) std::filesystem::remove(path);
}

TEST(Trainer, a_gradient_that_is_no_number_on_one_rank_ends_all_with_the_weights_of_before) {
  for (const int stage : {0, 1, 2}) {
    Lesson lesson(taught().front());
    const auto trainer = lesson.trainer(place_of(stage, Holder::rank, OffloadKind::none));
    static_cast<void>(lesson.steps(*trainer, 1, 1));
    const auto before = trainer->parameters();
    if (Comm::world().is_root()) lesson.frame(2).energy = std::numeric_limits<double>::quiet_NaN();
    static_cast<void>(lesson.gradient(*trainer, 2));  // the frame of rank 0
    EXPECT_THROW(trainer->update(Lesson::rate), NumericalError) << stage;
    EXPECT_EQ(trainer->parameters(), before) << stage;
  }
}

TEST(Trainer, a_look_at_other_parameters_changes_no_bit_of_the_training) {
  for (const auto& item : taught()) {
    Lesson lesson(item);
    const auto plain = lesson.trainer({}), looking = lesson.trainer({});
    const TrainingFrame* one[] = {&lesson.frame(0)};
    for (std::int64_t t = 1; t <= Lesson::n_steps; ++t) {
      const auto losses = lesson.steps(*plain, t, t);
      auto others = looking->parameters();
      for (double& value : others) value *= 1.5;
      const auto found = looking->evaluate_at(others, one, prefactors);
      EXPECT_EQ(lesson.steps(*looking, t, t), losses) << item.name;
      const auto there = lesson.trainer({});
      there->set_parameters(others);
      const double expected = there->evaluate(one, prefactors).loss;
      EXPECT_NEAR(found.loss, expected, (is_float(item) ? 1e-3 : 1e-8) * expected) << item.name;
    }
    EXPECT_EQ(looking->parameters(), plain->parameters()) << item.name;
  }
}

TEST(Trainer, says_why_stage_3_is_not_there) {
  const Lesson lesson(taught().front());
  EXPECT_THROW(static_cast<void>(lesson.trainer(place_of(3, Holder::rank, OffloadKind::none))), InputError);
}

}  // namespace
}  // namespace quintet::potential
