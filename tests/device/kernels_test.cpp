#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstring>
#include <span>
#include <vector>

#include "core/reduce.hpp"
#include "device/runtime_suite.hpp"
#include "support/expect_error.hpp"
#include "support/reduce_reference.hpp"

/// Reductions and conversions in device memory, against those of the host, bit by bit.
namespace rondo::device {
namespace {

using core::Accumulator;
using core::Fold;
using core::reference::for_each_type_and_op;
using core::reference::random_values;
using core::reference::same;

using Bytes = std::vector<std::byte>;

/// Room for several arrays in device memory, each at any alignment with canaries round it. Arrays
/// are written and read together, so that a test waits twice.
class Arrays {
 public:
  explicit Arrays(Runtime& runtime) : runtime_(runtime), stream_(runtime.make_stream(0)) {}

  /// Where `bytes` will be, `misalignment` bytes behind an aligned address.
  std::size_t add(std::span<const std::byte> bytes, std::size_t misalignment) {
    const std::size_t offset = content_.size() + kMargin + misalignment;
    content_.resize((offset + bytes.size() + 2 * kMargin) / kMargin * kMargin, kCanary);
    if (!bytes.empty()) std::memcpy(content_.data() + offset, bytes.data(), bytes.size());
    return offset;
  }
  template <class T>
  std::size_t add(const std::vector<T>& values, std::size_t misalignment) {
    return add(std::as_bytes(std::span(values)), misalignment);
  }

  void upload() {
    memory_ = Memory(runtime_, {MemoryKind::device, 0}, content_.size());
    stream_->copy(memory_.data(), content_.data(), content_.size());
  }
  std::byte* at(std::size_t offset) { return memory_.data() + offset; }
  Stream& stream() { return *stream_; }

  /// What device memory holds now.
  Bytes download() {
    Bytes now(content_.size());
    stream_->copy(now.data(), memory_.data(), now.size());
    stream_->synchronize();
    return now;
  }
  /// What it held before.
  Bytes& before() { return content_; }

 private:
  static constexpr std::size_t kMargin = 64;
  static constexpr std::byte kCanary{0xa5};

  Runtime& runtime_;
  std::unique_ptr<Stream> stream_;
  Bytes content_;
  Memory memory_;
};

template <class T>
void expect_same(const Bytes& actual, const Bytes& expected, std::size_t offset,
                 std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    T a{};
    T b{};
    std::memcpy(static_cast<void*>(&a), actual.data() + offset + i * sizeof(T), sizeof(T));
    std::memcpy(static_cast<void*>(&b), expected.data() + offset + i * sizeof(T), sizeof(T));
    ASSERT_TRUE(same(a, b)) << "element " << i;
  }
}

/// Whether two arrays agree in all but the bytes of [offset, offset + bytes).
bool same_around(Bytes actual, Bytes expected, std::size_t offset, std::size_t bytes) {
  std::memset(actual.data() + offset, 0, bytes);
  std::memset(expected.data() + offset, 0, bytes);
  return actual == expected;
}

struct Case {
  std::size_t sources = 2;
  std::size_t count = 0;
  std::size_t misalignment = 0;       // of all
  std::size_t more_misalignment = 0;  // of each source than of the one before
  int in_place = -1;                  // the source that is the output too
};

class DeviceKernels : public DeviceRuntime {
 protected:
  template <class T, class Out>
  void expect_reduced(const Fold& fold, const Case& it) {
    SCOPED_TRACE(fmt::format("{} {}, {} sources of {}, misaligned by {} and {}, in place {}",
                             name_of(fold.type), name_of(fold.op), it.sources, it.count,
                             it.misalignment, it.more_misalignment, it.in_place));
    Arrays arrays(*runtime_);
    std::vector<std::size_t> offsets;
    for (std::size_t s = 0; s < it.sources; ++s)
      offsets.push_back(arrays.add(random_values<T>(it.count, s + 1),
                                   it.misalignment + s * it.more_misalignment));
    const std::size_t out = it.in_place >= 0
                                ? offsets[static_cast<std::size_t>(it.in_place)]
                                : arrays.add(std::vector<Out>(it.count), it.misalignment);
    arrays.upload();
    std::vector<const void*> on_device;
    std::vector<const void*> on_host;
    for (const std::size_t offset : offsets) {
      on_device.push_back(arrays.at(offset));
      on_host.push_back(arrays.before().data() + offset);
    }
    arrays.stream().reduce(fold, on_device, arrays.at(out), it.count);
    const Bytes actual = arrays.download();
    core::reduce_many(fold, on_host, arrays.before().data() + out, it.count);
    expect_same<Out>(actual, arrays.before(), out, it.count);
    EXPECT_TRUE(same_around(actual, arrays.before(), out, it.count * sizeof(Out)));
  }

