// Threads that wait for work.
//
// Starting a thread takes long on a busy machine: a new one has to wait for a core, a millisecond or two, while one
// that has slept is back on its own core at once. A Gram matrix of two thousand trees takes twenty milliseconds in
// several steps, so threads are started once per process and kept. Blocks of work and failures are handled by
// core/parallel.hpp.
#pragma once

#ifndef _WIN32
#include <pthread.h>
#endif

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <mutex>
#include <system_error>
#include <thread>

namespace sapwood {

class ThreadPool {
    struct Job {
        const std::function<void()>* work;
        std::size_t wanted;   // workers that may still join
        std::size_t running;  // workers that have joined and are not done
    };

  public:
    // The pool of this process.
    static ThreadPool& instance() {
        // A pool is never destroyed: its threads may still use it while the process ends. A forked process has no
        // threads but its own, so it gets a new pool. Windows has no fork.
#ifndef _WIN32
        static const int handled = pthread_atfork(nullptr, nullptr, [] { current().store(nullptr); });
        static_cast<void>(handled);
#endif
        ThreadPool* pool = current().load();
        if (pool) return *pool;
        ThreadPool* made = new ThreadPool();
        if (current().compare_exchange_strong(pool, made)) return *made;
        delete made;
        return *pool;
    }

    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    // Calls work() on this thread and at the same time on up to `workers` others; returns when all of them are done. A
    // worker that has not begun by the time this thread is done does not join. work() must not throw.
    void run(std::size_t workers, const std::function<void()>& work) {
        std::list<Job>::iterator job;
        {
            const std::lock_guard<std::mutex> hold(lock_);
            job = jobs_.insert(jobs_.end(), Job{&work, workers, 0});
            wanted_ += workers;
            spawn();
        }
        if (workers == 1)
            work_added_.notify_one();
        else
            work_added_.notify_all();
        work();
        std::unique_lock<std::mutex> hold(lock_);
        wanted_ -= job->wanted;
        job->wanted = 0;
        work_done_.wait(hold, [&] { return job->running == 0; });
        jobs_.erase(job);
    }

    // Work that one worker does while this thread goes on. work() must not throw, and must outlive the task.
    class Task {
      public:
        Task(ThreadPool& pool, const std::function<void()>& work) : pool_(pool) {
            {
                const std::lock_guard<std::mutex> hold(pool_.lock_);
                ++pool_.wanted_;
                pool_.spawn();
                started_ = pool_.idle_ >= pool_.wanted_;
                if (!started_)
                    --pool_.wanted_;
                else
                    job_ = pool_.jobs_.insert(pool_.jobs_.end(), Job{&work, 1, 0});
            }
            if (started_) pool_.work_added_.notify_one();
        }
        Task(const Task&) = delete;
        Task& operator=(const Task&) = delete;
        ~Task() {
            if (!started_) return;
            std::unique_lock<std::mutex> hold(pool_.lock_);
            pool_.work_done_.wait(hold, [&] { return done(); });
            pool_.jobs_.erase(job_);
        }

        // False if the system could not start another thread: nothing is done then.
        bool started() const { return started_; }

        // Waits for the end, for this long at most; whether it has come.
        bool wait_for(std::chrono::milliseconds time) {
            std::unique_lock<std::mutex> hold(pool_.lock_);
            return pool_.work_done_.wait_for(hold, time, [&] { return done(); });
        }

      private:
        bool done() const { return job_->wanted == 0 && job_->running == 0; }

        ThreadPool& pool_;
        bool started_;
        std::list<Job>::iterator job_;
    };

  private:
    ThreadPool() = default;

    static std::atomic<ThreadPool*>& current() {
        static std::atomic<ThreadPool*> pool{nullptr};
        return pool;
    }

    // Starts threads until there is an idle one for every worker wanted. Call with the lock held.
    void spawn() {
        try {
            for (; idle_ < wanted_; ++idle_) std::thread([this] { run_worker(); }).detach();
        } catch (const std::system_error&) {
            // Fewer threads than wanted is slower, not wrong.
        }
    }

    void run_worker() {
        std::unique_lock<std::mutex> hold(lock_);
        for (;;) {
            work_added_.wait(hold, [&] { return wanted_ > 0; });
            const auto job = std::find_if(jobs_.begin(), jobs_.end(), [](const Job& some) { return some.wanted > 0; });
            --job->wanted;
            --wanted_;
            --idle_;
            ++job->running;
            hold.unlock();
            (*job->work)();
            hold.lock();
            ++idle_;
            if (--job->running == 0) work_done_.notify_all();
        }
    }

    std::mutex lock_;
    std::condition_variable work_added_, work_done_;
    std::list<Job> jobs_;
    std::size_t wanted_ = 0;  // workers, over all jobs
    std::size_t idle_ = 0;    // workers that wait, or are about to
};

}  // namespace sapwood
