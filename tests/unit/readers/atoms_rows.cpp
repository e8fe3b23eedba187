#include "physics/particles/files/deepmd_system.hpp"
#include "physics/particles/files/h5md.hpp"
#include "physics/particles/files/read_configuration.hpp"
#include "surrogates/potential/model/dp_writer.hpp"
#include "tests/support/deep_potential_writer.hpp"
#include "tests/unit/particles/files/files_support.hpp"
#include "tests/unit/particles/files/text_samples.hpp"
#include "tests/unit/readers/reader_rows.hpp"

// Readers of atoms and of models of atoms.

namespace quintet::readers {
namespace {

void put_vectors(std::string& text, const std::vector<Vec3>& vectors) {
  for (const auto& v : vectors) put(text, v);
}

Answer of_frames(const std::vector<Configuration>& frames) {
  Answer answer;
  Reading reading;
  for (const auto& c : frames) {
    put(answer.values, c.box.rows());
    put(answer.values, c.box.origin());
    put(answer.values, c.box.periodic());
    for (const int type : c.types) answer.values += c.type_names[type] + " ";
    put(answer.values, c.ids);
    put(answer.values, c.masses);
    put_vectors(answer.values, c.positions);
    put_vectors(answer.values, c.velocities);
    put_vectors(answer.values, c.forces);
    if (c.energy) put(answer.values, std::array{*c.energy});
    if (c.virial) put(answer.values, *c.virial);
    reading.add(c.reading);
  }
  answer.reading = reading.text();
  return answer;
}

Answer read_atoms(const std::string& path) {
  ReadOptions options;
  options.all_frames = true;
  return of_frames(read_configurations(path, options));
}

void write_h5md(const std::string& path) {
  Atoms atoms;
  atoms.box = Box({10, 0, 0, 1, 10, 0, 0, 2, 10}, {true, true, false}, {0.5, 0, 0});
  atoms.type_names = {"O", "H"};
  atoms.masses = {15.999, 1.008};
  atoms.n_global = 3;
  atoms.reserve(3);
  for (int i = 0; i < 3; ++i) {
    atoms.n_local = i + 1;
    atoms.id(i) = i + 1;
    atoms.type(i) = i % 2;
    for (int l = 0; l < 3; ++l) {
      atoms.position(i, l) = i + 0.1 * l;
      atoms.velocity(i, l) = 0.25 * i - l;
      atoms.force(i, l) = 0.5 + i;
      atoms.image(i, l) = 0;
    }
  }
  H5mdWriter writer(Comm::self(), path, atoms, {.forces = true});
  for (int step = 0; step < 2; ++step) writer.append(step, 0.5 * step, atoms, {{"temperature", "K", {300}}});
  writer.flush();
}

void write_deepmd_hdf5(const std::string& path) {
  auto file = hdf5::File::create(Comm::self(), path);
  auto& root = file.root();
  root.write<std::int64_t>("type.raw", std::vector<std::int64_t>{0, 0}, {2}, {"1", {"atom"}, "Types."});
  root.write_text("type_map.raw", "O");
  auto set = root.group("set.000");
  set.write<double>("coord.npy", std::vector<double>{0, 0.5, 1, 1, 2, 3}, {1, 6},
                    {"angstrom", {"f", "x"}, "x."});
  set.write<double>("box.npy", std::vector<double>{4, 0, 0, 0, 5, 0, 0, 0, 6}, {1, 9},
                    {"angstrom", {"f", "x"}, "b."});
  set.write<double>("energy.npy", std::vector<double>{-1.25}, {1}, {"eV", {"f"}, "E."});
  file.close();
}

Answer read_deepmd(const std::string& path) {
  std::vector<Configuration> all;
  for (const auto& system : find_deepmd_systems(path)) {
    const auto frames = DeepmdSystem(system, {}).frames();
    all.insert(all.end(), frames.begin(), frames.end());
  }
  return of_frames(all);
}

/// A folder of text; the file that is damaged holds the coordinates.
void write_raw(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string() + "/";
  files::put(folder + "type.raw", "1\n0\n");
  files::put(folder + "type_map.raw", "O H\n");
  files::put(folder + "box.raw", "4 0 0 0 5 0 0 0 6\n");
  files::put(path, "0 0.5 1 1 2 3\n");
}

Answer read_raw(const std::string& path) {
  return read_deepmd(std::filesystem::path(path).parent_path().string());
}

void write_model(const std::string& path) {
  dp::Shape shape;
  shape.sel = {3, 4};
  shape.embedding = {2, 4};
  shape.fitting = {3, 3};
  shape.axis = 2;
  potential::write_dp(path, dp::random_model(shape, 1));
}

Answer read_model(const std::string& path) {
  const auto model = potential::read_dp(path);
  Answer answer{model.summary(), ""};
  put(answer.values, std::array{model.rcut, model.rcut_smooth, model.protection, double(model.axis_neuron),
                                double(model.type_one_side), double(model.single_precision)});
  put(answer.values, model.sel);
  for (const auto* statistics : {&model.mean, &model.deviation})
    for (const auto& of_type : *statistics) put(answer.values, of_type);
  put(answer.values, model.atom_bias);
  put(answer.values, model.output_bias);
  for (const auto* networks : {&model.embedding, &model.fitting})
    for (const auto& network : *networks)
      for (const auto& layer : network.layers) {
        put(answer.values, layer.weight);
        put(answer.values, layer.bias);
      }
  return answer;
}

}  // namespace

std::vector<Row> atoms_rows() {
  std::vector<Row> rows;
  for (const auto& sample : files::samples)
    rows.push_back({sample.name, "atoms", sample.name,
                    [&sample](const std::string& path) { files::put(path, sample.content); }, read_atoms,
                    true});
  rows.push_back({"H5MD", "atoms", "a.h5", write_h5md, read_atoms});
  rows.push_back(
      {"DeePMD HDF5", "deepmd", "a.hdf5", write_deepmd_hdf5, read_deepmd, false, {"/set.000/energy.npy"}});
  rows.push_back({"DeePMD raw", "deepmd", "coord.raw", write_raw, read_raw, true});
  rows.push_back({"model", "model", "a.dp", write_model, read_model});
  return rows;
}

}  // namespace quintet::readers
