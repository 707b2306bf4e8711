#include <rondo/communicator.hpp>

#include <utility>

#include "core/settings.hpp"
#include "engine/session.hpp"
#include "transport/mpi_connect.hpp"

namespace rondo {

using collectives::Collective;

namespace {
std::unique_ptr<engine::Session> make_session(MPI_Comm comm, const Options& options) {
  const core::Settings settings = core::Settings::from_environment();
  settings.put_in_force();
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

void Communicator::allreduce(ConstBuffer input, Buffer output, ReduceOp op,
                             const Options& options) {
  session().run({.collective = Collective::allreduce, .input = input, .output = output, .op = op},
                options);
}

void Communicator::allreduce(std::span<const Buffer> tensors, ReduceOp op, const Options& options) {
  session().allreduce_all(tensors, op, options);
}

void Communicator::reduce(ConstBuffer input, Buffer output, ReduceOp op, Rank root,
                          const Options& options) {
  if (rank() != root) output = {};
  session().run(
      {.collective = Collective::reduce, .input = input, .output = output, .op = op, .root = root},
      options);
}

void Communicator::broadcast(Buffer data, Rank root, const Options& options) {
  session().run({.collective = Collective::broadcast, .input = data, .output = data, .root = root},
                options);
}

void Communicator::reduce_scatter(ConstBuffer input, Buffer output, ReduceOp op,
                                  const Options& options) {
  session().run(
      {.collective = Collective::reduce_scatter, .input = input, .output = output, .op = op},
      options);
}

void Communicator::reduce_scatter_v(ConstBuffer input, Buffer output,
                                    std::span<const std::size_t> counts, ReduceOp op,
                                    const Options& options) {
  session().run({.collective = Collective::reduce_scatter,
                 .input = input,
                 .output = output,
                 .op = op,
                 .input_counts = counts},
                options);
}

void Communicator::allgather(ConstBuffer input, Buffer output, const Options& options) {
  session().run({.collective = Collective::allgather, .input = input, .output = output}, options);
}

void Communicator::allgather_v(ConstBuffer input, Buffer output,
                               std::span<const std::size_t> counts, const Options& options) {
  session().run({.collective = Collective::allgather,
                 .input = input,
                 .output = output,
                 .output_counts = counts},
                options);
}

void Communicator::all_to_all(ConstBuffer input, Buffer output, const Options& options) {
  session().run({.collective = Collective::all_to_all, .input = input, .output = output}, options);
}

void Communicator::all_to_all_v(ConstBuffer input, std::span<const std::size_t> send_counts,
                                Buffer output, std::span<const std::size_t> receive_counts,
                                const Options& options) {
  session().all_to_all_v({.collective = Collective::all_to_all,
                          .input = input,
                          .output = output,
                          .input_counts = send_counts,
                          .output_counts = receive_counts},
                         options);
}

void Communicator::gather(ConstBuffer input, Buffer output, Rank root, const Options& options) {
  if (rank() != root) output = {};
  session().run({.collective = Collective::gather, .input = input, .output = output, .root = root},
                options);
}

void Communicator::scatter(ConstBuffer input, Buffer output, Rank root, const Options& options) {
  if (rank() != root) input = {};
  session().run({.collective = Collective::scatter, .input = input, .output = output, .root = root},
                options);
}

void Communicator::barrier(const Options& options) {
  session().run({.collective = Collective::barrier}, options);
}

void Communicator::send(ConstBuffer data, Rank to, const Options& options) {
  session().send(data, to, options);
}

void Communicator::receive(Buffer data, Rank from, const Options& options) {
  session().receive(data, from, options);
}

}  // namespace rondo
