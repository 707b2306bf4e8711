#include <gtest/gtest.h>
#include <mpi.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <rondo/communicator.hpp>
#include <rondo/shared_buffer.hpp>

#include "collectives/registry.hpp"
#include "engine/session.hpp"
#include "mpi/allocation_count.hpp"
#include "support/conformance_case.hpp"
#include "support/conformance_lists.hpp"
#include "support/expect.hpp"
#include "support/soak.hpp"
#include "support/special_cases.hpp"

// The conformance suite on real MPI ranks. All ranks run all tests in step, so that what one rank
// finds wrong must end the whole job: the others would wait for it.
namespace rondo::testing {
namespace {

/// Runs `body` with a communicator of all ranks, whose failures are thrown.
void on_all_ranks(const std::function<void(Communicator&)>& body) {
  setenv("RONDO_ON_FAILURE", "throw", 1);
  try {
    Communicator world(MPI_COMM_WORLD);
    body(world);
    world.barrier();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

/// Runs the cases twice: nothing may be wrong, and nothing may change.
void expect_conforms(Communicator& world, std::span<const Case> cases) {
  const References references(world.session().transport().topology(), cases);
  const Findings first = run_cases(world, cases, references);
  const Findings second = run_cases(world, cases, references);
  for (const std::string& fault : first.faults) ADD_FAILURE() << fault;
  std::vector<std::uint64_t> of_rank_0 = first.digests;
  world.broadcast(std::span(of_rank_0), 0);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(first.digests[i], second.digests[i]) << "run again: " << cases[i].describe();
    if (!is_alike_on_all_ranks(cases[i].collective)) continue;
    EXPECT_EQ(first.digests[i], of_rank_0[i]) << "other bits than rank 0: " << cases[i].describe();
  }
}

TEST(ConformanceOnMpi, EveryPairOfArgumentsGivesTheReference) {
  on_all_ranks([](Communicator& world) { expect_conforms(world, covering_cases(world.size())); });
}

TEST(ConformanceOnMpi, OverlappedOperationsGiveTheSameBits) {
  for (const char* progress : {"thread", "poll"}) {
    setenv("RONDO_PROGRESS", progress, 1);
    on_all_ranks([](Communicator& world) {
      const std::vector<Case> cases = covering_cases(world.size());
      const References references(world.session().transport().topology(), cases);
      const Findings blocking = run_cases(world, cases, references);
      const Findings overlapped = run_overlapped_cases(world, cases, references);
      for (const std::string& fault : overlapped.faults) ADD_FAILURE() << fault;
      for (std::size_t i = 0; i < cases.size(); ++i)
        EXPECT_EQ(blocking.digests[i], overlapped.digests[i]) << cases[i].describe();
    });
  }
  unsetenv("RONDO_PROGRESS");
}

TEST(ConformanceOnMpi, TheVendorsCollectivesKeepTheContractsWhereTheyServe) {
  on_all_ranks([](Communicator& world) { expect_conforms(world, vendor_cases(world.size())); });
}

TEST(ConformanceOnMpi, RanksThatDisagreeNeverReachTheVendorsCollective) {
  on_all_ranks([](Communicator& world) {
    if (world.size() == 1) return;
    Communicator part = world.split(0);
    std::vector<float> data(100'000, 1.0f);
    const auto mine = std::span(data).first(world.rank() == 0 ? data.size() : 10);
    part.allreduce(std::span(data).first(10), ReduceOp::sum, {.algorithm = "vendor"});
    try {
      part.allreduce(mine, ReduceOp::sum, {.algorithm = "vendor"});
      expect(false, "nothing was thrown");
    } catch (const Error& error) {
      expect(error.code() == ErrorCode::mismatch, "{}", error.what());
    }
    expect(data[20] == 1.0f && data.back() == 1.0f, "MPI wrote behind the memory, or into it");
  });
}

TEST(ConformanceOnMpi, RandomOperationsKeepBeingRight) {
  on_all_ranks([](Communicator& world) { soak(world, soak_seed(), soak_seconds()); });
}

class SpecialCaseOnMpi : public ::testing::TestWithParam<SpecialCase> {};

TEST_P(SpecialCaseOnMpi, Holds) { on_all_ranks(GetParam().run); }

INSTANTIATE_TEST_SUITE_P(, SpecialCaseOnMpi,
                         ::testing::ValuesIn(special_cases().begin(), special_cases().end()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(ConformanceOnMpi, LeavesTheUsersMessagesAlone) {
  int mine = -1;
  MPI_Request request;
  MPI_Irecv(&mine, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
  on_all_ranks([&](Communicator& world) {
    std::vector<float> data(100'003, 1.0f);
    world.allreduce(std::span(data), ReduceOp::sum);
    world.split(0).barrier();
    int received = 0;
    MPI_Test(&request, &received, MPI_STATUS_IGNORE);
    expect(received == 0, "a message of Rondo's reached the user");
    world.barrier();  // nobody sends before everybody has looked
    const int number = 17;
    MPI_Send(&number, 1, MPI_INT, (world.rank() + 1) % world.size(), 3, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(mine == 17, "the user received {}", mine);
  });
}

TEST(ConformanceOnMpi, ManyCommunicatorsAreMadeAndDropped) {
  constexpr std::size_t kAlive = 20;
  on_all_ranks([](Communicator& world) {
    std::vector<Communicator> alive;
    for (std::size_t i = 0; i < 200; ++i) {
      alive.push_back(i % 2 == 0 ? Communicator(MPI_COMM_WORLD) : world.split(0));
      std::int64_t one = 1;
      Request request = alive.back().iallreduce(std::span(&one, 1), ReduceOp::sum);
      if (alive.size() == kAlive) alive.erase(alive.begin() + i % kAlive);
      request.wait();  // its communicator may be gone
      expect(one == world.size(), "communicator {}: {}", i, one);
    }
  });
}

TEST(ConformanceOnMpi, AnAllreduceAllocatesNothingOnceWarm) {
  on_all_ranks([](Communicator& world) {
    for (const collectives::Algorithm& algorithm : collectives::algorithms()) {
      if (algorithm.collective != Collective::allreduce) continue;
      for (const std::size_t count : {std::size_t{5}, std::size_t{100'003}}) {
        std::vector<bfloat16> data(count);
        const Options options{.algorithm = algorithm.name, .segment_bytes = 10'000};
        const auto call = [&] { world.allreduce(std::span(data), ReduceOp::avg, options); };
        for (int i = 0; i < 5; ++i) call();
        const std::size_t before = allocations_of_this_thread();
        for (int i = 0; i < 100; ++i) call();
        const std::size_t made = allocations_of_this_thread() - before;
        expect(made == 0, "100 calls of {} of {} elements made {} allocations", algorithm.name,
               count, made);
      }
    }
  });
}

TEST(ConformanceOnMpi, PendingAllreducesAllocateNothingOnceWarm) {
  // All is done on this thread, whose allocations are counted.
  setenv("RONDO_PROGRESS", "poll", 1);
  on_all_ranks([](Communicator& world) {
    for (const std::size_t count : {std::size_t{5}, std::size_t{100'003}}) {
      std::array<std::vector<float>, 4> data;
      std::array<Request, 4> requests;
      const auto call = [&] {
        for (std::size_t i = 0; i < data.size(); ++i)
          requests[i] = world.iallreduce(std::span(data[i]), ReduceOp::avg,
                                         {.algorithm = i == 3 ? "ring" : ""});
        for (Request& request : requests) request.wait();
      };
      for (auto& vector : data) vector.resize(count);
      for (int i = 0; i < 5; ++i) call();
      const std::size_t before = allocations_of_this_thread();
      for (int i = 0; i < 50; ++i) call();
      const std::size_t made = allocations_of_this_thread() - before;
      expect(made == 0, "of {} elements: {} allocations", count, made);
    }
  });
  unsetenv("RONDO_PROGRESS");
}

/// Each collective that the ranks of a node do among themselves.
void collectives_of_a_node(Communicator& world, std::span<float> all, std::span<float> block) {
  world.allreduce(all, ReduceOp::avg);
  world.reduce(Buffer(all), world.rank() == 0 ? Buffer(all) : Buffer(), ReduceOp::sum, 0);
  world.broadcast(all, world.size() - 1);
  world.reduce_scatter(Buffer(all), Buffer(block), ReduceOp::max);
  world.allgather(Buffer(block), Buffer(all));
  world.barrier();
}

TEST(ConformanceOnMpi, CollectivesWithinANodeAllocateNothingOnceWarm) {
  on_all_ranks([](Communicator& world) {
    for (const std::size_t block : {std::size_t{3}, std::size_t{50'000}}) {
      const std::size_t count = block * static_cast<std::size_t>(world.size());
      std::vector<float> ordinary(count + block);
      SharedBuffer<float> shared(world, count + block);
      for (const std::span<float> memory : {std::span(ordinary), shared.span()}) {
        const auto call = [&] {
          collectives_of_a_node(world, memory.first(count), memory.subspan(count));
        };
        for (int i = 0; i < 3; ++i) call();
        const std::size_t before = allocations_of_this_thread();
        for (int i = 0; i < 10; ++i) call();
        const std::size_t made = allocations_of_this_thread() - before;
        expect(made == 0, "blocks of {}: {} allocations", block, made);
      }
    }
  });
}

}  // namespace
}  // namespace rondo::testing
