// The solver for support vector machines: optimality conditions, caches that forget, halves of tables, and cancelling.
#include <cmath>
#include <random>
#include <thread>

#include "learn/point_kernel.hpp"
#include "learn/row_sources.hpp"
#include "learn/smo.hpp"
#include "test/check.hpp"

using namespace sapwood;
using namespace sapwood::test;

namespace {

// Values of a positive semi-definite kernel between random items.
std::vector<double> random_table(std::size_t size, std::size_t rank, std::mt19937& random) {
    std::normal_distribution<double> normal;
    std::vector<double> factor(size * rank), table(size * size, 0.0);
    for (double& value : factor) value = normal(random);
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = 0; j < size; ++j)
            for (std::size_t r = 0; r < rank; ++r) table[i * size + j] += factor[i * rank + r] * factor[j * rank + r];
    return table;
}

struct Setting {
    std::vector<double> table;
    std::size_t items;
    Component<double> component;
    std::vector<double> diagonal;
    SvmProblem problem;

    Setting(std::size_t items, std::size_t points, std::size_t rank, std::mt19937& random)
        : table(random_table(items, rank, random)), items(items) {
        component.values = std::make_shared<Square<double>>(table.data(), items);
        for (std::size_t k = 0; k < points; ++k) {
            component.items.push_back(static_cast<std::uint32_t>(random() % items));
            diagonal.push_back(table[component.items[k] * (items + 1)]);
            problem.points.push_back(static_cast<std::uint32_t>(k));
            problem.side.push_back(k == 0 || random() % 3 == 0 ? 1 : -1);
            problem.cost.push_back(0.5 + static_cast<double>(random() % 4));
        }
        problem.side.back() = -1;
    }

    PointKernel<double> kernel() const { return {diagonal.size(), {component}, {Term{1.0, {0}, {}}}, diagonal}; }
    // Its square, of which rows of points are needed.
    PointKernel<double> squared() const {
        std::vector<double> squares;
        for (const double value : diagonal) squares.push_back(value * value);
        return {diagonal.size(), {component}, {Term{1.0, {0, 0}, {}}}, squares};
    }
    double value(std::size_t i, std::size_t j) const { return table[component.items[i] * items + component.items[j]]; }
};

void check_optimality(const PointKernel<double>& kernel, const SvmProblem& problem, auto value) {
    Control control;
    for (const bool shrinking : {true, false}) {
        SvmSolver<double> solver(kernel, {1e-6, 0, 1 << 16, shrinking}, control);
        const SvmSolution found = solver.solve(problem);
        double total = 0.0, most = -1e300, least = 1e300, objective = 0.0;
        for (std::size_t i = 0; i < found.weights.size(); ++i) {
            const int side = problem.side[i];
            const double weight = found.weights[i], cost = problem.cost[i];
            double output = 0.0;
            for (std::size_t j = 0; j < found.weights.size(); ++j) output += found.weights[j] * value(i, j);
            CHECK(weight * side >= 0.0 && weight * side <= cost);
            if (side > 0 ? weight < cost : weight < 0.0) most = std::max(most, side - output);
            if (side > 0 ? weight > 0.0 : weight > -cost) least = std::min(least, side - output);
            total += weight;
            objective += weight * side - 0.5 * weight * output;
        }
        CHECK(std::abs(total) < 1e-9);
        CHECK(most - least <= 1e-5);
        CHECK(std::abs(objective - found.objective) <= 1e-8 * std::max(1.0, std::abs(objective)));
        CHECK(found.converged);
    }
}

TEST(optimality_conditions_hold) {
    std::mt19937 random(1);
    for (int round = 0; round < 60; ++round) {
        const Setting setting(1 + random() % 40, 2 + random() % 200, 1 + random() % 6, random);
        const auto value = [&](std::size_t i, std::size_t j) { return setting.value(i, j); };
        check_optimality(setting.kernel(), setting.problem, value);
        check_optimality(setting.squared(), setting.problem,
                         [&](std::size_t i, std::size_t j) { return value(i, j) * value(i, j); });
    }
}

