#include "bridges/c/load_model.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include "bridges/c/dp_reader.h"
#include "io/log/error.hpp"
#include "surrogates/potential/model/dp_source.hpp"

namespace quintet::bridges {

namespace {

/// The reader beside this library, or where the build made it.
std::string reader_path() {
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&load_model), &here) != 0 && here.dli_fname != nullptr) {
    const auto beside = std::filesystem::path(here.dli_fname).parent_path() / QUINTET_DP_READER;
    std::error_code problem;
    if (std::filesystem::exists(beside, problem)) return beside.string();
  }
  return LATE_QUINTET_DP_READER;
}

/// Give the C library of another name space an environment of its own: it was handed the address of the
/// program's, which setenv() moves, and it would read freed memory when the process ends.
void keep_environment(void* library) {
  auto* const theirs = static_cast<char***>(dlsym(library, "environ"));
  if (theirs == nullptr || *theirs == nullptr || theirs == &environ) return;
  auto& texts = *new std::vector<std::string>;  // never freed: it is read at the very end of the process
  auto& copy = *new std::vector<char*>;
  for (char** entry = *theirs; *entry != nullptr; ++entry) texts.emplace_back(*entry);
  for (auto& text : texts) copy.push_back(text.data());
  copy.push_back(nullptr);
  *theirs = copy.data();
}

/// The reader; stays loaded, for there is room for few name spaces in a process.
const quintet_dp_reader& reader() {
  static const quintet_dp_reader* functions = nullptr;
  if (functions != nullptr) return *functions;
  const std::string path = reader_path();
#ifdef QUINTET_READER_IN_COMMON
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
#else
  void* const library = dlmopen(LM_ID_NEWLM, path.c_str(), RTLD_NOW | RTLD_LOCAL);
#endif
  void* const symbol = library == nullptr ? nullptr : dlsym(library, "quintet_dp_reader_functions");
  if (symbol == nullptr) {
    const char* const reason = dlerror();
    throw ResourceError(
        fmt::format("cannot load the reader of .dp files: {}; convert the model to text, which needs none: "
                    "dpmd convert MODEL.dp MODEL.yaml",
                    reason == nullptr ? path : reason));
  }
  keep_environment(library);
  functions = reinterpret_cast<const quintet_dp_reader* (*)()>(symbol)();
  return *functions;
}

/// What a call of the reader hands on; nothing may be thrown through it.
struct Answer {
  std::string text, error;
  potential::DpDocument::Array array;
};
template <class Keep>
void keep(void* context, Keep&& keep_in) noexcept {
  keep_in(*static_cast<Answer*>(context));
}
void take_text(void* context, const char* text) {
  keep(context, [text](Answer& answer) { answer.text = text; });
}
void take_error(void* context, const char* text) {
  keep(context, [text](Answer& answer) { answer.error = text; });
}
void take_array(void* context, int rank, const unsigned long long* shape, const double* values) {
  keep(context, [=](Answer& answer) {
    std::size_t n = 1;
    for (int k = 0; k < rank; ++k) n *= shape[k];
    answer.array.shape.assign(shape, shape + rank);
    answer.array.values.assign(values, values + n);
  });
}

/// A .dp file that the reader has open.
class ReaderSource final : public potential::DpSource {
 public:
  explicit ReaderSource(const std::string& path) {
    Answer answer;
    file_ = reader().open(path.c_str(), &answer, take_text, take_error);
    if (file_ == nullptr) throw InputError(answer.error);
    tree_ = parse_yaml(answer.text, path + " (json)");
  }
  ReaderSource(const ReaderSource&) = delete;
  ReaderSource& operator=(const ReaderSource&) = delete;
  ~ReaderSource() override { reader().close(file_); }
  [[nodiscard]] const Tree& tree() const override { return tree_; }
  [[nodiscard]] std::vector<std::uint64_t> shape(const std::string& name) const override {
    return array(name).shape;
  }
  [[nodiscard]] std::vector<double> values(const std::string& name) const override {
    return array(name).values;
  }

 private:
  [[nodiscard]] potential::DpDocument::Array array(const std::string& name) const {
    Answer answer;
    if (!reader().read(file_, name.c_str(), &answer, take_array, take_error)) throw InputError(answer.error);
    return std::move(answer.array);
  }

  void* file_ = nullptr;
  Tree tree_;
};

}  // namespace

potential::Model load_model(const std::string& path) {
  if (potential::is_text_document(path))
    return read_model(path, potential::DocumentSource(path, potential::read_text_document(path)));
  return read_model(path, ReaderSource(path));
}

}  // namespace quintet::bridges
