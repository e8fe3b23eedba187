#include <algorithm>

#include "io/config/tree.hpp"
#include "io/hdf5/detail.hpp"

namespace quintet::hdf5 {
namespace detail {
namespace {

std::string quoted(const std::string& object_name, const std::string& name) {
  return fmt::format("attribute '{}' of '{}'", printable(name), printable(object_name));
}

void write_attribute(const Context& context, hid_t object, const std::string& name, hid_t type, hid_t space,
                     const void* values) {
  if (H5Aexists(object, name.c_str()) > 0) {
    context.check(H5Adelete(object, name.c_str()), "attribute " + name, "replace it");
  }
  const Attribute attribute(
      context.check(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT),
                    "attribute " + name, "make it"));
  if (H5Awrite(attribute, type, values) < 0) context.fail_write("attribute " + name);
  const std::uint64_t n = H5Sget_simple_extent_npoints(space);
  context.grow(0, metadata_of_attribute + n * H5Tget_size(type));
}

/// An open attribute with the facts that reading it needs.
struct OpenAttribute {
  Attribute attribute;
  Type type;
  std::uint64_t count;
};

/// A header that cannot be read is an error, not an absence.
bool has_attribute_of(const Context& context, hid_t object, const std::string& object_name,
                      const std::string& name) {
  return context.check(H5Aexists(object, name.c_str()), quoted(object_name, name), "look for it") > 0;
}

OpenAttribute open_attribute(const Context& context, hid_t object, const std::string& object_name,
                             const std::string& name) {
  const std::string what = quoted(object_name, name);
  QUINTET_CHECK(has_attribute_of(context, object, object_name, name), "{}: there is no {}", context.path,
                what);
  Attribute attribute(context.check(H5Aopen(object, name.c_str(), H5P_DEFAULT), what, "open it"));
  Type type(context.check(H5Aget_type(attribute), what, "find its type"));
  const Space space(context.check(H5Aget_space(attribute), what, "find its shape"));
  const std::uint64_t count = element_count(shape_of_space(space), what);
  QUINTET_CHECK(count <= context.bytes() / std::max<std::size_t>(H5Tget_size(type), 1),
                "{}: {}: claims {} values, more than the file can hold: it is corrupt", context.path, what,
                count);
  return {std::move(attribute), std::move(type), count};
}

std::vector<std::string> read_variable_texts(const Context& context, const OpenAttribute& open,
                                             const std::string& what) {
  check_variable_texts(context, open.count, what,
                       [&](hid_t type, void* raw) { return H5Aread(open.attribute, type, raw); });
  const auto memory = variable_text_type();
  H5Tset_cset(memory, H5Tget_cset(open.type));
  std::vector<char*> raw(open.count, nullptr);
  context.check(H5Aread(open.attribute, memory, raw.data()), what, "read it");
  std::vector<std::string> texts;
  for (char* text : raw) {
    texts.emplace_back(text ? text : "");
    H5free_memory(text);
  }
  return texts;
}

std::vector<std::string> read_fixed_texts(const Context& context, const OpenAttribute& open,
                                          const std::string& what) {
  const std::size_t length = H5Tget_size(open.type);
  std::string raw(open.count * length, '\0');
  context.check(H5Aread(open.attribute, open.type, raw.data()), what, "read it");
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < open.count; ++i)
    texts.push_back(without_padding(raw.substr(i * length, length), open.type));
  return texts;
}

}  // namespace

void write_text_attribute(const Context& context, hid_t object, const std::string& name,
                          const std::string& text) {
  const auto type = variable_text_type();
  const auto space = make_space({});
  const char* value = text.c_str();
  write_attribute(context, object, name, type, space, &value);
  context.grow(0, text.size());
}

void write_texts_attribute(const Context& context, hid_t object, const std::string& name,
                           const std::vector<std::string>& texts) {
  const auto type = variable_text_type();
  const auto space = make_space({texts.size()});
  std::vector<const char*> values;
  for (const auto& text : texts) values.push_back(text.c_str());
  for (const auto& text : texts) context.grow(0, metadata_of_attribute + text.size());
  values.push_back("");  // HDF5 wants a buffer even for an empty list
  write_attribute(context, object, name, type, space, values.data());
}

