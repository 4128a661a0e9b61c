// A partial-tree model in which pairs of nodes that have nothing but labels in common are counted, not visited.
//
// D(n, m) of two subtrees with the same label is the *bare* value unless they share the label of a child. What a node n
// of a row makes of the subtrees of one shape (a label over labels) therefore depends on
//
//     the labels of n and its children, if all children that match are bare with what the shape has there: then it is one
//         number for the whole shape, worked out once for all nodes with these labels (a Plan);
//     the tables of D of its children otherwise.
//
// A child with few values that are not bare, such as a tag over a word, lists them. The subtrees of the model above these
// are then the only ones that are not worth the number in the plan. Children with many values keep a table by place, and
// shapes in which such a child matches are gone through subtree by subtree.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "arena.hpp"
#include "bags.hpp"
#include "buffers.hpp"
#include "lens.hpp"
#include "parallel.hpp"
#include "partial.hpp"
#include "plans.hpp"
#include "scoring.hpp"
#include "sequences.hpp"
#include "vector.hpp"

namespace sapwood {

class PartialIndex {
  public:
    // For child sequences of any length and leaves that count; weights: elements x outputs, row major. The arena must
    // outlive the index and not change.
    // A thread makes all plans anew once they hold more than `room` numbers.
    PartialIndex(const Arena& arena, const Bags& bags, const double* weights, std::size_t outputs,
                 const PartialOptions& options, std::size_t room = std::size_t{1} << 22)
        : arena_(arena), columns_(arena, bags, options), outputs_(outputs), room_(room),
          bare_(options.depth_decay * options.decay * options.decay), label_weight_(arena.symbols.size() * outputs, 0.0),
          weight_(columns_.positions() * outputs, 0.0), shape_weight_(columns_.shapes() * outputs, 0.0),
          first_position_(arena.symbols.size(), 0), shapes_of_(arena.symbols.size()) {
        const std::vector<double> worth = subtree_weights(arena, bags, weights, outputs);
        const std::vector<std::uint32_t>& position = columns_.positions_of_nodes();
        const std::vector<std::uint32_t> holder = last_holders(arena, bags);
        leaf_weight_.assign(label_weight_.size(), 0.0);
        for (Node node = 0; node < arena.size(); ++node) {
            if (holder[node] == kNone) continue;
            auto& labels = arena.is_leaf(node) ? leaf_weight_ : label_weight_;
            for (std::size_t o = 0; o < outputs; ++o) {
                labels[arena.label(node) * outputs + o] += worth[node * outputs + o];
                if (position[node] != kNone) weight_[position[node] * outputs + o] = worth[node * outputs + o];
            }
        }
        for (std::uint32_t number = 0; number < columns_.shapes(); ++number) {
            const PartialColumns::Shape& shape = columns_.shape(number);
            const Symbol label = arena.label(arena.sample(shape.production));
            first_position_[label] = shape.begin + 1 - shape.place;
            if (shape.place == 1) shapes_of_[label].begin = number;
            shapes_of_[label].end = number + 1;
            for (std::size_t o = 0; o < outputs; ++o)
                for (std::size_t k = 0; k < shape.count; ++k)
                    shape_weight_[number * outputs + o] += weight_[(shape.begin + k) * outputs + o];
        }
        if (outputs > 1) {
            by_output_.resize(weight_.size());
            for (std::size_t at = 0; at < columns_.positions(); ++at)
                for (std::size_t o = 0; o < outputs; ++o) by_output_[o * columns_.positions() + at] = weight_[at * outputs + o];
        }
        list_parents();
    }

    std::size_t outputs() const { return outputs_; }
    std::size_t bytes() const {
        const std::size_t weights = label_weight_.capacity() + leaf_weight_.capacity() + weight_.capacity() +
                                    by_output_.capacity() + shape_weight_.capacity();
        return weights * 8 + parent_.capacity() * sizeof(Parent) + parent_end_.capacity() * 4;
    }

