#include "tuner.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include <rondo/error.hpp>

#include "contender.hpp"
#include "engine/session.hpp"
#include "workload.hpp"

namespace rondo::tools {

using bench::Budget;
using bench::Row;
using bench::Workload;
using collectives::Algorithm;
using collectives::Collective;
using collectives::Measured;
using collectives::Request;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::array kSegments{std::size_t{60} * 1024, std::size_t{256} * 1024,
                               std::size_t{2} * 1024 * 1024};
constexpr double kFarBehind = 2.0;      // times the fastest, at the first look
constexpr double kHopeless = 3.0;       // the same, for long messages
constexpr double kNoise = 1.05;         // what the constants choose stays if it is this near
constexpr std::size_t kLong = 1 << 20;  // bytes; from here on bandwidth decides
constexpr Budget kLook{.seconds = 0, .iterations = 1, .warm_up = 1, .batch = 10};

Budget thorough(double seconds) { return {.seconds = seconds, .warm_up = 1, .fewest = 5}; }

/// Whether two ways are one for messages of so many bytes.
bool same_way(const Measured& a, const Measured& b, std::size_t bytes) {
  return a.algorithm == b.algorithm &&
         (!has_segments(*a.algorithm) ||
          std::min(a.segment_bytes, bytes) == std::min(b.segment_bytes, bytes));
}

bool faster(const Measured& a, const Measured& b) { return a.microseconds < b.microseconds; }

std::vector<std::size_t> segments_of(const Algorithm& algorithm) {
  if (!has_segments(algorithm)) return {0};
  return {kSegments.begin(), kSegments.end()};
}

}  // namespace

/// One input and one output, which all candidates use in turn: of a buffer for each there would be
/// dozens.
struct Tuner::Memory {
  std::byte* next(bench::Contender& owner, std::size_t bytes) {
    std::byte*& buffer = (requests++ % 2 == 0) ? input : output;
    if (buffer == nullptr) buffer = owner.Contender::allocate(bytes);
    return buffer;
  }

  std::size_t requests = 0;
  std::byte* input = nullptr;
  std::byte* output = nullptr;
};

/// One algorithm with one size of segments.
class Tuner::Candidate final : public bench::Contender {
 public:
  Candidate(const Measured& way, Communicator& world, Memory& memory)
      : Contender(fmt::format("{} {} {}", name_of(way.algorithm->collective), way.algorithm->name,
                              way.segment_bytes)),
        way_(way),
        memory_(memory),
        rondo_(bench::make_rondo(
            "", world,
            {.algorithm = std::string(way.algorithm->name), .segment_bytes = way.segment_bytes})) {}

  const Measured& way() const { return way_; }
  /// Whether it takes part in what is measured next.
  void admit(bool admitted) { admitted_ = admitted; }
  bool admitted() const { return admitted_; }
  /// So far behind with long messages that it needs no look at longer ones.
  bool hopeless = false;

  bool supports(const Workload& /*work*/) const override { return admitted_; }
  std::byte* allocate(std::size_t bytes) override { return memory_.next(*this, bytes); }
  void run(const Workload& work, std::byte* input, std::byte* output) override {
    rondo_->run(work, input, output);
  }

 private:
  Measured way_;
  Memory& memory_;
  std::unique_ptr<Contender> rondo_;
  bool admitted_ = false;
};

Tuner::Tuner(Communicator& world, TuneRange range)
    : world_(world),
      range_(std::move(range)),
      placement_(world.session().placement()),
      memory_(std::make_unique<Memory>()),
      end_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                              std::chrono::duration<double>(range_.seconds))) {
  for (const Algorithm& algorithm : collectives::all_algorithms())
    for (const std::size_t segment : segments_of(algorithm))
      candidates_.push_back(
          std::make_unique<Candidate>(Measured{&algorithm, segment, 0}, world_, *memory_));
  std::vector<bench::Contender*> contenders;
  for (const auto& candidate : candidates_) contenders.push_back(candidate.get());
  protocol_ = std::make_unique<bench::Protocol>(contenders, range_.max_bytes);
}

Tuner::~Tuner() = default;

/// By rank 0's clock, on all ranks.
double Tuner::seconds_left() const {
  double left = std::chrono::duration<double>(end_ - Clock::now()).count();
  world_.broadcast(std::span(&left, 1), 0);
  return left;
}

std::vector<Tuned> Tuner::run(const std::function<void(const Tuned&)>& tell) {
  std::vector<Workload> works;
  for (std::size_t bytes = range_.min_bytes; bytes <= range_.max_bytes; bytes *= range_.factor)
    for (const Collective collective : range_.collectives) {
      if (bytes < bench::smallest_bytes(collective, DataType::float32, world_.size())) continue;
      Workload work{.collective = collective, .type = DataType::float32};
      work.ranks = world_.size();
      work.rank = world_.rank();
      work.count = bench::count_for(collective, work.type, bytes, work.ranks);
      works.push_back(work);
    }
  std::vector<Tuned> all;
  for (std::size_t i = 0; i < works.size(); ++i) {
    const double left = seconds_left();
    all.push_back(tune(works[i], left / static_cast<double>(works.size() - i)));
    tell(all.back());
  }
  return all;
}

