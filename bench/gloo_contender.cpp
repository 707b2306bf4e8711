#include <cstdint>
#include <memory>
#include <utility>

#include <gloo/allgather.h>
#include <gloo/allreduce.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/math.h>
#include <gloo/reduce.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include "contender.hpp"

namespace rondo::bench {

namespace {

template <class T>
gloo::AllreduceOptions::Func function_of(ReduceOp op) {
  switch (op) {
    case ReduceOp::prod:
      return [](void* c, const void* a, const void* b, std::size_t n) {
        gloo::product<T>(c, a, b, n);
      };
    case ReduceOp::min:
      return [](void* c, const void* a, const void* b, std::size_t n) { gloo::min<T>(c, a, b, n); };
    case ReduceOp::max:
      return [](void* c, const void* a, const void* b, std::size_t n) { gloo::max<T>(c, a, b, n); };
    default:
      return [](void* c, const void* a, const void* b, std::size_t n) { gloo::sum<T>(c, a, b, n); };
  }
}

class GlooContender final : public Contender {
 public:
  GlooContender(int rank, int ranks, const std::string& folder, bool one_node)
      : Contender("gloo"), context_(std::make_shared<gloo::rendezvous::Context>(rank, ranks)) {
    gloo::transport::tcp::attr attributes;
    if (one_node) attributes.iface = "lo";
    auto device = gloo::transport::tcp::CreateDevice(attributes);
    gloo::rendezvous::FileStore store(folder);
    context_->connectFullMesh(store, device);
  }

  bool supports(const Workload& work) const override {
    // Its reduce-scatter has another interface, of an older kind.
    if (work.collective == Collective::reduce_scatter) return false;
    if (work.op == ReduceOp::avg && collectives::reduces(work.collective)) return false;
    return work.type == DataType::float32 || work.type == DataType::float64 ||
           work.type == DataType::int32 || work.type == DataType::int64;
  }

  void run(const Workload& work, std::byte* input, std::byte* output) override {
    switch (work.type) {
      case DataType::float64:
        return run_typed<double>(work, input, output);
      case DataType::int32:
        return run_typed<std::int32_t>(work, input, output);
      case DataType::int64:
        return run_typed<std::int64_t>(work, input, output);
      default:
        return run_typed<float>(work, input, output);
    }
  }

 private:
  template <class T>
  void run_typed(const Workload& work, std::byte* input, std::byte* output) {
    auto* in = reinterpret_cast<T*>(input);
    auto* out = reinterpret_cast<T*>(output);
    // Calls follow one another in order, so that one tag will do.
    switch (work.collective) {
      case Collective::allreduce: {
        gloo::AllreduceOptions options(context_);
        if (!work.in_place) options.setInput(in, work.count);
        options.setOutput(out, work.count);
        options.setReduceFunction(function_of<T>(work.op));
        return gloo::allreduce(options);
      }
      case Collective::reduce: {
        gloo::ReduceOptions options(context_);
        options.setInput(in, work.count);
        if (scratch_.size() < work.bytes()) scratch_.resize(work.bytes());
        auto* target = work.rank == Workload::kRoot ? out : reinterpret_cast<T*>(scratch_.data());
        options.setOutput(target, work.count);
        options.setReduceFunction(function_of<T>(work.op));
        options.setRoot(Workload::kRoot);
        return gloo::reduce(options);
      }
      case Collective::allgather: {
        gloo::AllgatherOptions options(context_);
        if (!work.in_place) options.setInput(in, work.block());
        options.setOutput(out, work.count);
        return gloo::allgather(options);
      }
      case Collective::broadcast: {
        gloo::BroadcastOptions options(context_);
        options.setOutput(out, work.count);
        options.setRoot(Workload::kRoot);
        return gloo::broadcast(options);
      }
      default: {
        gloo::BarrierOptions options(context_);
        return gloo::barrier(options);
      }
    }
  }

  std::shared_ptr<gloo::rendezvous::Context> context_;  // Gloo's interface wants it shared
  std::vector<std::byte> scratch_;
};

}  // namespace

std::unique_ptr<Contender> make_gloo(int rank, int ranks, const std::string& folder,
                                     bool one_node) {
  return std::make_unique<GlooContender>(rank, ranks, folder, one_node);
}

bool has_gloo() { return true; }

}  // namespace rondo::bench
