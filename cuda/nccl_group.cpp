#include "nccl_group.hpp"

#include <array>
#include <chrono>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include <rondo/error.hpp>
#include <rondo/half.hpp>

#include "groups.hpp"
#include "runtime.hpp"

namespace rondo::cuda {

using device::GroupCall;
using Kind = GroupCall::Kind;

namespace {

/// For what NCCL still has to do when a group goes that nothing is under way in.
constexpr std::chrono::seconds kFarewell{5};

ncclDataType_t nccl_type(DataType type) {
  switch (type) {
    case DataType::int8:
      return ncclInt8;
    case DataType::uint8:
      return ncclUint8;
    case DataType::int32:
      return ncclInt32;
    case DataType::uint32:
      return ncclUint32;
    case DataType::int64:
      return ncclInt64;
    case DataType::uint64:
      return ncclUint64;
    case DataType::float16:
      return ncclFloat16;
    case DataType::bfloat16:
      return ncclBfloat16;
    case DataType::float32:
      return ncclFloat32;
    case DataType::float64:
      return ncclFloat64;
  }
  return ncclUint8;
}

ncclRedOp_t nccl_op(ReduceOp op) {
  switch (op) {
    case ReduceOp::prod:
      return ncclProd;
    case ReduceOp::min:
      return ncclMin;
    case ReduceOp::max:
      return ncclMax;
    default:
      return ncclSum;
  }
}

/// `value` as an element of `type`, which is floating.
std::array<std::byte, 8> as_element(double value, DataType type) {
  std::array<std::byte, 8> element{};
  const auto put = [&](auto converted) {
    std::memcpy(element.data(), &converted, sizeof converted);
  };
  if (type == DataType::float64)
    put(value);
  else if (type == DataType::float32)
    put(static_cast<float>(value));
  else if (type == DataType::float16)
    put(float16(static_cast<float>(value)));
  else
    put(bfloat16(static_cast<float>(value)));
  return element;
}

/// NCCL calls of this thread that begin together: also when one of them throws, so that the
/// thread's next ones don't wait for an end.
class CallsAtOnce {
 public:
  explicit CallsAtOnce(const Nccl& nccl) : nccl_(nccl) {
    nccl_.check(nccl_.ncclGroupStart(), "ncclGroupStart");
  }
  ~CallsAtOnce() {
    if (!ended_) nccl_.is_pending_or_log(nccl_.ncclGroupEnd(), "ncclGroupEnd");
  }
  CallsAtOnce(const CallsAtOnce&) = delete;
  CallsAtOnce& operator=(const CallsAtOnce&) = delete;

  void end() {
    ended_ = true;
    nccl_.check(nccl_.ncclGroupEnd(), "ncclGroupEnd");
  }