TEST(rows_of_a_table_serve_points_on_both_sides_and_on_none) {
    std::mt19937 random(6);
    for (int round = 0; round < 20; ++round) {
        const std::size_t size = 4 + random() % 200;
        Setting setting(size, size, 5, random);
        SvmProblem problem;
        for (std::uint32_t k = 0; k < size; ++k) {
            setting.component.items[k] = k;
            setting.diagonal[k] = setting.table[k * (size + 1)];
            const bool apart = k < 2;  // one point on either side at least
            for (const int side : {1, -1})
                if (apart ? side == (k == 0 ? 1 : -1) : random() % 5 < 3) {
                    problem.points.push_back(k);
                    problem.side.push_back(static_cast<std::int8_t>(side));
                    problem.cost.push_back(0.5 + static_cast<double>(random() % 4));
                }
        }
        CHECK(setting.kernel().table() == setting.table.data());
        check_optimality(setting.kernel(), problem, [&](std::size_t i, std::size_t j) {
            return setting.value(problem.points[i], problem.points[j]);
        });
    }
}

TEST(a_small_window_changes_no_bit) {
    std::mt19937 random(2);
    const Setting setting(40, 120, 8, random);
    const PointKernel<double> kernel = setting.squared();
    Control control;
    const SvmSolution all = SvmSolver<double>(kernel, {1e-5, 0, 1 << 24, true}, control).solve(setting.problem);
    for (const std::size_t bytes : {0, 4000, 12000}) {
        const SvmSolution few = SvmSolver<double>(kernel, {1e-5, 0, bytes, true}, control).solve(setting.problem);
        CHECK(few.weights == all.weights && few.bias == all.bias && few.iterations == all.iterations);
    }
}

TEST(half_a_table_gives_whole_rows) {
    std::mt19937 random(3);
    for (const std::size_t size : {1, 2, 4, 7, 33}) {
        const std::vector<double> table = random_table(size, 3, random);
        Triangle triangle(size, 0);
        for (std::size_t begin = 0; begin < size; begin += 4) {
            std::vector<double> block;
            const std::size_t rows = std::min<std::size_t>(4, size - begin);
            for (std::size_t r = 0; r < rows; ++r)
                block.insert(block.end(), table.begin() + (begin + r) * size + begin,
                             table.begin() + (begin + r + 1) * size);
            triangle.set(begin, rows, block.data(), size - begin);
        }
        for (std::size_t i = 0; i < size; ++i) {
            const Row<float> row = triangle.row(i);
            for (std::size_t j = 0; j < size; ++j)
                CHECK(row.values[j] == static_cast<float>(table[std::min(i, j) * size + std::max(i, j)]));
        }
    }
}

TEST(steps_of_sixteen_bits_are_close_enough) {
    const std::size_t size = 6;
    const double top = 0.7;
    ShortTriangle triangle(size, 0, top);
    std::vector<double> table(size * size);
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = 0; j < size; ++j) table[i * size + j] = top * static_cast<double>(i * j) / 25.0;
    for (const std::size_t begin : {std::size_t{0}, std::size_t{4}}) {
        std::vector<double> block;
        const std::size_t rows = std::min<std::size_t>(4, size - begin);
        for (std::size_t r = 0; r < rows; ++r)
            block.insert(block.end(), table.begin() + static_cast<std::ptrdiff_t>((begin + r) * size + begin),
                         table.begin() + static_cast<std::ptrdiff_t>((begin + r + 1) * size));
        triangle.set(begin, rows, block.data(), size - begin);
    }
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = 0; j < size; ++j)
            CHECK(std::abs(triangle.row(i).values[j] - table[i * size + j]) <= top / 131070.0 + 1e-7);
    CHECK(triangle.row(5).values[5] == static_cast<float>(top) && triangle.row(0).values[3] == 0.0F);
    CHECK(2.0 * ShortTriangle::bytes(1000) == Triangle::bytes(1000));
}

