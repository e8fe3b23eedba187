#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/files/reading.hpp"
#include "io/hdf5/file.hpp"
#include "io/parallel/comm_fwd.hpp"

/// Fields over time on a rectilinear grid: one schema for what all applications write and read.
namespace quintet {

/// One axis of space.
struct FieldAxis {
  std::string name;  ///< "x", "z", "vx"
  std::string units = "1";
  std::vector<double>
      coordinates;  ///< [n] of the points, ascending, in [lower, upper]; they may be unequally spaced
  bool periodic = false;
  double lower = 0,
         upper = 0;  ///< ends of the domain: walls, or a period, whose `upper` is not a grid point

  [[nodiscard]] std::uint64_t size() const { return coordinates.size(); }
  [[nodiscard]] double length() const { return upper - lower; }
};

/// One scalar field, or one component of a vector.
struct FieldInfo {
  std::string name;  ///< as equations call it: "b", "u"
  std::string units = "1";
  std::string text;     ///< one sentence
  std::string dataset;  ///< its name in the file: "buoyancy", "velocity"; empty: `name`
  int component =
      -1;  ///< of the vector `dataset`, whose components are in the order of the axes; -1: a scalar
};

/// Value of a field at an end of an axis that a format implies.
struct FieldWallValue {
  std::string field, axis;
  bool upper = false;
  double value = 0;
};

/// All that a series is, but its values.
struct FieldSeriesHeader {
  std::string name;             ///< of the data: "rayleigh_benard"
  std::vector<FieldAxis> axes;  ///< slowest first
  std::vector<FieldInfo> fields;
  std::map<std::string, double> parameters;  ///< named numbers that hold for all samples: "Ra", "Pr"
  std::string time_units = "1";
  std::uint64_t n_samples = 1;      ///< independent runs on one grid with the same parameters
  std::vector<std::int64_t> seeds;  ///< [n_samples], or empty
  std::vector<std::uint8_t> mask;   ///< [axes...] 1: a value, 0: none (land); empty: values everywhere
  bool double_precision = false;    ///< of the values in the file
  std::vector<FieldWallValue> wall_values{};  ///< of a file that was read: see FieldWallValue

  /// [n_0, n_1, ...] points of the axes.
  [[nodiscard]] hdf5::Shape shape() const;
  /// Number of a field or an axis. Throws InputError that lists what there is.
  [[nodiscard]] int field(const std::string& name) const;
  [[nodiscard]] int axis(const std::string& name) const;
};

/// Throws InputError (`what` in front) unless names are plain and unlike, coordinates ascend within the
/// domain, and vectors have as many components as there are axes.
void check_header(const FieldSeriesHeader& header, const std::string& what);

/// Writes a series into an HDF5 file of its own, with the schema "quintet.field_series", version 1.
///
/// The layout is that of The Well's data (https://polymathic-ai.org/the_well/data_format), so that what reads
/// those reads ours; `units`, `symbol`, ends of the axes, `n_frames` and `mask` are added:
///
///     dimensions/time           [n_t]
///     dimensions/AXIS           [n]; attributes lower, upper
///     boundary_conditions/...   periodic or wall, for each axis
///     scalars/PARAMETER         each with the attribute symbol ("Ra" of Rayleigh)
///     t0_fields/SCALAR          [n_samples, n_t, axes...]
///     t1_fields/VECTOR          [n_samples, n_t, axes..., components]
///     frame_checksum            [n_samples, n_t], over all values of the frame
///     n_frames                  [n_samples]; counts the frames at flush(), and those that are whole are read
///     mask                      [axes...]; where header.mask is not empty
class FieldSeriesWriter {
 public:
  /// Make the file or replace it. Collective. Throws InputError (check_header()), ResourceError.
  static FieldSeriesWriter create(const Comm& comm, const std::string& path, const FieldSeriesHeader& header,
                                  const hdf5::Provenance& provenance);
  /// Open a file for more frames; those that a killed run left unfinished are cut. Collective. Throws
  /// InputError if it holds another series than `header`.
  static FieldSeriesWriter reopen(const Comm& comm, const std::string& path, const FieldSeriesHeader& header);
  FieldSeriesWriter(FieldSeriesWriter&&) noexcept;
  FieldSeriesWriter& operator=(FieldSeriesWriter&&) noexcept;
  ~FieldSeriesWriter();

