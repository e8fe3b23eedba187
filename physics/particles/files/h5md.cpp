#include "physics/particles/files/h5md.hpp"

#include <algorithm>

#include <fmt/ranges.h>

#include "io/hdf5/checksum.hpp"
#include "io/log/counted.hpp"
#include "io/log/error.hpp"
#include "physics/particles/domain/parameter_rows.hpp"
#include "physics/particles/files/h5md_rows.hpp"

namespace quintet {

namespace {

const std::string atoms_group = "particles/atoms";

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, " ")); }

/// The unit as our Description wants it: H5MD's "Angstrom ps-1" becomes "angstrom/ps".
struct Quantity {
  const char *name, *unit_h5md, *unit, *text;
};
constexpr Quantity position_of{"position", "Angstrom", "angstrom",
                               "Positions; unwrapped = position + image * edges."};
constexpr Quantity velocity_of{"velocity", "Angstrom ps-1", "angstrom/ps", "Velocities."};
constexpr Quantity force_of{"force", h5md::force_unit, "eV/angstrom", "Forces."};
constexpr Quantity image_of{"image", "", "1", "Periodic boundaries crossed, along the rows of the box."};

}  // namespace

/// The open file and its series.
struct H5mdWriter::Implementation {
  Comm comm;
  H5mdOptions options;
  hdf5::File file;
  h5md::RowOrder order;
  std::vector<hdf5::Series> all;  // every series, to be cut together
  std::optional<hdf5::Series> step, time, edges, origin, image;
  std::optional<hdf5::ChecksumSeries> checksums;
  std::string altered;
  std::vector<hdf5::Series> floats;  // position, then velocity and force if wanted
  std::vector<std::string> observable_names;
  std::vector<hdf5::Series> observables;
  bool continues;

  Implementation(Comm c, const std::string& path, const Atoms& atoms, const H5mdOptions& o)
      : comm(c),
        options(o),
        file(o.restart_step ? hdf5::File::open_for_update(c, path) : hdf5::File::create(c, path)),
        order(c, atoms),
        continues(o.restart_step.has_value()) {
    Constants constants;
    order.visit(atoms, [&](std::span<const h5md::AtomRow> rows) {
      for (const h5md::AtomRow& row : rows) {
        constants.species.push_back(row.type);
        constants.ids.push_back(row.id);
      }
    });
    if (atoms.n_parameters() > 0)
      constants.parameters = numbers_by_id(
          sent_parameters(c, atoms, [&](int i) { return order.rank_of(atoms.id(i)); }), atoms.n_parameters());
    if (continues)
      check_atoms(constants.ids);
    else
      write_frame_of_file(atoms, constants);
    open_series();
    file.hand_over();  // a kill from here on leaves these frames
  }

  /// What does not change of this rank's rows, ascending by id.
  struct Constants {
    std::vector<std::int32_t> species;
    std::vector<std::int64_t> ids;
    std::vector<double> parameters;  ///< [rows, n]
  };

  void write_frame_of_file(const Atoms& atoms, const Constants& rows) {
    auto& root = file.root();
    hdf5::write_header(root, "quintet.h5md", 1, options.provenance);
    auto h5md = root.group("h5md");
    h5md.set_attribute("version", std::vector<std::int64_t>{1, 1});
    h5md.group("author").set_attribute("name", options.author);
    auto creator = h5md.group("creator");
    creator.set_attribute(
        "name", options.provenance.program.empty() ? "Quintet" : "Quintet " + options.provenance.program);
    creator.set_attribute("version",
                          options.provenance.version.empty() ? "unknown" : options.provenance.version);
    auto units = h5md.group("modules/units");
    units.set_attribute("version", std::vector<std::int64_t>{1, 0});
    units.set_attribute("system", "SI");
    auto group = root.group(atoms_group);
    group.set_attribute("type_names", atoms.type_names);
    write_box_attributes(group.group("box"), atoms.box);
    write_constants(group, atoms, rows);
  }

