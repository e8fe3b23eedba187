#include "apps/dpmd/convert/convert.hpp"

#include <filesystem>
#include <optional>

#include "apps/dpmd/setup/system.hpp"
#include "io/log/error.hpp"
#include "io/log/log.hpp"
#include "surrogates/potential/model/dp_document.hpp"
#include "surrogates/potential/model/dp_writer.hpp"

namespace quintet::dpmd {

namespace {

namespace fs = std::filesystem;

enum Argument { first, second, precision, overwrite, named };

/// The precision asked for; nothing: that of the model.
std::optional<bool> single_precision(const std::vector<std::string>& words) {
  if (words.empty() || words.front() == "model") return std::nullopt;
  QUINTET_CHECK(words.front() == "single" || words.front() == "double",
                "--precision {} is not known; expected model, double or single", words.front());
  return words.front() == "single";
}

}  // namespace

std::vector<Application::Flag> convert_flags() {
  return {{"IN", "Deep Potential model: .dp, .yaml or .json (DeePMD-kit's serialised tree); or --model IN",
           true, ""},
          {"OUT", "File to write: .dp, .yaml or .json", false, ""},
          {"--precision", "model, double or single (rounds the weights to float32)", false, "model"},
          {"--overwrite", "Replace OUT if it is there", false, "", true},
          {"--model", "The model, as other commands take it; then OUT alone follows", false, ""}};
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

void convert(const Comm& comm, const Application::Arguments& arguments) {
  const bool by_flag = !arguments[named].empty();
  QUINTET_CHECK(
      by_flag == arguments[second].empty(),
      "expected the model and the file to write: dpmd convert IN OUT, or dpmd convert --model IN OUT");
  const std::string& from = arguments[by_flag ? named : first].front();
  const std::string& to = arguments[by_flag ? first : second].front();
  on_root(comm, [&] {
    require_new_model(to, !arguments[overwrite].empty());
    const auto single = single_precision(arguments[precision]);
    auto model = potential::read_dp(from);
    model.single_precision = single.value_or(model.single_precision);
    potential::write_dp(to, model);
    log::info("{}: {}", to, model.summary());
  });
}

}  // namespace quintet::dpmd
