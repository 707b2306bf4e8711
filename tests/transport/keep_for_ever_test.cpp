#include "transport/keep_for_ever.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace rondo::transport {
namespace {

struct Counted {
  Counted() { ++alive; }
  ~Counted() { --alive; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  static inline int alive = 0;
};

TEST(MessageMemory, IsFreedAtItsEndButForExceptions) {
  { const MessageMemory<Counted> memory; }
  EXPECT_EQ(Counted::alive, 0);
  const auto fail = [] {
    const MessageMemory<Counted> memory;
    throw std::runtime_error("a failure");
  };
  EXPECT_THROW(fail(), std::runtime_error);
  EXPECT_EQ(Counted::alive, 1);
}

/// As destructors are while an exception unwinds.
TEST(MessageMemory, IsFreedThoughAnotherExceptionIsUnderWay) {
  struct Destroyed {
    ~Destroyed() { const MessageMemory<Counted> memory; }
  };
  const int before = Counted::alive;
  const auto fail = [] {
    const Destroyed destroyed;
    throw std::runtime_error("a failure");
  };
  EXPECT_THROW(fail(), std::runtime_error);
  EXPECT_EQ(Counted::alive, before);
}

}  // namespace
}  // namespace rondo::transport
