#pragma once

/// Everything of Rondo's training runtime.
#include <rondo/train/array.hpp>
#include <rondo/train/blas_threads.hpp>
#include <rondo/train/broadcast.hpp>
#include <rondo/train/layer.hpp>
#include <rondo/train/linear.hpp>
#include <rondo/train/loss.hpp>
#include <rondo/train/optimizer.hpp>
#include <rondo/train/parameter.hpp>
#include <rondo/train/reducer.hpp>
#include <rondo/train/schedule.hpp>
#include <rondo/train/tensor.hpp>
