#include "apps/podlstm/append/append_options.hpp"

#include "io/config/schema.hpp"

namespace quintet::podlstm {

void describe(Schema& schema, AppendOptions& options) {
  schema.text("modes", options.modes, "modes.h5 of fields, as `podlstm fit` or `podlstm append` writes it")
      .required()
      .existing_file();
  schema.section(
      "fields", options.fields,
      "The record that `podlstm fit` has read, now longer. With fields.cache only its new files are "
      "read");
}

}  // namespace quintet::podlstm
