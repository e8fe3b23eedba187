#include <sstream>

#include "io/hdf5/file.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/flow/equations/pde_system.hpp"
#include "tests/fuzz/reader.hpp"
#ifdef QUINTET_WITH_TORCH
#include "surrogates/flow/model/flow_inference.hpp"
#include "tests/unit/flow/training/flow_sample.hpp"
#endif

/// Readers of meshfreeflow: equations as text, trained models.
namespace quintet::fuzz {
namespace {

std::vector<std::string> equations() {
  return {
      "dx(u) + dz(w)\n"
      "dt(b) + u*dx(b) + w*dz(b) - P*(dxx(b)+dzz(b))\n"
      "dt(u) + u*dx(u) + w*dz(u) + dx(p) = R*(dxx(u) + dzz(u))\n",
      "max(b, 0.5, u)^2 / (1 + exp(-x/P)) - dtx(sin(z*u)) + pi\ndz(b*b) - atan2(w, t)*e\nu - -2^3^0.5\n"};
}

/// Each line an equation; their residuals, and the adjoint, at a point of two samples.
void read_equations(const std::string& path) {
  std::vector<flow::EquationText> texts;
  std::istringstream lines(bytes_of(path));
  for (std::string line; std::getline(lines, line);) texts.push_back({"one", line, path});
  const flow::PdeSystem system(texts, {{"p", "b", "u", "w"}, {"t", "z", "x"}, {"P", "R"}});
  const auto residuals = system.residuals(std::vector<std::vector<double>>{{0.1, 0.2}, {1e-3, 1e-3}});
  const std::size_t n_jets = (1 + residuals.n_operators()) * residuals.n_fields();
  const std::vector<double> jets(n_jets, 0.7), place{0.1, 0.2, 0.3};
  std::vector<double> values(residuals.n_equations()), jets_bar(n_jets);
  for (const int sample : {0, 1}) {
    residuals.evaluate(sample, 1, jets.data(), place.data(), values.data());
    residuals.add_adjoint(sample, 1, jets.data(), place.data(), values.data(), jets_bar.data());
  }
}

#ifdef QUINTET_WITH_TORCH
std::vector<std::string> models() {
  std::vector<std::string> files;
  for (const auto kind : {flow::DecoderKind::continuous, flow::DecoderKind::convolutional})
    files.push_back(written("model.h5", [&](const std::string& path) {
      flow::FlowModel model{flow::small_header(kind), {}, {}};
      const auto size = flow::flow_network_size(model.header);
      model.parameters.assign(size.parameters, 0.125F);
      model.statistics.assign(size.statistics, 1);
      flow::save_flow_model(Comm::self(), path, model, hdf5::current_provenance());
      leave_seal(path);
    }));
  return files;
}

/// What superresolve does with a model and one training block of coarse fields.
void read_model(const std::string& path) {
  const flow::FlowModel model = flow::load_flow_model(Comm::self(), path);
  const auto& header = model.header;
  if (header.options.decoder.kind == flow::DecoderKind::continuous)
    static_cast<void>(flow::continuous_decoder(model));
  std::size_t nodes = 1;
  for (const int n : header.block) nodes *= n;
  if (nodes > 1000) return;  // fields of any size are the user's own
  const std::vector<float> fields(nodes * header.fields.size(), 0.5F);
  const std::vector<double> parameters(header.parameters.size(), 1);
  static_cast<void>(flow::encode_fields(model, 1, header.block, fields, parameters));
}
#endif

}  // namespace

std::vector<Reader> readers() {
  return {{"equations", "equations.txt", equations, read_equations},
#ifdef QUINTET_WITH_TORCH
          {"flow_model", "model.h5", models, read_model}
#endif
  };
}

}  // namespace quintet::fuzz
