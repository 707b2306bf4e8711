#include <rondo/train/idx.hpp>

#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <zlib.h>

#include <rondo/train/labelled_data.hpp>

#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"
#include "support/thread_communicators.hpp"

namespace rondo::train {
namespace {

using rondo::testing::errors_of_communicators;
using rondo::testing::expect_error;
using namespace std::string_literals;

/// An IDX file of bytes; every dimension below 256.
std::string idx(const std::string& shape, const std::string& elements) {
  std::string file = "\0\0\x08"s + static_cast<char>(shape.size());
  for (const char extent : shape) file += "\0\0\0"s + extent;
  return file + elements;
}

class Idx : public ::testing::Test {
 protected:
  std::string write_gzip(const std::string& name, const std::string& contents) {
    const std::string path = folder_.path(name);
    gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, contents.data(), static_cast<unsigned>(contents.size()));
    gzclose(file);
    return path;
  }

  /// Expects read_idx() to refuse a file, naming it and `parts`.
  void expect_refused(const std::string& contents, std::vector<std::string> parts) {
    parts.emplace_back("bad.idx");
    expect_error(ErrorCode::corrupt_file, parts,
                 [&] { read_idx(folder_.write("bad.idx", contents)); });
  }

  rondo::testing::TemporaryFolder folder_;
  const std::string images_ = idx("\2\2\3", "abcdefghijk\xff");
};

TEST_F(Idx, IsReadPlainAndGzip) {
  for (const std::string& path :
       {folder_.write("images.idx", images_), write_gzip("images.idx.gz", images_)}) {
    const IdxArray array = read_idx(path);
    EXPECT_EQ(array.shape, (std::vector<std::size_t>{2, 2, 3}));
    EXPECT_EQ(array.elements.size(), 12U);
    EXPECT_EQ(array.elements[1], 'b');
    EXPECT_EQ(array.elements[11], 255);
  }
}

TEST_F(Idx, HasItsDimensionsLargestByteFirst) {
  const std::string path = folder_.write("long.idx", "\0\0\x08\1\0\0\1\2"s + std::string(258, 'x'));
  EXPECT_EQ(read_idx(path).shape, (std::vector<std::size_t>{258}));
}

TEST_F(Idx, IsRefusedWhereverItIsCutShort) {
  for (std::size_t length = 0; length < images_.size(); ++length)
    expect_refused(images_.substr(0, length), {"IDX"});
  expect_refused(images_.substr(0, 3), {"3 bytes"});
  expect_refused(images_.substr(0, 15), {"cut short", "3 dimensions"});
  expect_refused(images_.substr(0, 27), {"2 × 2 × 3", "12 elements", "has 11"});
}

TEST_F(Idx, IsRefusedWithMoreThanItsDimensionsPromise) {
  expect_refused(images_ + "x", {"12 elements", "has 13"});
}

TEST_F(Idx, IsRefusedWithAnotherBeginning) {
  expect_refused("\x89PNG    ", {"89 50 4e 47", "expected 00 00 08"});
  expect_refused("\0\0\x0d\1\0\0\0\1\0\0\0\0"s, {"00 00 0d 01"});  // floats
  expect_refused("\0\0\x08\0"s, {"00 00 08 00"});                  // no dimensions
}

TEST_F(Idx, IsRefusedWhenItsDimensionsOverflow) {
  expect_refused("\0\0\x08\3"s + std::string(12, '\xff'), {"4294967295"});
}

TEST_F(Idx, IsRefusedWhenItsGzipIsCutShort) {
  const std::string whole = rondo::testing::read_file(write_gzip("whole.idx.gz", images_));
  for (std::size_t length = 1; length < whole.size(); ++length)
    expect_error(ErrorCode::corrupt_file, {"cut.idx.gz"}, [&] {
      read_idx(folder_.write("cut.idx.gz", std::string_view(whole).substr(0, length)));
    });
}

TEST_F(Idx, SaysThatAFileIsMissing) {
  expect_error(ErrorCode::system, {"none.idx"}, [&] { read_idx(folder_.path("none.idx")); });
}

class LabelledDataFiles : public Idx {
 protected:
  LabelledData read(const std::string& images, const std::string& labels) {
    return read_labelled_idx(folder_.write("images", images), folder_.write("labels", labels));
  }
};

TEST_F(LabelledDataFiles, GiveSamplesScaledByTheLargestFeature) {
  const LabelledData data = read(images_, idx("\2", "\5\2"));
  EXPECT_EQ(data.samples(), 2U);
  EXPECT_EQ(data.width(), 6U);
  EXPECT_EQ(data.classes(), 6U);
  EXPECT_EQ(data.shape, (std::vector<std::size_t>{2, 3}));
  EXPECT_EQ(data.row(1)[5] * data.scale, 1.0);
  EXPECT_EQ(data.row(1)[0], 'g');
}

TEST_F(LabelledDataFiles, AreRefusedUnlessThereIsALabelForEachSample) {
  for (const std::string& labels : {idx("\1", "\5"), idx("\3", "\1\2\3"), idx("\2\1", "\1\2")})
    expect_error(ErrorCode::corrupt_file, {"images' has 2 samples", "labels' has"},
                 [&] { read(images_, labels); });
  expect_error(ErrorCode::corrupt_file, {"0 samples"},
               [&] { read(idx("\0\2"s, ""), idx("\0"s, "")); });
  expect_error(ErrorCode::corrupt_file, {"without features"},
               [&] { read(idx("\2\0"s, ""), idx("\2", "\1\2")); });
}

TEST_F(LabelledDataFiles, HaveAFingerprintOfEverythingInThem) {
  const LabelledData data = read(images_, idx("\2", "\5\2"));
  std::vector<LabelledData> others(4, data);
  others[0].shape = {3, 2};
  others[1].features[3] ^= 1;
  others[2].labels[0] ^= 1;
  others[3].scale = 1;
  for (const LabelledData& other : others) EXPECT_NE(other.fingerprint(), data.fingerprint());
  EXPECT_EQ(LabelledData(data).fingerprint(), data.fingerprint());
}

TEST_F(LabelledDataFiles, AreRefusedWhenARankHasOthers) {
  const LabelledData data = read(images_, idx("\2", "\5\2"));
  const auto errors = errors_of_communicators(3, [&](Communicator& communicator) {
    LabelledData mine = data;
    if (communicator.rank() == 2) mine.features[0] ^= 1;
    check_same_data(communicator, mine);
  });
  for (const std::exception_ptr& error : errors) {
    ASSERT_NE(error, nullptr);
    expect_error(ErrorCode::mismatch, {"rank 2"}, [&] { std::rethrow_exception(error); });
  }
}

}  // namespace
}  // namespace rondo::train
