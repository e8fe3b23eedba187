#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "io/hdf5/file_fwd.hpp"
#include "physics/particles/atoms/atoms.hpp"
#include "physics/particles/device/at_home.hpp"
#include "physics/particles/domain/domain.hpp"

namespace quintet {

/// One column of a result: a quantity over the table's axis (its first column).
struct Column {
  std::string name, unit, description;
  std::vector<double> values;
};

/// A result as a plain table; the first column is the axis.
struct Table {
  std::string name, description;
  std::vector<Column> columns;
};

/// A result that is one number; `error` is its standard error, NaN where there are too few samples for one.
struct Scalar {
  std::string name, unit, description;
  double value, error;
};

/// Watches atoms during a run and accumulates an average. All calls are collective.
class Observer {
 public:
  explicit Observer(std::int64_t interval) : interval_(interval) {}
  virtual ~Observer() = default;
  /// Name of its section and of its group in files: "rdf".
  [[nodiscard]] virtual std::string name() const = 0;
  /// Take a sample at `step` if it is due (a multiple of the interval); forces need not be up to date.
  void observe(const Exec& exec, std::int64_t step, const Atoms& atoms, const Domain& domain) {
    if (step % interval_ != 0) return;
    bring_home(atoms);
    sample(exec, atoms, domain);
  }
  /// Results so far, the same on all ranks (empty before the first sample).
  [[nodiscard]] virtual std::vector<Table> tables() const = 0;
  [[nodiscard]] virtual std::vector<Scalar> scalars() const { return {}; }
  /// Write the results as datasets TABLE/COLUMN and SCALAR of `group`.
  void write(hdf5::Group& group) const;

  /// Write to a checkpoint all that was accumulated; after restore() a run goes on as if uninterrupted, on
  /// any number of ranks.
  virtual void save(hdf5::Group& group) const = 0;
  /// Throws InputError if the options are not those it was saved with.
  virtual void restore(const Comm& comm, const hdf5::Group& group) = 0;

 protected:
  virtual void sample(const Exec& exec, const Atoms& atoms, const Domain& domain) = 0;

 private:
  std::int64_t interval_;
};

/// Names as one text, a line each, and back: how observers keep type names in files.
[[nodiscard]] std::string join_lines(const std::vector<std::string>& words);
[[nodiscard]] std::vector<std::string> split_lines(const std::string& text);

}  // namespace quintet
