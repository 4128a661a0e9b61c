// The direct exact solver for interval programs (decode/intervals.hpp).
//
// Without side conditions the best choice is a longest path, found in one sweep. With them: prices on the conditions
// turn the problem back into a path whose length is an upper bound (as tight as the linear relaxation once the prices
// are right); arcs that no path above the incumbent uses are dropped; and what is left is settled by dynamic
// programming over (position, labels seen), cut by the same bound. When that outgrows its limits the caller is told,
// and takes the factor graph to branch and bound.
#pragma once

#include <numeric>

#include "decode/branch_and_bound.hpp"
#include "decode/intervals.hpp"

namespace sapwood::decode {

struct Schedule {
    enum class End : std::uint8_t { Optimal, Infeasible, TooLarge, Deadline };
    End end = End::TooLarge;
    bool found = false;
    double value = -std::numeric_limits<double>::infinity();
    double bound = std::numeric_limits<double>::infinity();
    std::vector<std::uint32_t> chosen;  // arc numbers
    std::size_t iterations = 0, states = 0;
};

struct ScheduleLimits {
    std::size_t states = std::size_t{1} << 20;
    std::size_t labels = 64;  // labels that dynamic programming has to remember at once; 64 at most
};

class Scheduler {
  public:
    Scheduler(const IntervalProgram& program, const ScheduleLimits& limits, const Deadline& deadline, Control& control)
        : program_(program), limits_(limits), deadline_(deadline), control_(control) {
        for (const Arc& arc : program.arcs) scale_ = std::max(scale_, std::fabs(arc.gain));
        tolerance_ = 1e-10 * scale_;
        // By where they start, each start in the order given.
        std::vector<std::uint32_t> next(program.positions + 1, 0);
        for (const Arc& arc : program.arcs) ++next[arc.from + 1];
        std::partial_sum(next.begin(), next.end(), next.begin());
        alive_.resize(program.arcs.size());
        for (std::uint32_t j = 0; j < program.arcs.size(); ++j) alive_[next[program.arcs[j].from]++] = j;
        by_gain_ = alive_;
        std::sort(by_gain_.begin(), by_gain_.end(), [&](std::uint32_t a, std::uint32_t b) {
            const Arc &first = program.arcs[a], &second = program.arcs[b];
            return first.gain != second.gain ? first.gain > second.gain : a < b;
        });
        state_rows();
    }

    Schedule solve() {
        offer({});
        // Ever more price adjustment, ever more states per position for dynamic programming. A pass that drops states
        // proves nothing, but what it finds lets the next one drop arcs.
        struct Effort {
            std::size_t prices, width;
        };
        constexpr Effort efforts[] = {{0, 2}, {24, 8}, {32, 32}, {64, 128}, {128, 1024}, {256, 8192}, {512, 1 << 17}};
        for (const Effort& effort : efforts) {
            for (std::size_t k = 0; k < effort.prices; ++k) {
                if (adjust()) return finish();
                if (k % 16 == 15 && slow_ && passed(deadline_)) return stop(Schedule::End::Deadline);
            }
            control_.check();
            if (effort.prices == 0) bound_path();
            if (closed()) return finish();
            fix();
            const Outcome outcome = enumerate(effort.width);
            if (outcome == Outcome::Done || closed()) return finish();
            if (outcome == Outcome::Late) return stop(Schedule::End::Deadline);
            if (result_.states >= limits_.states) break;
            slow_ = true;
        }
        return stop(Schedule::End::TooLarge);
    }

    // The arcs not yet ruled out; a better choice than result.chosen, if there is one, uses only these.
    const std::vector<std::uint32_t>& alive() const { return alive_; }

  private:
    static constexpr double kNone = -std::numeric_limits<double>::infinity();
    static constexpr std::uint32_t kStep = std::numeric_limits<std::uint32_t>::max();
    static constexpr std::size_t kStart = std::numeric_limits<std::size_t>::max();
    enum class Outcome : std::uint8_t { Done, TooLarge, Late };

