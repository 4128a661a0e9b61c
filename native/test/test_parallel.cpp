// Threads: every block is done once, failures and cancellation come out, and the number of threads changes no bit.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "core/parallel.hpp"
#include "test/check.hpp"
#include "test/kernels.hpp"

using namespace sapwood;
using namespace sapwood::test;

namespace {

TEST(every_index_is_visited_once) {
    for (const std::size_t count : {0, 1, 15, 16, 17, 1000})
        for (const std::size_t block : {1, 16, 4096})
            for (const std::size_t threads : {0, 1, 2, 5}) {
                Control control;
                std::vector<std::atomic<int>> visits(count);
                parallel_blocks(count, block, threads, control, [&] {
                    return [&](std::size_t begin, std::size_t end) {
                        CHECK(begin < end && end <= count && end - begin <= block);
                        for (std::size_t i = begin; i < end; ++i) ++visits[i];
                    };
                });
                for (const std::atomic<int>& visit : visits) CHECK(visit == 1);
                CHECK(control.done == count);
            }
}

TEST(blocks_ascend_within_a_thread) {
    Control control;
    parallel_blocks(1000, 4, 3, control, [&] {
        return [last = std::size_t{0}](std::size_t begin, std::size_t end) mutable {
            CHECK(begin >= last);
            last = end;
        };
    });
}

// Jobs inside of jobs, and jobs of several threads at once: no job waits for a worker that is busy with another.
TEST(jobs_may_meet) {
    std::atomic<int> visits{0};
    const auto inner = [&] {
        Control control;
        parallel_blocks(20, 1, 3, control, [&] { return [&](std::size_t, std::size_t) { ++visits; }; });
    };
    const auto outer = [&] {
        for (int round = 0; round < 20; ++round) {
            Control control;
            parallel_blocks(8, 1, 4, control, [&] { return [&](std::size_t, std::size_t) { inner(); }; });
        }
    };
    std::vector<std::thread> callers;
    for (int i = 0; i < 3; ++i) callers.emplace_back(outer);
    for (std::thread& caller : callers) caller.join();
    CHECK(visits == 3 * 20 * 8 * 20);
}

// A process that was forked off has none of the threads of its parent, and must not wait for them.
TEST(forked_processes_have_their_own_helpers) {
    const auto total = [] {
        std::atomic<std::size_t> sum{0};
        Control control;
        parallel_blocks(100, 1, 3, control, [&] { return [&](std::size_t begin, std::size_t) { sum += begin; }; });
        return sum.load();
    };
    CHECK(total() == 4950);
#ifndef __SANITIZE_THREAD__  // which does not let such a process start threads
    const pid_t child = fork();
    if (child == 0) {
        alarm(20);
        _exit(total() == 4950 ? 0 : 1);
    }
    int status = -1;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
#endif
    CHECK(total() == 4950);
}

TEST(tasks_run_beside_their_caller) {
    std::atomic<bool> go{false}, done{false};
    const std::function<void()> work = [&] {
        // The worker may itself ask for others.
        Control control;
        parallel_blocks(50, 1, 2, control, [] { return [](std::size_t, std::size_t) {}; });
        while (!go) std::this_thread::yield();
        done = true;
    };
    {
        ThreadPool::Task task(ThreadPool::instance(), work);
        CHECK(task.started());
        CHECK(!task.wait_for(std::chrono::milliseconds(1)));
        go = true;
        CHECK(task.wait_for(std::chrono::seconds(20)));
        CHECK(done);
        done = false;
    }
    {
        const ThreadPool::Task task(ThreadPool::instance(), work);
    }  // waits for the end
    CHECK(done);
}

TEST(all_pieces_are_run) {
    for (const std::size_t threads : {0, 1, 2, 5}) {
        int first = 0, second = 0, third = 0;
        run_together(threads, [&] { ++first; }, [&] { ++second; }, [&] { ++third; });
        CHECK(first == 1 && second == 1 && third == 1);
        const auto fail = [&](bool early) {
            run_together(
                threads,
                [&] {
                    if (early) throw std::runtime_error("first");
                },
                [&] {
                    if (!early) throw std::runtime_error("second");
                });
        };
        CHECK_THROWS(fail(true), std::runtime_error);
        CHECK_THROWS(fail(false), std::runtime_error);
    }
}

TEST(failures_come_out) {
    for (const std::size_t threads : {1, 2, 4}) {
        Control control;
        const auto in_a_block = [&] {
            parallel_blocks(100, 1, threads, control, [] {
                return [](std::size_t begin, std::size_t) {
                    if (begin == 37) throw std::runtime_error("block 37");
                };
            });
        };
        CHECK_THROWS(in_a_block(), std::runtime_error);
        const auto at_the_start = [&] {
            parallel_blocks(100, 1, threads, control,
                            []() -> void (*)(std::size_t, std::size_t) { throw std::bad_alloc(); });
        };
        CHECK_THROWS(at_the_start(), std::bad_alloc);
    }
}

TEST(cancelled_work_stops) {
    for (const std::size_t threads : {1, 2}) {
        Control control;
        control.cancel = true;
        bool touched = false;
        CHECK_THROWS(
            parallel_blocks(10, 1, threads, control, [&] { return [&](std::size_t, std::size_t) { touched = true; }; }),
            Cancelled);
        CHECK(!touched);
    }
}

TEST(cancelled_kernels_stop_soon) {
    // One row that alone would take minutes: chains of one label, in which every node matches every other.
    Arena arena;
    const Symbol label = arena.symbols.intern("Y");
    Node node = arena.leaf(label);
    std::vector<Node> chain;
    for (int i = 0; i < 400000; ++i) chain.push_back(node = arena.node(label, std::span<const Node>(&node, 1)));
    const Bags bags = make_bags(arena, std::span(&node, 1), {}, true);
    const ArenaMap map(arena, arena, bags);
    const auto stops = [&](const auto& kernel) {
        const auto columns = kernel(arena, bags);
        for (const std::size_t threads : {1, 2}) {
            Control control;
            double out;
            std::chrono::steady_clock::time_point asked;
            std::thread watcher([&] {
                std::this_thread::sleep_for(std::chrono::milliseconds(200));
                asked = std::chrono::steady_clock::now();
                control.cancel = true;
            });
            CHECK_THROWS(gram(columns, arena, bags, map, bags, true, &out, threads, control), Cancelled);
            const auto stopped = std::chrono::steady_clock::now();
            watcher.join();
            CHECK_WITHIN(stopped - asked, std::chrono::seconds(1));
        }
    };
    stops(SubsetKernel{{0.4, false, 0}});
    stops(SubsetKernel{{0.4, false, 5}});
    stops(PartialKernel{{0.4, 0.4, 0, true, 1.0}});
}

TEST(cancelled_wide_nodes_stop_soon) {
    Arena arena;
    const Symbol label = arena.symbols.intern("Y");
    const std::vector<Node> kids(400000, arena.leaf(label));
    const Node root = arena.node(label, kids);
    const Bags bags = make_bags(arena, std::span(&root, 1), {}, true);
    const ArenaMap map(arena, arena, bags);
    const PartialKernel kernel{{0.1, 0.1, 3, true, 1.0}};
    const auto columns = kernel(arena, bags);
    Control control;
    double out;
    std::chrono::steady_clock::time_point asked;
    std::thread watcher([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        asked = std::chrono::steady_clock::now();
        control.cancel = true;
    });
    CHECK_THROWS(gram(columns, arena, bags, map, bags, true, &out, 1, control), Cancelled);
    const auto stopped = std::chrono::steady_clock::now();
    watcher.join();
    CHECK_WITHIN(stopped - asked, std::chrono::seconds(1));
}

TEST(threads_change_no_bit) {
    RandomTrees random(600);
    const std::vector<Bag> elements = random.bags(70), others = random.bags(40);
    Arena arena, other;
    const Bags bags = intern(elements, arena), rows = intern(others, other);
    for_every_kernel([&](const auto& kernel) {
        const std::vector<double> one = gram_of(kernel, arena, bags, 1);
        const std::vector<double> cross = gram_of(kernel, other, rows, arena, bags, 1);
        for (const std::size_t threads : {2, 3}) {
            CHECK(gram_of(kernel, arena, bags, threads) == one);
            CHECK(gram_of(kernel, other, rows, arena, bags, threads) == cross);
        }
    });
}

TEST(columns_do_not_depend_on_threads) {
    RandomTrees random(77);
    Arena arena;
    std::vector<Bag> elements;
    for (int i = 0; i < 400; ++i) elements.push_back({random.tree(6, 4)});
    const Bags bags = intern(elements, arena);
    const SubsetOptions options{0.4, false, 0};
    const SubsetColumns one(arena, bags, options, 1);
    for (const std::size_t threads : {2, 3, 8}) {
        const SubsetColumns many(arena, bags, options, threads);
        CHECK(many.lists() == one.lists());
        std::size_t entries = 0;
        for (std::uint32_t list = 0; list < one.lists(); ++list) {
            const auto a = one.entries(list), b = many.entries(list);
            CHECK(a.size() == b.size());
            for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k)
                CHECK(a[k].place == b[k].place && a[k].child == b[k].child);
            entries += a.size();
        }
        CHECK(entries > 4096);  // fewer are not split
        for (Node node = 0; node < arena.size(); ++node) {
            if (one.place(node) == 0) continue;
            const Production production = arena.production_of(node);
            std::uint32_t at = 0;
            const auto kids = arena.children(node);
            for (std::uint32_t slot = 0; slot < kids.size(); ++slot) {
                if (arena.is_leaf(kids[slot])) continue;
                const std::uint32_t list = many.find_list(production, slot, arena.production_of(kids[slot]));
                CHECK(list == one.find_list(production, slot, arena.production_of(kids[slot])));
                CHECK(list == many.lists_of(many.position(production, many.place(node)))[at++]);
            }
        }
    }
}

