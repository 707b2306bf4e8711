#include <algorithm>
#include <exception>
#include <utility>

#include <fmt/core.h>

#include "core/backoff.hpp"
#include "core/log.hpp"
#include "engine/memory_kinds.hpp"
#include "engine/progress_thread.hpp"
#include "engine/session-inl.hpp"
#include "engine/tags.hpp"

// What a session does for the calls that don't wait.
namespace rondo::engine {

using Clock = Deadline::Clock;
using namespace std::chrono_literals;

namespace {

/// How long what can't wait for its deadline waits for the other ranks.
constexpr auto kGrace = 2000ms;
/// Between looks at notices and deadlines by those who step now and then.
constexpr auto kLookInterval = 1ms;
constexpr std::string_view kDestroyed = "an exception was thrown";
constexpr std::string_view kFinalized = "MPI_Finalize was called";

/// Whoever catches an exception wants to say what it is about.
Clock::time_point latest_in_destructor() {
  return std::uncaught_exceptions() > 0 ? Clock::now() + kGrace : Clock::time_point::max();
}

}  // namespace

Launch& Session::launch(const Call& call, const Options& options, LaunchPool* owner) {
  Launch& launched = guarded([&]() -> Launch& {
    health_.enter(sequence_ + 1);
    const Terms terms = terms_of(options);
    check_terms(call, terms, transport_->rank(), transport_->size());
    if (options.stream) check_stream(call);
    std::uint64_t operations = 1;
    std::optional<Launch::OnDevice> on_device;
    if (is_uneven_all_to_all(call)) {
      check_memory(call, transport_->rank());
      operations = UnevenAllToAll::kOperations;
    } else {
      check_addresses(call, transport_->rank());
      on_device = begin_on_device(call, options, operations);
    }
    health_.enter(sequence_ + 1, sequence_ + operations);
    Launch& launch = launch_pool_->take();
    launch.keep(call, terms);
    launch.owner = owner;
    launch.sequence = sequence_ + 1;
    launch.on_device = std::move(on_device);
    sequence_ += operations;
    return begin(launch);
  });
  if (watched_ && !launched.is_over()) ProgressThread::instance().wake();
  return launched;
}

Launch& Session::launch_message(Launch::Kind kind, ConstBuffer outgoing, Buffer incoming, Rank peer,
                                const Options& options) {
  Launch& launched = guarded([&]() -> Launch& {
    const bool sends = kind == Launch::Kind::send;
    const char* const name = sends ? "isend" : "ireceive";
    check_peer(peer, name);
    if (options.stream) refuse_stream(name);
    refuse_devices(name, "data", sends ? outgoing : incoming);
    const Terms terms = terms_of(options);
    Launch& launch = launch_pool_->take();
    launch.kind = kind;
    launch.keep({.collective = collectives::Collective::send_receive,
                 .input = outgoing,
                 .output = incoming,
                 .root = peer},
                terms);
    return begin(launch);
  });
  if (watched_ && !launched.is_over()) ProgressThread::instance().wake();
  return launched;
}

Launch& Session::begin(Launch& launch) {
  launch.session = this;
  launch.deadline = {.timeout = launch.terms.timeout, .start = Clock::now()};
  launches_->add(launch);
  if (!watched_) let_others_step_this();
  health_.leave();
  try_step_launches();
  return launch;
}

bool Session::watch() {
  watched_ = settings_.progress == core::Settings::Progress::thread &&
             transport_->callable_from_any_thread();
  if (watched_) ProgressThread::instance().watch(*this);
  return watched_;
}

void Session::let_others_step_this() {
  if (!std::exchange(polled_, true)) PolledSessions::instance().add(*this);
}

/// Of the same process, where no thread does.
Activity Session::step_others() const {
  PolledSessions& polled = PolledSessions::instance();
  return polled.size() > (polled_ ? 1 : 0) ? polled.step_all_but(*this) : Activity::idle;
}

bool Session::step_launches() {
  try {
    return !launches_->empty() && launches_->step();
  } catch (const std::exception&) {
    fault_ = std::min(launches_->stepped(), health_.first_unfinished());
    throw;
  }
}

/// The first operation that a failure may concern.
std::uint64_t Session::oldest_unfinished() const {
  return std::min(launches_->oldest(), health_.first_unfinished());
}

/// Waits until the next blocking operation may have its tags.
void Session::make_room() {
  drive([&] { return tags_are_free(sequence_, launches_->oldest()); }, Clock::time_point::max());
}

void Session::wait_for_earlier_ones() {
  drive([&] { return launches_->pending() < Launches::kMostInStreams; }, Clock::time_point::max());
}

void Session::finish_receives(Rank from) {
  drive([&] { return !launches_->messages().receives_from(from); }, Clock::time_point::max());
}

template <class Done>
bool Session::drive(Done done, Clock::time_point until) {
  core::Backoff backoff(crowded());
  for (unsigned steps = 1; !done(); ++steps) {
    end_turn(backoff, step_launches(), true);
    if (backoff.look_around() || steps % 4096 == 0) look_around();
    if (until != Clock::time_point::max() && Clock::now() >= until) return done();
  }
  return true;
}

bool Session::wait(Launch& launch, Clock::time_point until) {
  if (!launch.is_over()) {
    const Hold hold(*this);
    while (!launch.is_over()) try {
        if (!drive([&] { return launch.is_over(); }, until)) return false;
      } catch (const std::exception& error) {
        give_up(error);  // of this one, or of another
      }
  }
  if (launch.kind == Launch::Kind::collective) last_algorithm_ = launch.algorithm;
  return true;
}

bool Session::test(Launch& launch) {
  if (launch.is_over()) return true;
  const Hold hold(*this);
  if (!try_step_launches()) step_others();
  return launch.is_over();
}

/// What goes wrong is for the requests to say.
bool Session::try_step_launches() noexcept {
  try {
    if (step_launches()) return true;
    const Clock::time_point now = Clock::now();
    if (now < next_look_) return false;
    next_look_ = now + kLookInterval;
    look_around();
  } catch (const std::exception& error) {
    give_up(error);
  }
  return false;
}

void Session::give_up(const std::exception& error) {
  const auto* known = dynamic_cast<const Error*>(&error);
  const Error reason =
      known != nullptr ? *known
                       : Error(ErrorCode::system, fmt::format("{} in a request on {} ranks",
                                                              error.what(), transport_->size()));
  poison(reason, std::exchange(fault_, {}).value_or(oldest_unfinished()));
  abort_after(reason);
}

void Session::wait_until_over(Launch& launch) noexcept {
  finish_pending([&] { return launch.is_over(); }, latest_in_destructor(), kDestroyed);
}

void Session::finish_launches() noexcept {
  if (launches_->empty()) return;
  finish_pending([&] { return launches_->empty(); }, latest_in_destructor(), kDestroyed);
}

void Session::leave_drivers() {
  if (std::exchange(watched_, false)) ProgressThread::instance().forget(*this);
  if (std::exchange(polled_, false)) PolledSessions::instance().remove(*this);
}

void Session::end() noexcept {
  leave_drivers();
  if (launches_->empty()) return;
  finish_pending([&] { return launches_->empty(); }, Clock::now() + kGrace, kFinalized);
}

template <class Done>
void Session::finish_pending(Done done, Clock::time_point until,
                             std::string_view why_not_later) noexcept {
  const Hold hold(*this, SessionLock::Patience::endless);
  while (!done()) try {
      if (drive(done, until)) return;
      poison(Error(ErrorCode::usage,
                   fmt::format("{} while {} requests of rank {} were pending, which the other "
                               "ranks had not joined",
                               why_not_later, launches_->pending(), transport_->rank())),
             oldest_unfinished());
    } catch (const std::exception& error) {
      give_up(error);
    }
}

Activity Session::advance_if_free(bool also_if_idle) noexcept {
  const bool pending = !launches_->empty();
  if (!pending && !also_if_idle) return Activity::idle;
  const Activity otherwise = pending ? Activity::waiting : Activity::idle;
  if (!lock_.try_lock_for_progress()) return otherwise;
  const bool moved = pending && try_step_launches();
  if (!pending) try_pump();
  lock_.unlock();
  return moved ? Activity::moving : otherwise;
}

void Session::try_pump() noexcept {
  try {
    health_.pump();
  } catch (const std::exception& error) {
    core::log(core::LogLevel::warning, error.what());
  }
}

void Session::look_around() {
  health_.pump();
  if (!launches_->empty()) look_at_launches();
}

void Session::look_at_launches() {
  if (health_.has_failed_in(launches_->newest())) {
    fault_ = health_.failure_sequence();
    throw Error(*health_.failure());
  }
  // Messages have no place in the order of operations, by which some might go on.
  if (health_.failure()) launches_->fail_messages(*health_.failure());
  launches_->messages().for_each([&](Launch& launch, const collectives::Signature& signature) {
    fault_ = health_.first_unfinished();
    look_at(launch.deadline, signature);
    fault_.reset();
  });
  launches_->for_each_first([&](Launch& launch) {
    fault_ = launch.sequence;
    look_at(launch.deadline, launches_->signature_of(launch));
    fault_.reset();
  });
}

/// Ranks of a node that wait in different slots would never meet.
void Session::look_for_other_kind(const collectives::Signature& signature) const {
  if (node_ == nullptr) return;
  const auto begun = signature.asynchronous != 0 ? node_->begun_by_another(signature.sequence)
                                                 : launches_->begun_by_another(signature.sequence);
  if (!begun) return;
  throw Error(ErrorCode::mismatch, describe(collectives::Conflict{transport_->rank(), begun->rank,
                                                                  signature, begun->signature}));
}

}  // namespace rondo::engine