    // out: elements x outputs, row major.
    void score(const Arena& rows, const Elements& elements, double* out, std::size_t threads, Control& control) const {
        const Bags bags = make_bags(rows, elements.roots, elements.ends, elements.one_each, threads);
        const LabelLens labels(rows, arena_, bags.numbers);
        parallel_blocks(bags.size(), 16, threads, control, [&] {
            return [&, reader = Reader(*this, rows, labels, control)](std::size_t begin, std::size_t end) mutable {
                for (std::size_t i = begin; i < end; ++i)
                    reader.score(bags.numbers_of(i), bags.counts_of(i), out + i * outputs_);
            };
        });
    }

  private:
    static constexpr std::size_t kFew = 4;  // values that are listed rather than kept in a table

    struct Parent {  // a subtree of the model
        std::uint32_t shape, number;
    };

    // D of a node against the subtrees of the model with its label.
    struct Values {
        std::size_t few = 0;                      // how many are listed, if there is no table
        std::array<std::uint32_t, kFew> place{};
        std::array<double, kFew> value{};
        std::vector<double> table;                // by place; empty: all that are not listed are bare
        bool dense() const { return !table.empty(); }
    };

    struct Entry {  // a shape that shares the label of a child
        std::uint32_t shape;
        std::uint32_t cell, cells;  // the pairs of children with equal labels: from which on, and how many; 0: too many
        std::uint32_t link, links;
        double bare;                // depth decay * the sum over sequences if all children that match are bare
    };
    // What all nodes with the same labels and the same kinds of children have to do.
    struct Plan {
        std::vector<Entry> counted, visited;
        std::vector<SequenceSums::Cell> cells;
        std::vector<SequenceSums::Link> links;
        std::vector<double> worth;           // per output: of all that is counted
        std::size_t members = 0;             // subtrees of the shapes that are counted
        SequenceSums::Cells cells_of(const Entry& entry) const {
            return {std::span(cells).subspan(entry.cell, entry.cells), std::span(links).subspan(entry.link, entry.links)};
        }
        std::size_t size() const { return 8 * (counted.size() + visited.size()) + 4 * (cells.size() + links.size()); }
    };

    class Reader {
      public:
        Reader(const PartialIndex& index, const Arena& arena, const LabelLens& labels, const Control& control)
            : index_(index), columns_(index.columns_), options_(columns_.options()), arena_(arena), labels_(labels),
              control_(control), order_(arena), sequences_(options_, control), plans_(index.room_), entry_(columns_.shapes()),
              seen_shape_(columns_.shapes(), 0), seen_member_(columns_.positions(), 0) {}

        void score(std::span<const Node> nodes, std::span<const double> counts, double* out) {
            std::fill(out, out + index_.outputs_, 0.0);
            for (std::size_t k = 0; k < nodes.size(); ++k) add_label(nodes[k], counts[k], out);
            order_.enter(nodes);
            if (values_.size() < order_.slots()) values_.resize(order_.slots());
            for (const std::size_t k : order_.order()) {
                evaluate(nodes[k], counts[k], out);
                order_.done(nodes[k], [&](std::uint32_t slot) {
                    buffers_.give(std::move(values_[slot].table));
                    values_[slot].table = {};
                });
                if (work_ > 1000000) {
                    control_.check();
                    work_ = 0;
                }
            }
        }

      private:
        // What the label alone is worth: mu * lambda^2 with every node that has it.
        void add_label(Node node, double count, double* out) {
            const Symbol label = labels_(arena_.label(node));
            if (label == kNone) return;
            const bool leaf = arena_.is_leaf(node);
            const double* internal = index_.label_weight_.data() + label * index_.outputs_;
            const double* leaves = index_.leaf_weight_.data() + label * index_.outputs_;
            const double factor = leaf ? options_.terminal_factor : 1.0;
            for (std::size_t o = 0; o < index_.outputs_; ++o)
                out[o] += count * index_.bare_ * (internal[o] + factor * leaves[o]);
        }

