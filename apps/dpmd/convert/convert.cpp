#include "apps/dpmd/convert/convert.hpp"

#include <filesystem>
#include <optional>

#include "apps/dpmd/setup/system.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "surrogates/potential/model/dp_document.hpp"
#include "surrogates/potential/model/dp_writer.hpp"

namespace quintet::dpmd {

namespace fs = std::filesystem;

void describe(Schema& schema, ConvertOptions& options) {
  schema
      .text("in", options.in,
            "Deep Potential model: .dp, .yaml or .json (DeePMD-kit's serialised tree); or --model IN")
      .required();
  schema.text("out", options.out, "File to write: .dp, .yaml or .json");
  schema.choice(
      "precision", options.precision,
      {{"model", ModelPrecision::model}, {"double", ModelPrecision::fp64}, {"single", ModelPrecision::fp32}},
      "That of the model, or another; single rounds the weights to float32");
  schema.flag("overwrite", options.overwrite, "Replace OUT if it is there");
  schema.text("model", options.model, "The model, as other commands take it; then OUT alone follows");
}

void require_new_model(const std::string& path, bool overwrite) {
  const fs::path name(path);
  QUINTET_CHECK(name.extension() == ".dp" || potential::is_text_document(path),
                "{}: models are written as .dp, .yaml or .json; for another format write {} and then 'dp "
                "convert-backend {} {}' with DeePMD-kit",
                path, fs::path(name).replace_extension(".dp").string(),
                fs::path(name).replace_extension(".dp").string(), path);
  const fs::path folder = name.parent_path();
  QUINTET_CHECK(folder.empty() || fs::is_directory(folder), "{}: there is no folder {} to write it to", path,
                folder.string());
  QUINTET_CHECK(overwrite || !fs::exists(name),
                "{} is there; nothing was written over. Remove it, choose another name or add --overwrite",
                path);
}

void convert(const Comm& comm, const ConvertOptions& options) {
  QUINTET_CHECK(
      options.model.has_value() != options.out.has_value(),
      "expected the model and the file to write: dpmd convert IN OUT, or dpmd convert --model IN OUT");
  const std::string &from = options.model ? *options.model : options.in,
                    &to = options.out ? *options.out : options.in;
  on_root(comm, [&] {
    require_new_model(to, options.overwrite);
    auto model = potential::read_dp(from);
    if (options.precision != ModelPrecision::model)
      model.single_precision = options.precision == ModelPrecision::fp32;
    potential::write_dp(to, model);
    log::info("{}: {}", to, model.summary());
  });
}

}  // namespace quintet::dpmd