    // A condition over whole labels; a price is paid for every unit by which it is exceeded.
    struct Row {
        enum Type : std::uint8_t { Unique, Exclude, Imply, Mandatory } type;
        std::uint32_t a, b;
        double price = 0.0;
    };
    // "This arc needs an (earlier) arc of that label": one row per arc, because its label may occur often.
    struct ArcRow {
        std::uint32_t arc, label;
        bool after;
        double price = 0.0;
    };
    struct State {
        std::uint64_t mask;
        double value, reduced;
        std::size_t parent;
        std::uint32_t arc;
    };

    void state_rows() {
        const std::size_t labels = program_.labels();
        std::vector<std::uint32_t> count(labels, 0);
        for (const Arc& arc : program_.arcs) ++count[arc.label];
        for (std::uint32_t l = 0; l < labels; ++l) {
            if (program_.unique[l] && count[l] > 1) rows_.push_back({Row::Unique, l, l});
            if (program_.must(l)) rows_.push_back({Row::Mandatory, l, l});
        }
        excluded_.resize(program_.excludes.empty() ? 0 : labels);
        for (const auto& [a, b] : program_.excludes) {
            if (count[a] && count[b]) rows_.push_back({Row::Exclude, a, b});
            excluded_[a].push_back(b);
            excluded_[b].push_back(a);
        }
        const auto per_arc = [&](const LabelPair& pair, bool after) {
            for (std::uint32_t j = 0; j < program_.arcs.size(); ++j)
                if (program_.arcs[j].label == pair.first) arc_rows_.push_back({j, pair.second, after});
        };
        for (const LabelPair& pair : program_.implies) {
            if (program_.unique[pair.first] && count[pair.first])
                rows_.push_back({Row::Imply, pair.first, pair.second});
            else
                per_arc(pair, false);
        }
        for (const LabelPair& pair : program_.after) per_arc(pair, true);
        earlier_.resize(program_.after.empty() ? 0 : labels);
        for (const auto& [a, b] : program_.after) earlier_[b].assign(program_.positions + 2, 0.0);
        label_price_.assign(labels, 0.0);
        used_.assign(labels, 0);
        present_.assign(labels, 0);
        blocked_.assign(labels, 0);
        reduced_.assign(program_.arcs.size(), 0.0);
        keep_prices();
    }

    void keep_prices() {
        best_prices_.clear();
        for (const Row& row : rows_) best_prices_.push_back(row.price);
        for (const ArcRow& row : arc_rows_) best_prices_.push_back(row.price);
    }

    // Gains after prices, and the constant that the prices bring in.
    void price() {
        constant_ = 0.0;
        std::fill(label_price_.begin(), label_price_.end(), 0.0);
        for (const Row& row : rows_) {
            switch (row.type) {
                case Row::Unique:
                    label_price_[row.a] += row.price;
                    constant_ += row.price;
                    break;
                case Row::Exclude:
                    label_price_[row.a] += row.price;
                    label_price_[row.b] += row.price;
                    constant_ += row.price;
                    break;
                case Row::Imply:
                    label_price_[row.a] += row.price;
                    label_price_[row.b] -= row.price;
                    break;
                case Row::Mandatory:
                    label_price_[row.a] -= row.price;
                    constant_ -= row.price;
                    break;
            }
        }
        for (auto& rewards : earlier_) std::fill(rewards.begin(), rewards.end(), 0.0);
        for (const ArcRow& row : arc_rows_) {
            if (row.after)
                earlier_[row.label][program_.arcs[row.arc].from] += row.price;
            else
                label_price_[row.label] -= row.price;
        }
        for (auto& rewards : earlier_)
            for (std::size_t p = rewards.size(); p-- > 1;) rewards[p - 1] += rewards[p];
        for (const std::uint32_t j : alive_) {
            const Arc& arc = program_.arcs[j];
            reduced_[j] = arc.gain - label_price_[arc.label];
            if (!earlier_.empty() && !earlier_[arc.label].empty()) reduced_[j] += earlier_[arc.label][arc.to];
        }
        for (const ArcRow& row : arc_rows_) reduced_[row.arc] -= row.price;
    }

