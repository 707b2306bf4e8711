#pragma once

/// Everything of Rondo's training runtime.
#include <rondo/train/agree.hpp>
#include <rondo/train/array.hpp>
#include <rondo/train/blas_threads.hpp>
#include <rondo/train/broadcast.hpp>
#include <rondo/train/checkpoint.hpp>
#include <rondo/train/csv.hpp>
#include <rondo/train/dataset.hpp>
#include <rondo/train/evaluate.hpp>
#include <rondo/train/layer.hpp>
#include <rondo/train/least_squares.hpp>
#include <rondo/train/linear.hpp>
#include <rondo/train/loader.hpp>
#include <rondo/train/loss.hpp>
#include <rondo/train/metrics.hpp>
#include <rondo/train/metrics_file.hpp>
#include <rondo/train/optimizer.hpp>
#include <rondo/train/parameter.hpp>
#include <rondo/train/permutation.hpp>
#include <rondo/train/prefetcher.hpp>
#include <rondo/train/progress.hpp>
#include <rondo/train/reducer.hpp>
#include <rondo/train/sampler.hpp>
#include <rondo/train/schedule.hpp>
#include <rondo/train/standardize.hpp>
#include <rondo/train/tensor.hpp>
