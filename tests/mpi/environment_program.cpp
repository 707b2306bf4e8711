// Ends a job in one of many ways; tests/mpi/CMakeLists.txt says what each must look like.
#include <mpi.h>

#include <chrono>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <rondo/communicator.hpp>
#include <rondo/environment.hpp>

#include "transport/mpi_info.hpp"
#include "transport/mpi_transport.hpp"

namespace {

using rondo::transport::MpiTransport;

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

bool finalized() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  return finalized != 0;
}

/// What a rank does that waits for one which has gone away.
void wait_for_ever() { std::this_thread::sleep_for(std::chrono::minutes(10)); }

int normal() {
  {
    const rondo::Environment mpi;
    const rondo::Environment inner;  // finds MPI running
    const MpiTransport transport(MPI_COMM_WORLD);
  }
  std::puts(finalized() ? "finalized" : "still running");
  return 0;
}

int users_own_mpi() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
  {
    const rondo::Environment mpi;
    std::puts(rondo::transport::mpi_thread_level().c_str());
  }
  std::puts(finalized() ? "finalized" : "still running");
  MPI_Finalize();
  return 0;
}

/// Rank 1 throws; run_main has to print why.
int throws() {
  const rondo::Environment mpi;
  if (world_rank() == 1) throw std::runtime_error("rank 1 found no data");
  wait_for_ever();
  return 0;
}

int throws_a_number() {
  const rondo::Environment mpi;
  if (world_rank() == 1) throw 5;
  wait_for_ever();
  return 0;
}

int returns_7() { return 7; }

int second_environment() {
  { const rondo::Environment mpi; }
  const rondo::Environment again;
  return 0;
}

int transport_before_init() {
  const MpiTransport transport(MPI_COMM_WORLD);
  return 0;
}

/// All ranks throw away a transport whose MPI has gone.
int transport_outlives_mpi() {
  MPI_Init(nullptr, nullptr);
  const auto transport = std::make_unique<MpiTransport>(MPI_COMM_WORLD);
  static int never_received = 0;
  transport->receive(0, 1, &never_received, sizeof never_received);
  MPI_Finalize();
  try {
    transport->poll_notice();
  } catch (const std::exception& error) {
    std::puts(error.what());
  }
  return 0;
}

/// Rank 1 leaves while the others wait for its message.
int leaves_through_finalize() {
  MPI_Init(nullptr, nullptr);
  const auto transport = std::make_unique<MpiTransport>(MPI_COMM_WORLD);
  if (transport->rank() != 1) {
    static int never_sent = 0;
    const auto ticket = transport->receive(1, 1, &never_sent, sizeof never_sent);
    for (bool left = false; !left;) {
      if (transport->test(ticket)) throw std::logic_error("a message from nowhere");
      const auto notice = transport->poll_notice();
      left = notice && notice->kind == rondo::transport::kRankLeft && notice->sender == 1;
    }
    transport->cancel(ticket);
    std::puts("noticed that rank 1 left");
  }
  MPI_Finalize();
  return 0;
}

/// A large send that nobody receives must not hold up the end of the job.
int finalizes_with_a_cancelled_send() {
  static std::string data(5'000'000, 'x');
  {
    const rondo::Environment mpi;
    MpiTransport transport(MPI_COMM_WORLD);
    if (transport.rank() == 0) transport.cancel(transport.send(1, 0, data.data(), data.size()));
  }
  std::puts("finalized");
  return 0;
}

using rondo::Communicator;
using rondo::ReduceOp;
using rondo::Request;

/// Requests that nobody has waited for when MPI goes: those which all ranks have begun end well.
int finalizes_with_requests() {
  static std::vector<float> data(1'000'000, 1.0F);
  std::unique_ptr<Communicator> world;
  Request request;
  {
    const rondo::Environment mpi;
    world = std::make_unique<Communicator>(MPI_COMM_WORLD);
    request = world->iallreduce(std::span(data), ReduceOp::sum);
  }
  request.wait();
  std::puts(data.back() == static_cast<float>(world->size()) ? "all reduced" : "not reduced");
  return 0;
}

