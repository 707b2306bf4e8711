#include <rondo/communicator.hpp>

#include <utility>

#include "core/settings.hpp"
#include "device/in_use.hpp"
#include "engine/session.hpp"
#include "transport/mpi_connect.hpp"

namespace rondo {

using collectives::Collective;

namespace {
std::unique_ptr<engine::Session> make_session(MPI_Comm comm, const Options& options) {
  const core::Settings settings = core::Settings::from_environment();
  settings.put_in_force();
  device::use_cuda_if_present();
  auto transport = transport::connect(comm, options.timeout.value_or(settings.timeout));
  return std::make_unique<engine::Session>(std::move(transport), options, settings);
}
}  // namespace

Communicator::Communicator(MPI_Comm comm, const Options& options)
    : session_(make_session(comm, options)) {}

Communicator::Communicator(std::unique_ptr<engine::Session> session)
    : session_(std::move(session)) {}

Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;
Communicator::~Communicator() = default;

namespace {
engine::Session& existing(engine::Session* session) {
  if (session == nullptr)
    throw Error(ErrorCode::usage,
                "this communicator has no ranks (split with a negative color, or moved from)");
  return *session;
}

const transport::Transport& transport_of(engine::Session* session) {
  return existing(session).transport();
}
}  // namespace

engine::Session& Communicator::session() { return existing(session_.get()); }

Rank Communicator::rank() const { return transport_of(session_.get()).rank(); }

int Communicator::size() const { return session_ == nullptr ? 0 : session_->transport().size(); }

int Communicator::nodes() const { return transport_of(session_.get()).topology().nodes(); }

int Communicator::node_rank() const {
  return transport_of(session_.get()).topology().node_rank(rank());
}

int Communicator::node_size() const {
  const transport::Topology& topology = transport_of(session_.get()).topology();
  return static_cast<int>(topology.ranks_of(topology.node_of(rank())).size());
}

std::string_view Communicator::last_algorithm() const {
  return existing(session_.get()).last_algorithm();
}

Communicator Communicator::split(int color, int key) {
  return Communicator(session().split(color, key));
}

namespace {

using engine::Call;

Call allreduce_call(ConstBuffer input, Buffer output, ReduceOp op) {
  return {.collective = Collective::allreduce, .input = input, .output = output, .op = op};
}

Call reduce_call(ConstBuffer input, Buffer output, ReduceOp op, Rank root, bool is_root) {
  return {.collective = Collective::reduce,
          .input = input,
          .output = is_root ? output : Buffer{},
          .op = op,
          .root = root};
}

Call broadcast_call(Buffer data, Rank root) {
  return {.collective = Collective::broadcast, .input = data, .output = data, .root = root};
}

Call reduce_scatter_call(ConstBuffer input, Buffer output, ReduceOp op,
                         std::span<const std::size_t> counts = {}) {
  return {.collective = Collective::reduce_scatter,
          .input = input,
          .output = output,
          .op = op,
          .input_counts = counts};
}

Call allgather_call(ConstBuffer input, Buffer output, std::span<const std::size_t> counts = {}) {
  return {.collective = Collective::allgather,
          .input = input,
          .output = output,
          .output_counts = counts};
}

Call all_to_all_call(ConstBuffer input, Buffer output) {
  return {.collective = Collective::all_to_all, .input = input, .output = output};
}

Call all_to_all_call(ConstBuffer input, std::span<const std::size_t> send_counts, Buffer output,
                     std::span<const std::size_t> receive_counts) {
  return {.collective = Collective::all_to_all,
          .input = input,
          .output = output,
          .input_counts = send_counts,
          .output_counts = receive_counts};
}

Call gather_call(ConstBuffer input, Buffer output, Rank root, bool is_root) {
  return {.collective = Collective::gather,
          .input = input,
          .output = is_root ? output : Buffer{},
          .root = root};
}

Call scatter_call(ConstBuffer input, Buffer output, Rank root, bool is_root) {
  return {.collective = Collective::scatter,
          .input = is_root ? input : ConstBuffer{},
          .output = output,
          .root = root};
}

Call barrier_call() { return {.collective = Collective::barrier}; }

}  // namespace

Request Communicator::launch(const Call& call, const Options& options) {
  engine::Launch& launched = session().launch(call, options);
  return {session().launch_pool(), launched};
}

void Communicator::allreduce(std::span<const Buffer> tensors, ReduceOp op, const Options& options) {
  session().allreduce_all(tensors, op, options);
}

void Communicator::allreduce(ConstBuffer input, Buffer output, ReduceOp op,
                             const Options& options) {
  session().run(allreduce_call(input, output, op), options);
}

Request Communicator::iallreduce(ConstBuffer input, Buffer output, ReduceOp op,
                                 const Options& options) {
  return launch(allreduce_call(input, output, op), options);
}

void Communicator::reduce(ConstBuffer input, Buffer output, ReduceOp op, Rank root,
                          const Options& options) {
  session().run(reduce_call(input, output, op, root, rank() == root), options);
}

Request Communicator::ireduce(ConstBuffer input, Buffer output, ReduceOp op, Rank root,
                              const Options& options) {
  return launch(reduce_call(input, output, op, root, rank() == root), options);
}

void Communicator::broadcast(Buffer data, Rank root, const Options& options) {
  session().run(broadcast_call(data, root), options);
}

Request Communicator::ibroadcast(Buffer data, Rank root, const Options& options) {
  return launch(broadcast_call(data, root), options);
}

void Communicator::reduce_scatter(ConstBuffer input, Buffer output, ReduceOp op,
                                  const Options& options) {
  session().run(reduce_scatter_call(input, output, op), options);
}

Request Communicator::ireduce_scatter(ConstBuffer input, Buffer output, ReduceOp op,
                                      const Options& options) {
  return launch(reduce_scatter_call(input, output, op), options);
}

void Communicator::reduce_scatter_v(ConstBuffer input, Buffer output,
                                    std::span<const std::size_t> counts, ReduceOp op,
                                    const Options& options) {
  session().run(reduce_scatter_call(input, output, op, counts), options);
}

Request Communicator::ireduce_scatter_v(ConstBuffer input, Buffer output,
                                        std::span<const std::size_t> counts, ReduceOp op,
                                        const Options& options) {
  return launch(reduce_scatter_call(input, output, op, counts), options);
}

void Communicator::allgather(ConstBuffer input, Buffer output, const Options& options) {
  session().run(allgather_call(input, output), options);
}

Request Communicator::iallgather(ConstBuffer input, Buffer output, const Options& options) {
  return launch(allgather_call(input, output), options);
}

void Communicator::allgather_v(ConstBuffer input, Buffer output,
                               std::span<const std::size_t> counts, const Options& options) {
  session().run(allgather_call(input, output, counts), options);
}

Request Communicator::iallgather_v(ConstBuffer input, Buffer output,
                                   std::span<const std::size_t> counts, const Options& options) {
  return launch(allgather_call(input, output, counts), options);
}

void Communicator::all_to_all(ConstBuffer input, Buffer output, const Options& options) {
  session().run(all_to_all_call(input, output), options);
}

Request Communicator::iall_to_all(ConstBuffer input, Buffer output, const Options& options) {
  return launch(all_to_all_call(input, output), options);
}

void Communicator::all_to_all_v(ConstBuffer input, std::span<const std::size_t> send_counts,
                                Buffer output, std::span<const std::size_t> receive_counts,
                                const Options& options) {
  session().all_to_all_v(all_to_all_call(input, send_counts, output, receive_counts), options);
}

Request Communicator::iall_to_all_v(ConstBuffer input, std::span<const std::size_t> send_counts,
                                    Buffer output, std::span<const std::size_t> receive_counts,
                                    const Options& options) {
  return launch(all_to_all_call(input, send_counts, output, receive_counts), options);
}

void Communicator::gather(ConstBuffer input, Buffer output, Rank root, const Options& options) {
  session().run(gather_call(input, output, root, rank() == root), options);
}

Request Communicator::igather(ConstBuffer input, Buffer output, Rank root, const Options& options) {
  return launch(gather_call(input, output, root, rank() == root), options);
}

void Communicator::scatter(ConstBuffer input, Buffer output, Rank root, const Options& options) {
  session().run(scatter_call(input, output, root, rank() == root), options);
}

Request Communicator::iscatter(ConstBuffer input, Buffer output, Rank root,
                               const Options& options) {
  return launch(scatter_call(input, output, root, rank() == root), options);
}

void Communicator::barrier(const Options& options) { session().run(barrier_call(), options); }

Request Communicator::ibarrier(const Options& options) { return launch(barrier_call(), options); }

void Communicator::send(ConstBuffer data, Rank to, const Options& options) {
  session().send(data, to, options);
}

Request Communicator::isend(ConstBuffer data, Rank to, const Options& options) {
  return {session().launch_pool(),
          session().launch_message(engine::Launch::Kind::send, data, {}, to, options)};
}

Request Communicator::ireceive(Buffer data, Rank from, const Options& options) {
  return {session().launch_pool(),
          session().launch_message(engine::Launch::Kind::receive, {}, data, from, options)};
}

void Communicator::receive(Buffer data, Rank from, const Options& options) {
  session().receive(data, from, options);
}

}  // namespace rondo
