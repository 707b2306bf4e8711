#include "engine/session-inl.hpp"

#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <thread>
#include <utility>

#include <fmt/core.h>

#include "core/backoff.hpp"
#include "core/log.hpp"
#include "core/trace.hpp"
#include "device/in_use.hpp"
#include "engine/memory_kinds.hpp"
#include "transport/keep_for_ever.hpp"

namespace rondo::engine {

using collectives::Collective;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kWarnAfter = 60s;
constexpr auto kCensusPatience = 2000ms;  // for the answers to "how far are you?"
constexpr auto kDepartureGrace = 1000ms;  // what a rank sent before it left may still arrive
constexpr auto kReportGrace = 1000ms;     // for the other ranks' reports before the job is aborted

std::size_t processors_of_this_process() {
  cpu_set_t processors;
  CPU_ZERO(&processors);
  if (sched_getaffinity(0, sizeof processors, &processors) != 0) return 1;
  return static_cast<std::size_t>(CPU_COUNT(&processors));
}

}  // namespace

Session::Session(Agreed, std::unique_ptr<transport::Transport> transport, const Options& defaults,
                 const core::Settings& settings)
    : transport_(std::move(transport)),
      settings_(settings),
      defaults_(defaults),
      default_algorithm_(defaults.algorithm),
      health_(*transport_),
      operation_(std::make_unique<Operation>(*transport_)),
      message_(std::make_unique<Message>(*transport_)),
      programs_(transport_->rank(), transport_->topology()),
      launches_(std::make_unique<Launches>(*transport_, programs_)),
      staged_(std::make_unique<StagedOperation>(*operation_, CallKind::blocking, programs_,
                                                *transport_)),
      staged_message_(std::make_unique<StagedMessage>(*message_, *transport_)),
      uneven_(std::make_unique<UnevenAllToAll>(*operation_, programs_, *transport_)),
      in_group_(std::make_unique<GroupOperation>(*operation_, programs_, transport_->size())),
      among_peers_(std::make_unique<PeerOperation>(*operation_, programs_, *transport_)) {
  defaults_.algorithm = default_algorithm_;
  const transport::Topology& topology = transport_->topology();
  const auto ranks_here = topology.ranks_of(topology.node_of(transport_->rank())).size();
  needs_all_cores_ = processors_of_this_process() < 2 * ranks_here;
  if (transport_->size() > 1) watch();
  transport_->when_ending([this] { end(); });
}

Session::~Session() {
  finish_launches();
  launch_pool_->forget_session();
  leave_drivers();
  if (!health_.failure()) return;
  transport::keep_for_ever(std::move(operation_));
  transport::keep_for_ever(std::move(message_));
  transport::keep_for_ever(std::move(launches_));
  transport::keep_for_ever(std::move(node_));
  transport::keep_for_ever(std::move(packed_));
  transport::keep_for_ever(std::move(staged_));
  transport::keep_for_ever(std::move(staged_message_));
  transport::keep_for_ever(std::move(uneven_));
  transport::keep_for_ever(std::move(in_group_));
  transport::keep_for_ever(std::move(among_peers_));
  transport::keep_for_ever(std::move(stagings_));
}

bool Session::has_failed() noexcept {
  const Hold hold(*this, SessionLock::Patience::endless);
  return health_.failure().has_value();
}

Terms Session::terms_of(const Options& options) const {
  Terms terms;
  terms.per_call_algorithm = options.algorithm;
  terms.default_algorithm = default_algorithm_.empty() ? settings_.algorithm : default_algorithm_;
  terms.segment_bytes =
      options.segment_bytes != 0 ? options.segment_bytes : defaults_.segment_bytes;
  terms.deterministic =
      options.deterministic.value_or(defaults_.deterministic.value_or(settings_.deterministic));
  terms.narrow = options.wire.value_or(defaults_.wire.value_or(Wire::wide)) == Wire::narrow;
  terms.scale = options.scale * defaults_.scale;
  terms.timeout = options.timeout.value_or(defaults_.timeout.value_or(settings_.timeout));
  return terms;
}

void Session::run(const Call& call, const Options& options) {
  if (options.stream) return static_cast<void>(launch(call, options, launch_pool_.get()));
  guarded([&] {
    if (device::Runtime* const devices = device::in_use())
      run_anywhere(call, options, *devices);
    else
      run_held(call, options);
  });
}

void Session::run_held(const Call& call, const Options& options, Pending pending) {
  health_.enter(++sequence_);
  if (!launches_->empty()) make_room();
  const Terms terms = terms_of(options);
  const auto began = core::tracing() ? Clock::now() : Clock::time_point{};
  operation_->start(call, terms, sequence_, programs_);
  finish(*operation_, terms.timeout, pending);
  trace(call, began);
  last_algorithm_ = operation_->algorithm();
  health_.leave();
}

void Session::trace(const Call& call, Clock::time_point began) const {
  if (core::tracing())
    core::trace({.name = name_of(call.collective),
                 .track = core::Track::blocking,
                 .start = began,
                 .end = Clock::now(),
                 .bytes = std::max(call.input.bytes(), call.output.bytes())});
}

void Session::all_to_all_v(const Call& call, const Options& options) {
  guarded([&] {
    if (options.stream) refuse_stream("all_to_all_v");
    const Terms terms = terms_of(options);
    check_terms(call, terms, transport_->rank(), transport_->size());
    check_memory(call, transport_->rank());
    uneven_->start(call, terms, sequence_ + 1);
    run_series(call, *uneven_, UnevenAllToAll::kOperations, terms);
  });
}