  /// Append a frame of a sample, distributed over the ranks.
  ///
  /// @param fields one span a field in the header's order: this rank's part of its values, row-major
  /// @param box where that part lies on the grid; a rank may have none, together they give each point once
  /// Frame i of all samples has the same time. Collective. Throws InputError (another time, parts that do not
  /// make a whole), NumericalError (a value that is not finite where there is one), ResourceError. Real:
  /// float, double.
  template <class Real>
  void append(std::uint64_t sample, double time, const std::vector<std::span<const Real>>& fields,
              const hdf5::Box& box);
  /// Append a frame in parts, where ranks have no room for their share of it at once: begin_frame(), then
  /// add_part() until each point was given once, equally often on all ranks, then end_frame(), which counts
  /// it. Collective. Throw as append() does.
  void begin_frame(std::uint64_t sample, double time);
  template <class Real>
  void add_part(const std::vector<std::span<const Real>>& fields, const hdf5::Box& box);
  void end_frame();
  void drop_frame();  ///< give up the frame that was begun: the file is as before
  /// Keep the first `n_frames` frames of a sample (restart from an earlier checkpoint), on the disk at once.
  /// Collective. Throws InputError if there are fewer: the file is older than the checkpoint.
  void truncate(std::uint64_t sample, std::uint64_t n_frames);
  void truncate(std::uint64_t n_frames);  ///< the same of all samples

  [[nodiscard]] std::uint64_t n_frames(std::uint64_t sample) const;
  [[nodiscard]] const std::vector<double>& times() const;
  /// Message of reopen() on the frames that are there: "frame 3 does not agree with its checksum", or "".
  /// Only the last frames are looked at, about 256 MiB of them.
  [[nodiscard]] const std::string& altered() const;
  /// Bring all to the disk, and write the XDMF files beside it: NAME.xmf, or NAME.sample_I.xmf where there
  /// are several. Collective. Throws ResourceError.
  void flush();
  /// Flush and close (the destructor closes too, but cannot say that the disk was full).
  void close();

 private:
  struct Implementation;
  explicit FieldSeriesWriter(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation_;
};

/// Frames and a box of space: what to read of a field.
struct FieldBox {
  std::uint64_t first_frame = 0, n_frames = 0;
  hdf5::Box space;  ///< empty: all of it
};

/// Facts about an axis that take precedence over those of the file.
struct AxisFacts {
  enum class Points {
    stored,     ///< the file has coordinates
    uniform,    ///< cell centres of a bounded axis; from `lower` on on a periodic one
    chebyshev,  ///< roots of a Chebyshev polynomial, -cos(pi (2 j + 1)/(2 n)) scaled to the domain
  };
  std::optional<double> lower{}, upper{};
  std::optional<bool> periodic{};
  Points points = Points::stored;
};

/// How a series is to be read.
struct FieldSeriesOptions {
  std::vector<std::string> axes{};  ///< their order, slowest first; empty: that of the file
  std::vector<std::string>
      fields{};        ///< that are needed: what else cannot be read is passed over; empty: all
  std::string part{};  ///< of a file that holds several series (vlasov's run.h5): "pictures/elc_x_vx"
  // What a file does not say of itself, and what it says otherwise:
  std::map<std::string, AxisFacts> facts{};  ///< by axis
  std::map<std::string, double> parameters{};
  std::optional<double> time_spacing{};  ///< of files without times: frame i has time (i + 1) times this; of
                                         ///< others: what their times must agree with
};

/// Reads fields over time, whoever wrote them: the files of FieldSeriesWriter, The Well's, and those that
/// field_formats.hpp lists. Throws InputError that names the file: unknown schema, shapes that differ, times
/// that do not ascend, frames that are missing or do not agree with their checksums, values that are not
/// finite.
class FieldSeriesReader {
 public:
  /// Collective over `comm`. With Comm::self() each rank reads for itself, whenever it likes.
  static FieldSeriesReader open(const Comm& comm, const std::string& path,
                                const FieldSeriesOptions& options = {});

  [[nodiscard]] const std::string& path() const;
  [[nodiscard]] const FieldSeriesHeader& header() const;
  [[nodiscard]] const std::vector<double>& times() const;  ///< [n_t] of the frames
  /// Assumptions of the reader, and what it did not use.
  [[nodiscard]] const Reading& reading() const;
  [[nodiscard]] std::uint64_t n_samples() const { return header().n_samples; }
  [[nodiscard]] std::uint64_t n_frames(std::uint64_t sample) const;  ///< at most times().size()
  /// Named numbers of a sample: those of the header, and those that differ from sample to sample.
  [[nodiscard]] std::map<std::string, double> parameters(std::uint64_t sample) const;
  /// Time between frames; none where the largest deviates from the mean by more than `tolerance` of it. Files
  /// in single precision keep times to 1e-7 of their size.
  [[nodiscard]] std::optional<double> time_spacing(double tolerance = 1e-3) const;

  /// Values [frame][axis 0][axis 1]... of a field; 0 where the mask is 0. Each rank asks for its own.
  /// Collective. Real: float, double.
  template <class Real>
  [[nodiscard]] std::vector<Real> read(int field, std::uint64_t sample, const FieldBox& box) const;

  struct Implementation;

 private:
  explicit FieldSeriesReader(std::shared_ptr<const Implementation> implementation);
  std::shared_ptr<const Implementation> implementation_;
};

}  // namespace quintet
