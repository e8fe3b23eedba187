#include <filesystem>

#include "io/config/tree.hpp"
#include "io/hdf5/embedded_file.hpp"
#include "io/hdf5/file.hpp"
#include "io/hdf5/seal.hpp"
#include "io/log/error.hpp"
#include "io/parallel/comm.hpp"
#include "surrogates/potential/model/dp_source.hpp"

namespace quintet::potential {

namespace {

class Hdf5Source final : public DpSource {
 public:
  explicit Hdf5Source(const std::string& path) : file_(open(path)) {
    tree_ = parse_yaml(file_.root().text_attribute("json"), path + " (json)");
  }
  [[nodiscard]] const Tree& tree() const override { return tree_; }
  [[nodiscard]] std::vector<std::uint64_t> shape(const std::string& name) const override {
    const auto shape = file_.root().shape(name);
    return {shape.begin(), shape.end()};
  }
  [[nodiscard]] std::vector<double> values(const std::string& name) const override {
    return file_.root().read<double>(name);
  }

 private:
  static hdf5::File open(const std::string& path) {
    const std::string help = advice_on_format(path);
    QUINTET_CHECK(help.empty() || !std::filesystem::exists(path),
                  "{}: not a native Deep Potential model (.dp){}", path, help);
    auto file = hdf5::open_verified(Comm::self(), path);
    hdf5::refuse_registry(file);
    QUINTET_CHECK(file.root().has_attribute("json"),
                  "{}: not a Deep Potential model: the HDF5 root has no attribute 'json' (a native "
                  "DeePMD-kit .dp file has; convert other formats with 'dp convert-backend')",
                  path);
    return file;
  }

  hdf5::File file_;
  Tree tree_;
};

}  // namespace

Model read_dp(const std::string& path) {
  if (is_text_document(path)) return read_model(path, DocumentSource(path, read_text_document(path)));
  return read_model(path, Hdf5Source(path));
}

std::unique_ptr<DpSource> open_dp(const std::string& path) { return std::make_unique<Hdf5Source>(path); }

}  // namespace quintet::potential