void Session::run_series(const Call& call, Series& series, std::uint64_t operations,
                         const Terms& terms) {
  health_.enter(sequence_ + 1, sequence_ + operations);
  sequence_ += operations;
  const auto began = core::tracing() ? Clock::now() : Clock::time_point{};
  finish(series, terms.timeout);
  trace(call, began);
  last_algorithm_ = operation_->algorithm();
  health_.leave();
}

void Session::check_peer(Rank peer, const char* call) const {
  if (peer < 0 || peer >= transport_->size())
    throw Error(ErrorCode::usage, fmt::format("{}: rank {} is not in this communicator of {} ranks",
                                              call, peer, transport_->size()));
  if (peer == transport_->rank())
    throw Error(ErrorCode::usage,
                fmt::format("{}: rank {} is the caller itself; copy the data instead", call, peer));
}

void Session::send(ConstBuffer data, Rank to, const Options& options) {
  guarded([&] {
    check_peer(to, "send");
    if (options.stream) refuse_stream("send");
    const auto timeout = terms_of(options).timeout;
    if (start_staged_message(data, {}, to)) return finish<Series>(*staged_message_, timeout);
    message_->start_send(data, to);
    finish(*message_, timeout);
  });
}

void Session::receive(Buffer data, Rank from, const Options& options) {
  guarded([&] {
    check_peer(from, "receive");
    if (options.stream) refuse_stream("receive");
    finish_receives(from);
    const auto timeout = terms_of(options).timeout;
    if (start_staged_message({}, data, from)) return finish<Series>(*staged_message_, timeout);
    message_->start_receive(data, from);
    finish(*message_, timeout);
  });
}

/// Who waits for the node's ranks alone is woken by them.
void Session::end_turn(core::Backoff& backoff, bool moved, bool waits_in_memory) {
  const Activity others = moved ? Activity::idle : step_others();
  if (moved || others == Activity::moving)
    backoff.reset();
  else if (waits_in_memory && node_ != nullptr && others == Activity::idle &&
           launches_->wait_in_memory())
    backoff.pause_or([this] { node_->arena().sleep(); });
  else
    transport_->pause(backoff);
}

template <class Work>
void Session::finish(Work& work, std::chrono::milliseconds timeout, Pending pending) {
  if (step(work)) return;
  Deadline deadline{.timeout = timeout};
  core::Backoff backoff(crowded());
  for (unsigned steps = 1; !step(work); ++steps) {
    const bool moved = (pending == Pending::moves && step_launches()) || work.progressed();
    end_turn(backoff, moved, work.waits_in_memory());
    if (backoff.look_around() || steps % 4096 == 0) {
      pending == Pending::moves ? look_around() : health_.pump();
      look_at(deadline, work.signature());
    }
  }
}

template void Session::finish(Series& work, std::chrono::milliseconds timeout, Pending pending);

void Session::look_at(Deadline& deadline, const collectives::Signature& signature) {
  const bool is_message = signature.collective == Collective::send_receive;
  if (is_message ? health_.failure().has_value() : health_.has_failed_in(signature.sequence)) {
    if (is_message) fault_ = health_.failure_sequence();
    throw Error(*health_.failure());
  }
  if (const std::string gone = health_.departed(kDepartureGrace); !gone.empty())
    throw Error(ErrorCode::peer_lost,
                fmt::format("{} left through MPI_Finalize while rank {} waits in {}", gone,
                            transport_->rank(), describe(signature)));
  if (!is_message) look_for_other_kind(signature);
  const Clock::time_point now = Clock::now();
  if (!deadline.start) deadline.start = now;
  const auto waited = now - *deadline.start;
  if (waited >= deadline.timeout)
    throw Error(
        ErrorCode::timeout,
        fmt::format("{} is not done after {} s: {}. Raise RONDO_TIMEOUT if this is how long "
                    "it takes",
                    describe(signature), std::chrono::duration<double>(deadline.timeout).count(),
                    health_.census(signature.sequence, kCensusPatience)));
  if (waited < kWarnAfter || deadline.warned) return;
  deadline.warned = true;
  core::log(core::LogLevel::warning,
            fmt::format("{} has waited for 60 s; it fails after {} s", describe(signature),
                        std::chrono::duration<double>(deadline.timeout).count()));
}

/// What is under way on devices may wait for streams that wait for this session, so the peers and
/// those streams hear of it before anything here waits for it.
void Session::poison(const Error& error, std::uint64_t sequence) {
  health_.poison(error, sequence);
  launches_->open_gates_from(sequence);
  operation_->cancel();
  staged_->cancel();
  staged_message_->cancel();
  uneven_->cancel();
  in_group_->cancel();
  among_peers_->cancel();
  message_->cancel();
  launches_->cancel_from(sequence);
  launches_->fail_from(sequence, error);
}

void Session::abort_after(const Error& error) {
  if (transport_->throws_only() || settings_.on_failure != core::Settings::OnFailure::abort) return;
  core::log(core::LogLevel::error, error.what());
  std::this_thread::sleep_for(kReportGrace);
  transport_->abort(1);
}

void Session::fail(const Error& error) {
  poison(error, std::exchange(fault_, {}).value_or(health_.first_unfinished()));
  abort_after(error);
  throw Error(error);
}

}  // namespace rondo::engine