 private:
  const Nccl& nccl_;
  bool ended_ = false;
};

}  // namespace

NcclGroup::NcclGroup(const Nccl& nccl, const Context& context, const device::GroupId& id, Rank rank,
                     int size)
    : nccl_(nccl), context_(context), rank_(rank), size_(size), stream_(context), over_(context) {
  const Context::Use use(context_);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclUniqueId unique{};
  static_assert(sizeof unique == sizeof id.bytes);
  std::memcpy(&unique, id.bytes.data(), sizeof unique);
  nccl_.check(nccl_.ncclCommInitRankConfig(&comm_, size, unique, rank, &config),
              fmt::format("ncclCommInitRankConfig of rank {} on device {}", rank, context.device));
}

NcclGroup::~NcclGroup() { finalize(); }

bool NcclGroup::is_pending() {
  if (comm_ == nullptr) throw Error(ErrorCode::nccl, "the NCCL communicator was aborted");
  ncclResult_t state = ncclSuccess;
  nccl_.check(nccl_.ncclCommGetAsyncError(comm_, &state), "ncclCommGetAsyncError");
  if (state == ncclSuccess) return false;
  return nccl_.check(state, fmt::format("NCCL on rank {}, device {},", rank_, context_.device));
}

void NcclGroup::start(const GroupCall& call, device::Event& after) {
  const Context::Use use(context_);
  stream_.wait(after);
  enqueued_ = false;
  enqueue(call);
}

bool NcclGroup::step() {
  // Until NCCL's thread has enqueued the call, its stream must not be touched.
  if (is_pending()) return false;
  if (!std::exchange(enqueued_, true)) stream_.record(over_);
  return over_.done();
}

void NcclGroup::enqueue(const GroupCall& call) {
  const ncclDataType_t type = nccl_type(call.type);
  switch (call.kind) {
    case Kind::broadcast:
      nccl_.check(
          nccl_.ncclBroadcast(call.input, call.output, call.count, type, call.root, comm_, queue()),
          "ncclBroadcast");
      return;
    case Kind::allgather:
      nccl_.check(nccl_.ncclAllGather(call.input, call.output, call.count, type, comm_, queue()),
                  "ncclAllGather");
      return;
    case Kind::all_to_all:
    case Kind::gather:
    case Kind::scatter:
      return enqueue_moves(call);
    default:
      break;
  }
  if (call.op != ReduceOp::avg) return reduce(call, nccl_op(call.op));
  ncclRedOp_t average = ncclSum;
  auto share = as_element(1.0 / size_, call.type);
  nccl_.check(
      nccl_.ncclRedOpCreatePreMulSum(&average, share.data(), type, ncclScalarHostImmediate, comm_),
      "ncclRedOpCreatePreMulSum");
  reduce(call, average);
  nccl_.check(nccl_.ncclRedOpDestroy(average, comm_), "ncclRedOpDestroy");
}

void NcclGroup::reduce(const GroupCall& call, ncclRedOp_t op) {
  const ncclDataType_t type = nccl_type(call.type);
  const CUstream stream = queue();
  if (call.kind == Kind::allreduce)
    nccl_.check(nccl_.ncclAllReduce(call.input, call.output, call.count, type, op, comm_, stream),
                "ncclAllReduce");
  else if (call.kind == Kind::reduce)
    nccl_.check(
        nccl_.ncclReduce(call.input, call.output, call.count, type, op, call.root, comm_, stream),
        "ncclReduce");
  else
    nccl_.check(
        nccl_.ncclReduceScatter(call.input, call.output, call.count, type, op, comm_, stream),
        "ncclReduceScatter");
}

/// Blocks that go straight from rank to rank, a rank's own as well.
void NcclGroup::enqueue_moves(const GroupCall& call) {
  const std::size_t bytes = call.count * size_of(call.type);
  const bool is_root = rank_ == call.root;
  const auto block = [&](const void* data, bool one_a_rank, Rank peer) {
    const std::size_t offset = one_a_rank ? static_cast<std::size_t>(peer) * bytes : 0;
    return static_cast<std::byte*>(const_cast<void*>(data)) + offset;
  };
  CallsAtOnce calls(nccl_);
  for (Rank peer = 0; peer < size_; ++peer) {
    if (call.kind != Kind::gather ? call.kind == Kind::all_to_all || is_root : peer == call.root)
      nccl_.check(nccl_.ncclSend(block(call.input, call.kind != Kind::gather, peer), bytes,
                                 ncclUint8, peer, comm_, queue()),
                  "ncclSend");
    if (call.kind != Kind::scatter ? call.kind == Kind::all_to_all || is_root : peer == call.root)
      nccl_.check(nccl_.ncclRecv(block(call.output, call.kind != Kind::scatter, peer), bytes,
                                 ncclUint8, peer, comm_, queue()),
                  "ncclRecv");
  }
  calls.end();
}

void NcclGroup::abort() noexcept {
  if (comm_ == nullptr) return;
  nccl_.is_pending_or_log(nccl_.ncclCommAbort(std::exchange(comm_, nullptr)), "ncclCommAbort");
}

/// Peers may still be sent what this rank's kernels have done already, so it isn't aborted at once.
void NcclGroup::finalize() noexcept {
  if (comm_ == nullptr) return;
  const auto latest = std::chrono::steady_clock::now() + kFarewell;
  ncclResult_t state = nccl_.ncclCommFinalize(comm_);
  while (state == ncclInProgress && std::chrono::steady_clock::now() < latest) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    if (nccl_.ncclCommGetAsyncError(comm_, &state) != ncclSuccess) break;
  }
  if (state != ncclSuccess) return abort();
  nccl_.is_pending_or_log(nccl_.ncclCommDestroy(std::exchange(comm_, nullptr)), "ncclCommDestroy");
}

namespace {

class NcclGroups : public device::GroupMaker {
 public:
  explicit NcclGroups(Runtime& runtime) : runtime_(runtime) {
    int version = 0;
    nccl_.check(nccl_.ncclGetVersion(&version), "ncclGetVersion");
    name_ = fmt::format("NCCL {}.{}.{}", version / 10'000, version / 100 % 100, version % 100);
  }

  std::string_view name() const override { return name_; }

  device::GroupId make_id() override {
    device::GroupId id;
    ncclUniqueId unique{};
    nccl_.check(nccl_.ncclGetUniqueId(&unique), "ncclGetUniqueId");
    std::memcpy(id.bytes.data(), &unique, sizeof unique);
    return id;
  }

  std::unique_ptr<device::Group> join(const device::GroupId& id, Rank rank, int size,
                                      int device) override {
    return std::make_unique<NcclGroup>(nccl_, runtime_.context(device), id, rank, size);
  }

 private:
  Runtime& runtime_;
  Nccl nccl_;
  std::string name_;
};

}  // namespace

device::GroupMaker& nccl_groups(Runtime& runtime) {
  // Never destroyed: groups of static lifetime may still use it.
  static auto* const groups = new NcclGroups(runtime);
  return *groups;
}

}  // namespace rondo::cuda
