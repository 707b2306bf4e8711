#include "overlap_report.hpp"

#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace rondo::bench {

namespace {

constexpr double kMilli = 1e3;

std::size_t total_bytes(const ModelShape& shape) {
  const auto counts = shape.counts();
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0}) * sizeof(float);
}

}  // namespace

void print(const Meta& meta, const OverlapArguments& arguments, const OverlapResult& result) {
  constexpr double kMiB = 1024.0 * 1024.0;
  fmt::print("# {}\n", summary(meta));
  fmt::print(
      "# {} layers, {:.1f} MiB of gradients, buckets of {:.2f} MiB; {:.3f} GFLOP a layer; {} "
      "samples\n",
      arguments.shape.layers, static_cast<double>(total_bytes(arguments.shape)) / kMiB,
      static_cast<double>(arguments.bucket_bytes) / kMiB,
      static_cast<double>(result.operations) * 1e-9, result.samples);
  fmt::print(
      "# backward alone {:.2f} ms; bound max(backward, fastest communication) {:.2f} ms\n"
      "# times in ms, medians of the slowest rank's; ratio: step / bound; exposed: step - "
      "backward;\n"
      "# overlap: 1 - exposed / communication; processor: of a rank, in a step\n",
      result.compute * kMilli, result.bound() * kMilli);
  fmt::print("{:>14} {:>10} {:>14} {:>7} {:>10} {:>8} {:>10} {:>7} {:>7}\n", "impl", "step",
             "communication", "ratio", "exposed", "overlap", "processor", "speedup", "#wrong");
  for (const OverlapRow& row : result.rows)
    fmt::print("{:>14} {:>10.2f} {:>14.2f} {:>7.3f} {:>10.2f} {:>8.3f} {:>10.2f} {:>7.2f} {:>7}\n",
               row.impl, row.step * kMilli, row.communication * kMilli, row.step / result.bound(),
               row.exposed * kMilli, row.overlap(), row.processor * kMilli,
               row.step / result.rows.front().step, row.wrong);
}

std::string json_text(const Meta& meta, const OverlapArguments& arguments,
                      const OverlapResult& result) {
  nlohmann::json document;
  document["meta"] = json_of(meta);
  document["work"] = {{"layers", arguments.shape.layers},
                      {"layer_bytes", arguments.shape.layer_bytes},
                      {"edge_bytes", arguments.shape.edge_bytes},
                      {"bytes", total_bytes(arguments.shape)},
                      {"bucket_bytes", arguments.bucket_bytes},
                      {"operations", result.operations},
                      {"samples", result.samples},
                      {"compute_ms", result.compute * kMilli},
                      {"bound_ms", result.bound() * kMilli}};
  document["rows"] = nlohmann::json::array();
  for (const OverlapRow& row : result.rows)
    document["rows"].push_back({{"impl", row.impl},
                                {"step_ms", row.step * kMilli},
                                {"fastest_step_ms", row.fastest_step * kMilli},
                                {"communication_ms", row.communication * kMilli},
                                {"ratio", row.step / result.bound()},
                                {"exposed_ms", row.exposed * kMilli},
                                {"overlap", row.overlap()},
                                {"processor_ms", row.processor * kMilli},
                                {"wrong", row.wrong}});
  return document.dump(1) + "\n";
}

}  // namespace rondo::bench