  static void write_box_attributes(hdf5::Group box, const Box& shape) {
    box.set_attribute("dimension", std::int64_t{3});
    std::vector<std::string> boundary;
    for (const bool periodic : shape.periodic()) boundary.emplace_back(periodic ? "periodic" : "none");
    box.set_attribute("boundary", boundary);
  }

  /// What does not change: species, id, mass, and what models read.
  void write_constants(hdf5::Group& group, const Atoms& atoms, const Constants& rows) const {
    std::vector<double> masses;
    masses.reserve(rows.species.size());
    for (const int type : rows.species) masses.push_back(atoms.masses[type]);
    const hdf5::Shape shape{order.n_rows()};
    const auto offset = order.offset();
    group.write_distributed<std::int32_t>("species", rows.species, shape, offset,
                                          {"1", {"atom"}, "Types: " + joined(atoms.type_names) + " from 0."});
    // "O H", so that the numbers can be read without this program; type_names of the group has them as a
    // list.
    group.set_member_attribute("species", "type_names", joined(atoms.type_names));
    group.write_distributed<std::int64_t>("id", rows.ids, shape, offset,
                                          {"1", {"atom"}, "Identities of the atoms, ascending."});
    group.write_distributed<double>("mass", masses, shape, offset, {"amu", {"atom"}, "Masses."});
    group.set_member_attribute("mass", "unit", "u");
    if (const std::uint64_t n = atoms.n_parameters(); n > 0)
      group.write_distributed<double>("aparam", rows.parameters, {order.n_rows(), n}, offset,
                                      {"1", {"atom", "number"}, "Numbers that models read of each atom."});
  }

  /// The file that is continued must hold these atoms, in this order.
  void check_atoms(const std::vector<std::int64_t>& wanted) {
    hdf5::check_header(file, "quintet.h5md", 1);
    const auto group = file.root().open_group(atoms_group);
    const auto shape = group.shape("id");
    bool differs = shape != hdf5::Shape{order.n_rows()};
    QUINTET_CHECK(!differs, "{}: cannot be continued: it holds {}, the run has {}", file.path(),
                  counted(shape.empty() ? hdf5::Shape::value_type{0} : shape[0], "atom"), order.n_rows());
    differs = group.read_rows<std::int64_t>("id", order.offset(), wanted.size()) != wanted;
    QUINTET_CHECK(!comm.any(differs), "{}: cannot be continued: its atoms have other ids than the run's",
                  file.path());
    check_elements(group);
  }

  void check_elements(const hdf5::Group& group) const {
    for (const auto& [name, wanted] :
         {std::pair("velocity", options.velocities), std::pair("force", options.forces)})
      QUINTET_CHECK(group.has(name) == wanted,
                    "{}: cannot be continued: it was begun {} {}, now the options say {}", file.path(),
                    wanted ? "without" : "with", name, wanted ? "with" : "without");
    if (!options.forces) return;
    const std::string unit = group.open_group("force").member_text_attribute("value", "unit");
    QUINTET_CHECK(
        unit == h5md::force_unit,
        "{}: cannot be continued: it was begun by an older version, with forces in {}, not {}; move it away",
        file.path(), unit, h5md::force_unit);
  }

  /// An element that changes with time: NAME/value, with step and time linked to those of all.
  template <class T>
  hdf5::Series element(hdf5::Group parent, const std::string& name, const hdf5::Shape& entry,
                       const std::string& unit_h5md, const hdf5::Description& description) {
    auto group = parent.group(name);
    const bool is_new = !group.has("value");
    auto series = group.series<T>("value", entry, description);
    if (is_new && !unit_h5md.empty()) group.set_member_attribute("value", "unit", unit_h5md);
    if (!group.has("step")) {
      group.link("/" + atoms_group + "/position/step", "step");
      group.link("/" + atoms_group + "/position/time", "time");
    }
    all.push_back(series);
    return series;
  }

  hdf5::Series rows_element(hdf5::Group& group, const Quantity& quantity) {
    const hdf5::Shape entry{order.n_rows(), 3};
    const hdf5::Description description{quantity.unit, {"frame", "atom", "xyz"}, quantity.text};
    return options.single_precision
               ? element<float>(group, quantity.name, entry, quantity.unit_h5md, description)
               : element<double>(group, quantity.name, entry, quantity.unit_h5md, description);
  }

