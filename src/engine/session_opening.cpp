#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include <fmt/core.h>

#include <rondo/version.hpp>

#include "collectives/selector.hpp"
#include "core/digest.hpp"
#include "core/log.hpp"
#include "engine/node_meeting.hpp"
#include "engine/session-inl.hpp"
#include "transport/keep_for_ever.hpp"

// How communicators are split, and how the ranks of a new one come to agree on settings and tuning,
// and meet on their node.
namespace rondo::engine {

using collectives::Collective;

namespace {

/// Alike on all ranks that can understand each other.
std::uint64_t build_digest() {
  core::Digest digest;
  digest.add(std::string_view(RONDO_VERSION_STRING));
  digest.add(std::uint64_t{std::endian::native == std::endian::little ? 1U : 2U});
  return digest.value();
}

}  // namespace

Session::Session(std::unique_ptr<transport::Transport> transport, const Options& defaults,
                 const core::Settings& settings)
    : Session(Agreed{}, std::move(transport), defaults, settings) {
  adopt_settings_of_rank_0();
  collectives::check_algorithm_name(default_algorithm_, "Options::algorithm");
  if (defaults.stream)
    throw Error(ErrorCode::usage,
                "Options::stream is for single calls; leave it empty where a communicator is made");
  collectives::check_algorithm_name(settings_.algorithm, "RONDO_ALGORITHM");
  compare_digests();
  meet_on_node();
  go_by_tuning();
}

std::unique_ptr<Session> Session::split(int color, int key) {
  return guarded([&]() -> std::unique_ptr<Session> {
    meet_before_split();
    auto part = transport_->split(color, key);
    if (part == nullptr) return nullptr;
    std::unique_ptr<Session> session(new Session(Agreed{}, std::move(part), defaults_, settings_));
    session->lacks_shared_memory_ = lacks_shared_memory_;
    session->tuning_ = tuning_;
    session->meet_on_node();
    session->go_by_tuning();
    return session;
  });
}

/// The transport's own split has no deadline, so either all ranks must enter it or none. A rank
/// that fails in the first meeting doesn't come to the second, where the others hear of it. Whoever
/// has come to the second lets rest what is pending, which might fail while others are in the split
/// already; nobody waits for it, since all have called split() by then.
void Session::meet_before_split() {
  run_held({.collective = Collective::split}, {});
  run_held({.collective = Collective::split}, {}, Pending::rests);
}

template <class T>
std::vector<T> Session::gather_from_all(const T& mine) {
  return guarded([&] { return gather_held(mine); });
}

template <class T>
std::vector<T> Session::gather_held(const T& mine) {
  transport::MessageMemory<std::vector<T>> all;
  all->resize(static_cast<std::size_t>(transport_->size()));
  T& place = (*all)[static_cast<std::size_t>(transport_->rank())];
  place = mine;
  Call call{.collective = Collective::allgather,
            .input = ConstBuffer(&place, sizeof mine, DataType::uint8),
            .output = Buffer(all->data(), all->size() * sizeof mine, DataType::uint8)};
  run_held(call, {.algorithm = "bruck"});
  return std::move(*all);
}

/// What rank 0 has read, so that all ranks go by the same.
struct Session::Opening {
  std::uint64_t tuning_bytes = 0;
  std::array<char, 1024> settings{};  // zero-terminated
};

void Session::broadcast_bytes(void* data, std::size_t bytes) {
  const Buffer buffer(data, bytes, DataType::uint8);
  run({.collective = Collective::broadcast,
       .input = buffer,
       .output = buffer,
       .details = build_digest()},
      {});
}

void Session::adopt_settings_of_rank_0() {
  transport::MessageMemory<Opening> opening;
  transport::MessageMemory<std::string> tuning;
  if (transport_->rank() == 0) {
    guarded([&] {
      if (settings_.tuning_file.empty()) return;
      tuning_ =
          std::make_shared<collectives::Tuning>(collectives::Tuning::read(settings_.tuning_file));
      *tuning = tuning_->text();
    });
    const std::string settings = settings_.encode();
    if (settings.size() >= opening->settings.size())
      throw Error(ErrorCode::usage, "the RONDO_* settings are too long; shorten what is in them");
    std::copy(settings.begin(), settings.end(), opening->settings.begin());
    opening->tuning_bytes = tuning->size();
  }
  broadcast_bytes(&*opening, sizeof *opening);
  operation_->forget_last_call();
  settings_ = core::Settings::decode(opening->settings.data(), settings_);
  if (opening->tuning_bytes == 0) return;
  tuning->resize(opening->tuning_bytes);
  broadcast_bytes(tuning->data(), tuning->size());
  tuning_ = std::make_shared<collectives::Tuning>(
      collectives::Tuning::parse(*tuning, "what rank 0 has read"));
}

/// Whatever bits may depend on must be alike, however it came to each rank.
void Session::compare_digests() {
  core::Digest digest;
  digest.add(build_digest());
  digest.add(settings_.encode());
  digest.add(tuning_->text());
  run({.collective = Collective::barrier, .details = digest.value()}, {});
}

collectives::Placement Session::placement() const {
  return collectives::placement_of(*transport_, node_ != nullptr);
}

void Session::go_by_tuning() {
  const collectives::TuningTable* table = tuning_->find(placement());
  operation_->go_by(table, settings_.vendor);
  launches_->go_by(table);
  if (table == nullptr && !tuning_->empty() && transport_->rank() == 0)
    core::log(
        core::LogLevel::info,
        fmt::format("RONDO_TUNING_FILE has nothing for {}: fixed constants choose; rondo-tune "
                    "measures and adds to the file",
                    describe(placement())));
}

/// The memory through which the ranks of a node meet; null if they can't have it.
std::unique_ptr<transport::NodeArena> Session::make_arena() {
  for (bool again = false;; again = true) {
    NodeMeeting meeting(*transport_);
    meeting.join(gather_from_all(meeting.offer()));
    const auto outcomes = gather_from_all(meeting.outcome());
    if (again || !NodeMeeting::wants_names(outcomes))
      return meeting.conclude(outcomes, lacks_shared_memory_);
    transport::name_segments();
  }
}

namespace {

/// What a rank brings to a group of devices.
struct GroupOffer {
  device::Identity device{};
  bool has_maker = false;
  std::array<char, 32> version{};
};

/// What one rank makes for all; none if it can't.
struct OfferedId {
  bool is_made = false;
  device::GroupId id;
};

std::string_view why_not(std::vector<GroupOffer> offers) {
  const auto by_device = [](const GroupOffer& a, const GroupOffer& b) {
    return a.device < b.device;
  };
  std::sort(offers.begin(), offers.end(), by_device);
  const auto same = [](const GroupOffer& a, const GroupOffer& b) { return a.device == b.device; };
  if (std::adjacent_find(offers.begin(), offers.end(), same) != offers.end())
    return "ranks share a device";
  const bool all = std::all_of(offers.begin(), offers.end(),
                               [](const GroupOffer& offer) { return offer.has_maker; });
  if (!all) return "not all ranks have NCCL";
  const bool alike = std::all_of(offers.begin(), offers.end(), [&](const GroupOffer& offer) {
    return offer.version == offers.front().version;
  });
  return alike ? "" : "the ranks' NCCLs have different versions";
}

GroupOffer offer_of(device::Runtime& devices, int device, const device::GroupMaker* maker) {
  GroupOffer offer{devices.identity(device), maker != nullptr, {}};
  if (maker != nullptr) maker->name().copy(offer.version.data(), offer.version.size());
  return offer;
}

OfferedId offer_id(device::GroupMaker& maker) {
  try {
    return {true, maker.make_id()};
  } catch (const Error& error) {
    core::log(
        core::LogLevel::warning,
        fmt::format("{}: device memory goes another way, which is slower (RONDO_NCCL=off says "
                    "so without this line)",
                    error.what()));
    return {};
  }
}

/// Null where there is none, or where it can't be loaded.
device::GroupMaker* maker_of(device::Runtime& devices) {
  try {
    return &devices.groups();
  } catch (const Error& error) {
    core::log(core::LogLevel::debug, error.what());
    return nullptr;
  }
}

}  // namespace

/// The ranks agree on the call first: who calls something else is named, and not met.
void Session::meet_on_devices(const Call& call, const Options& options, device::Runtime& devices,
                              int device) {
  met_on_devices_ = true;
  run_held(call, options);
  device::GroupMaker* const maker = maker_of(devices);
  const std::string_view reason = why_not(gather_held(offer_of(devices, device, maker)));
  if (!reason.empty()) {
    if (transport_->rank() == 0)
      core::log(core::LogLevel::info, fmt::format("no collectives of devices: {}", reason));
    return;
  }
  const OfferedId id =
      gather_held(transport_->rank() == 0 ? offer_id(*maker) : OfferedId{}).front();
  if (id.is_made) join_group(*maker, id.id, device, terms_of(options).timeout);
}

void Session::join_group(device::GroupMaker& maker, const device::GroupId& id, int device,
                         std::chrono::milliseconds timeout) {
  try {
    health_.enter(++sequence_);
    collectives::Signature signature;
    signature.collective = Collective::barrier;
    signature.sequence = sequence_;
    signature.on_device = 1;
    in_group_->join(maker.join(id, transport_->rank(), transport_->size(), device), device,
                    signature);
    finish<Series>(*in_group_, timeout);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::nccl && error.code() != ErrorCode::timeout) throw;
    throw Error(error.code(), fmt::format("{}; this was while the ranks joined {}, without which "
                                          "RONDO_NCCL=off does",
                                          error.message(), maker.name()));
  }
  health_.leave();
}

void Session::meet_on_node() {
  const transport::Topology& topology = transport_->topology();
  if (!settings_.shm || topology.nodes() == topology.size()) return;
  auto arena = make_arena();
  lacks_shared_memory_ = arena == nullptr;
  if (lacks_shared_memory_) return;
  node_ = std::make_unique<Node>(std::move(arena), *transport_);
  operation_->meet_at(*node_);
  launches_->meet_at(node_->arena());
}

}  // namespace rondo::engine