// Diagonals, compiled models and pairs share their work among threads too.
TEST(threads_change_no_bit_elsewhere) {
    RandomTrees random(602);
    const std::vector<Bag> elements = random.bags(120), others = random.bags(90);
    Arena arena, other;
    const Bags bags = intern(elements, arena), rows = intern(others, other);
    std::vector<double> weights(bags.size());
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<double>(i % 7) / 4 - 0.6;
    for_each_kind([&](const auto& kernel) {
        const Model model(kernel(arena, bags), arena, bags, weights.data(), 1);
        std::vector<double> diagonals[2], scores[2];
        for (const std::size_t threads : {1, 3}) {
            Control control;
            diagonals[threads > 1].resize(bags.size());
            diagonal(arena, bags, diagonals[threads > 1].data(), threads, control, kernel);
            scores[threads > 1].resize(rows.size());
            model.evaluate(other, rows, scores[threads > 1].data(), threads, control);
        }
        CHECK(diagonals[0] == diagonals[1]);
        CHECK(scores[0] == scores[1]);
    });
}

TEST(equal_values_have_equal_bits) {
    // A tree's row must not depend on where it stands or on what stands around it in the same columns.
    RandomTrees random(601);
    std::vector<Bag> elements = random.bags(40);
    elements.push_back(elements[3]);
    Arena arena;
    const Bags bags = intern(elements, arena);
    const std::size_t n = elements.size();
    for_each_kind([&](const auto& kernel) {
        const std::vector<double> K = gram_of(kernel, arena, bags, arena, bags);
        for (std::size_t j = 0; j < n; ++j) CHECK(K[3 * n + j] == K[(n - 1) * n + j]);
    });
}

}  // namespace