        // Labels and values of the children of a node. A child is *listed* if it is bare but for a few places; a leaf that
        // counts the same everywhere is, too.
        void enter(Node node) {
            key_.clear();
            children_.clear();
            child_labels_.clear();
            key_.push_back(labels_(arena_.label(node)));
            for (const Node child : arena_.children(node)) {
                const std::uint32_t slot = order_.slot(child);
                if (slot == kNone) {
                    children_.push_back({nullptr, index_.bare_ * options_.terminal_factor, index_.bare_});
                } else {
                    const Values& values = values_[slot];
                    children_.push_back({values.dense() ? values.table.data() : nullptr, index_.bare_, index_.bare_, values.few,
                                         values.place.data(), values.value.data()});
                }
                child_labels_.push_back(labels_(arena_.label(child)));
                key_.push_back(child_labels_.back());
                key_.push_back(is_listed(children_.back()));
            }
            sequences_.enter_values(children_);
        }

        static bool is_listed(const SequenceSums::Child& child) { return !child.table && child.leaf == child.internal; }

        void evaluate(Node node, double count, double* out) {
            const std::uint32_t slot = order_.slot(node);
            Values& mine = values_[slot];
            mine.few = 0;
            const Symbol label = labels_(arena_.label(node));
            if (label == kNone || columns_.label_count(label) == 0) return;
            enter(node);
            const auto kids = arena_.children(node);
            const bool lexical = std::all_of(kids.begin(), kids.end(), [&](Node child) { return arena_.is_leaf(child); });
            // Every word would have a plan of its own.
            if (lexical) make(scratch_);
            const Plan& plan = lexical ? scratch_ : plans_.get(key_, [&](Plan& fresh) { make(fresh); });
            for (std::size_t o = 0; o < index_.outputs_; ++o) out[o] += count * plan.worth[o];
            double* table = nullptr;
            listed_ = nullptr;
            if (order_.wanted(slot)) {
                std::size_t members = plan.members;
                for (const Entry& entry : plan.visited) members += columns_.shape(entry.shape).count;
                if (members > kFew) table = fill(mine, plan, columns_.label_count(label));
                else listed_ = &mine;
            }
            if (listed_)
                for (const Entry& entry : plan.counted) {
                    const PartialColumns::Shape& shape = columns_.shape(entry.shape);
                    for (std::uint32_t k = 0; k < shape.count; ++k) list(shape.place + k, index_.bare_ + entry.bare);
                }
            correct(plan, count, table, out);
            for (const Entry& entry : plan.visited) visit(plan, entry, count, table, out);
            work_ += plan.members + 8 * (1 + plan.counted.size() + plan.visited.size());
        }

        double* fill(Values& mine, const Plan& plan, std::size_t places) {
            mine.table = buffers_.take(places + 1);
            std::fill_n(mine.table.begin(), places + 1, index_.bare_);
            for (const Entry& entry : plan.counted) {
                const PartialColumns::Shape& shape = columns_.shape(entry.shape);
                std::fill_n(mine.table.begin() + shape.place, shape.count, index_.bare_ + entry.bare);
            }
            work_ += places;
            return mine.table.data();
        }

        void list(std::uint32_t place, double value) {
            for (std::size_t f = 0; f < listed_->few; ++f)
                if (listed_->place[f] == place) {
                    listed_->value[f] = value;
                    return;
                }
            listed_->place[listed_->few] = place;
            listed_->value[listed_->few++] = value;
        }

        // The subtrees of counted shapes that stand above what a child of this node is more than bare with.
        void correct(const Plan& plan, double count, double* table, double* out) {
            if (plan.counted.empty()) return;
            const std::size_t visit = ++visit_;
            for (const Entry& entry : plan.counted) entry_[entry.shape] = {visit, &entry};
            for (std::size_t i = 0; i < children_.size(); ++i) {
                const SequenceSums::Child& child = children_[i];
                if (!is_listed(child) || child_labels_[i] == kNone) continue;
                for (std::size_t f = 0; f < child.listed; ++f)
                    for (const Parent& parent : index_.parents(child_labels_[i], child.places[f], key_[0])) {
                        if (entry_[parent.shape].visit != visit) continue;
                        const PartialColumns::Shape& shape = columns_.shape(parent.shape);
                        const std::size_t position = shape.begin + parent.number;
                        if (seen_member_[position] == visit) continue;
                        seen_member_[position] = visit;
                        const Entry& entry = *entry_[parent.shape].entry;
                        double value;
                        sequences_.evaluate(columns_, shape, {parent.number, 1}, plan.cells_of(entry), &value);
                        value *= options_.depth_decay;
                        index_.add(position, count * (value - entry.bare), out);
                        keep(shape.place + parent.number, value, table);
                    }
            }
        }

