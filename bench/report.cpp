#include "report.hpp"

#include <cstdio>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rondo::bench {

namespace {

std::string op_of(const Row& row) {
  return reduces(row.work.collective) ? std::string(name_of(row.work.op)) : "-";
}

}  // namespace

void print_head(const Meta& meta) {
  fmt::print("# {}\n", summary(meta));
  fmt::print(
      "# times in µs: of the slowest rank, {}; algbw and busbw in GB/s\n"
      "# ratio: this implementation's p50 over that of the first one, > 1: the first is faster\n",
      meta.memory == "host" ? "with one read of the output" : "in memory of " + meta.memory);
  fmt::print("{:>10} {:>10} {:>9} {:>4} {:>20} {:>20} {:>10} {:>10} {:>8} {:>8} {:>6} {:>6}\n",
             "bytes", "count", "type", "op", "impl", "algorithm", "p50", "p99", "algbw", "busbw",
             "#wrong", "ratio");
}

void print_rows(const std::vector<Row>& rows) {
  for (const Row& row : rows)
    fmt::print(
        "{:>10} {:>10} {:>9} {:>4} {:>20} {:>20} {:>10.2f} {:>10.2f} {:>8.3f} {:>8.3f} {:>6} "
        "{:>6.2f}\n",
        row.work.bytes(), row.work.count, name_of(row.work.type), op_of(row), row.impl,
        row.algorithm, row.p50_us, row.p99_us, row.algbw(), row.busbw(), row.wrong,
        row.p50_us / rows.front().p50_us);
  std::fflush(stdout);
}

std::string json_text(const Meta& meta, const std::vector<Row>& rows) {
  using nlohmann::json;
  json document;
  document["meta"] = json_of(meta);
  document["rows"] = json::array();
  for (const Row& row : rows)
    document["rows"].push_back(
        {{"impl", row.impl},
         {"collective", std::string(name_of(row.work.collective))},
         {"dtype", std::string(name_of(row.work.type))},
         {"op", op_of(row)},
         {"ranks", meta.ranks},
         {"nodes", meta.nodes},
         {"bytes", row.work.bytes()},
         {"count", row.work.count},
         {"in_place", row.work.in_place},
         {"algorithm", row.algorithm},
         {"time_us",
          {{"min", row.min_us}, {"p50", row.p50_us}, {"p99", row.p99_us}, {"max", row.max_us}}},
         {"algbw_gbs", row.algbw()},
         {"busbw_gbs", row.busbw()},
         {"wrong", row.wrong}});
  return document.dump(1) + "\n";
}

std::string csv_text(const Meta& meta, const std::vector<Row>& rows) {
  std::string text =
      "impl,collective,dtype,op,ranks,nodes,bytes,count,in_place,algorithm,min_us,p50_us,p99_us,"
      "max_us,algbw_gbs,busbw_gbs,wrong\n";
  for (const Row& row : rows)
    fmt::format_to(
        std::back_inserter(text), "{},{},{},{},{},{},{},{},{},\"{}\",{},{},{},{},{},{},{}\n",
        row.impl, name_of(row.work.collective), name_of(row.work.type), op_of(row), meta.ranks,
        meta.nodes, row.work.bytes(), row.work.count, row.work.in_place, row.algorithm, row.min_us,
        row.p50_us, row.p99_us, row.max_us, row.algbw(), row.busbw(), row.wrong);
  return text;
}

}  // namespace rondo::bench
