#pragma once

#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

namespace rondo::engine {

class Session;

/// One thread per process that looks at its idle communicators now and then, so that a rank which
/// is busy with its own work still answers "alive" to its peers' questions. It sleeps between
/// looks, and does not exist while there is nothing to watch.
class Watchman {
 public:
  static Watchman& instance();
  ~Watchman();

  void watch(Session& session);
  /// Returns once the session is not being looked at and never will be again.
  void forget(Session& session);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<Session*> sessions_;
  std::thread thread_;
  bool stopping_ = false;
};

}  // namespace rondo::engine
