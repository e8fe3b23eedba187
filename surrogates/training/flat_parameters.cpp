#include "surrogates/training/flat_parameters.hpp"

#include <utility>

#include "io/log/error.hpp"
#include "surrogates/training/resident_arrays.hpp"
#include "surrogates/training/split_bf16.hpp"
#include "surrogates/training/stores/host_store.hpp"

namespace quintet {

namespace {

/// The ranks that share memory, where all nodes have equally many; else each rank for itself.
Comm sharing_ranks(const Comm& comm, Holder holder) {
  if (comm.size() == 1) return comm;
  const Comm node = comm.node();
  const int n = node.size();
  const bool shares = holder == Holder::node && comm.minimum(n) == comm.maximum(n);
  return shares ? node : comm.split(comm.rank(), 0);
}

}  // namespace

template <class Real>
FlatParameters<Real>::FlatParameters(const Comm& comm, const std::vector<BlockTensors>& blocks,
                                     std::span<const double> start, const OptimiserOptions& optimiser,
                                     const ParallelOptions& parallel, const OffloadOptions& offload,
                                     const PrecisionOptions& precision, const ResidentMaker<Real>& on_device)
    : FlatParameters(comm, blocks, start, optimiser, parallel, sharing_ranks(comm, parallel.holder), offload,
                     precision, on_device) {}

template <class Real>
FlatParameters<Real>::FlatParameters(const Comm& comm, const std::vector<BlockTensors>& blocks,
                                     std::span<const double> start, const OptimiserOptions& optimiser,
                                     const ParallelOptions& parallel, const Comm& holder,
                                     const OffloadOptions& offload, const PrecisionOptions& precision,
                                     const ResidentMaker<Real>& on_device)
    : layout_(blocks, comm.size(), parallel.bucket_numbers(sizeof(Real))),
      optimiser_(optimiser),
      offload_(offload),
      splits_(precision.splits()),
      has_device_(on_device != nullptr),
      kept_on_host_(kept_on_host(optimiser, offload, precision, layout_.has_parts())),
      ledger_(std::make_unique<Ledger>()) {
  if (start.size() != size())
    throw InternalError(fmt::format("{} numbers for {} parameters", start.size(), size()));
  const StoreRequest request{comm, layout_, optimiser_, parallel, offload, *ledger_};
  if (is_resident())
    store_ = on_device(request);
  else
    store_ = std::make_unique<HostStore<Real>>(request, holder, splits_);
  const HeldBytes held = store_->host_bytes();
  const auto note = [&](ByteCategory category, std::size_t bytes) {
    ledger_->note(Tier::host, category, bytes);
  };
  note(ByteCategory::parameters, held.values);
  note(ByteCategory::gradients, held.gradients + held.live);
  note(ByteCategory::workspace, held.workspace + held.expanded);
  if (is_resident() && !offloads_states(optimiser, offload)) note(ByteCategory::optimiser, held.optimiser);
  const std::vector<Real> typed(start.begin(), start.end());
  assign_values(typed);
}

template <class Real>
void FlatParameters<Real>::count_twice(std::vector<Twins> twins) {
  if (splits_) throw InternalError("updates of values in halves do not count twice");
  if (layout_.has_parts()) throw InternalError("updates of layers in parts do not count twice");
  store_->count_twice(std::move(twins));
}

template <class Real>
std::vector<Real> FlatParameters<Real>::all_computed_values() const {
  std::vector<Real> all = all_values();
  if (splits_)
    for (Real& value : all) value = as_bf16(value);
  return all;
}

template <class Real>
void FlatParameters<Real>::assign_pending(const Pending& pending) {
  QUINTET_CHECK(
      pending.t == 0 || offload_.delayed_update,
      "the checkpoint holds a gradient that waits for its update; expected offload.delayed_update as "
      "in the run that wrote it");
  store_->assign_pending(pending);
}

template <class Real>
FlatAccount FlatParameters<Real>::account() const {
  FlatAccount account{bytes(), *ledger_, offload_traffic(), store_->bytes_sent(),
                      store_->host_bytes().total()};
  account.is_resident = is_resident();
  account.bytes_copied = store_->bytes_copied();
  if (is_resident())
    account.residence = offloads_states(optimiser_, offload_)
                            ? "on the device but for states, which are offloaded"
                            : "on the device";
  else if (has_device_)
    account.residence = fmt::format(
        "on the host, for {}; weights go to the device and gradients come back in each step", kept_on_host_);
  return account;
}

template class FlatParameters<float>;
template class FlatParameters<double>;

}  // namespace quintet