    // The longest path under the prices, from the right; among equals a step over an arc.
    double bound_path() {
        price();
        const std::uint32_t end = program_.positions;
        tail_.assign(end + 1, 0.0);
        take_.assign(end + 1, kStep);
        std::size_t k = alive_.size();
        for (std::uint32_t p = end; p-- > 0;) {
            double best = program_.skips(p) ? tail_[p + 1] : kNone;
            while (k > 0 && program_.arcs[alive_[k - 1]].from == p) {
                const std::uint32_t j = alive_[--k];
                const double length = reduced_[j] + tail_[program_.arcs[j].to];
                if (length > best) {
                    best = length;
                    take_[p] = j;
                }
            }
            tail_[p] = best;
        }
        const double bound = constant_ + tail_[0];
        if (bound < result_.bound) {
            result_.bound = bound;
            keep_prices();
        }
        return bound;
    }

    // One adjustment of the prices by the subgradient, in Polyak's step length. True: the gap is closed.
    bool adjust() {
        ++result_.iterations;
        const double before = result_.bound;
        const double bound = bound_path();
        if (closed()) return true;
        path_.clear();
        std::fill(used_.begin(), used_.end(), 0U);
        for (std::uint32_t p = 0; p < program_.positions;) {
            if (take_[p] == kStep) {
                ++p;
                continue;
            }
            path_.push_back(take_[p]);
            ++used_[program_.arcs[take_[p]].label];
            p = program_.arcs[take_[p]].to;
        }
        excess_.clear();
        double norm = 0.0;
        const auto exceed = [&](double excess, double price) {
            if (excess < 0.0 && price == 0.0) excess = 0.0;  // a price cannot fall below zero
            excess_.push_back(excess);
            norm += excess * excess;
        };
        for (const Row& row : rows_) {
            const double a = used_[row.a], b = used_[row.b];
            switch (row.type) {
                case Row::Unique:
                    exceed(a - 1.0, row.price);
                    break;
                case Row::Exclude:
                    exceed(a + b - 1.0, row.price);
                    break;
                case Row::Imply:
                    exceed(a - b, row.price);
                    break;
                case Row::Mandatory:
                    exceed(1.0 - a, row.price);
                    break;
            }
        }
        for (const ArcRow& row : arc_rows_) {
            const Arc& arc = program_.arcs[row.arc];
            const bool taken =
                take_[arc.from] == row.arc && std::find(path_.begin(), path_.end(), row.arc) != path_.end();
            double support = used_[row.label];
            if (row.after && used_[row.label]) {
                support = 0.0;
                for (const std::uint32_t j : path_)
                    support += program_.arcs[j].label == row.label && program_.arcs[j].to <= arc.from;
            }
            exceed(taken - support, row.price);
        }
        if (result_.iterations < 16 || result_.iterations % 4 == 0) {
            offer(path_);
            if (closed()) return true;
        }
        if (norm == 0.0) {  // the path obeys every condition and no price is wasted: it is the optimum
            offer(path_);
            return closed();
        }
        const double goal = result_.found ? result_.value : bound - scale_;
        if (result_.bound < before - 1e-3 * (before - goal)) {
            stalled_ = 0;
        } else if (++stalled_ >= 6) {
            stalled_ = 0;
            pace_ *= 0.75;
        }
        const double step = pace_ * std::max(bound - goal, tolerance_) / norm;
        std::size_t r = 0;
        for (Row& row : rows_) row.price = std::max(0.0, row.price + step * excess_[r++]);
        for (ArcRow& row : arc_rows_) row.price = std::max(0.0, row.price + step * excess_[r++]);
        return false;
    }

    bool closed() const {
        return result_.bound == kNone || (result_.found && result_.bound <= result_.value + tolerance_);
    }