  void open_series() {
    auto group = file.root().group(atoms_group);
    auto position = group.group("position");
    const bool is_new = !position.has("step");
    step = position.series<std::int64_t>("step", {}, {"1", {"frame"}, "Step of each frame."});
    time = position.series<double>("time", {}, {"ps", {"frame"}, "Time of each frame."});
    if (is_new) {
      position.set_member_attribute("time", "unit", "ps");
      file.root().link("/" + atoms_group, "particles/trajectory");
    }
    all = {*time};
    floats.push_back(rows_element(group, position_of));
    if (options.velocities) floats.push_back(rows_element(group, velocity_of));
    if (options.forces) floats.push_back(rows_element(group, force_of));
    image = element<std::int32_t>(group, image_of.name, {order.n_rows(), 3}, "",
                                  {"1", {"frame", "atom", "xyz"}, image_of.text});
    auto box = group.group("box");
    edges = element<double>(box, "edges", {3, 3}, "Angstrom",
                            {"angstrom", {"frame", "row", "xyz"}, "Cell vectors a, b, c."});
    origin = element<double>(box, "origin", {3}, "Angstrom",
                             {"angstrom", {"frame", "xyz"}, "Corner of the cell."});
    checksums.emplace(comm, file, atoms_group, "frame", "frame");
    if (continues) open_observables();
    if (continues) drop_frames_after(*options.restart_step);
  }

  void open_observables() {
    if (!file.root().has("observables")) return;
    auto group = file.root().group("observables");
    for (const std::string& name : group.names()) {
      auto shape = group.shape(name + "/value");
      shape.erase(shape.begin());
      observable_names.push_back(name);
      observables.push_back(element<double>(group, name, shape, "", {}));
    }
  }

  void drop_frames_after(std::int64_t last_step) {
    // All ranks read this alike: HDF5 would cut data in the chunk cache of one rank on that rank alone.
    const auto steps =
        file.root().open_group(atoms_group).read_rows<std::int64_t>("position/step", 0, step->size());
    std::uint64_t keep = h5md::rising(steps, last_step);
    if (options.restart_frames) keep = std::min(keep, *options.restart_frames);
    // A run that was killed while it wrote a frame leaves series of unequal length.
    for (const auto& series : all) keep = std::min(keep, series.size());
    // Steps first, and to the file: what is cut of the others is zeroed there at once.
    step->truncate(keep);
    file.hand_over();
    for (auto& series : all) series.truncate(std::min(keep, series.size()));
    checksums->keep(keep);
    file.hand_over();
    altered = checksums->altered(keep, hdf5::most_compared);
  }

  void make_observables(const std::vector<H5mdObservable>& given) {
    if (given.empty()) return;
    auto group = file.root().group("observables");
    for (const auto& o : given) {
      const hdf5::Shape entry = o.values.size() == 1 ? hdf5::Shape{} : hdf5::Shape{o.values.size()};
      observable_names.push_back(o.name);
      observables.push_back(
          element<double>(group, o.name, entry, o.unit,
                          {o.unit.empty() ? "1" : o.unit, {"frame"}, "Observable " + o.name + "."}));
    }
  }

  void append_observables(const std::vector<H5mdObservable>& given) {
    if (step->size() == 0 && observables.empty()) make_observables(given);
    QUINTET_CHECK(given.size() == observables.size(),
                  "{}: a frame with {} observables cannot follow frames with {} ({})", file.path(),
                  given.size(), observables.size(), joined(observable_names));
    for (const auto& o : given) {
      const auto name = std::find(observable_names.begin(), observable_names.end(), o.name);
      QUINTET_CHECK(name != observable_names.end(), "{}: observable {} was not in the first frame ({})",
                    file.path(), o.name, joined(observable_names));
      observables[name - observable_names.begin()].append<double>(o.values);
      checksums->note_on_root<double>("observables/" + o.name + "/value", o.values);
    }
  }