        void keep(std::uint32_t place, double value, double* table) {
            if (table) table[place] = index_.bare_ + value;
            else if (listed_) list(place, index_.bare_ + value);
        }

        // All subtrees of a shape, one after the other.
        void visit(const Plan& plan, const Entry& entry, double count, double* table, double* out) {
            const PartialColumns::Shape& shape = columns_.shape(entry.shape);
            if (result_.size() < shape.count) result_.resize(shape.count);
            double* result = result_.data();
            if (entry.cells > 0) {
                sequences_.evaluate(columns_, shape, {0, shape.count}, plan.cells_of(entry), result);
            } else {
                sequences_.enter_labels(child_labels_);
                sequences_.meet(columns_, shape);
                sequences_.evaluate(columns_, shape, {0, shape.count}, result);
            }
            work_ += shape.count * (1 + entry.cells);
            const double factor = options_.depth_decay;
            for (std::size_t k = 0; k < shape.count; ++k) result[k] *= factor;
            if (shape.count < 8) {
                // Most shapes are rare, and a call would take longer than this.
                for (std::size_t k = 0; k < shape.count; ++k) index_.add(shape.begin + k, count * result[k], out);
            } else {
                for (std::size_t o = 0; o < index_.outputs_; ++o)
                    out[o] += count * dot(index_.weights(o) + shape.begin, result, shape.count);
            }
            if (table) {
                double* mine = table + shape.place;
                for (std::size_t k = 0; k < shape.count; ++k) mine[k] = index_.bare_ + result[k];
            } else if (listed_) {
                for (std::uint32_t k = 0; k < shape.count; ++k) list(shape.place + k, index_.bare_ + result[k]);
            }
        }

        void make(Plan& plan) {
            plan.counted.clear();
            plan.visited.clear();
            plan.cells.clear();
            plan.links.clear();
            plan.worth.assign(index_.outputs_, 0.0);
            plan.members = 0;
            ++making_;
            sequences_.enter_labels(child_labels_);
            for (const Symbol child : child_labels_) {
                if (child == kNone) continue;
                for (const std::uint32_t number : columns_.shapes_with(key_[0], child)) {
                    if (seen_shape_[number] == making_) continue;
                    seen_shape_[number] = making_;
                    add(plan, number);
                }
            }
        }

        void add(Plan& plan, std::uint32_t number) {
            const PartialColumns::Shape& shape = columns_.shape(number);
            Entry entry{};
            entry.shape = number;
            entry.cell = static_cast<std::uint32_t>(plan.cells.size());
            entry.link = static_cast<std::uint32_t>(plan.links.size());
            if (!sequences_.find(columns_.child_labels(shape), plan.cells, plan.links)) {
                plan.cells.resize(entry.cell);
                plan.links.resize(entry.link);
            }
            entry.cells = static_cast<std::uint32_t>(plan.cells.size()) - entry.cell;
            entry.links = static_cast<std::uint32_t>(plan.links.size()) - entry.link;
            const auto found = plan.cells_of(entry).cells;
            work_ += 8 + shape.arity + entry.links;
            const auto listed = [&](const SequenceSums::Cell& cell) { return is_listed(children_[cell.i]); };
            if (found.empty() || !std::all_of(found.begin(), found.end(), listed)) {
                plan.visited.push_back(entry);
                return;
            }
            entry.bare = options_.depth_decay * sequences_.sum(plan.cells_of(entry), [&](const auto&) { return index_.bare_; });
            for (std::size_t o = 0; o < index_.outputs_; ++o)
                plan.worth[o] += entry.bare * index_.shape_weight_[number * index_.outputs_ + o];
            plan.members += shape.count;
            plan.counted.push_back(entry);
        }

