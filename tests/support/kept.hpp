#pragma once

#include <map>
#include <memory>
#include <string>

#include <gtest/gtest.h>

/// Objects by name that tests share: each is made once and destroyed when all tests have ended. Statics end
/// after Kokkos and LibTorch do; what is never destroyed leaves the code that LibTorch unpacked in TMPDIR.
template <class T>
class Kept final : public ::testing::Environment {
 public:
  /// The object of a name, made by make() at the first call, which returns a std::unique_ptr<T>.
  template <class Make>
  static T& get(const std::string& name, const Make& make) {
    auto& object = instance_->objects_[name];
    if (!object) object = make();
    return *object;
  }
  void TearDown() override { objects_.clear(); }

 private:
  std::map<std::string, std::unique_ptr<T>> objects_;
  static inline Kept* const instance_ = [] {
    auto* const kept = new Kept;
    ::testing::AddGlobalTestEnvironment(kept);  // GoogleTest owns it
    return kept;
  }();
};
