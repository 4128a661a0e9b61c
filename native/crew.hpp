// Threads that wait for work.
//
// Starting a thread takes long on a busy machine: a new one has to wait until the system finds it a core, a millisecond or
// two, while one that has slept is back on its own at once. A Gram matrix of two thousand trees is a matter of twenty
// milliseconds in several steps, so helpers are started once per process and kept. What is to be done, and what becomes of
// failures, is the business of parallel.hpp.
#pragma once

#include <pthread.h>

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

class Crew {
    struct Job {
        const std::function<void()>* work;
        std::size_t wanted;  // helpers that may still join
        std::size_t inside;  // helpers at work
    };

  public:
    // The crew of this process.
    static Crew& here() {
        // A crew is never taken down: its threads may still be looking at it while the process ends. A process that was
        // forked off has no threads but its own, so it gets a new one.
        static const int handled = pthread_atfork(nullptr, nullptr, [] { current().store(nullptr); });
        static_cast<void>(handled);
        Crew* crew = current().load();
        if (crew) return *crew;
        Crew* made = new Crew();
        if (current().compare_exchange_strong(crew, made)) return *made;
        delete made;
        return *crew;
    }

    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;

    // Calls work() on this thread and at the same time on up to `helpers` others; returns when all of them are done. A
    // helper that has not begun by the time this thread is done stays out. work() must not throw.
    void run(std::size_t helpers, const std::function<void()>& work) {
        std::list<Job>::iterator job;
        {
            const std::lock_guard<std::mutex> hold(lock_);
            job = jobs_.insert(jobs_.end(), Job{&work, helpers, 0});
            wanted_ += helpers;
            hire();
        }
        if (helpers == 1) called_.notify_one();
        else called_.notify_all();
        work();
        std::unique_lock<std::mutex> hold(lock_);
        wanted_ -= job->wanted;
        job->wanted = 0;
        left_.wait(hold, [&] { return job->inside == 0; });
        jobs_.erase(job);
    }

    // Something that a helper does while this thread goes on. work() must not throw, and must outlive the errand.
    class Errand {
      public:
        Errand(Crew& crew, const std::function<void()>& work) : crew_(crew) {
            {
                const std::lock_guard<std::mutex> hold(crew_.lock_);
                ++crew_.wanted_;
                crew_.hire();
                taken_ = crew_.idle_ >= crew_.wanted_;
                if (!taken_) --crew_.wanted_;
                else job_ = crew_.jobs_.insert(crew_.jobs_.end(), Job{&work, 1, 0});
            }
            if (taken_) crew_.called_.notify_one();
        }
        Errand(const Errand&) = delete;
        Errand& operator=(const Errand&) = delete;
        ~Errand() {
            if (!taken_) return;
            std::unique_lock<std::mutex> hold(crew_.lock_);
            crew_.left_.wait(hold, [&] { return done(); });
            crew_.jobs_.erase(job_);
        }

        // False where the system has no room for another thread: nothing is done then.
        bool taken() const { return taken_; }

        // Waits for the end, but not longer than this; whether it has come.
        bool wait_for(std::chrono::milliseconds time) {
            std::unique_lock<std::mutex> hold(crew_.lock_);
            return crew_.left_.wait_for(hold, time, [&] { return done(); });
        }

      private:
        bool done() const { return job_->wanted == 0 && job_->inside == 0; }

        Crew& crew_;
        bool taken_;
        std::list<Job>::iterator job_;
    };

  private:
    Crew() = default;

    static std::atomic<Crew*>& current() {
        static std::atomic<Crew*> crew{nullptr};
        return crew;
    }

    // Sees to it that there is somebody for every job. Call with the lock held.
    void hire() {
        try {
            for (; idle_ < wanted_; ++idle_) std::thread([this] { serve(); }).detach();
        } catch (const std::system_error&) {
            // Fewer threads than asked for is slower, not wrong.
        }
    }

    void serve() {
        std::unique_lock<std::mutex> hold(lock_);
        for (;;) {
            called_.wait(hold, [&] { return wanted_ > 0; });
            const auto job = std::find_if(jobs_.begin(), jobs_.end(), [](const Job& some) { return some.wanted > 0; });
            --job->wanted;
            --wanted_;
            --idle_;
            ++job->inside;
            hold.unlock();
            (*job->work)();
            hold.lock();
            ++idle_;
            if (--job->inside == 0) left_.notify_all();
        }
    }

    std::mutex lock_;
    std::condition_variable called_, left_;
    std::list<Job> jobs_;
    std::size_t wanted_ = 0;  // by all jobs together
    std::size_t idle_ = 0;    // helpers that wait, or are about to
};

}  // namespace sapwood