  /// A quantity of this rank's rows, in the precision of the file.
  struct Floats {
    const Vec3 h5md::AtomRow::*member;
    std::vector<float> single{};
    std::vector<double> whole{};
  };

  [[nodiscard]] std::vector<const char*> names_of_floats() const {
    std::vector<const char*> names{position_of.name};
    if (options.velocities) names.push_back(velocity_of.name);
    if (options.forces) names.push_back(force_of.name);
    return names;
  }

  void append(std::int64_t i_step, double t, const Atoms& atoms, const std::vector<H5mdObservable>& given) {
    std::vector<Floats> quantities{{&h5md::AtomRow::position}};
    if (options.velocities) quantities.push_back({&h5md::AtomRow::velocity});
    if (options.forces) quantities.push_back({&h5md::AtomRow::force});
    std::vector<std::int32_t> images;
    for (auto& q : quantities)
      options.single_precision ? q.single.reserve(3 * order.n_own()) : q.whole.reserve(3 * order.n_own());
    images.reserve(3 * order.n_own());
    order.visit(atoms, [&](std::span<const h5md::AtomRow> rows) {
      for (auto& q : quantities)
        for (const h5md::AtomRow& row : rows)
          for (const double component : row.*q.member) {
            if (options.single_precision)
              q.single.push_back(component);
            else
              q.whole.push_back(component);
          }
      for (const h5md::AtomRow& row : rows) images.insert(images.end(), row.image.begin(), row.image.end());
    });
    checksums->begin_frame();
    append_observables(given);
    const std::vector<const char*> names = names_of_floats();
    for (std::size_t k = 0; k < quantities.size(); ++k) {
      if (options.single_precision)
        floats[k].append_distributed<float>(quantities[k].single, order.offset());
      else
        floats[k].append_distributed<double>(quantities[k].whole, order.offset());
      const auto path = fmt::format("{}/{}/value", atoms_group, names[k]);
      if (options.single_precision)
        checksums->note<float>(path, quantities[k].single, 3 * order.offset());
      else
        checksums->note<double>(path, quantities[k].whole, 3 * order.offset());
      quantities[k] = {};
    }
    image->append_distributed<std::int32_t>(images, order.offset());
    edges->append<double>(atoms.box.rows());
    origin->append<double>(atoms.box.origin());
    checksums->note<std::int32_t>(atoms_group + "/image/value", images, 3 * order.offset());
    checksums->note_on_root<double>(atoms_group + "/box/edges/value", atoms.box.rows());
    checksums->note_on_root<double>(atoms_group + "/box/origin/value", atoms.box.origin());
    checksums->note_on_root<double>(atoms_group + "/position/time", std::span<const double>(&t, 1));
    checksums->note_on_root<std::int64_t>(atoms_group + "/position/step",
                                          std::span<const std::int64_t>(&i_step, 1));
    checksums->end_frame();
    time->append<double>(std::span<const double>(&t, 1));
    // Last, so that a frame counts only when it is whole.
    step->append<std::int64_t>(std::span<const std::int64_t>(&i_step, 1));
  }
};

H5mdWriter::H5mdWriter(const Comm& comm, const std::string& path, const Atoms& atoms,
                       const H5mdOptions& options)
    : implementation_(std::make_unique<Implementation>(comm, path, atoms, options)) {}
H5mdWriter::~H5mdWriter() = default;
H5mdWriter::H5mdWriter(H5mdWriter&&) noexcept = default;
H5mdWriter& H5mdWriter::operator=(H5mdWriter&&) noexcept = default;

void H5mdWriter::append(std::int64_t step, double time, const Atoms& atoms,
                        const std::vector<H5mdObservable>& observables) {
  implementation_->append(step, time, atoms, observables);
}
std::int64_t H5mdWriter::n_frames() const { return implementation_->step->size(); }
const std::string& H5mdWriter::altered() const { return implementation_->altered; }
void H5mdWriter::flush() { implementation_->file.flush(); }

}  // namespace quintet