    // Drops every arc whose best path under the best prices is no better than the incumbent.
    void fix() {
        std::size_t r = 0;
        for (Row& row : rows_) row.price = best_prices_[r++];
        for (ArcRow& row : arc_rows_) row.price = best_prices_[r++];
        bound_path();
        if (!result_.found) return;
        const std::uint32_t end = program_.positions;
        head_.assign(end + 1, kNone);
        head_[0] = 0.0;
        std::size_t k = 0;
        for (std::uint32_t p = 0; p <= end; ++p) {
            if (p > 0 && program_.skips(p - 1)) head_[p] = std::max(head_[p], head_[p - 1]);
            for (; k < alive_.size() && program_.arcs[alive_[k]].from == p; ++k) {
                double& head = head_[program_.arcs[alive_[k]].to];
                head = std::max(head, head_[p] + reduced_[alive_[k]]);
            }
        }
        const double cut = result_.value + tolerance_ - constant_;
        const auto useless = [&](std::uint32_t j) {
            const Arc& arc = program_.arcs[j];
            return head_[arc.from] + reduced_[j] + tail_[arc.to] <= cut;
        };
        std::erase_if(arc_rows_, [&](const ArcRow& row) { return useless(row.arc); });
        std::erase_if(by_gain_, useless);
        if (std::erase_if(alive_, useless) == 0) return;
        bound_path();
        keep_prices();
    }

    void place(std::uint32_t j) {
        const Arc& arc = program_.arcs[j];
        keep_.push_back(j);
        ++present_[arc.label];
        if (!excluded_.empty())
            for (const std::uint32_t other : excluded_[arc.label]) ++blocked_[other];
        for (std::uint32_t p = arc.from; p < arc.to; ++p) covered_[p] = 1;
    }

    bool fits(const Arc& arc) const {
        if (blocked_[arc.label] || (program_.unique[arc.label] && present_[arc.label])) return false;
        for (std::uint32_t p = arc.from; p < arc.to; ++p)
            if (covered_[p]) return false;
        return true;
    }

    bool supported(const Arc& arc) const {
        for (const auto& [a, b] : program_.implies)
            if (a == arc.label && !present_[b]) return false;
        for (const auto& [a, b] : program_.after) {
            if (a != arc.label) continue;
            bool earlier = false;
            for (const std::uint32_t k : keep_)
                earlier = earlier || (program_.arcs[k].label == b && program_.arcs[k].to <= arc.from);
            if (!earlier) return false;
        }
        return true;
    }

    // Makes a path obey the side conditions by dropping arcs, adds what still fits, and keeps the result if it is best.
    void offer(const std::vector<std::uint32_t>& path) {
        wanted_ = path;
        std::sort(wanted_.begin(), wanted_.end(), [&](std::uint32_t a, std::uint32_t b) {
            const double first = program_.arcs[a].gain, second = program_.arcs[b].gain;
            return first != second ? first > second : a < b;
        });
        for (bool again = true; again;) {
            again = false;
            keep_.clear();
            std::fill(present_.begin(), present_.end(), 0U);
            std::fill(blocked_.begin(), blocked_.end(), 0U);
            covered_.assign(program_.positions, 0);
            for (const std::uint32_t j : wanted_)
                if (fits(program_.arcs[j])) place(j);
            if (program_.implies.empty() && program_.after.empty()) break;
            wanted_ = keep_;
            again = std::erase_if(wanted_, [&](std::uint32_t j) { return !supported(program_.arcs[j]); }) > 0;
        }
        for (const std::uint32_t j : by_gain_) {
            const Arc& arc = program_.arcs[j];
            if (arc.gain <= 0.0) break;
            if (fits(arc) && supported(arc)) place(j);
        }
        for (std::uint32_t l = 0; l < program_.labels(); ++l)
            if (program_.must(l) && !present_[l]) return;
        for (std::uint32_t p = 0; p < program_.positions; ++p)
            if (!program_.skips(p) && !covered_[p]) return;
        double value = 0.0;
        for (const std::uint32_t j : keep_) value += program_.arcs[j].gain;
        record(value, keep_);
    }

    void record(double value, const std::vector<std::uint32_t>& chosen) {
        if (result_.found && value <= result_.value) return;
        result_.found = true;
        result_.value = value;
        result_.chosen = chosen;
    }