        const PartialIndex& index_;
        const PartialColumns& columns_;
        const PartialOptions options_;
        const Arena& arena_;
        const LabelLens& labels_;
        const Control& control_;
        NodeOrder order_;
        SequenceSums sequences_;
        std::vector<Values> values_;  // per slot
        Values* listed_ = nullptr;    // where the values of the node at hand are listed, if they are
        Buffers buffers_;
        Plans<Plan> plans_;
        Plan scratch_;
        std::vector<std::uint32_t> key_;  // of the plan: the label, and label and kind of every child
        std::vector<Symbol> child_labels_;
        std::vector<SequenceSums::Child> children_;
        std::vector<double> result_;
        struct Known {
            std::size_t visit = 0;
            const Entry* entry = nullptr;
        };
        std::vector<Known> entry_;  // per shape: that of the plan at hand, if it was set at this visit
        std::vector<std::size_t> seen_shape_, seen_member_;
        std::size_t making_ = 0, visit_ = 0, work_ = 0;
    };

    void add(std::size_t position, double value, double* out) const {
        for (std::size_t o = 0; o < outputs_; ++o) out[o] += value * weight_[position * outputs_ + o];
    }

    // By position.
    const double* weights(std::size_t output) const {
        return outputs_ == 1 ? weight_.data() : by_output_.data() + output * columns_.positions();
    }

    // The subtrees with some label that have the one at this place as a child.
    std::span<const Parent> parents(Symbol label, std::uint32_t place, Symbol above) const {
        const std::size_t position = first_position_[label] + place - 1;
        const auto begin = parent_.begin() + (position == 0 ? 0 : parent_end_[position - 1]);
        const auto end = parent_.begin() + parent_end_[position];
        const auto before = [](const Parent& parent, std::uint32_t shape) { return parent.shape < shape; };
        const auto first = std::lower_bound(begin, end, shapes_of_[above].begin, before);
        return {first, std::lower_bound(first, end, shapes_of_[above].end, before)};
    }

    void list_parents() {
        std::vector<std::uint32_t> next(columns_.positions() + 1, 0);
        const auto for_each = [&](auto visit) {
            for (std::uint32_t number = 0; number < columns_.shapes(); ++number) {
                const PartialColumns::Shape& shape = columns_.shape(number);
                const auto labels = columns_.child_labels(shape);
                for (std::uint32_t k = 0; k < shape.count; ++k)
                    for (std::size_t slot = 0; slot < labels.size(); ++slot)
                        if (const std::uint32_t place = columns_.child_places(shape, slot)[k]; place != 0)
                            visit(first_position_[labels[slot]] + place - 1, Parent{number, k});
            }
        };
        for_each([&](std::size_t position, Parent) { ++next[position + 1]; });
        for (std::size_t at = 1; at < next.size(); ++at) next[at] += next[at - 1];
        parent_end_.assign(next.begin() + 1, next.end());
        parent_.resize(next.back());
        for_each([&](std::size_t position, Parent parent) { parent_[next[position]++] = parent; });
    }

    const Arena& arena_;
    PartialColumns columns_;
    std::size_t outputs_, room_;
    double bare_;
    std::vector<double> label_weight_, leaf_weight_;  // per label x outputs: the sums of weights of internal nodes, of leaves
    std::vector<double> weight_, by_output_;          // per position x outputs; per output x positions, if there are several
    std::vector<double> shape_weight_;                // per shape x outputs: the sum of weights
    std::vector<std::size_t> first_position_;         // per label: the position of the first subtree with it
    struct Shapes {
        std::uint32_t begin = 0, end = 0;
    };
    std::vector<Shapes> shapes_of_;  // per label
    std::vector<Parent> parent_;     // shape after shape
    std::vector<std::uint32_t> parent_end_;  // per position
};

inline void score(const PartialIndex& index, const Arena& arena, const Elements& elements, double* out, std::size_t threads,
                  Control& control) {
    index.score(arena, elements, out, threads, control);
}

}  // namespace sapwood
