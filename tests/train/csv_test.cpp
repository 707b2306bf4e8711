#include <rondo/train/csv.hpp>

#include <zlib.h>

#include <clocale>
#include <cmath>

#include <gtest/gtest.h>

#include "support/expect_error.hpp"
#include "support/temporary_folder.hpp"

namespace rondo::train {
namespace {

using rondo::testing::expect_error;
using rondo::testing::TemporaryFolder;

using Numbers = std::vector<double>;
using Names = std::vector<std::string>;

class Csv : public ::testing::Test {
 protected:
  Table read(std::string_view text, const CsvOptions& options = {}) {
    return read_csv(folder_.write("t.csv", text), options);
  }
  void expect_refused(std::string_view text, const std::vector<std::string>& parts,
                      const CsvOptions& options = {}) {
    expect_error(ErrorCode::corrupt_file, parts, [&] { read(text, options); });
  }

  TemporaryFolder folder_;
};

TEST_F(Csv, ReadsNumbersAndCategories) {
  const Table table = read("x,kind,y\n1,b,-2.5\n+2,a,1e3\n 3 ,b,.5\n");
  ASSERT_EQ(table.rows, 3U);
  ASSERT_EQ(table.columns.size(), 3U);
  EXPECT_EQ(table.columns[0].numbers, (Numbers{1, 2, 3}));
  EXPECT_TRUE(table.columns[1].categorical);
  EXPECT_EQ(table.columns[1].levels, (Names{"a", "b"}));
  EXPECT_EQ(table.columns[1].codes, (std::vector<int>{1, 0, 1}));
  EXPECT_EQ(table.columns[2].numbers, (Numbers{-2.5, 1000, 0.5}));
}

TEST_F(Csv, TakesQuotedCommasQuotesAndLineEnds) {
  const Table table =
      read("\"a,b\",c\n1,\"say \"\"hi\"\"\"\n2,\"two\nlines, one field\"\n3,\"\"\"\"\n");
  EXPECT_EQ(table.columns[0].name, "a,b");
  EXPECT_EQ(table.columns[1].levels, (Names{"\"", "say \"hi\"", "two\nlines, one field"}));
}

TEST_F(Csv, SkipsByteOrderMarkBlankLinesAndCarriageReturns) {
  const Table table = read("\xEF\xBB\xBFx,y\r\n\r\n1,2\r\n\n3,4\r\n\r\n");
  EXPECT_EQ(table.columns[0].name, "x");
  EXPECT_EQ(table.columns[1].name, "y");
  EXPECT_EQ(table.columns[1].numbers, (Numbers{2, 4}));
}

TEST_F(Csv, NeedsNoLineEndAtTheEnd) {
  EXPECT_EQ(read("x,y\n1,2").columns[1].numbers, (Numbers{2}));
  EXPECT_EQ(read("x,k\n1,\"a\"").columns[1].levels, (Names{"a"}));
}

TEST_F(Csv, LeavesOutAFirstColumnWithoutName) {
  const Table table = read("\"\",x\n\"1\",5\n\"2\",6\n");
  ASSERT_EQ(table.columns.size(), 1U);
  EXPECT_EQ(table.columns[0].numbers, (Numbers{5, 6}));
}

TEST_F(Csv, ReadsTheSameInEveryLocale) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"})
    if (std::setlocale(LC_ALL, name) != nullptr) break;
  EXPECT_EQ(read("x\n1.5\n").columns[0].numbers, (Numbers{1.5}));
  std::setlocale(LC_ALL, before.c_str());
}

TEST_F(Csv, RefusesAFileWithoutRows) {
  expect_refused("", {"t.csv:1", "empty"});
  expect_refused("\n\r\n", {"empty"});
  expect_refused("x,y\n", {"t.csv", "header and no rows"});
  expect_refused("x,y\r\n\r\n", {"header and no rows"});
}

TEST_F(Csv, RefusesColumnsThatCannotBeToldApart) {
  expect_refused("x,y,x\n1,2,3\n", {"t.csv:1", "'x'"});
  expect_refused("x,,y\n1,2,3\n", {"t.csv:1", "column 2 has no name"});
}

TEST_F(Csv, RefusesRaggedRowsWithTheirLine) {
  expect_refused("x,y\n1,2\n3\n", {"t.csv:3", "1 fields where the header has 2"});
  expect_refused("x,k\n1,\"a\nb\"\n3,c,4\n", {"t.csv:4", "3 fields where the header has 2"});
}

TEST_F(Csv, RefusesBrokenQuotesWithTheirLine) {
  expect_refused("x,k\n1,a\n2,\"b\n3,c\n", {"t.csv:3", "never closed"});
  expect_refused("x,k\n1,\"a\"b\n", {"t.csv:2", "after a closing quote"});
  expect_refused("x,k\n1,a\"b\n", {"t.csv:2", "in the middle of a field"});
}

TEST_F(Csv, RefusesTextAmongNumbersAndSaysWhere) {
  expect_refused("x,y\n1,2\n1,2.5.1\n1,3\n", {"t.csv:3", "column 'y'", "'2.5.1' is not a number"});
  expect_refused("x,y\nabc,1\n2,1\n3,1\n", {"t.csv:2", "column 'x'", "'abc' is not a number"});
  expect_refused("k\na\nb\n7\nc\n", {"t.csv:4", "column 'k'", "'7' is a number"});
  expect_refused("x\n0x10\n1\n2\n", {"t.csv:2", "'0x10'"});
}

TEST_F(Csv, RefusesADecimalCommaAndSaysSo) {
  expect_refused("x,y\n1,2\n1,\"2,5\"\n1,3\n", {"t.csv:3", "column 'y'", "'2,5'", "decimal point"});
  expect_refused("x,y\n1,\"1,5\"\n1,\"2,5\"\n",
                 {"t.csv:2", "column 'y'", "'1,5'", "decimal comma"});
}

TEST_F(Csv, RefusesNumbersThatAreNotFinite) {
  for (const char* text : {"inf", "-inf", "Infinity", "1e999", "-1e999"})
    expect_refused(std::string("x\n1\n") + text + "\n",
                   {"t.csv:3", "column 'x'", text, "not a finite number"});
}

TEST_F(Csv, RoundsNumbersBelowTheSmallestToZero) {
  EXPECT_EQ(read("x\n1e-999\n").columns[0].numbers, (Numbers{0}));
}

TEST_F(Csv, RefusesMissingValuesUnlessAPolicyIsChosen) {
  for (const char* gap : {"", "NA", "NaN", "nan", " ", "\"\""})
    expect_refused(std::string("x,y\n1,2\n") + gap + ",3\n", {"t.csv:3", "column 'x'", "missing"});
}

TEST_F(Csv, DropsRowsWithMissingValues) {
  const Table table =
      read("x,k\n1,a\nNA,b\n3,\n4,c\n", {.missing = Missing::drop, .categorical = {}});
  EXPECT_EQ(table.rows, 2U);
  EXPECT_EQ(table.columns[0].numbers, (Numbers{1, 4}));
  EXPECT_EQ(table.columns[1].levels, (Names{"a", "c"}));
}

TEST_F(Csv, RefusesToDropEveryRow) {
  expect_refused("x,y\nNA,1\n2,\n", {"none is left"},
                 {.missing = Missing::drop, .categorical = {}});
}

TEST_F(Csv, KeepsGapsToBeFilledIn) {
  const Table table = read("x,k\n1,a\nNA,b\n3,\n", {.missing = Missing::mean, .categorical = {}});
  EXPECT_EQ(table.rows, 3U);
  EXPECT_TRUE(std::isnan(table.columns[0].numbers[1]));
  EXPECT_EQ(table.columns[1].codes, (std::vector<int>{0, 1, -1}));
}

TEST_F(Csv, ReadsNumbersAsCategoriesWhereDeclared) {
  const Table table = read("x,grade\n1,2\n2,K\n3,10\n", {.missing = {}, .categorical = {"grade"}});
  EXPECT_EQ(table.columns[1].levels, (Names{"10", "2", "K"}));
  expect_error(ErrorCode::usage, {"'size'"},
               [&] { read("x,grade\n1,2\n", {.missing = {}, .categorical = {"size"}}); });
}

TEST_F(Csv, RefusesAColumnOfIdentifiers) {
  std::string text = "x,id\n";
  for (int i = 0; i < 1001; ++i) text += "1,name" + std::to_string(i) + "\n";
  expect_refused(text, {"t.csv:1002", "column 'id'", "more than 1000"});
}

TEST_F(Csv, RefusesWhatIsNotUtf8Text) {
  expect_refused(std::string("\xFF\xFEx\0,\0y\0", 8), {"not UTF-8"});
}

TEST_F(Csv, NamesAFileThatCannotBeRead) {
  expect_error(ErrorCode::system, {"absent.csv", "No such file"},
               [&] { read_csv(folder_.path("absent.csv")); });
  expect_error(ErrorCode::system, {"Is a directory"}, [&] { read_csv(folder_.path()); });
}

class CompressedCsv : public Csv {
 protected:
  std::string compress(std::string_view text) {
    const std::string path = folder_.path("t.csv.gz");
    gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    return path;
  }
  std::string many_rows() {
    std::string text = "x,y\n";
    for (int i = 0; i < 20'000; ++i)
      text += std::to_string(i * 7919 % 10'007) + "," + std::to_string(i) + "\n";
    return text;
  }
};

TEST_F(CompressedCsv, IsDecompressedWhateverItsName) {
  const std::string path = compress(many_rows());
  EXPECT_EQ(read_csv(path).rows, 20'000U);
  EXPECT_EQ(read(rondo::testing::read_file(path)).rows, 20'000U);
}

TEST_F(CompressedCsv, IsRefusedWhenCutShortAnywhere) {
  const std::string path = compress(many_rows());
  const std::string whole = rondo::testing::read_file(path);
  for (const std::size_t length : {std::size_t{1}, std::size_t{2}, std::size_t{9}, std::size_t{30},
                                   whole.size() / 2, whole.size() - 8, whole.size() - 1})
    expect_error(ErrorCode::corrupt_file, {"t.csv.gz"}, [&] {
      read_csv(folder_.write("t.csv.gz", std::string_view(whole).substr(0, length)));
    });
}

TEST_F(CompressedCsv, IsRefusedWhenDamaged) {
  const std::string path = compress(many_rows());
  const std::string whole = rondo::testing::read_file(path);
  for (const std::size_t place : {std::size_t{0}, whole.size() / 2, whole.size() - 6}) {
    std::string damaged = whole;
    damaged[place] = static_cast<char>(damaged[place] ^ 0x55);
    expect_error(ErrorCode::corrupt_file, {"t.csv.gz"},
                 [&] { read_csv(folder_.write("t.csv.gz", damaged)); });
  }
}

TEST(ShippedData, HasAllDiamonds) {
  const Table table = read_csv(RONDO_SOURCE_DATA "/diamonds.csv.gz");
  EXPECT_EQ(table.rows, 53'940U);
  ASSERT_EQ(table.columns.size(), 10U);
  EXPECT_EQ(table.columns[1].levels, (Names{"Fair", "Good", "Ideal", "Premium", "Very Good"}));
  EXPECT_EQ(table.columns[6].name, "price");
  EXPECT_EQ(table.columns[6].numbers.back(), 2757);
}

}  // namespace
}  // namespace rondo::train
