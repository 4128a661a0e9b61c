// The whole test framework: tests that register themselves, checks that count and print failures, and a runner.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <vector>

namespace sapwood::test {

inline int failures = 0;

struct Test {
    const char* name;
    void (*function)();
};

// A function, so that tests of any file find it made, whichever is initialised first.
inline std::vector<Test>& tests() {
    static std::vector<Test> all;
    return all;
}

inline bool add(const char* name, void (*function)()) {
    tests().push_back({name, function});
    return true;
}

// A busy machine may take any time: the clock decides only where `make check-timing` asks for it.
inline bool is_timed() { return std::getenv("SAPWOOD_CHECK_TIMING") != nullptr; }

inline bool report(bool passed, const char* what, const char* file, int line) {
    // A broken loop would print millions of lines; a few show enough.
    if (!passed && ++failures <= 20) std::printf("%s:%d: failed: %s\n", file, line, what);
    return passed;
}

inline bool report_close(double found, double expected, double tolerance, const char* what, const char* file,
                         int line) {
    const bool passed =
        found == expected || std::abs(found - expected) <= tolerance * std::max(1.0, std::abs(expected));
    if (!report(passed, what, file, line) && failures <= 20)
        std::printf("    found %.17g, expected %.17g\n", found, expected);
    return passed;
}

inline void run(const Test& test) {
    const auto start = std::chrono::steady_clock::now();
    const int before = failures;
    try {
        test.function();
    } catch (const std::exception& error) {
        std::printf("%s: unexpected exception: %s\n", test.name, error.what());
        ++failures;
    } catch (...) {
        std::printf("%s: unexpected exception\n", test.name);
        ++failures;
    }
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    std::printf("%-4s %6.2f s  %s\n", failures == before ? "ok" : "FAIL", seconds.count(), test.name);
    std::fflush(stdout);
}

// Runs every test, or those whose names hold `part`; a run without tests fails.
inline int run_all(std::string_view part) {
    int count = 0;
    for (const Test& test : tests())
        if (std::string_view(test.name).find(part) != std::string_view::npos) {
            run(test);
            ++count;
        }
    if (count == 0) std::printf("no test of this name\n");
    if (failures > 0) std::printf("%d checks failed\n", failures);
    return count > 0 && failures == 0 ? 0 : 1;
}

}  // namespace sapwood::test

#define CHECK(condition) ::sapwood::test::report(static_cast<bool>(condition), #condition, __FILE__, __LINE__)
#define CHECK_CLOSE(found, expected) \
    ::sapwood::test::report_close((found), (expected), 1e-11, #found " == " #expected, __FILE__, __LINE__)
#define CHECK_THROWS(expression, type)                           \
    do {                                                         \
        bool thrown = false;                                     \
        try {                                                    \
            expression;                                          \
        } catch (const type&) {                                  \
            thrown = true;                                       \
        }                                                        \
        CHECK(thrown && "expected " #type " from " #expression); \
    } while (false)
#define CHECK_WITHIN(taken, limit) CHECK(!::sapwood::test::is_timed() || (taken) < (limit))
#define TEST(name)                                                                        \
    void name();                                                                          \
    [[maybe_unused]] const bool name##_is_registered = ::sapwood::test::add(#name, name); \
    void name()