void write_number_attribute(const Context& context, hid_t object, const std::string& name, hid_t type,
                            const void* values, const Shape& shape) {
  const auto space = make_space(shape);
  const std::uint64_t nothing = 0;
  write_attribute(context, object, name, type, space, values ? values : &nothing);
}

void write_description(const Context& context, hid_t dataset, const std::string& name,
                       const Description& description) {
  QUINTET_CHECK(!description.units.empty(), "{}: {}: has no units; write \"1\" if it is dimensionless",
                context.path, name);
  write_text_attribute(context, dataset, "units", description.units);
  write_texts_attribute(context, dataset, "axes", description.axes);
  write_text_attribute(context, dataset, "description", description.text);
}

std::vector<std::string> read_texts_attribute(const Context& context, hid_t object,
                                              const std::string& object_name, const std::string& name) {
  const auto open = open_attribute(context, object, object_name, name);
  const std::string what = quoted(object_name, name);
  QUINTET_CHECK(H5Tget_class(open.type) == H5T_STRING, "{}: {}: holds {}, but text is expected", context.path,
                what, type_name(open.type));
  if (open.count == 0) return {};
  return H5Tis_variable_str(open.type) > 0 ? read_variable_texts(context, open, what)
                                           : read_fixed_texts(context, open, what);
}

namespace {

std::string read_text_attribute(const Context& context, hid_t object, const std::string& object_name,
                                const std::string& name) {
  const auto texts = read_texts_attribute(context, object, object_name, name);
  QUINTET_CHECK(texts.size() == 1, "{}: {}: holds {} texts, but one is expected", context.path,
                quoted(object_name, name), texts.size());
  return texts[0];
}

std::vector<double> read_number_attribute(const Context& context, hid_t object,
                                          const std::string& object_name, const std::string& name) {
  const auto open = open_attribute(context, object, object_name, name);
  const auto kind = H5Tget_class(open.type);
  QUINTET_CHECK(kind == H5T_INTEGER || kind == H5T_FLOAT || kind == H5T_ENUM,
                "{}: {}: holds {}, but numbers are expected", context.path, quoted(object_name, name),
                type_name(open.type));
  std::vector<double> values(open.count);
  if (values.empty()) return values;
  if (kind != H5T_ENUM) {
    context.check(H5Aread(open.attribute, H5T_NATIVE_DOUBLE, values.data()), quoted(object_name, name),
                  "read it");
    return values;
  }
  QUINTET_CHECK(H5Tget_size(open.type) == 1, "{}: {}: holds {}, but numbers are expected", context.path,
                quoted(object_name, name), type_name(open.type));
  std::vector<std::int8_t> raw(open.count);  // h5py's truth values: an enumeration of one byte
  context.check(H5Aread(open.attribute, open.type, raw.data()), quoted(object_name, name), "read it");
  std::copy(raw.begin(), raw.end(), values.begin());
  return values;
}

std::int64_t read_integer_attribute(const Context& context, hid_t object, const std::string& object_name,
                                    const std::string& name) {
  const auto open = open_attribute(context, object, object_name, name);
  QUINTET_CHECK(H5Tget_class(open.type) == H5T_INTEGER && open.count == 1,
                "{}: {}: holds {} of {}, but one integer is expected", context.path,
                quoted(object_name, name), open.count, type_name(open.type));
  // An unsigned value keeps its 64 bits, so that a seed above 2^63 survives.
  std::int64_t value = 0;
  const hid_t memory = H5Tget_sign(open.type) == H5T_SGN_NONE ? H5T_NATIVE_UINT64 : H5T_NATIVE_INT64;
  context.check(H5Aread(open.attribute, memory, &value), quoted(object_name, name), "read it");
  return value;
}

}  // namespace
}  // namespace detail

using namespace detail;

