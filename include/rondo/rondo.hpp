#pragma once

/// Everything of Rondo's collectives; the training runtime has its own <rondo/train/train.hpp>.
#include <rondo/buffer.hpp>
#include <rondo/communicator.hpp>
#include <rondo/environment.hpp>
#include <rondo/error.hpp>
#include <rondo/half.hpp>
#include <rondo/options.hpp>
#include <rondo/request.hpp>
#include <rondo/shared_buffer.hpp>
#include <rondo/stream.hpp>
#include <rondo/types.hpp>
#include <rondo/version.hpp>
