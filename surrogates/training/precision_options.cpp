#include "surrogates/training/precision_options.hpp"

#include "io/config/schema.hpp"
#include "io/config/table.hpp"

namespace quintet {

namespace {

struct PrecisionRow {
  ParameterPrecision value;
  const char* name;
};
constexpr PrecisionRow precisions[] = {{ParameterPrecision::full, "float"},
                                       {ParameterPrecision::split_bf16, "split_bf16"}};

}  // namespace

void describe(Schema& schema, PrecisionOptions& options) {
  schema.choice(
      "parameters", options.parameters, choices_of(precisions),
      "float; split_bf16: the networks compute with weights rounded to bf16 (8 bits), the optimiser "
      "keeps the rest and updates whole floats. Another training, not the same to round-off");
}

}  // namespace quintet
