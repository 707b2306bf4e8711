#include <utility>

#include <rondo/rondo.hpp>

#include "contender.hpp"

namespace rondo::bench {

namespace {

class RondoContender final : public Contender {
 public:
  RondoContender(std::string name, Communicator& world, RondoWay way)
      : Contender(std::move(name)), world_(world), way_(std::move(way)) {
    options_.algorithm = way_.algorithm;
    options_.segment_bytes = way_.segment_bytes;
    if (way_.in_stream) options_.stream = Stream(nullptr);
  }

  bool supports(const Workload& work) const override {
    return is_floating(work.type) || work.op != ReduceOp::avg;
  }

  std::byte* allocate(std::size_t bytes) override {
    if (!way_.shared) return Contender::allocate(bytes);
    buffers_.emplace_back(world_, bytes);
    return buffers_.back().data();
  }

  void run(const Workload& work, std::byte* in, std::byte* out) override {
    const ConstBuffer input(in, work.input_count(), work.type);
    const Buffer output(out, work.output_count(), work.type);
    switch (work.collective) {
      case Collective::allreduce:
        return world_.allreduce(input, output, work.op, options_);
      case Collective::reduce_scatter:
        return world_.reduce_scatter(input, output, work.op, options_);
      case Collective::allgather:
        return world_.allgather(input, output, options_);
      case Collective::broadcast:
        return world_.broadcast(output, Workload::kRoot, options_);
      case Collective::reduce:
        return world_.reduce(input, output, work.op, Workload::kRoot, options_);
      default:
        return world_.barrier();
    }
  }

  std::string algorithm() const override {
    const std::string_view name = world_.last_algorithm();
    return name.empty() ? "-" : std::string(name);  // a barrier has none
  }

 private:
  Communicator& world_;
  RondoWay way_;
  Options options_;
  std::vector<SharedBuffer<std::byte>> buffers_;
};

}  // namespace

std::unique_ptr<Contender> make_rondo(std::string name, Communicator& world, RondoWay way) {
  return std::make_unique<RondoContender>(std::move(name), world, std::move(way));
}

}  // namespace rondo::bench
