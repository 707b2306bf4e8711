#pragma once

#include "context.hpp"
#include "device/group.hpp"
#include "nccl.hpp"
#include "stream.hpp"

namespace rondo::cuda {

/// A communicator of NCCL's that never blocks: what a call begins goes on in a thread of NCCL's,
/// and is asked about.
class NcclGroup : public device::Group {
 public:
  NcclGroup(const Nccl& nccl, const Context& context, const device::GroupId& id, Rank rank,
            int size);
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;
  ~NcclGroup() override;

  bool joined() override { return !is_pending(); }
  void start(const device::GroupCall& call, device::Event& after) override;
  bool step() override;
  void abort() noexcept override;

 private:
  /// Whether what was begun on the host goes on; throws what became of it.
  bool is_pending();
  CUstream queue() { return static_cast<CUstream>(stream_.handle()); }
  void enqueue(const device::GroupCall& call);
  void enqueue_moves(const device::GroupCall& call);
  void reduce(const device::GroupCall& call, ncclRedOp_t op);
  void finalize() noexcept;

  const Nccl& nccl_;
  const Context& context_;
  Rank rank_;
  int size_;
  ncclComm_t comm_ = nullptr;
  Stream stream_;
  Event over_;
  bool enqueued_ = true;  // of the latest call, and `over_` recorded behind it
};

}  // namespace rondo::cuda
