#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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

/// The tree and the arrays of one model, with the file's name in every complaint.
class DpFile {
 public:
  DpFile(const std::string& path, const DpSource& source);
  [[nodiscard]] const Tree& model() const { return source_.tree().at("model"); }
  [[nodiscard]] const Tree& top() const { return source_.tree(); }
  [[nodiscard]] const std::string& path() const { return path_; }

  /// Values of the array `owner["@variables"][name]`; empty if null or absent. Expects `n` values if n >= 0.
  [[nodiscard]] std::vector<double> array(const Tree& owner, const std::string& name, long n = -1) const;
  /// Values of the array that the description names so; `meaning` is for complaints.
  [[nodiscard]] std::vector<double> dataset(const std::string& dataset, const std::string& meaning,
                                            long n) const;
  [[nodiscard]] std::vector<std::uint64_t> shape(const std::string& dataset) const {
    return source_.shape(dataset);
  }

 private:
  std::string path_;
  const DpSource& source_;
};

/// Throws InputError: what the file has and dpmd has not, and `way`, what may be done instead.
[[noreturn]] void refuse(const DpFile& file, const std::string& what, const std::string& way = "");
/// True if a key is there and neither null, false, 0 nor an empty list.
[[nodiscard]] bool given(const Tree& owner, const char* key);
/// True if a part is in float32, false if in float64. Throws InputError for another precision.
[[nodiscard]] bool single_precision(const DpFile& file, const Tree& part, const char* name);
/// The networks of a collection; throws InputError unless there are so many, of n_in inputs.
[[nodiscard]] std::vector<Network> read_networks(const DpFile& file, const Tree& collection,
                                                 std::size_t expected, int n_in);
/// A network from the description of its layers. Throws InputError.
[[nodiscard]] Network read_network(const DpFile& file, const Tree& tree, int n_in);
/// A symmetric list of type pairs as flags [n * n]. Throws InputError.
[[nodiscard]] std::vector<bool> read_pairs(const DpFile& file, const Tree& owner, const char* key, int n);

/// A descriptor of a file, and what the model around it must know.
struct DpDescriptor {
  DescriptorModel model;
  std::vector<std::vector<double>> constants;  ///< [n_types] numbers of a centre type that the fitting
                                               ///< networks read after D; none of them: empty
  std::optional<TypeReaders> readers;          ///< of dpa1, without the fitting networks
  bool mixed_types = false;                    ///< one fitting network may serve all types
  bool single = false;                         ///< in float32
  int version = 1;
};
/// One descriptor, not a hybrid. Throws InputError that says what is wrong or not supported.
[[nodiscard]] DpDescriptor read_descriptor(const DpFile& file, const Tree& tree,
                                           const std::vector<std::string>& type_names);

/// The model that a source describes; `path` is named in every complaint. Errors: as read_dp().
[[nodiscard]] Model read_model(const std::string& path, const DpSource& source);

/// The open HDF5 file `path`, a native .dp. Throws InputError.
[[nodiscard]] std::unique_ptr<DpSource> open_dp(const std::string& path);

/// "" or what to do with a file of one of DeePMD-kit's other formats, by its name.
[[nodiscard]] std::string advice_on_format(const std::string& path);

}  // namespace quintet::potential
