#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "io/config/tree.hpp"
#include "surrogates/potential/model/dp_document.hpp"
#include "surrogates/potential/model/model.hpp"

namespace quintet::potential {

/// Where the description and the arrays of a model come from: HDF5, text, or a program that has read them.
class DpSource {
 public:
  virtual ~DpSource() = default;
  [[nodiscard]] virtual const Tree& tree() const = 0;
  /// Shape of the array that the description names so. Throws InputError if there is none.
  [[nodiscard]] virtual std::vector<std::uint64_t> shape(const std::string& name) const = 0;
  [[nodiscard]] virtual std::vector<double> values(const std::string& name) const = 0;
};

/// A document in memory, read from `path`.
class DocumentSource final : public DpSource {
 public:
  DocumentSource(std::string path, DpDocument document)
      : path_(std::move(path)), document_(std::move(document)) {}
  [[nodiscard]] const Tree& tree() const override { return document_.description; }
  [[nodiscard]] std::vector<std::uint64_t> shape(const std::string& name) const override {
    return array(name).shape;
  }
  [[nodiscard]] std::vector<double> values(const std::string& name) const override {
    return array(name).values;
  }

 private:
  [[nodiscard]] const DpDocument::Array& array(const std::string& name) const;

  std::string path_;
  DpDocument document_;
};

/// The model that a source describes; `path` is named in every complaint. Errors: as read_dp().
[[nodiscard]] Model read_model(const std::string& path, const DpSource& source);

/// The open HDF5 file `path`, a native .dp. Throws InputError.
[[nodiscard]] std::unique_ptr<DpSource> open_dp(const std::string& path);

/// "" or what to do with a file of one of DeePMD-kit's other formats, by its name.
[[nodiscard]] std::string advice_on_format(const std::string& path);

}  // namespace quintet::potential
