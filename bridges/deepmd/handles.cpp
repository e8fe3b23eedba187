#include "bridges/deepmd/handles.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <system_error>

namespace quintet::bridges {

namespace fs = std::filesystem;

std::string model_file(const std::string& path, std::string& error) {
  const fs::path name(path);
  const std::string ending = name.extension().string();
  std::error_code problem;
  if (ending == ".dp" || ending == ".yaml" || ending == ".yml" || ending == ".json" ||
      !fs::exists(name, problem))
    return path;
  const fs::path beside = fs::path(path).replace_extension(".dp");
  const std::string convert = "dp convert-backend " + path + " " + beside.string();
  if (!fs::exists(beside, problem)) {
    error = path +
            ": Quintet reads a model as .dp, and takes the one beside a model of another format: " + convert;
    return "";
  }
  if (fs::last_write_time(beside, problem) < fs::last_write_time(name, problem)) {
    error = beside.string() + " is older than " + path + ", in whose place Quintet would take it: " + convert;
    return "";
  }
  return beside.string();
}

namespace {

void open(const char* const* paths, int n, DeepmdHandle& handle) {
  std::vector<std::string> files;
  std::vector<const char*> names;
  for (int i = 0; i < n && paths != nullptr; ++i) {
    files.push_back(model_file(paths[i] == nullptr ? "" : paths[i], handle.error));
    if (!handle.error.empty()) return;
  }
  for (const auto& file : files) names.push_back(file.c_str());
  handle.potential = quintet_potential_open_on(names.size(), names.data(), std::getenv("QUINTET_PRECISION"),
                                               std::getenv("QUINTET_DEVICE"));
  handle.error = quintet_potential_error(handle.potential);
  if (handle.error.starts_with("precision '")) handle.error += " (environment variable QUINTET_PRECISION)";
  if (handle.error.starts_with("device")) handle.error += " (environment variable QUINTET_DEVICE)";
}

}  // namespace

void DeepmdHandle::say_error_once() {
  if (error.empty() || has_said_error) return;
  has_said_error = true;
  std::fprintf(stderr, "ERROR: Quintet: %s\n", error.c_str());
}

DeepmdHandle* open_models(const char* const* paths, int n) {
  auto* handle = new (std::nothrow) DeepmdHandle;
  if (handle == nullptr) return nullptr;
  try {
    open(paths, n, *handle);
  } catch (const std::exception&) {
    handle->error = "out of memory";  // fits without allocation
  }
  return handle;
}

char* copy_of(const std::string& text) {
  auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy != nullptr) std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

}  // namespace quintet::bridges
