#include <rondo/train/text_data.hpp>

#include <numeric>

#include <gtest/gtest.h>

#include <rondo/train/cross_entropy.hpp>
#include <rondo/train/embedding.hpp>
#include <rondo/train/evaluate.hpp>
#include <rondo/train/loader.hpp>

#include "support/expect_error.hpp"
#include "support/random_data.hpp"
#include "support/temporary_folder.hpp"
#include "support/thread_communicators.hpp"

namespace rondo::train {
namespace {

using rondo::testing::errors_of_communicators;
using rondo::testing::expect_error;
using rondo::testing::first_samples;
using rondo::testing::run_communicators;
using rondo::testing::TemporaryFolder;

TextData text_of(const std::string& text, std::size_t context) {
  const TemporaryFolder folder;
  return read_text_data(folder.write("text", text), context);
}

TEST(TextData, NumbersItsCharactersInOrder) {
  const TextData data = text_of("cab\nb\xC3", 2);
  EXPECT_EQ(data.alphabet, "\nabc\xC3");
  EXPECT_EQ(data.classes(), 5U);
  EXPECT_EQ(data.characters, (std::vector<std::uint8_t>{3, 1, 2, 0, 2, 4}));
}

TEST(TextData, HasEachCharacterButTheFirstAsOneLabel) {
  for (std::size_t length = 2; length < 12; ++length)
    for (std::size_t context = 1; context < length; ++context) {
      std::string text(length, 'a');
      std::iota(text.begin(), text.end(), 'a');
      const TextData data = text_of(text, context);
      std::vector<int> seen(length);
      for (std::size_t sample = 0; sample < data.samples(); ++sample) {
        const std::vector<std::uint32_t> labels = data.labels(sample);
        ASSERT_EQ(labels.size(), context);
        for (std::size_t i = 0; i < context; ++i) {
          if (labels[i] == kNoTarget) continue;
          EXPECT_EQ(labels[i], data.row(sample)[i] + 1U);
          ++seen[labels[i]];
        }
      }
      EXPECT_EQ(seen[0], 0);
      EXPECT_EQ(std::count(seen.begin() + 1, seen.end(), 1), length - 1) << length << context;
    }
}

TEST(TextData, RefusesATextNoLongerThanItsContext) {
  expect_error(ErrorCode::usage, {"/text'", "3 characters", "context of 3", "1 to 2"},
               [] { text_of("abc", 3); });
  EXPECT_THROW(text_of("", 1), Error);
  EXPECT_THROW(text_of("abc", 0), Error);
  EXPECT_EQ(text_of("abc", 2).samples(), 1U);
  expect_error(ErrorCode::system, {"/nowhere"}, [] { read_text_data("/nowhere", 1); });
}

TEST(TextData, IsToldApartByItsFingerprint) {
  const std::uint64_t one = text_of("abcabc", 2).fingerprint();
  EXPECT_EQ(text_of("abcabc", 2).fingerprint(), one);
  EXPECT_NE(text_of("abcabc", 3).fingerprint(), one);
  EXPECT_NE(text_of("abdabd", 2).fingerprint(), one);
  EXPECT_NE(text_of("abcacb", 2).fingerprint(), one);
}

TEST(TextData, IsLoadedWithALabelForEachCharacter) {
  const TextData data = text_of("abcd", 2);
  const auto batch = gather_batch<double>(data, first_samples(2));
  EXPECT_EQ(batch.features, (std::vector<double>{0, 1, 1, 2}));
  EXPECT_EQ(batch.labels, (std::vector<std::uint32_t>{1, 2, kNoTarget, 3}));
  EXPECT_EQ(batch.samples(), 2U);
  EXPECT_EQ(batch.weight(), 3U);
}

/// Predicts the letter that follows in the alphabet; the second after the last.
Embedding<double> successor(const TextData& data) {
  Embedding<double> model("next", data.context, data.classes(), data.classes());
  for (std::size_t c = 0; c < data.classes(); ++c)
    model.weight().value()[c * data.classes() + (c + 1 < data.classes() ? c + 1 : 1)] = 50;
  return model;
}

TEST(TextData, IsEvaluatedByEachCharacterOnce) {
  const TextData data = text_of("abcabcabcab", 4);  // 10 to predict: 7 successors
  for (const int ranks : {1, 2, 3, 5})
    run_communicators(ranks, [&](Communicator& communicator) {
      Embedding<double> model = successor(data);
      const auto score = evaluate<double>(communicator, model, data, first_samples(data.samples()));
      EXPECT_EQ(score.samples, 10U);
      EXPECT_DOUBLE_EQ(score.accuracy, 0.7);
      EXPECT_NEAR(score.cross_entropy, 15, 1e-12);
    });
}

TEST(TextData, IsNotEvaluatedByAModelOfAnotherSize) {
  const TextData data = text_of("abcabc", 2);
  for (const std::exception_ptr& error :
       errors_of_communicators(2, [&](Communicator& communicator) {
         Embedding<double> model("next", 2, 3, 4);
         evaluate<double>(communicator, model, data, first_samples(1));
       })) {
    ASSERT_NE(error, nullptr);
    expect_error(ErrorCode::usage, {"8 outputs", "2 characters of 3 kinds"},
                 [&] { std::rethrow_exception(error); });
  }
}

}  // namespace
}  // namespace rondo::train
