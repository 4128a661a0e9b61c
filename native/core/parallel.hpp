// Threads, progress and cancellation for long native work.
//
// Work is split into blocks that threads take in turn. A block's result must not depend on which thread computes
// it; then no result depends on the number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>

#include "core/thread_pool.hpp"

namespace sapwood {

struct Cancelled : std::exception {
    const char* what() const noexcept override { return "cancelled"; }
};

// Shared between a computation and the thread that waits for it.
struct Control {
    std::atomic<bool> cancel{false};
    std::atomic<std::size_t> done{0};

    // Call this at least every few milliseconds of work.
    void check() const {
        if (cancel.load(std::memory_order_relaxed)) throw Cancelled();
    }
};

// Whether blocks that are done count as progress.
enum class Progress { counted, silent };

// Calls make_worker() once per thread; the worker is then called with (begin, end) for block after block.
template <class MakeWorker>
void parallel_blocks(std::size_t count, std::size_t block, std::size_t threads, Control& control,
                     MakeWorker make_worker, Progress progress = Progress::counted) {
    const std::size_t blocks = (count + block - 1) / block;
    std::atomic<std::size_t> next{0};
    std::exception_ptr failure;
    std::mutex failure_lock;
    const auto run = [&] {
        try {
            auto worker = make_worker();
            for (std::size_t b; (b = next.fetch_add(1)) < blocks;) {
                control.check();
                const std::size_t begin = b * block, end = begin + block < count ? begin + block : count;
                worker(begin, end);
                if (progress == Progress::counted) control.done.fetch_add(end - begin, std::memory_order_relaxed);
            }
        } catch (...) {
            next.store(blocks);
            const std::lock_guard<std::mutex> hold(failure_lock);
            if (!failure) failure = std::current_exception();
        }
    };
    threads = std::min(threads, blocks);
    if (threads <= 1)
        run();
    else
        ThreadPool::instance().run(threads - 1, run);
    if (failure) std::rethrow_exception(failure);
}

// Runs independent pieces of work, at the same time if there are threads for it; each thread takes the next one.
template <class... Pieces>
void run_together(std::size_t threads, Pieces... pieces) {
    Control control;
    parallel_blocks(sizeof...(pieces), 1, threads, control, [&] {
        return [&](std::size_t piece, std::size_t) {
            std::size_t number = 0;
            ((number++ == piece ? pieces() : void()), ...);
        };
    });
}

}  // namespace sapwood