    // What dynamic programming has to know at each position. A label is remembered only while an arc to come asks for
    // it; an implication is checked as soon as neither side can occur any more.
    struct Memory {
        struct Check {
            std::uint64_t when, then;  // if any bit of `when` is set (or it is 0), some bit of `then` must be
        };
        std::vector<std::uint64_t> bit, forbids, needs;       // per label
        std::vector<std::uint8_t> hopeless;                   // per label: needs one that has no arc left
        std::vector<std::uint64_t> live;                      // per position: the bits to keep
        std::vector<std::pair<std::uint32_t, Check>> checks;  // by position
        bool too_many = false, impossible = false;
    };

    Memory memory() const {
        const std::size_t labels = program_.labels();
        Memory result;
        std::vector<std::int64_t> last(labels, -1), until(labels, -1);
        std::vector<std::uint32_t> count(labels, 0);
        for (const std::uint32_t j : alive_) {
            const Arc& arc = program_.arcs[j];
            last[arc.label] = std::max<std::int64_t>(last[arc.label], arc.from);
            ++count[arc.label];
        }
        const auto stretch = [&](std::uint32_t l, std::int64_t p) {
            if (count[l]) until[l] = std::max(until[l], p);
        };
        for (std::uint32_t l = 0; l < labels; ++l) {
            if (program_.unique[l] && count[l] > 1) stretch(l, last[l]);
            if (!program_.must(l)) continue;
            stretch(l, last[l]);
            result.impossible = result.impossible || !count[l];
        }
        for (const auto& [a, b] : program_.excludes) {
            stretch(a, last[b]);
            stretch(b, last[a]);
        }
        for (const auto& [a, b] : program_.after) stretch(b, last[a]);
        for (const auto& [a, b] : program_.implies) {
            stretch(a, std::max(last[a], last[b]));
            stretch(b, std::max(last[a], last[b]));
        }
        result.bit.assign(labels, 0);
        std::size_t tracked = 0;
        for (std::size_t l = 0; l < labels; ++l) {
            if (until[l] < 0) continue;
            if (tracked == std::min<std::size_t>(limits_.labels, 64)) {
                result.too_many = true;
                return result;
            }
            result.bit[l] = std::uint64_t{1} << tracked++;
        }
        const auto& bit = result.bit;
        result.forbids.assign(labels, 0);
        result.needs.assign(labels, 0);
        result.hopeless.assign(labels, 0);
        for (std::size_t l = 0; l < labels; ++l)
            if (program_.unique[l]) result.forbids[l] = bit[l];
        for (const auto& [a, b] : program_.excludes) {
            result.forbids[a] |= bit[b];
            result.forbids[b] |= bit[a];
        }
        for (const auto& [a, b] : program_.after) {
            if (!count[b]) result.hopeless[a] = 1;
            result.needs[a] |= bit[b];
        }
        for (const auto& [a, b] : program_.implies) {
            if (!count[b])
                result.hopeless[a] = 1;
            else if (count[a])
                result.checks.push_back({static_cast<std::uint32_t>(std::max(last[a], last[b]) + 1), {bit[a], bit[b]}});
        }
        for (std::uint32_t l = 0; l < labels; ++l)
            if (program_.must(l) && count[l])
                result.checks.push_back({static_cast<std::uint32_t>(last[l] + 1), {0, bit[l]}});
        result.live.assign(program_.positions + 1, 0);
        for (std::size_t l = 0; l < labels; ++l)
            for (std::int64_t p = 0; p <= until[l]; ++p) result.live[static_cast<std::size_t>(p)] |= bit[l];
        return result;
    }

