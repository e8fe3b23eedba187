#include "surrogates/potential/model/dp_writer.hpp"
#include "surrogates/potential/model/model.hpp"
#include "tests/fuzz/reader.hpp"
#include "tests/support/deep_potential_writer.hpp"

/// Readers of Deep Potential models.
namespace quintet::fuzz {
namespace {

/// A small model as a file of this ending.
std::vector<std::string> model(const std::string& name) {
  dp::Shape shape;
  shape.sel = {3, 4};
  shape.embedding = {2, 4};
  shape.fitting = {3, 3};
  shape.axis = 2;
  const auto plain = dp::random_model(shape, 1);
  return {written(name, [&](const std::string& path) { potential::write_dp(path, plain); }),
          written(name, [&](const std::string& path) {
            potential::write_dp(path, potential::compressed(plain, 0.9, {0.5, 1.0}));
          })};
}

void read(const std::string& path) { static_cast<void>(potential::read_dp(path).summary()); }

}  // namespace

std::vector<Reader> readers() {
  return {{"dp", "a.dp", [] { return model("a.dp"); }, read},
          {"dp_text", "a.json", [] { return model("a.json"); }, read}};
}

}  // namespace quintet::fuzz
