#include "bridges/c/dp_reader.h"

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "surrogates/potential/model/dp_source.hpp"

namespace {

using quintet::potential::DpSource;

void* open(const char* path, void* context, void (*take)(void*, const char*),
           void (*fail)(void*, const char*)) {
  try {
    auto source = quintet::potential::open_dp(path);
    take(context, quintet::to_json(source->tree(), 0).c_str());
    return source.release();
  } catch (const std::exception& error) {
    fail(context, error.what());
  }
  return nullptr;
}

bool read(void* file, const char* name, void* context,
          void (*take)(void*, int, const unsigned long long*, const double*),
          void (*fail)(void*, const char*)) {
  try {
    const auto* source = static_cast<const DpSource*>(file);
    const auto values = source->values(name);
    const auto shape = source->shape(name);
    const std::vector<unsigned long long> lengths(shape.begin(), shape.end());
    take(context, static_cast<int>(lengths.size()), lengths.data(), values.data());
    return true;
  } catch (const std::exception& error) {
    fail(context, error.what());
  }
  return false;
}

void close(void* file) { delete static_cast<DpSource*>(file); }

}  // namespace

extern "C" __attribute__((visibility("default"))) const quintet_dp_reader* quintet_dp_reader_functions() {
  static const quintet_dp_reader functions{open, read, close};
  return &functions;
}