void Group::set_attribute(const std::string& name, const std::string& text) {
  write_text_attribute(*implementation_->context, implementation_->open_object(""), name, text);
}

void Group::set_attribute(const std::string& name, double value) {
  write_number_attribute(*implementation_->context, implementation_->open_object(""), name, H5T_NATIVE_DOUBLE,
                         &value, {});
}

void Group::set_attribute(const std::string& name, std::int64_t value) {
  write_number_attribute(*implementation_->context, implementation_->open_object(""), name, H5T_NATIVE_INT64,
                         &value, {});
}

void Group::set_attribute(const std::string& name, std::uint64_t value) {
  write_number_attribute(*implementation_->context, implementation_->open_object(""), name, H5T_NATIVE_UINT64,
                         &value, {});
}

void Group::set_attribute(const std::string& name, const std::vector<double>& values) {
  write_number_attribute(*implementation_->context, implementation_->open_object(""), name, H5T_NATIVE_DOUBLE,
                         values.data(), {values.size()});
}

void Group::set_attribute(const std::string& name, const std::vector<std::int64_t>& values) {
  write_number_attribute(*implementation_->context, implementation_->open_object(""), name, H5T_NATIVE_INT64,
                         values.data(), {values.size()});
}

void Group::set_attribute(const std::string& name, const std::vector<std::string>& values) {
  write_texts_attribute(*implementation_->context, implementation_->open_object(""), name, values);
}

bool Group::has_attribute(const std::string& name) const {
  return has_attribute_of(*implementation_->context, implementation_->open_object(""),
                          implementation_->full(""), name);
}

std::string Group::text_attribute(const std::string& name) const {
  return read_text_attribute(*implementation_->context, implementation_->open_object(""),
                             implementation_->full(""), name);
}

std::vector<std::string> Group::texts_attribute(const std::string& name) const {
  return read_texts_attribute(*implementation_->context, implementation_->open_object(""),
                              implementation_->full(""), name);
}

std::vector<double> Group::number_attribute(const std::string& name) const {
  return read_number_attribute(*implementation_->context, implementation_->open_object(""),
                               implementation_->full(""), name);
}

std::int64_t Group::integer_attribute(const std::string& name) const {
  return read_integer_attribute(*implementation_->context, implementation_->open_object(""),
                                implementation_->full(""), name);
}

void Group::set_member_attribute(const std::string& member, const std::string& name,
                                 const std::string& text) {
  write_text_attribute(*implementation_->context, implementation_->open_object(member), name, text);
}

void Group::set_member_attribute(const std::string& member, const std::string& name,
                                 const std::vector<std::string>& texts) {
  write_texts_attribute(*implementation_->context, implementation_->open_object(member), name, texts);
}

void Group::set_member_attribute(const std::string& member, const std::string& name, double value) {
  write_number_attribute(*implementation_->context, implementation_->open_object(member), name,
                         H5T_NATIVE_DOUBLE, &value, {});
}

void Group::set_member_attribute(const std::string& member, const std::string& name,
                                 const std::vector<std::int64_t>& values) {
  write_number_attribute(*implementation_->context, implementation_->open_object(member), name,
                         H5T_NATIVE_INT64, values.data(), {values.size()});
}

std::vector<double> Group::member_number_attribute(const std::string& member, const std::string& name) const {
  return read_number_attribute(*implementation_->context, implementation_->open_object(member),
                               implementation_->full(member), name);
}

std::string Group::member_text_attribute(const std::string& member, const std::string& name) const {
  return read_text_attribute(*implementation_->context, implementation_->open_object(member),
                             implementation_->full(member), name);
}

std::vector<std::string> Group::member_texts_attribute(const std::string& member,
                                                       const std::string& name) const {
  return read_texts_attribute(*implementation_->context, implementation_->open_object(member),
                              implementation_->full(member), name);
}

bool Group::has_member_attribute(const std::string& member, const std::string& name) const {
  return has_attribute_of(*implementation_->context, implementation_->open_object(member),
                          implementation_->full(member), name);
}

}  // namespace quintet::hdf5
