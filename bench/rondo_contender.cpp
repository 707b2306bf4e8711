#include <utility>

#include <rondo/rondo.hpp>

#include "contender.hpp"

namespace rondo::bench {

namespace {

class RondoContender final : public Contender {
 public:
  RondoContender(std::string name, Communicator& world, bool shared, std::string algorithm,
                 std::size_t segment_bytes)
      : Contender(std::move(name)),
        world_(world),
        shared_(shared),
        algorithm_(std::move(algorithm)) {
    options_.algorithm = algorithm_;
    options_.segment_bytes = segment_bytes;
  }

  bool supports(const Workload& work) const override {
    return is_floating(work.type) || work.op != ReduceOp::avg;
  }

  std::byte* allocate(std::size_t bytes) override {
    if (!shared_) return Contender::allocate(bytes);
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
  bool shared_;
  std::string algorithm_;
  Options options_;
  std::vector<SharedBuffer<std::byte>> buffers_;
};

}  // namespace

std::unique_ptr<Contender> make_rondo(std::string name, Communicator& world, bool shared,
                                      std::string algorithm, std::size_t segment_bytes) {
  return std::make_unique<RondoContender>(std::move(name), world, shared, std::move(algorithm),
                                          segment_bytes);
}

}  // namespace rondo::bench
