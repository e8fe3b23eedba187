#include "surrogates/search/store.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <limits>
#include <optional>

#include <fmt/ranges.h>

#include "io/config/table.hpp"
#include "io/config/tree.hpp"
#include "io/hdf5/seal.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"

namespace quintet::search {

namespace {

using hdf5::Group;

constexpr const char* schema = "quintet.search_trials";
constexpr int version = 1;
constexpr std::size_t first_rows = 1024;
constexpr std::size_t most_rungs = 16;
constexpr std::size_t text_bytes = 200;

constexpr double none = std::numeric_limits<double>::quiet_NaN();

/// Columns of the dataset `integers`.
struct IntegerColumn {
  const char* name;
  std::int64_t (*of)(const Record&);
  void (*to)(Record&, std::int64_t);
};
constexpr IntegerColumn integer_columns[] = {
    {"seed", [](const Record& r) { return static_cast<std::int64_t>(r.trial.seed); },
     [](Record& r, std::int64_t v) { r.trial.seed = v; }},
    {"parent trial", [](const Record& r) { return r.trial.parent; },
     [](Record& r, std::int64_t v) { r.trial.parent = v; }},
    {"trials that had ended when it was proposed", [](const Record& r) { return r.trial.told; },
     [](Record& r, std::int64_t v) { r.trial.told = v; }},
    {"worker", [](const Record& r) { return std::int64_t{r.outcome.worker}; },
     [](Record& r, std::int64_t v) { r.outcome.worker = v; }},
    {"tries", [](const Record& r) { return std::int64_t{r.outcome.tries}; },
     [](Record& r, std::int64_t v) { r.outcome.tries = v; }},
    {"position in the order of ends", [](const Record& r) { return r.outcome.position; },
     [](Record& r, std::int64_t v) { r.outcome.position = v; }},
    {"trial whose objective it has", [](const Record& r) { return r.outcome.same_as; },
     [](Record& r, std::int64_t v) { r.outcome.same_as = v; }},
    {"epochs", [](const Record& r) { return std::ssize(r.outcome.curve); },
     [](Record& r, std::int64_t v) { r.outcome.curve.resize(v); }},
};
/// Columns of the dataset `numbers`.
struct NumberColumn {
  const char* name;
  double Outcome::*of;
};
constexpr NumberColumn number_columns[] = {
    {"objective", &Outcome::objective}, {"start (s)", &Outcome::start_s}, {"end (s)", &Outcome::end_s},
    {"busy (s)", &Outcome::busy_s},     {"cpu (s)", &Outcome::cpu_s},
};

std::vector<double> padded(const std::vector<double>& values, std::size_t n) {
  std::vector<double> row(values.begin(), values.begin() + std::min(n, values.size()));
  row.resize(n, none);
  return row;
}
std::vector<double> unpadded(const double* begin, std::size_t n) { return {begin, begin + n}; }

std::vector<std::uint8_t> text_row(const std::string& text) {
  std::vector<std::uint8_t> row(text_bytes, 0);
  std::copy_n(text.begin(), std::min(text.size(), text_bytes - 1), row.begin());
  return row;
}
std::string row_text(const std::uint8_t* begin) {
  return {begin, std::find(begin, begin + text_bytes, std::uint8_t{0})};
}

std::string joined(const std::vector<std::string>& lines) {
  return fmt::format("{}", fmt::join(lines, "\n"));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin <= text.size() && !text.empty();) {
    const auto end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

/// Widths of the datasets.
struct Widths {
  std::size_t genes, epochs, facts;
};

/// "seed, parent, told".
template <class Columns>
std::string names(const Columns& columns) {
  std::vector<std::string> all;
  for (const auto& column : columns) all.emplace_back(column.name);
  return fmt::format("{}", fmt::join(all, ", "));
}

/// Rows without trials.
void make_columns(Group& root, std::size_t rows, const Widths& widths) {
  const auto make = [&](const char* name, auto value, std::size_t width, const char* axis, const char* unit,
                        const char* text) {
    using T = decltype(value);
    const std::vector<T> values(rows * std::max<std::size_t>(width, 1), value);
    hdf5::Shape shape{rows};
    std::vector<std::string> axes{"trial"};
    if (axis) {
      shape.push_back(width);
      axes.emplace_back(axis);
    }
    root.write<T>(name, values, shape, {unit, axes, text});
  };
  make("state", std::int32_t{0}, 1, nullptr, "1",
       "0 none, 1 running, 2 done, 3 stopped, 4 repeated, 5 failed, 6 lost, 7 late");
  make("genes", std::int32_t{0}, widths.genes, "gene", "1", "Number of the choice of each gene");
  make("key", std::uint8_t{0}, text_bytes, "byte", "1", "Equal for equal candidates; its first bytes");
  make("message", std::uint8_t{0}, text_bytes, "byte", "1", "Why it failed");
  make("curve", none, widths.epochs, "epoch", "1", "What was reported after each epoch");
  make("facts", none, std::max<std::size_t>(widths.facts, 1), "fact", "1", "The evaluator's own numbers");
  make("rungs", none, 2 * most_rungs, "rung", "1",
       "Epochs at which it could be stopped, and what it had to reach");
  make("integers", std::int64_t{-1}, std::size(integer_columns), "column", "1",
       (names(integer_columns) + "; -1: none").c_str());
  make("numbers", none, std::size(number_columns), "column", "1", names(number_columns).c_str());
}

template <class T>
void put(Group& root, const char* name, std::int64_t trial, const std::vector<T>& values) {
  root.write_box<T>(name, values, {{static_cast<std::uint64_t>(trial), 0}, {1, values.size()}});
}

/// Write the parts of a trial that never change.
void write_trial(Group& root, const Trial& trial) {
  put(root, "genes", trial.id, std::vector<std::int32_t>(trial.genes.begin(), trial.genes.end()));
  put(root, "key", trial.id, text_row(trial.key));
  std::vector<double> rungs;
  for (const auto& rung : trial.rungs) {
    rungs.push_back(rung.epoch);
    rungs.push_back(rung.value);
  }
  put(root, "rungs", trial.id, padded(rungs, 2 * most_rungs));
}

void write_outcome(Group& root, const Record& record, const Widths& widths) {
  const auto id = record.trial.id;
  std::vector<std::int64_t> integers;
  std::vector<double> numbers;
  for (const auto& column : integer_columns) integers.push_back(column.of(record));
  for (const auto& column : number_columns) numbers.push_back(record.outcome.*column.of);
  put(root, "integers", id, integers);
  put(root, "numbers", id, numbers);
  put(root, "message", id, text_row(record.outcome.message));
  put(root, "curve", id, padded(record.outcome.curve, widths.epochs));
  put(root, "facts", id, padded(record.outcome.facts, std::max<std::size_t>(widths.facts, 1)));
}

void write_state(Group& root, const Record& record) {
  const auto state = static_cast<std::int32_t>(record.outcome.state);
  root.write_box<std::int32_t>("state", std::span(&state, 1),
                               {{static_cast<std::uint64_t>(record.trial.id)}, {1}});
}

/// Ends of trials must be numbered without gaps.
void check_order(const std::vector<Record>& records, const std::string& path) {
  std::vector<std::int64_t> positions;
  for (const auto& [trial, outcome] : records) {
    const bool ended = outcome.state != TrialState::running;
    QUINTET_CHECK(ended == (outcome.position >= 0),
                  "{}: trial {} is {} and has place {} in the order of ends", path, trial.id,
                  row_of(trial_states, outcome.state).name, outcome.position);
    if (ended) positions.push_back(outcome.position);
  }
  std::sort(positions.begin(), positions.end());
  for (std::size_t i = 0; i < positions.size(); ++i)
    QUINTET_CHECK(positions[i] == static_cast<std::int64_t>(i),
                  "{}: no trial, or more than one, ended as number {}", path, i);
}

/// Epochs of a table of curves. Throws InputError if it is not a table.
std::size_t epochs_of(const hdf5::File& file) {
  const auto shape = file.root().shape("curve");
  QUINTET_CHECK(shape.size() == 2 && shape[1] >= 1, "{}: curve has the shape [{}]; expected trials, epochs",
                file.path(), fmt::join(shape, ", "));
  return shape[1];
}

/// Rungs from a padded row. Throws InputError if an epoch is invalid.
std::vector<Rung> rungs_of(const double* row, const std::string& what) {
  std::vector<Rung> rungs;
  for (const double* rung = row; rung < row + 2 * most_rungs && !std::isnan(rung[0]); rung += 2) {
    QUINTET_CHECK(rung[0] >= 1 && rung[0] <= std::numeric_limits<int>::max(),
                  "{}: a rung at epoch {}; expected 1 or more", what, rung[0]);
    rungs.push_back({static_cast<int>(rung[0]), rung[1]});
  }
  return rungs;
}

// Rows end at the first of state 0: a search that was killed leaves the last one unfinished.
std::vector<Record> read_rows(const hdf5::File& file, const Space& space, const Widths& widths) {
  const Group& root = file.root();
  const auto states = root.read<std::int32_t>("state");
  QUINTET_CHECK(root.shape("state").size() == 1, "{}: state has {} axes; expected one", file.path(),
                root.shape("state").size());
  const std::uint64_t rows = states.size();
  const auto genes = root.read<std::int32_t>("genes", {rows, widths.genes});
  const auto key = root.read<std::uint8_t>("key", {rows, text_bytes});
  const auto message = root.read<std::uint8_t>("message", {rows, text_bytes});
  const auto curve = root.read<double>("curve", {rows, widths.epochs});
  const std::uint64_t n_facts = std::max<std::size_t>(widths.facts, 1);
  const auto facts = root.read<double>("facts", {rows, n_facts});
  const auto rungs = root.read<double>("rungs", {rows, 2 * most_rungs});
  constexpr std::size_t n_integers = std::size(integer_columns), n_numbers = std::size(number_columns);
  const auto integers = root.read<std::int64_t>("integers", {rows, n_integers});
  const auto numbers = root.read<double>("numbers", {rows, n_numbers});
  const std::size_t n = std::find(states.begin(), states.end(), 0) - states.begin();
  std::vector<Record> records(n);
  for (std::size_t i = 0; i < n; ++i) {
    auto& [trial, outcome] = records[i];
    const std::string what = fmt::format("{}: trial {}", file.path(), i);
    QUINTET_CHECK(states[i] >= 1 && states[i] <= 7, "{}: state {} is unknown", what, states[i]);
    const std::int64_t epochs = integers[i * n_integers + n_integers - 1];
    QUINTET_CHECK(epochs >= 0 && epochs <= static_cast<std::int64_t>(widths.epochs),
                  "{}: {} epochs; expected 0 to {}", what, epochs, widths.epochs);
    for (std::size_t c = 0; c < n_integers; ++c)
      integer_columns[c].to(records[i], integers[i * n_integers + c]);
    for (std::size_t c = 0; c < n_numbers; ++c) outcome.*number_columns[c].of = numbers[i * n_numbers + c];
    trial.id = i;
    trial.genes.assign(&genes[i * widths.genes], &genes[i * widths.genes] + widths.genes);
    space.check(trial.genes, what);
    trial.key = row_text(&key[i * text_bytes]);
    trial.rungs = rungs_of(&rungs[i * 2 * most_rungs], what);
    outcome.state = static_cast<TrialState>(states[i]);
    outcome.curve = unpadded(&curve[i * widths.epochs], epochs);
    outcome.facts = unpadded(&facts[i * n_facts], widths.facts);
    outcome.message = row_text(&message[i * text_bytes]);
  }
  for (auto& record : records)
    if (record.outcome.state == TrialState::running) record.outcome = {};
  check_order(records, file.path());
  return records;
}

/// Throws InputError that names the first gene that differs.
void check_space(const hdf5::File& file, const Space& space) {
  const auto there = lines_of(file.root().read_text("space")), here = space.signature();
  for (std::size_t g = 0; g < std::max(there.size(), here.size()); ++g) {
    const std::string theirs = g < there.size() ? there[g] : "none",
                      ours = g < here.size() ? here[g] : "none";
    QUINTET_CHECK(theirs == ours, "{}: these trials are of another search space: gene {} is '{}', here '{}'",
                  file.path(), g + 1, theirs, ours);
  }
}

}  // namespace

struct TrialStore::Implementation {
  std::string path;
  Contents contents;
  hdf5::Provenance provenance;
  std::optional<hdf5::File> file;
  std::size_t rows = 0;
  std::vector<Record> records;  ///< all, for the day when rows run out
  std::vector<Record> found;

