// Factor graphs over binary variables: how they are stored, checked, scored, propagated and cut down.
//
// A graph is a table of variables with scores and a table of factors over literals. Logic with outputs, implication
// and negation are literals of the kinds in decode/factors.hpp; this file knows what follows from a decision, not how
// to search (decode/branch_and_bound.hpp) or to relax (decode/ad3.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "decode/factors.hpp"

namespace sapwood::decode {

// A literal is 2 * variable + (1 if negated).
using Literal = std::uint32_t;
inline std::uint32_t variable_of(Literal literal) { return literal >> 1; }
inline bool is_negated(Literal literal) { return literal & 1U; }

constexpr std::uint8_t kOpen = 2;  // an assignment holds 0, 1 or kOpen

struct Graph {
    std::vector<double> scores;         // per variable
    std::vector<Kind> kinds;            // per factor
    std::vector<std::uint32_t> limits;  // per factor: Budget's limit
    std::vector<double> weights;        // per factor: Pair's score
    std::vector<std::size_t> first{0};  // per factor: its literals are links[first[f]] .. links[first[f + 1]]
    std::vector<Literal> links;

    std::size_t variables() const { return scores.size(); }
    std::size_t factors() const { return kinds.size(); }
    std::size_t size(std::size_t f) const { return first[f + 1] - first[f]; }
    std::span<const Literal> literals(std::size_t f) const { return {links.data() + first[f], size(f)}; }

    template <class Literals>
    void add(Kind kind, const Literals& literals, std::uint32_t limit = 0, double weight = 0.0) {
        kinds.push_back(kind);
        limits.push_back(limit);
        weights.push_back(weight);
        links.insert(links.end(), literals.begin(), literals.end());
        first.push_back(links.size());
    }
};

inline bool truth(Literal literal, const std::uint8_t* assignment) {
    return (assignment[variable_of(literal)] != 0) != is_negated(literal);
}

inline double value_of(const Graph& graph, const std::uint8_t* assignment) {
    double value = 0.0;
    for (std::size_t i = 0; i < graph.variables(); ++i)
        if (assignment[i]) value += graph.scores[i];
    for (std::size_t f = 0; f < graph.factors(); ++f) {
        if (graph.kinds[f] != Kind::Pair) continue;
        const auto literals = graph.literals(f);
        if (truth(literals[0], assignment) && truth(literals[1], assignment)) value += graph.weights[f];
    }
    return value;
}

inline bool allows(const Graph& graph, std::size_t f, const std::uint8_t* assignment) {
    const auto literals = graph.literals(f);
    std::size_t on = 0;
    for (const Literal literal : literals) on += truth(literal, assignment);
    switch (graph.kinds[f]) {
        case Kind::Xor:
            return on == 1;
        case Kind::AtMostOne:
            return on <= 1;
        case Kind::Or:
            return on >= 1;
        case Kind::Budget:
            return on <= graph.limits[f];
        case Kind::Pair:
            return true;
        case Kind::OrOut: {
            const bool out = truth(literals.back(), assignment);
            return out == (on > static_cast<std::size_t>(out));
        }
    }
    return false;
}

inline bool is_feasible(const Graph& graph, const std::uint8_t* assignment) {
    for (std::size_t f = 0; f < graph.factors(); ++f)
        if (!allows(graph, f, assignment)) return false;
    return true;
}

// Which factors a variable takes part in (once per literal).
struct Incidence {
    std::vector<std::size_t> first;
    std::vector<std::uint32_t> factor, link;

    explicit Incidence(const Graph& graph) : first(graph.variables() + 1, 0) {
        for (const Literal literal : graph.links) ++first[variable_of(literal) + 1];
        for (std::size_t i = 0; i < graph.variables(); ++i) first[i + 1] += first[i];
        factor.resize(graph.links.size());
        link.resize(graph.links.size());
        std::vector<std::size_t> next(first.begin(), first.end() - 1);
        for (std::size_t f = 0; f < graph.factors(); ++f)
            for (std::size_t l = graph.first[f]; l < graph.first[f + 1]; ++l) {
                const std::size_t place = next[variable_of(graph.links[l])]++;
                factor[place] = static_cast<std::uint32_t>(f);
                link[place] = static_cast<std::uint32_t>(l);
            }
    }
    std::size_t degree(std::size_t i) const { return first[i + 1] - first[i]; }
};

// Decisions and what they force. A conflict leaves the state as it is; undo back to a mark to go on.
class Propagation {
  public:
    Propagation(const Graph& graph, const Incidence& incidence)
        : values(graph.variables(), kOpen),
          graph_(graph),
          incidence_(incidence),
          true_(graph.factors(), 0),
          open_(graph.factors()) {
        for (std::size_t f = 0; f < graph.factors(); ++f) open_[f] = static_cast<std::uint32_t>(graph.size(f));
    }

    std::vector<std::uint8_t> values;

    // What the factors force before any decision. False: nothing satisfies them.
    bool start() {
        for (std::size_t f = 0; f < graph_.factors(); ++f)
            if (!visit(f)) return false;
        return settle();
    }

    bool assign(std::uint32_t variable, bool value) { return set(variable, value) && settle(); }

    std::size_t mark() const { return trail_.size(); }

    void undo(std::size_t mark) {
        pending_ = trail_.size();
        while (trail_.size() > mark) {
            const std::uint32_t variable = trail_.back();
            trail_.pop_back();
            for (std::size_t k = incidence_.first[variable]; k < incidence_.first[variable + 1]; ++k) {
                ++open_[incidence_.factor[k]];
                true_[incidence_.factor[k]] -= truth(graph_.links[incidence_.link[k]], values.data());
            }
            values[variable] = kOpen;
        }
        pending_ = mark;
    }