TEST(a_row_in_use_outlives_its_place_in_the_cache) {
    RowCache<double> cache(10, 4, 2 * 4 * sizeof(double));
    const auto fill = [](std::size_t item, double* out) { std::fill(out, out + 4, static_cast<double>(item)); };
    const Row<double> held = cache.get(3, fill);
    for (std::size_t item = 4; item < 10; ++item) CHECK(cache.get(item, fill).values[0] == static_cast<double>(item));
    CHECK(held.values[0] == 3.0 && held.values[3] == 3.0);
    CHECK(cache.held() <= cache.capacity());
    // Many threads, few places.
    std::vector<std::thread> team;
    for (int t = 0; t < 4; ++t)
        team.emplace_back([&, t] {
            for (std::size_t k = 0; k < 20000; ++k) {
                const std::size_t item = (k * 7 + static_cast<std::size_t>(t) * 3) % 10;
                const Row<double> row = cache.get(item, fill);
                if (row.values[0] != static_cast<double>(item) || row.values[3] != row.values[0]) CHECK(false);
            }
        });
    for (std::thread& member : team) member.join();
}

TEST(tags_choose_the_table) {
    std::mt19937 random(4);
    Setting setting(5, 30, 3, random);
    // Every third point has no tag; the others have a square each for the two tags.
    std::vector<double> same;
    for (std::size_t tag = 1; tag < 3; ++tag)
        for (std::size_t i = tag; i < 30; i += 3)
            for (std::size_t j = tag; j < 30; j += 3) same.push_back(2.0 * setting.value(i, j) + 1.0);
    setting.component.same = std::make_shared<Blocks<double>>(std::vector<std::size_t>{10, 10}, same.data());
    for (std::uint32_t k = 0; k < 30; ++k) {
        setting.component.tags.push_back(k % 3);
        setting.component.rows.push_back(k % 3 == 0 ? 0 : (k % 3 - 1) * 10 + k / 3);
        setting.component.places.push_back(k / 3);
    }
    const std::vector<double> scale(30, 0.5);
    const PointKernel<double> kernel(
        30, {setting.component}, {Term{0.5, {0}, {}}, Term{2.0, {0, 0}, scale}, Term{3.0, {}, {}}}, setting.diagonal);
    CHECK(!kernel.additive());
    const auto value = [&](std::size_t i, std::size_t j) {
        const double one = i % 3 == j % 3 && i % 3 != 0 ? 2.0 * setting.value(i, j) + 1.0 : setting.value(i, j);
        return 0.5 * one + 2.0 * one * one * 0.25 + 3.0;
    };
    Selection chosen = kernel.select({4, 9, 2, 17, 29});
    chosen.group();
    std::vector<double> row(5);
    std::vector<std::pair<std::uint32_t, double>> entries;
    std::vector<double> expected(5, 0.0), found(5, 0.0);
    for (std::uint32_t i = 0; i < 30; i += 2) {
        kernel.row(i, chosen, row.data());
        entries.emplace_back(i, 0.1 * i - 1.0);
        for (std::size_t k = 0; k < 5; ++k) {
            CHECK_CLOSE(row[k], value(i, chosen.points[k]));
            expected[k] += entries.back().second * value(i, chosen.points[k]);
        }
    }
    Control control;
    kernel.expand(entries, chosen, found.data(), control);
    for (std::size_t k = 0; k < 5; ++k) CHECK_CLOSE(found[k], expected[k]);
}

TEST(threads_change_no_bit_and_cancelling_stops) {
    std::mt19937 random(5);
    const Setting setting(50, 300, 6, random);
    const PointKernel<double> kernel = setting.kernel();
    std::vector<SvmProblem> problems(7, setting.problem);
    for (std::size_t p = 0; p < problems.size(); ++p)
        for (std::size_t k = 0; k < 300; ++k) problems[p].side[k] = k % 7 == p ? 1 : -1;
    Control control;
    const auto once = solve_svms(kernel, problems, {1e-4, 0, 1 << 16, true}, 1, control);
    const auto twice = solve_svms(kernel, problems, {1e-4, 0, 1 << 16, true}, 3, control);
    for (std::size_t p = 0; p < problems.size(); ++p)
        CHECK(once[p].weights == twice[p].weights && once[p].bias == twice[p].bias);
    CHECK(control.done == 14);
    Control stopped;
    stopped.cancel = true;
    CHECK_THROWS(solve_svms(kernel, problems, {1e-4, 0, 1 << 16, true}, 2, stopped), Cancelled);
}

}  // namespace
