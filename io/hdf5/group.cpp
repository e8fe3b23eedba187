#include <algorithm>

#include "io/hdf5/detail.hpp"

namespace quintet::hdf5 {
namespace {

using namespace detail;

/// Members are made with the groups on their way.
Properties link_creation() {
  Properties properties(H5Pcreate(H5P_LINK_CREATE));
  H5Pset_create_intermediate_group(properties, 1);
  return properties;
}

std::shared_ptr<Group::Implementation> at(const Group::Implementation& parent, const std::string& name) {
  std::string path = parent.full(name);
  while (path.ends_with("/")) path.pop_back();
  return std::make_shared<Group::Implementation>(Group::Implementation{parent.context, path});
}

/// Called for each link of a group.
herr_t collect_name(hid_t, const char* name, const H5L_info_t*, void* names) {
  static_cast<std::vector<std::string>*>(names)->emplace_back(name);
  return 0;
}

}  // namespace

bool Group::Implementation::has(const std::string& name) const {
  context->require_open();
  const std::string path_all = full(name);
  // H5Lexists answers for the last part only, so each part of the way is asked for.
  for (std::size_t end = path_all.find('/', 1); end != std::string::npos; end = path_all.find('/', end + 1)) {
    if (H5Lexists(context->file, path_all.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
  }
  if (path_all == "/") return true;
  return H5Lexists(context->file, path_all.c_str(), H5P_DEFAULT) > 0 &&
         H5Oexists_by_name(context->file, path_all.c_str(), H5P_DEFAULT) > 0;
}

std::vector<std::string> Group::Implementation::names() const {
  context->require_open();
  const std::string own = full("");
  const GroupHandle group(
      context->check(H5Gopen2(context->file, own.c_str(), H5P_DEFAULT), own, "open the group"));
  // In the order of the file: for another, HDF5 1.10 makes a table that it frees wrongly where a link is
  // damaged.
  std::vector<std::string> names;
  context->check(H5Literate(group, H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, collect_name, &names), own,
                 "list the group");
  std::sort(names.begin(), names.end());
  return names;
}

void Group::Implementation::require(const std::string& name, std::string_view kind) const {
  if (has(name)) return;
  throw InputError(fmt::format("{}: there is no {} '{}'; group '{}' has: {}", context->path, kind,
                               printable(full(name)), full(""), joined(names())));
}

Object Group::Implementation::open_object(const std::string& name) const {
  require(name, "member");
  return Object(
      context->check(H5Oopen(context->file, full(name).c_str(), H5P_DEFAULT), full(name), "open it"));
}

Group Group::group(const std::string& name) {
  const auto& own = *implementation_;
  if (!own.has(name)) {
    const auto links = link_creation();
    const GroupHandle made(own.context->check(
        H5Gcreate2(own.context->file, own.full(name).c_str(), links, H5P_DEFAULT, H5P_DEFAULT),
        own.full(name), "make the group"));
    own.context->grow(0, metadata_of_object);
  }
  return open_group(name);
}

Group Group::open_group(const std::string& name) const {
  const auto& own = *implementation_;
  own.require(name, "group");
  const GroupHandle found(H5Gopen2(own.context->file, own.full(name).c_str(), H5P_DEFAULT));
  QUINTET_CHECK(found >= 0, "{}: '{}' is not a group: HDF5: {}", own.context->path, own.full(name),
                library_error());
  return Group(at(own, name));
}

bool Group::has(const std::string& name) const { return implementation_->has(name); }
std::vector<std::string> Group::names() const { return implementation_->names(); }

bool Group::is_group(const std::string& name) const {
  const Object object = implementation_->open_object(name);
  return H5Iget_type(object) == H5I_GROUP;
}

void Group::link(const std::string& target, const std::string& name) {
  const auto& own = *implementation_;
  own.require(target, "member");
  const auto links = link_creation();
  own.context->check(H5Lcreate_hard(own.context->file, own.full(target).c_str(), own.context->file,
                                    own.full(name).c_str(), links, H5P_DEFAULT),
                     own.full(name), "make the link");
}

Dataset Group::Implementation::create_dataset(const std::string& name, hid_t type, hid_t space,
                                              hid_t creation, const Description& description) const {
  const std::string path_all = full(name);
  if (has(name))
    context->check(H5Ldelete(context->file, path_all.c_str(), H5P_DEFAULT), path_all, "replace it");
  const auto links = link_creation();
  Dataset dataset(
      context->check(H5Dcreate2(context->file, path_all.c_str(), type, space, links, creation, H5P_DEFAULT),
                     path_all, "make the dataset"));
  context->grow(0, H5Dget_storage_size(dataset) + metadata_of_object);
  write_description(*context, dataset, path_all, description);
  context->unscaled[path_all] = description.axes;
  return dataset;
}

}  // namespace quintet::hdf5
