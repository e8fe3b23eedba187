#pragma once

#include <string>

#include "apps/podlstm/setup/fields_options.hpp"
#include "io/config/schema_fwd.hpp"

namespace quintet::podlstm {

/// Input of `podlstm append`.
struct AppendOptions {
  std::string modes;
  FieldsOptions fields;
};
void describe(Schema& schema, AppendOptions& options);

}  // namespace quintet::podlstm
