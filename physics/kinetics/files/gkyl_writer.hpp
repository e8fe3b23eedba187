#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "physics/kinetics/basis/basis.hpp"
#include "physics/kinetics/space/distribution.hpp"
#include "physics/kinetics/space/row_exchange.hpp"

/// Gkeyll's binary files, version 1, so that postgkyl can plot what vlasov computes.
namespace quintet::kinetics {

/// Meta data of a .gkyl file: names to numbers and texts.
using GkylMeta = std::map<std::string, std::variant<std::int64_t, double, std::string>>;
/// The map in MessagePack (specification of 2013): fixmap of at most 15, str, int64 or positive fixint,
/// float64.
[[nodiscard]] std::string message_pack(const GkylMeta& meta);

/// Writes `PREFIX-NAME_FRAME.gkyl` (fields, file type 1) and `PREFIX-NAME.gkyl` (time series, type 2).
///
/// A file of type 1 is, little-endian: "gkyl0", u64 version 1, u64 1, u64 bytes of meta, meta, u64 2
/// (double), u64 ndim, u64 cells[ndim], f64 lower[ndim], f64 upper[ndim], u64 bytes a cell, u64 cells in all,
/// and the values, cells row-major, components fastest. Rank 0 writes, a few rows of the grid at a time, to a
/// temporary name that is then renamed. Source: gkylzero, core/zero/gkyl_array_rio_format_desc.h.
///
/// f in a hybrid basis is written as serendipity of order 2, which holds it exactly, since postgkyl knows no
/// hybrid basis of several velocities; tensor of order 1 is written as the serendipity that it equals.
class GkylWriter {
 public:
  /// @param prefix "DIR/two_stream"; the folder must be there
  GkylWriter(const Decomposition& decomposition, const PhaseBasis& basis, std::string prefix);

  /// f of a species: `name` is the species' name. Collective. Throws ResourceError if it cannot be written.
  void write(const std::string& name, std::int64_t frame, double time, const Distribution& f) const;
  /// A field with any number of components: `name` is "field", "elc_M0", ... Collective.
  void write(const std::string& name, std::int64_t frame, double time, const PhaseGrid& grid,
             const ConfField& field) const;

  /// Note values of a time series ("field-energy", "elc-imom") on rank 0; flush() brings them to the files.
  void append(const std::string& name, double time, std::span<const double> values);
  /// Add what was noted to the series' files, each time as one record with a header of its own. Collective.
  void flush();
  /// Restart: drop what the series' file, if there is one, holds later than `time`. Collective. Throws
  /// InputError if the file is not such a series.
  void truncate(const std::string& name, double time) const;

  [[nodiscard]] std::string frame_path(const std::string& name, std::int64_t frame) const;
  [[nodiscard]] std::string series_path(const std::string& name) const;

 private:
  struct Series {
    std::vector<double> times, values;
  };

  Decomposition decomposition_;
  PhaseBasis basis_, basis_in_file_;
  std::vector<int> place_in_file_;  ///< of each mode of f, of those in Gkeyll's order
  std::string prefix_;
  std::map<std::string, Series> series_;
};

}  // namespace quintet::kinetics