/// One that another rank has not begun can't.
int finalizes_with_a_lonely_request() {
  MPI_Init(nullptr, nullptr);
  static float datum = 1;
  Communicator world(MPI_COMM_WORLD);
  Request request;
  if (world.rank() == 0) request = world.iallreduce(std::span(&datum, 1), ReduceOp::sum);
  MPI_Finalize();
  if (world.rank() != 0) return 0;
  try {
    request.wait();
  } catch (const std::exception& error) {
    std::puts(error.what());
  }
  return 0;
}

/// Destroyed when MPI is gone.
int requests_outlive_mpi() {
  static float datum = 1;
  std::vector<Request> requests;
  {
    const rondo::Environment mpi;
    Communicator world(MPI_COMM_WORLD);
    requests.push_back(world.iallreduce(std::span(&datum, 1), ReduceOp::sum));
  }
  requests.clear();
  std::puts("destroyed");
  return 0;
}

/// Rank 1's own exception is what is reported, soon, though its request can't end.
int throws_with_a_request() {
  const rondo::Environment mpi;
  Communicator world(MPI_COMM_WORLD);
  static float datum = 1;
  if (world.rank() == 1) {
    const Request request = world.iallreduce(std::span(&datum, 1), ReduceOp::sum);
    throw std::runtime_error("rank 1 found no data");
  }
  wait_for_ever();
  return 0;
}

/// Rank 0's third request begins, and fails, when rank 1 has joined the first: by then rank 0 waits
/// in split(), which rank 1 enters next.
int splits_with_a_failing_request() {
  const rondo::Environment mpi;
  Communicator world(MPI_COMM_WORLD);
  const auto let_rank_0_go_on = [&] {
    if (world.rank() != 0) std::this_thread::sleep_for(std::chrono::milliseconds(100));
  };
  std::vector<float> data(3, 1.0F);
  std::vector<Request> requests;
  let_rank_0_go_on();
  for (float& datum : data) {
    const bool wrong = world.rank() == 0 && requests.size() == 2;
    requests.push_back(
        world.iallreduce(std::span(&datum, 1), ReduceOp::sum, {.algorithm = wrong ? "tring" : ""}));
  }
  let_rank_0_go_on();
  try {
    world.split(0);
  } catch (const std::exception& error) {
    std::puts(error.what());
  }
  return 0;
}

int aborts() {
  const rondo::Environment mpi;
  MpiTransport transport(MPI_COMM_WORLD);
  if (transport.rank() == 1) transport.abort(3);
  wait_for_ever();
  return 0;
}

const std::map<std::string, std::function<int()>> kScenes{
    {"normal", normal},
    {"users_own_mpi", users_own_mpi},
    {"throws", throws},
    {"throws_a_number", throws_a_number},
    {"returns_7", returns_7},
    {"second_environment", second_environment},
    {"transport_before_init", transport_before_init},
    {"transport_outlives_mpi", transport_outlives_mpi},
    {"leaves_through_finalize", leaves_through_finalize},
    {"finalizes_with_a_cancelled_send", finalizes_with_a_cancelled_send},
    {"finalizes_with_requests", finalizes_with_requests},
    {"finalizes_with_a_lonely_request", finalizes_with_a_lonely_request},
    {"requests_outlive_mpi", requests_outlive_mpi},
    {"throws_with_a_request", throws_with_a_request},
    {"splits_with_a_failing_request", splits_with_a_failing_request},
    {"aborts", aborts},
};

int run_scene(int, char** argv) { return kScenes.at(argv[1])(); }

/// main() of somebody who catches nothing of what escapes the scope of his Environment.
int without_run_main() {
  try {
    return throws();
  } catch (const std::exception&) {
    std::puts("caught too late");
    return 0;
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && argv[1] == std::string("without_run_main")) return without_run_main();
  return rondo::run_main(argc, argv, &run_scene);
}
