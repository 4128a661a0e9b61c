// The kernel between training points as a sum of products of kernels between distinct items.
//
// A point has one item per component: its path, its constituent, its feature vector. Points are many and items few, so
// that a row of points is looked up in rows of items, and a sum over thousands of weighted points becomes one over
// items.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/parallel.hpp"
#include "learn/row_sources.hpp"
#include "learn/smo_loops.hpp"

namespace sapwood {

// K(i, j) = values[item_i, item_j]. With tags, where tag_i == tag_j and it is not 0, `same` takes the place of
// `values`: the points of one tag share a square of it, in which each has a place.
template <class Real>
struct Component {
    std::shared_ptr<const RowSource<Real>> values;
    std::shared_ptr<const Blocks<Real>> same;
    std::vector<std::uint32_t> items;               // per point
    std::vector<std::uint32_t> tags, rows, places;  // per point, nothing at all without `same`; rows and places of it
};

// weight * product of components * scale_i * scale_j. No component at all is a constant.
struct Term {
    double weight = 1.0;
    std::vector<std::size_t> factors;
    std::vector<double> scale;  // per point, or empty for all 1

    bool simple() const { return factors.size() == 1 && scale.empty(); }
    bool constant() const { return factors.empty() && scale.empty(); }
};

// Some points in some order, with what rows need to know of each beside each other.
struct Selection {
    // Positions by tag: those with tag t are holders[starts[t]] to holders[starts[t + 1]].
    struct Groups {
        std::vector<std::uint32_t> starts, holders;
    };

    std::vector<std::uint32_t> points;
    std::vector<std::vector<std::uint32_t>> items, tags, places;  // per component
    std::vector<Groups> groups;                                   // per component, where they have been asked for

    std::size_t size() const { return points.size(); }

    // Lists positions by tag, which sums over weighted points need.
    void group() {
        groups.assign(tags.size(), {});
        for (std::size_t component = 0; component < tags.size(); ++component) {
            const std::vector<std::uint32_t>& tag = tags[component];
            if (tag.empty()) continue;
            auto& [starts, holders] = groups[component];
            starts.assign(*std::max_element(tag.begin(), tag.end()) + 2, 0);
            for (const std::uint32_t one : tag) ++starts[one + 1];
            for (std::size_t t = 1; t < starts.size(); ++t) starts[t] += starts[t - 1];
            holders.resize(tag.size());
            std::vector<std::uint32_t> next(starts.begin(), starts.end() - 1);
            for (std::size_t k = 0; k < tag.size(); ++k) holders[next[tag[k]]++] = static_cast<std::uint32_t>(k);
        }
    }

    // Keeps the positions listed, which ascend.
    void keep(const std::vector<std::uint32_t>& positions) {
        pick(points, positions);
        for (auto& one : items) pick(one, positions);
        for (auto& one : tags) pick(one, positions);
        for (auto& one : places) pick(one, positions);
        if (!groups.empty()) group();
    }

  private:
    static void pick(std::vector<std::uint32_t>& values, const std::vector<std::uint32_t>& positions) {
        if (values.empty()) return;
        for (std::size_t k = 0; k < positions.size(); ++k) values[k] = values[positions[k]];
        values.resize(positions.size());
    }
};

template <class Real>
class PointKernel {
  public:
    PointKernel(std::size_t points, std::vector<Component<Real>> components, std::vector<Term> terms,
                std::vector<double> diagonal)
        : points_(points),
          components_(std::move(components)),
          terms_(std::move(terms)),
          diagonal_(std::move(diagonal)) {
        if (terms_.size() != 1 || !terms_[0].simple() || terms_[0].weight != 1.0) return;
        const Component<Real>& only = components_[terms_[0].factors[0]];
        if (only.same || only.values->size() != points_) return;
        for (std::size_t point = 0; point < points_; ++point)
            if (only.items[point] != point) return;
        table_ = only.values->table();
    }

    std::size_t size() const { return points_; }
    // The values between all points, row major, if they lie in memory like that.
    const Real* table() const { return table_; }
    double diagonal(std::size_t point) const { return diagonal_[point]; }

    // Whether weighted points add up per item, so that no row of points is needed.
    bool additive() const {
        return std::all_of(terms_.begin(), terms_.end(),
                           [](const Term& term) { return term.simple() || term.constant(); });
    }

    Selection select(std::vector<std::uint32_t> points) const {
        Selection selection;
        selection.points = std::move(points);
        for (const Component<Real>& component : components_) {
            selection.items.push_back(gather(component.items, selection.points));
            selection.tags.push_back(gather(component.tags, selection.points));
            selection.places.push_back(gather(component.places, selection.points));
        }
        return selection;
    }

    // out[k] = K(point, k-th point of the selection).
    void row(std::size_t point, const Selection& selection, Real* out) const {
        bool first = true;
        for (const Term& term : terms_) {
            if (term.simple()) {
                const auto weight = static_cast<Real>(term.weight);
                if (first)
                    visit(term.factors[0], point, selection,
                          [=](std::size_t k, Real value) { out[k] = weight * value; });
                else
                    visit(term.factors[0], point, selection,
                          [=](std::size_t k, Real value) { out[k] += weight * value; });
            } else {
                if (first) std::fill(out, out + selection.size(), Real{0});
                add_product(term, point, selection, out);
            }
            first = false;
        }
        if (first) std::fill(out, out + selection.size(), Real{0});
    }