    Outcome enumerate(std::size_t width) {
        const Memory memory = this->memory();
        if (memory.too_many) return Outcome::TooLarge;
        const std::uint32_t end = program_.positions;
        states_.clear();
        if (buckets_.size() < end + 1) buckets_.resize(end + 1);
        for (auto& bucket : buckets_) bucket.clear();
        if (!memory.impossible) buckets_[0].push_back({0, 0.0, 0.0, kStart, kStep});
        const double cut = (result_.found ? result_.value + tolerance_ : kNone) - constant_;
        std::size_t k = 0;
        bool complete = true;
        for (std::uint32_t p = 0; p <= end; ++p) {
            auto& bucket = buckets_[p];
            if (bucket.size() > 1) {  // of equal masks only the best counts
                std::sort(bucket.begin(), bucket.end(), [](const State& a, const State& b) {
                    return a.mask != b.mask ? a.mask < b.mask : a.value > b.value;
                });
                bucket.erase(std::unique(bucket.begin(), bucket.end(),
                                         [](const State& a, const State& b) { return a.mask == b.mask; }),
                             bucket.end());
                if (bucket.size() > width) {
                    complete = false;
                    std::nth_element(bucket.begin(), bucket.begin() + static_cast<std::ptrdiff_t>(width), bucket.end(),
                                     [](const State& a, const State& b) {
                                         return a.reduced != b.reduced ? a.reduced > b.reduced : a.mask < b.mask;
                                     });
                    bucket.resize(width);
                }
            }
            const std::size_t arcs_begin = k;
            while (k < alive_.size() && program_.arcs[alive_[k]].from == p) ++k;
            std::size_t number = 0;
            const auto push = [&](const State& from, std::uint32_t to, std::uint64_t mask, double gain, double reduced,
                                  std::uint32_t arc) {
                if (from.reduced + reduced + tail_[to] <= cut) return;
                for (const auto& [due, check] : memory.checks)
                    if (due > p && due <= to && (check.when == 0 || (mask & check.when)) && !(mask & check.then))
                        return;
                buckets_[to].push_back(
                    {mask & memory.live[to], from.value + gain, from.reduced + reduced, number, arc});
            };
            for (const State& state : bucket) {
                number = states_.size();
                states_.push_back(state);
                if (p == end) {
                    if (!result_.found || state.value > result_.value) record_state(number);
                    continue;
                }
                if (program_.skips(p)) push(state, p + 1, state.mask, 0.0, 0.0, kStep);
                for (std::size_t a = arcs_begin; a < k; ++a) {
                    const std::uint32_t j = alive_[a], label = program_.arcs[j].label;
                    if ((state.mask & memory.forbids[label]) || memory.hopeless[label] ||
                        (state.mask & memory.needs[label]) != memory.needs[label])
                        continue;
                    push(state, program_.arcs[j].to, state.mask | memory.bit[label], program_.arcs[j].gain, reduced_[j],
                         j);
                }
                if ((states_.size() & 255U) == 0) {
                    control_.check();
                    if (passed(deadline_)) return Outcome::Late;
                }
            }
            if (result_.states + states_.size() > limits_.states) {
                result_.states += states_.size();
                return Outcome::TooLarge;
            }
        }
        result_.states += states_.size();
        if (!complete) return Outcome::TooLarge;
        result_.bound = result_.found ? result_.value : kNone;
        return Outcome::Done;
    }

    void record_state(std::size_t number) {
        keep_.clear();
        const double value = states_[number].value;
        for (; number != kStart; number = states_[number].parent)
            if (states_[number].arc != kStep) keep_.push_back(states_[number].arc);
        record(value, keep_);
    }

    Schedule finish() {
        result_.end = result_.found ? Schedule::End::Optimal : Schedule::End::Infeasible;
        result_.bound = result_.found ? result_.value : kNone;
        return std::move(result_);
    }

    Schedule stop(Schedule::End end) {
        result_.end = end;
        return std::move(result_);
    }

    const IntervalProgram& program_;
    const ScheduleLimits limits_;
    const Deadline deadline_;
    Control& control_;
    Schedule result_;
    double scale_ = 1e-300, tolerance_ = 0.0, constant_ = 0.0, pace_ = 1.0;
    std::size_t stalled_ = 0;
    bool slow_ = false;
    std::vector<std::uint32_t> alive_, by_gain_, path_, wanted_, keep_, used_, take_, present_, blocked_;
    std::vector<std::uint8_t> covered_;
    std::vector<std::vector<std::uint32_t>> excluded_;
    std::vector<Row> rows_;
    std::vector<ArcRow> arc_rows_;
    std::vector<std::vector<double>> earlier_;  // per label that others come after: what its arcs earn, by their end
    std::vector<double> label_price_, reduced_, best_prices_, excess_, tail_, head_;
    std::vector<State> states_;
    std::vector<std::vector<State>> buckets_;
};

}  // namespace sapwood::decode