  private:
    bool set(std::uint32_t variable, bool value) {
        if (values[variable] != kOpen) return values[variable] == value;
        values[variable] = value;
        trail_.push_back(variable);
        for (std::size_t k = incidence_.first[variable]; k < incidence_.first[variable + 1]; ++k) {
            --open_[incidence_.factor[k]];
            true_[incidence_.factor[k]] += truth(graph_.links[incidence_.link[k]], values.data());
        }
        return true;
    }

    bool settle() {
        while (pending_ < trail_.size()) {
            const std::uint32_t variable = trail_[pending_++];
            for (std::size_t k = incidence_.first[variable]; k < incidence_.first[variable + 1]; ++k)
                if (!visit(incidence_.factor[k])) return false;
        }
        return true;
    }

    bool set_open(std::size_t f, bool literal_value) {
        for (const Literal literal : graph_.literals(f))
            if (values[variable_of(literal)] == kOpen &&
                !set(variable_of(literal), literal_value != is_negated(literal)))
                return false;
        return true;
    }

    bool visit(std::size_t f) {
        const std::uint32_t on = true_[f], open = open_[f];
        switch (graph_.kinds[f]) {
            case Kind::Pair:
                return true;
            case Kind::Xor:
                if (on > 1) return false;
                if (on == 1) return open == 0 || set_open(f, false);
                return open > 1 || (open == 1 && set_open(f, true));
            case Kind::AtMostOne:
                return on <= 1 && (on == 0 || open == 0 || set_open(f, false));
            case Kind::Budget: {
                const std::uint32_t limit = graph_.limits[f];
                return on <= limit && (on < limit || open == 0 || set_open(f, false));
            }
            case Kind::Or:
                return on > 0 || open > 1 || (open == 1 && set_open(f, true));
            case Kind::OrOut: {
                const Literal out = graph_.literals(f).back();
                const std::uint8_t raw = values[variable_of(out)];
                if (raw == kOpen) {
                    if (on > 0) return set(variable_of(out), !is_negated(out));
                    return open > 1 || set(variable_of(out), is_negated(out));
                }
                if ((raw != 0) == is_negated(out)) return on == 0 && (open == 0 || set_open(f, false));
                return on > 1 || open > 1 || (open == 1 && set_open(f, true));
            }
        }
        return true;
    }

    const Graph& graph_;
    const Incidence& incidence_;
    std::vector<std::uint32_t> true_, open_, trail_;
    std::size_t pending_ = 0;
};

// What is left of a graph after decisions that have been propagated without conflict.
struct Reduced {
    Graph graph;
    std::vector<std::uint32_t> variables;  // per variable left: its number in the full graph
    std::vector<std::uint32_t> links;      // per link left: its number in the full graph
    double constant = 0.0;                 // what the decisions earn
};

inline Reduced reduce(const Graph& full, const std::uint8_t* values) {
    Reduced result;
    std::vector<std::uint32_t> number(full.variables(), 0);
    for (std::size_t i = 0; i < full.variables(); ++i) {
        if (values[i] == kOpen) {
            number[i] = static_cast<std::uint32_t>(result.variables.size());
            result.variables.push_back(static_cast<std::uint32_t>(i));
            result.graph.scores.push_back(full.scores[i]);
        } else if (values[i]) {
            result.constant += full.scores[i];
        }
    }
    std::vector<Literal> left;
    for (std::size_t f = 0; f < full.factors(); ++f) {
        const auto literals = full.literals(f);
        left.clear();
        std::uint32_t on = 0;
        const std::size_t start = result.links.size();
        for (std::size_t k = 0; k < literals.size(); ++k) {
            if (values[variable_of(literals[k])] != kOpen) {
                on += truth(literals[k], values);
                continue;
            }
            left.push_back(2 * number[variable_of(literals[k])] + is_negated(literals[k]));
            result.links.push_back(static_cast<std::uint32_t>(full.first[f] + k));
        }
        Kind kind = full.kinds[f];
        std::uint32_t limit = full.limits[f];
        bool keep = !left.empty();
        switch (kind) {
            case Kind::Xor:
                break;
            case Kind::AtMostOne:
                keep = keep && left.size() > 1;
                break;
            case Kind::Or:
                keep = keep && on == 0;
                break;
            case Kind::Budget:
                limit -= std::min(on, limit);
                keep = keep && left.size() > limit;
                if (limit == 1) kind = Kind::AtMostOne;
                break;
            case Kind::OrOut:
                // With the output decided, only "at least one" is left of it; an input decided true decides the output.
                if (keep && values[variable_of(literals.back())] != kOpen) {
                    keep = on == 1;
                    kind = Kind::Or;
                }
                break;
            case Kind::Pair:
                if (left.size() < 2) {
                    if (keep && on == 1) {
                        const Literal literal = left.front();
                        if (is_negated(literal)) {
                            result.constant += full.weights[f];
                            result.graph.scores[variable_of(literal)] -= full.weights[f];
                        } else {
                            result.graph.scores[variable_of(literal)] += full.weights[f];
                        }
                    }
                    if (left.empty() && on == 2) result.constant += full.weights[f];
                    keep = false;
                }
                break;
        }
        if (keep)
            result.graph.add(kind, left, limit, full.weights[f]);
        else
            result.links.resize(start);
    }
    return result;
}

}  // namespace sapwood::decode
