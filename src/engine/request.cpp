#include <rondo/request.hpp>

#include <algorithm>
#include <optional>
#include <utility>

#include "core/log.hpp"
#include "engine/launch.hpp"
#include "engine/session.hpp"

namespace rondo {

using Clock = engine::Deadline::Clock;

Request::Request(std::shared_ptr<engine::LaunchPool> pool, engine::Launch& launch) noexcept
    : pool_(std::move(pool)), launch_(&launch) {}

Request::Request(Request&& other) noexcept
    : pool_(std::move(other.pool_)),
      launch_(std::exchange(other.launch_, nullptr)),
      over_at_(other.over_at_) {}

Request& Request::operator=(Request&& other) noexcept {
  if (this == &other) return *this;
  release();
  pool_ = std::move(other.pool_);
  launch_ = std::exchange(other.launch_, nullptr);
  over_at_ = other.over_at_;
  return *this;
}

Request::~Request() { release(); }

void Request::release() noexcept {
  if (launch_ == nullptr) return;
  // The session lives while the launch is pending.
  if (!launch_->is_over()) launch_->session->wait_until_over(*launch_);
  if (launch_->error) core::log(core::LogLevel::error, launch_->error->what());
  pool_->give_back(*std::exchange(launch_, nullptr));
  pool_.reset();
}

void Request::wait() { static_cast<void>(wait_until(Clock::time_point::max())); }

bool Request::wait_for(std::chrono::milliseconds timeout) {
  // Longer than the clock can tell is for ever.
  const Clock::time_point now = Clock::now();
  const bool for_ever =
      timeout >= std::chrono::floor<std::chrono::milliseconds>(Clock::time_point::max() - now);
  return wait_until(for_ever ? Clock::time_point::max()
                             : now + std::max(timeout, std::chrono::milliseconds(0)));
}

bool Request::wait_until(std::chrono::steady_clock::time_point until) {
  if (launch_ == nullptr) return true;
  if (launch_->session != nullptr && !launch_->session->wait(*launch_, until)) return false;
  const std::optional<Error> error = std::exchange(launch_->error, std::nullopt);
  over_at_ = launch_->over_at;
  release();
  if (error) throw Error(*error);
  return true;
}

bool Request::test() {
  return launch_ == nullptr || launch_->is_over() || launch_->session->test(*launch_);
}

}  // namespace rondo