    // out[k] += sum over the entries (point, weight) of weight * K(point, k-th point of the selection), which is
    // grouped.
    void expand(const std::vector<std::pair<std::uint32_t, double>>& entries, const Selection& selection, double* out,
                const Control& control) const {
        std::vector<Real> row;
        for (const Term& term : terms_) {
            if (term.simple()) {
                expand_items(term, entries, selection, out, control);
                continue;
            }
            if (term.constant()) {
                double total = 0.0;
                for (const auto& entry : entries) total += term.weight * entry.second;
                for (std::size_t k = 0; k < selection.size(); ++k) out[k] += total;
                continue;
            }
            // What is no sum over items has to be asked for row by row.
            for (const auto& [point, weight] : entries) {
                control.check();
                row.assign(selection.size(), Real{0});
                add_product(term, point, selection, row.data());
                for (std::size_t k = 0; k < row.size(); ++k) out[k] += weight * static_cast<double>(row[k]);
            }
        }
    }

  private:
    static std::vector<std::uint32_t> gather(const std::vector<std::uint32_t>& values,
                                             const std::vector<std::uint32_t>& points) {
        std::vector<std::uint32_t> result;
        if (values.empty()) return result;
        result.reserve(points.size());
        for (const std::uint32_t point : points) result.push_back(values[point]);
        return result;
    }

    // Calls report(k, value of the component) for every position of the selection.
    template <class Report>
    void visit(std::size_t number, std::size_t point, const Selection& selection, Report report) const {
        const Component<Real>& component = components_[number];
        const std::uint32_t* items = selection.items[number].data();
        const std::size_t count = selection.size();
        const Row<Real> row = component.values->row(component.items[point]);
        const Real* values = row.values;
        const std::uint32_t tag = component.same ? component.tags[point] : 0;
        if (tag == 0) {
            for (std::size_t k = 0; k < count; ++k) report(k, values[items[k]]);
            return;
        }
        const Real* same = component.same->row(component.rows[point]);
        const std::uint32_t* tags = selection.tags[number].data();
        const std::uint32_t* places = selection.places[number].data();
        for (std::size_t k = 0; k < count; ++k) report(k, tags[k] == tag ? same[places[k]] : values[items[k]]);
    }

    void add_product(const Term& term, std::size_t point, const Selection& selection, Real* out) const {
        std::vector<Real> product(selection.size(), static_cast<Real>(term.weight));
        for (const std::size_t factor : term.factors)
            visit(factor, point, selection, [&](std::size_t k, Real value) { product[k] *= value; });
        if (term.scale.empty()) {
            for (std::size_t k = 0; k < product.size(); ++k) out[k] += product[k];
            return;
        }
        // Both factors are joined first, which makes the kernel symmetric to the last bit.
        for (std::size_t k = 0; k < product.size(); ++k)
            out[k] += product[k] * static_cast<Real>(term.scale[point] * term.scale[selection.points[k]]);
    }

    void expand_items(const Term& term, const std::vector<std::pair<std::uint32_t, double>>& entries,
                      const Selection& selection, double* out, const Control& control) const {
        const std::size_t number = term.factors[0];
        const Component<Real>& component = components_[number];
        std::vector<std::pair<std::uint32_t, double>> items;
        for (const auto& [point, weight] : entries) items.emplace_back(component.items[point], term.weight * weight);
        std::stable_sort(items.begin(), items.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
        std::vector<double> sums(component.values->size(), 0.0);
        // A few rows at a time, so that sums are read and written less often.
        constexpr std::size_t kRows = 4;
        Row<Real> held[kRows];
        const Real* rows[kRows];
        double steps[kRows];
        std::size_t count = 0;
        for (std::size_t k = 0; k < items.size();) {
            const std::uint32_t item = items[k].first;
            double weight = 0.0;
            for (; k < items.size() && items[k].first == item; ++k) weight += items[k].second;
            control.check();
            held[count] = component.values->row(item);
            rows[count] = held[count].values;
            steps[count] = -weight;
            if (++count < kRows && k < items.size()) continue;
            subtract_rows(sums.data(), rows, steps, count, sums.size());
            count = 0;
        }
        const std::vector<std::uint32_t>& positions = selection.items[number];
        for (std::size_t k = 0; k < positions.size(); ++k) out[k] += sums[positions[k]];
        if (component.same) correct_tags(term, entries, selection, out, control);
    }

    // Replaces `values` by `same` between the points of each tag.
    void correct_tags(const Term& term, const std::vector<std::pair<std::uint32_t, double>>& entries,
                      const Selection& selection, double* out, const Control& control) const {
        const std::size_t number = term.factors[0];
        const Component<Real>& component = components_[number];
        const std::vector<std::uint32_t>& items = selection.items[number];
        const std::vector<std::uint32_t>& places = selection.places[number];
        const auto& [starts, holders] = selection.groups[number];
        for (const auto& [point, weight] : entries) {
            const std::uint32_t tag = component.tags[point];
            if (tag == 0 || tag + 1 >= starts.size() || starts[tag] == starts[tag + 1]) continue;
            control.check();
            const Row<Real> other = component.values->row(component.items[point]);
            const Real* same = component.same->row(component.rows[point]);
            for (std::size_t at = starts[tag]; at < starts[tag + 1]; ++at) {
                const std::uint32_t k = holders[at];
                out[k] += term.weight * weight *
                          (static_cast<double>(same[places[k]]) - static_cast<double>(other.values[items[k]]));
            }
        }
    }

    std::size_t points_;
    std::vector<Component<Real>> components_;
    std::vector<Term> terms_;
    std::vector<double> diagonal_;
    const Real* table_ = nullptr;
};

}  // namespace sapwood
