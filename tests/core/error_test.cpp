#include <rondo/error.hpp>

#include <gtest/gtest.h>

namespace rondo {
namespace {

TEST(Error, MessageBeginsWithItsCode) {
  const Error error(ErrorCode::peer_lost, "rank 3 has left; look at its output");
  EXPECT_STREQ(error.what(), "rondo: peer_lost: rank 3 has left; look at its output");
  EXPECT_EQ(error.code(), ErrorCode::peer_lost);
}

TEST(Error, EveryCodeHasTheNameOfItsEnumerator) {
  EXPECT_EQ(name_of(ErrorCode::usage), "usage");
  EXPECT_EQ(name_of(ErrorCode::mismatch), "mismatch");
  EXPECT_EQ(name_of(ErrorCode::timeout), "timeout");
  EXPECT_EQ(name_of(ErrorCode::peer_lost), "peer_lost");
  EXPECT_EQ(name_of(ErrorCode::mpi), "mpi");
  EXPECT_EQ(name_of(ErrorCode::cuda), "cuda");
  EXPECT_EQ(name_of(ErrorCode::nccl), "nccl");
  EXPECT_EQ(name_of(ErrorCode::system), "system");
  EXPECT_EQ(name_of(ErrorCode::corrupt_file), "corrupt_file");
}

TEST(Error, GivesItsMessageBackToBeWrappedAgain) {
  for (const ErrorCode code : {ErrorCode::usage, ErrorCode::peer_lost, ErrorCode::corrupt_file}) {
    EXPECT_EQ(Error(code, "rank 3: no").message(), "rank 3: no");
    EXPECT_EQ(Error(code, "").message(), "");
  }
}

}  // namespace
}  // namespace rondo