  template <class T>
  void expect_reduced(ReduceOp op, const Case& it) {
    expect_reduced<T, T>({.type = data_type_of<T>, .op = op}, it);
  }
};
RONDO_FOR_EACH_RUNTIME(DeviceKernels);

// Counts for which there are no whole vectors, some, and enough for several blocks.
TEST_P(DeviceKernels, EveryTypeOpAndCountAsOnTheHost) {
  for_each_type_and_op([&]<class T>(ReduceOp op) {
    for (const std::size_t count : {0, 1, 17, 259, 20'011}) expect_reduced<T>(op, {.count = count});
    expect_reduced<T>(op, {.sources = 5, .count = 1003});
  });
}

TEST_P(DeviceKernels, SourcesAndOutputOfAnyAlignment) {
  for_each_type_and_op([&]<class T>(ReduceOp op) {
    if (op != ReduceOp::sum) return;
    for (const std::size_t misalignment : {0, 1, 8, 12})
      for (const std::size_t more : {std::size_t{1}, sizeof(T), 5 * sizeof(T)})
        expect_reduced<T>(
            op,
            {.sources = 3, .count = 1003, .misalignment = misalignment, .more_misalignment = more});
    for (std::size_t more = 1; more < 16; ++more)
      expect_reduced<T>(op, {.count = 299, .more_misalignment = more});
  });
}

TEST_P(DeviceKernels, OutMayBeAnyOneOfTheSources) {
  for_each_type_and_op([&]<class T>(ReduceOp op) {
    if (op != ReduceOp::max) return;
    for (int in_place = 0; in_place < 3; ++in_place)
      expect_reduced<T>(op, {.sources = 3,
                             .count = 5003,
                             .more_misalignment = sizeof(T) * static_cast<std::size_t>(in_place),
                             .in_place = in_place});
  });
}

TEST_P(DeviceKernels, ScalesAndDividesAsOnTheHost) {
  for_each_type_and_op([&]<class T>(ReduceOp op) {
    if constexpr (!std::is_integral_v<T>) {
      for (const auto& [scale, divisor] : {core::AverageScaling{0.25, 0.75}, {-0.3, 1.0}}) {
        const Fold fold{data_type_of<T>, op, scale, divisor};
        expect_reduced<T, T>(fold, {.sources = 3, .count = 2003});
        expect_reduced<T, T>(fold, {.sources = 1, .count = 203, .more_misalignment = 3});
      }
    }
  });
}

TEST_P(DeviceKernels, PartialResultsStayInTheAccumulatorType) {
  for_each_type_and_op([&]<class T>(ReduceOp op) {
    const Fold fold{.type = data_type_of<T>, .op = op, .partial = true};
    expect_reduced<T, Accumulator<T>>(fold, {.sources = 3, .count = 2003});
    expect_reduced<T, Accumulator<T>>(
        fold, {.sources = 3, .count = 2003, .misalignment = 4, .more_misalignment = 2});
  });
}

TEST_P(DeviceKernels, ReducesAsManySourcesAsItSaysAndRefusesMore) {
  expect_reduced<float>(ReduceOp::sum, {.sources = Stream::kMostSources, .count = 100});
  const std::vector<const void*> sources(Stream::kMostSources + 1);
  testing::expect_error(ErrorCode::usage, {"129 sources", "takes 128"}, [&] {
    stream()->reduce({DataType::float32, ReduceOp::sum}, sources, nullptr, 1);
  });
}

/// Converts pieces of many sizes, one behind the other, into one array without gaps.
template <class From, class To>
void expect_packed(Runtime& runtime, const core::Conversion& conversion, std::size_t misalignment) {
  SCOPED_TRACE(fmt::format("{} to {}, scale {}, divisor {}, misaligned by {}",
                           name_of(conversion.from), name_of(conversion.to), conversion.scale,
                           conversion.divisor, misalignment));
  Arrays arrays(runtime);
  std::vector<std::size_t> offsets;
  std::vector<std::size_t> counts;
  std::size_t total = 0;
  for (std::size_t p = 0; p < 150; ++p) {
    counts.push_back(p == 7 ? 30'001 : p * 37 % 101);
    offsets.push_back(arrays.add(random_values<From>(counts[p], p), p % 3 * misalignment));
    total += counts[p];
  }
  const std::size_t out = arrays.add(std::vector<To>(total), misalignment);
  arrays.upload();
  std::vector<Stream::Piece> pieces;
  std::size_t to = out;
  Bytes& expected = arrays.before();
  for (std::size_t p = 0; p < counts.size(); ++p) {
    pieces.push_back({arrays.at(offsets[p]), arrays.at(to), counts[p]});
    to += counts[p] * sizeof(To);
  }
  arrays.stream().convert(conversion, pieces);
  const Bytes actual = arrays.download();
  to = out;
  for (std::size_t p = 0; p < counts.size(); ++p) {
    core::convert(conversion, expected.data() + offsets[p], expected.data() + to, counts[p]);
    to += counts[p] * sizeof(To);
  }
  expect_same<To>(actual, expected, out, total);
  EXPECT_TRUE(same_around(actual, expected, out, total * sizeof(To)));
}

TEST_P(DeviceKernels, PacksAndConvertsManyPieces) {
  for_each_type_and_op([&]<class T>(ReduceOp op) {
    if (op != ReduceOp::sum) return;
    using A = Accumulator<T>;
    constexpr DataType kType = data_type_of<T>;
    constexpr DataType kWide = data_type_of<A>;
    expect_packed<T, T>(*runtime_, {kType, kType}, 0);
    if constexpr (!std::is_integral_v<T>) {
      for (const std::size_t misalignment : {std::size_t{0}, std::size_t{1}, sizeof(T)}) {
        expect_packed<A, T>(*runtime_, {kWide, kType, 0.1, 3.0}, misalignment);
        expect_packed<T, A>(*runtime_, {kType, kWide, 0.1, 1.0}, misalignment);
        expect_packed<T, T>(*runtime_, {kType, kType, 1.0, 3.0}, misalignment);
      }
    }
  });
}

}  // namespace
}  // namespace rondo::device
