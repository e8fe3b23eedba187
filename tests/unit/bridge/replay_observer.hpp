#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>
#include <ATen/record_function.h>

#include "surrogates/bridge/torch_recording.hpp"

/// Sees what recorded operators do, while they are called again on the host's cores: whether a GPU could
/// record them, as far as that can be seen without one.
namespace quintet {

class ReplayObserver {
 public:
  ReplayObserver() {
    now = this;
    handle_ =
        at::addThreadLocalCallback(at::RecordFunctionCallback(begin, end)
                                       .needsInputs(true)
                                       .needsOutputs(true)
                                       .scopes({at::RecordScope::FUNCTION, at::RecordScope::USER_SCOPE}));
  }
  ~ReplayObserver() {
    at::removeCallback(handle_);
    now = nullptr;
  }
  ReplayObserver(const ReplayObserver&) = delete;
  ReplayObserver& operator=(const ReplayObserver&) = delete;

  int n_replays = 0, n_operators = 0;
  /// Operators that wait for a device's numbers, draw random ones, or make tensors of a number that is not
  /// known.
  std::vector<std::string> refused;

  /// Memory that replays have read from outside since the last call. It is kept, so that no tensor to come
  /// has the address of one that is gone.
  [[nodiscard]] std::set<const void*> take_outside() {
    std::set<const void*> places;
    for (const auto& storage : outside_) places.insert(storage.unsafeGetStorageImpl());
    kept_.insert(kept_.end(), outside_.begin(), outside_.end());
    outside_.clear();
    return places;
  }

 private:
  struct Context : at::ObserverContext {
    bool is_replay = false;
  };

  static std::unique_ptr<at::ObserverContext> begin(const at::RecordFunction& function) {
    auto context = std::make_unique<Context>();
    context->is_replay =
        function.scope() == at::RecordScope::USER_SCOPE && std::string_view(function.name()) == replay_scope;
    if (context->is_replay) {
      ++now->n_replays;
      now->inside_ = true;
    } else if (now->inside_ && function.scope() == at::RecordScope::FUNCTION) {
      now->see(function);
      ++now->depth_;
    }
    return context;
  }
  static void end(const at::RecordFunction& function, at::ObserverContext* context) {
    if (context && static_cast<Context*>(context)->is_replay) {
      now->inside_ = false;
      now->made_.clear();
    } else if (now->inside_ && function.scope() == at::RecordScope::FUNCTION) {
      --now->depth_;
      for (const auto& value : function.outputs())
        visit(value, [](const at::Tensor& tensor) { now->made_.push_back(tensor.storage()); });
    }
  }

  template <class Visit>
  static void visit(const c10::IValue& value, const Visit& visit_one) {
    const auto one = [&](const at::Tensor& tensor) {
      if (tensor.defined() && tensor.has_storage() && !tensor.unsafeGetTensorImpl()->is_wrapped_number())
        visit_one(tensor);
    };
    if (value.isTensor()) one(value.toTensor());
    if (value.isTensorList())
      for (const at::Tensor& tensor : value.toTensorVector()) one(tensor);
  }
  static bool has(const std::vector<c10::Storage>& storages, const at::Tensor& tensor) {
    return std::any_of(storages.begin(), storages.end(), [&](const auto& storage) {
      return storage.unsafeGetStorageImpl() == tensor.storage().unsafeGetStorageImpl();
    });
  }

  void see(const at::RecordFunction& function) {
    static constexpr std::array forbidden = {"aten::_local_scalar_dense",
                                             "aten::item",
                                             "aten::is_nonzero",
                                             "aten::nonzero",
                                             "aten::masked_select",
                                             "aten::equal",
                                             "aten::index",
                                             "aten::index_put_",
                                             "aten::_unique2",
                                             "aten::unique_dim",
                                             "aten::bincount",
                                             "aten::rand",
                                             "aten::randn",
                                             "aten::normal_",
                                             "aten::uniform_",
                                             "aten::bernoulli_",
                                             "aten::random_",
                                             "aten::dropout",
                                             "aten::randperm",
                                             "aten::pin_memory",
                                             "aten::allclose",
                                             "aten::histc",
                                             "aten::multinomial"};
    ++n_operators;
    const std::string_view name = function.name();
    if (std::find(forbidden.begin(), forbidden.end(), name) != forbidden.end()) refused.emplace_back(name);
    if (depth_ > 0) return;  // what LibTorch itself makes of its operators
    for (const auto& value : function.inputs())
      visit(value, [this](const at::Tensor& tensor) {
        if (!has(made_, tensor) && !has(outside_, tensor)) outside_.push_back(tensor.storage());
      });
  }

  inline static ReplayObserver* now = nullptr;
  at::CallbackHandle handle_ = 0;
  bool inside_ = false;
  int depth_ = 0;
  std::vector<c10::Storage> made_, outside_, kept_;
};

}  // namespace quintet
