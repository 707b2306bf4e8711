#include "engine/health.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <thread>

#include <fmt/format.h>

namespace rondo::engine {

using transport::Notice;

namespace {

/// Meanings of Notice::kind. A failure's kind is kFailure plus its ErrorCode.
enum Kind : std::uint32_t { kQuestion = 1, kAnswer = 2, kFailure = 16 };

void set_text(Notice& notice, std::string_view text) {
  const std::size_t length = std::min(text.size(), notice.text.size() - 1);
  std::copy_n(text.begin(), length, notice.text.begin());
}

}  // namespace

std::string list_ranks(const std::vector<Rank>& ranks) {
  std::string list;
  for (std::size_t begin = 0; begin < ranks.size();) {
    std::size_t end = begin + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    const std::string range = end - begin > 1 ? fmt::format("{}-{}", ranks[begin], ranks[end - 1])
                                              : fmt::format("{}", ranks[begin]);
    list += (list.empty() ? "" : ", ") + range;
    begin = end;
  }
  return fmt::format("{} {}", ranks.size() == 1 ? "rank" : "ranks", list);
}

Health::Health(transport::Transport& transport)
    : transport_(transport), peers_(static_cast<std::size_t>(transport.size())) {}

void Health::pump() {
  while (const std::optional<Notice> notice = transport_.poll_notice()) receive(*notice);
}

void Health::receive(const Notice& notice) {
  Peer& peer = peers_[static_cast<std::size_t>(notice.sender)];
  switch (notice.kind) {
    case kQuestion: {
      Notice answer;
      answer.kind = kAnswer;
      answer.sequence = sequence_;
      transport_.notify(notice.sender, answer);
      return;
    }
    case kAnswer:
      peer.answered = true;
      peer.sequence = notice.sequence;
      return;
    case transport::kRankLeft:
      peer.left = Clock::now();
      return;
    default:
      break;
  }
  if (notice.kind < kFailure || has_failed_in(notice.sequence)) return;
  failure_sequence_ = notice.sequence;
  failure_.emplace(static_cast<ErrorCode>(notice.kind - kFailure),
                   fmt::format("rank {} reported: {}", notice.sender, notice.text.data()));
}

void Health::poison(const Error& error, std::uint64_t sequence) {
  if (has_failed_in(sequence)) return;
  failure_ = error;
  failure_sequence_ = sequence;
  Notice notice;
  notice.kind = kFailure + static_cast<std::uint32_t>(error.code());
  notice.sequence = failure_sequence_;
  set_text(notice, error.message());
  tell_all(notice);
}

void Health::tell_all(const Notice& notice) {
  for (Rank peer = 0; peer < transport_.size(); ++peer)
    if (peer != transport_.rank()) transport_.notify(peer, notice);
}

bool Health::all_answered() const {
  for (Rank rank = 0; rank < transport_.size(); ++rank)
    if (rank != transport_.rank() && !peers_[static_cast<std::size_t>(rank)].answered) return false;
  return true;
}

std::string Health::census(std::uint64_t sequence, std::chrono::milliseconds patience) {
  for (Peer& peer : peers_) peer.answered = false;
  Notice question;
  question.kind = kQuestion;
  question.sequence = sequence;
  tell_all(question);
  const Clock::time_point end = Clock::now() + patience;
  while (!all_answered() && !failure_ && Clock::now() < end) {
    pump();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  std::vector<Rank> arrived;
  std::vector<Rank> silent;
  std::vector<Rank> left;
  std::map<std::uint64_t, std::vector<Rank>> alive;  // by last operation
  for (Rank rank = 0; rank < transport_.size(); ++rank) {
    const Peer& peer = peers_[static_cast<std::size_t>(rank)];
    if (rank == transport_.rank())
      arrived.push_back(rank);
    else if (peer.left)
      left.push_back(rank);
    else if (!peer.answered)
      silent.push_back(rank);
    else if (peer.sequence >= sequence)
      arrived.push_back(rank);
    else
      alive[peer.sequence].push_back(rank);
  }
  std::string text;
  const auto say = [&](const std::vector<Rank>& ranks, std::string_view what) {
    if (!ranks.empty())
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", list_ranks(ranks), what);
  };
  say(silent, "silent (finished, stopped, dead, or in its own code without a progress thread)");
  say(left, "left through MPI_Finalize");
  for (const auto& [last, ranks] : alive)
    say(ranks, fmt::format("alive, last operation #{}", last));
  say(arrived, "arrived");
  return text;
}

std::string Health::departed(std::chrono::milliseconds grace) const {
  std::vector<Rank> ranks;
  for (Rank rank = 0; rank < transport_.size(); ++rank) {
    const auto& left = peers_[static_cast<std::size_t>(rank)].left;
    if (left && Clock::now() - *left >= grace) ranks.push_back(rank);
  }
  return ranks.empty() ? "" : list_ranks(ranks);
}

}  // namespace rondo::engine