/// Whether there is time for a look at all, and as long again for a better one at some.
bool Tuner::suffices(const Workload& work) const {
  const double last = last_look_[static_cast<std::size_t>(work.collective)];
  const double growth = work.bytes() > bench::kBatched ? static_cast<double>(range_.factor) : 1.0;
  return 2 * last * growth < seconds_left();
}

Tuned Tuner::tune(const Workload& work, double seconds) {
  Request request = request_at(placement_);
  request.collective = work.collective;
  request.bytes = work.bytes();
  request.vendor = world_.session().transport().has_vendor();
  const collectives::Choice choice = collectives::select(request);
  Tuned tuned{work.collective, work.bytes(), {}, {choice.algorithm, choice.segment_bytes, 0}};
  if (!suffices(work)) return tuned;
  admit(request);
  const Clock::time_point start = Clock::now();
  tuned.ranking = measure(work, kLook);
  double look = std::chrono::duration<double>(Clock::now() - start).count();
  world_.broadcast(std::span(&look, 1), 0);
  last_look_[static_cast<std::size_t>(work.collective)] = look;
  keep_the_promising(tuned);
  tuned.ranking = measure(work, thorough(seconds - look));
  rank(tuned);
  return tuned;
}

/// Candidates that differ from the others, and can serve.
void Tuner::admit(const Request& request) {
  for (const auto& candidate : candidates_) {
    const Measured& way = candidate->way();
    const auto smaller = std::find(kSegments.begin(), kSegments.end(), way.segment_bytes);
    const bool differs = smaller == kSegments.begin() || smaller == kSegments.end() ||
                         request.bytes > *std::prev(smaller);
    candidate->admit(differs && !candidate->hopeless &&
                     way.algorithm->collective == request.collective &&
                     can_serve(*way.algorithm, request));
  }
}

/// The times of those that are admitted, fastest first.
std::vector<Measured> Tuner::measure(const Workload& work, const Budget& budget) {
  std::vector<Measured> measured;
  for (const Row& row : protocol_->measure(work, budget)) {
    const auto candidate = std::find_if(candidates_.begin(), candidates_.end(),
                                        [&](const auto& c) { return c->name() == row.impl; });
    measured.push_back((*candidate)->way());
    measured.back().microseconds = row.p50_us;
    if (row.wrong != 0)
      throw Error(ErrorCode::mpi,
                  fmt::format("{} bytes per message of {}: {} elements of the results were wrong; "
                              "nothing is written",
                              work.bytes(), row.impl, row.wrong));
  }
  std::stable_sort(measured.begin(), measured.end(), faster);
  return measured;
}

/// Those that may turn out to be the fastest, or the fastest canonical one, and what the constants
/// choose.
void Tuner::keep_the_promising(const Tuned& tuned) {
  const double fastest = tuned.ranking.front().microseconds;
  const auto canonical =
      std::find_if(tuned.ranking.begin(), tuned.ranking.end(), [&](const Measured& way) {
        return way.algorithm->is_canonical(placement_.ranks, placement_.nodes);
      });
  for (const auto& candidate : candidates_) {
    const auto way =
        std::find_if(tuned.ranking.begin(), tuned.ranking.end(), [&](const Measured& measured) {
          return measured.algorithm == candidate->way().algorithm &&
                 measured.segment_bytes == candidate->way().segment_bytes;
        });
    if (way == tuned.ranking.end()) continue;
    const bool needed = way == canonical || same_way(*way, tuned.by_constants, tuned.bytes);
    candidate->admit(needed || way->microseconds <= kFarBehind * fastest);
    candidate->hopeless =
        !needed && tuned.bytes >= kLong && way->microseconds > kHopeless * fastest;
  }
}

/// Each algorithm once; what the constants choose goes first unless it is clearly slower.
void Tuner::rank(Tuned& tuned) const {
  std::vector<Measured> ranking;
  for (const Measured& way : tuned.ranking) {
    if (same_way(way, tuned.by_constants, tuned.bytes)) tuned.by_constants = way;
    if (std::none_of(ranking.begin(), ranking.end(),
                     [&](const Measured& other) { return other.algorithm == way.algorithm; }))
      ranking.push_back(way);
  }
  if (tuned.by_constants.microseconds <= kNoise * ranking.front().microseconds) {
    std::erase_if(ranking, [&](const Measured& way) {
      return way.algorithm == tuned.by_constants.algorithm;
    });
    ranking.insert(ranking.begin(), tuned.by_constants);
  }
  tuned.ranking = std::move(ranking);
}

collectives::TuningTable table_of(const std::vector<Tuned>& tuned, std::size_t factor) {
  collectives::TuningTable table;
  for (const Tuned& result : tuned)
    if (!result.ranking.empty())
      table.add(result.collective,
                {static_cast<std::size_t>(static_cast<double>(result.bytes) *
                                          std::sqrt(static_cast<double>(factor))),
                 result.ranking});
  return table;
}

}  // namespace rondo::tools