  [[nodiscard]] Widths widths() const {
    return {contents.space.genes().size(), contents.most_epochs, contents.facts.size()};
  }

  /// A file of so many rows that holds all records.
  void make(std::size_t n_rows) {
    const std::string temporary = path + ".tmp";
    file.reset();
    {
      hdf5::File made = hdf5::File::create(Comm::self(), temporary);
      hdf5::write_header(made.root(), schema, version, provenance);
      made.root().write_text("space", joined(contents.space.signature()),
                             {"1", {}, "Genes and their choices, a line each"});
      made.root().write_text("search", contents.search, {"1", {}, "What decides which trials come"});
      made.root().write_text("fact_names", joined(contents.facts), {"1", {}, "Names of facts, a line each"});
      make_columns(made.root(), n_rows, widths());
      for (const auto& record : records) {
        write_trial(made.root(), record.trial);
        write_outcome(made.root(), record, widths());
        write_state(made.root(), record);
      }
      made.close();
    }
    std::error_code error;
    std::filesystem::rename(temporary, path, error);
    if (error) throw ResourceError(fmt::format("{}: cannot be made: {}", path, error.message()));
    rows = n_rows;
    file = hdf5::File::open_for_update(Comm::self(), path);
  }
};

TrialStore::TrialStore(std::unique_ptr<Implementation> implementation)
    : implementation_(std::move(implementation)) {}
TrialStore::~TrialStore() = default;
TrialStore::TrialStore(TrialStore&&) noexcept = default;
TrialStore& TrialStore::operator=(TrialStore&&) noexcept = default;

TrialStore TrialStore::create(const std::string& path, const Contents& contents,
                              const hdf5::Provenance& provenance) {
  auto made = std::make_unique<Implementation>(Implementation{path, contents, provenance, {}, 0, {}, {}});
  made->make(first_rows);
  return TrialStore(std::move(made));
}

TrialStore TrialStore::open(const std::string& path, const Contents& contents,
                            const hdf5::Provenance& provenance) {
  auto opened = std::make_unique<Implementation>(Implementation{path, contents, provenance, {}, 0, {}, {}});
  {
    const hdf5::File file = hdf5::open_verified(Comm::self(), path);
    hdf5::check_header(file, schema, version);
    check_space(file, contents.space);
    const auto search = file.root().read_text("search");
    QUINTET_CHECK(search == contents.search, "{}: these trials are of another search: {}, here {}", path,
                  what_differs(search, contents.search), what_differs(contents.search, search));
    const auto facts = lines_of(file.root().read_text("fact_names"));
    QUINTET_CHECK(facts == contents.facts, "{}: these trials have facts [{}], here [{}]", path,
                  fmt::join(facts, ", "), fmt::join(contents.facts, ", "));
    QUINTET_CHECK(epochs_of(file) == contents.most_epochs, "{}: these trials have {} epochs at most, here {}",
                  path, epochs_of(file), contents.most_epochs);
    opened->records = opened->found = read_rows(file, contents.space, opened->widths());
    opened->rows = file.root().shape("state")[0];
  }
  opened->file = hdf5::File::open_for_update(Comm::self(), path);
  return TrialStore(std::move(opened));
}

const std::vector<Record>& TrialStore::found() const { return implementation_->found; }

double store_bytes(std::int64_t trials, const TrialStore::Contents& contents) {
  auto rows = static_cast<double>(first_rows);
  while (rows < static_cast<double>(trials)) rows *= 2;
  const double numbers = contents.most_epochs + std::max<std::size_t>(contents.facts.size(), 1) +
                         2 * most_rungs + std::size(integer_columns) + std::size(number_columns);
  return rows * (sizeof(std::int32_t) * (1 + contents.space.genes().size()) + 2.0 * text_bytes +
                 sizeof(double) * numbers);
}

void TrialStore::write(const Record& record) {
  auto& it = *implementation_;
  const std::size_t row = record.trial.id;
  if (row > it.records.size()) throw InternalError(fmt::format("trial {} after {}", row, it.records.size()));
  if (record.trial.rungs.size() > most_rungs)
    throw InternalError(
        fmt::format("{} rungs; a store has room for {}", record.trial.rungs.size(), most_rungs));
  if (row == it.records.size()) {
    it.records.push_back(record);
    if (row >= it.rows) return it.make(2 * it.rows);
    write_trial(it.file->root(), record.trial);
  } else {
    it.records[row] = record;
  }
  write_outcome(it.file->root(), record, it.widths());
  it.file->hand_over();  // before the state, which says that it is there
  write_state(it.file->root(), record);
  it.file->hand_over();
}

std::vector<Record> read_trials(const std::string& path, const Space& space) {
  const hdf5::File file = hdf5::open_verified(Comm::self(), path);
  hdf5::check_header(file, schema, version);
  check_space(file, space);
  const auto facts = lines_of(file.root().read_text("fact_names"));
  return read_rows(file, space, {space.genes().size(), epochs_of(file), facts.size()});
}

std::string what_differs(const std::string& text, const std::string& other) {
  const auto parts = [](const std::string& list) {
    std::vector<std::string> words;
    for (std::size_t begin = 0; begin < list.size();) {
      const auto end = std::min(list.find_first_of(",;{}", begin), list.size());
      const auto first = list.find_first_not_of(' ', begin);
      if (first < end) words.push_back(list.substr(first, end - first));
      begin = end + 1;
    }
    return words;
  };
  std::vector<std::string> own;
  const auto theirs = parts(other);
  for (const auto& part : parts(text))
    if (std::find(theirs.begin(), theirs.end(), part) == theirs.end()) own.push_back(part);
  return own.empty() ? fmt::format("'{}'", text) : fmt::format("'{}'", fmt::join(own, ", "));
}

std::string read_search_words(const std::string& path) {
  const hdf5::File file = hdf5::open_verified(Comm::self(), path);
  hdf5::check_header(file, schema, version);
  return file.root().read_text("search");
}

void write_trials_csv(const std::string& path, const Space& space, const std::vector<std::string>& facts,
                      const std::vector<Record>& records) {
  const auto quoted = [](std::string text) {
    for (std::size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2) text.insert(at, 1, '"');
    return fmt::format("\"{}\"", text);
  };
  const auto number = [](double value) {
    return std::isfinite(value) ? fmt::format("{:.17g}", value) : std::string();
  };
  std::string csv = "trial,state,objective,epochs,parent,same_as,worker,start_s,end_s,cpu_s";
  for (const auto& gene : space.genes()) csv += fmt::format(",{}", quoted(gene.name));
  for (const auto& fact : facts) csv += fmt::format(",{}", quoted(fact));
  csv += ",message\n";
  for (const auto& [trial, outcome] : records) {
    csv += fmt::format("{},{},{},{},{},{},{},{},{},{}", trial.id, row_of(trial_states, outcome.state).name,
                       number(outcome.objective), outcome.curve.size(), trial.parent, outcome.same_as,
                       outcome.worker, number(outcome.start_s), number(outcome.end_s), number(outcome.cpu_s));
    for (std::size_t g = 0; g < trial.genes.size(); ++g)
      csv += fmt::format(",{}", quoted(space.genes()[g].choices[trial.genes[g]]));
    for (std::size_t f = 0; f < facts.size(); ++f)
      csv += fmt::format(",{}", f < outcome.facts.size() ? number(outcome.facts[f]) : std::string());
    csv += fmt::format(",{}\n", quoted(outcome.message));
  }
  write_text_file(path, csv);
}

}  // namespace quintet::search
