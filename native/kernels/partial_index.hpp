// A partial-tree model in which pairs of nodes that have nothing but labels in common are counted, not visited.
//
// D(n, m) of two subtrees with the same label is the *bare* value unless they share the label of a child. What a node n
// of a row makes of the subtrees of one shape (a label over labels) therefore depends on
//
//     the labels of n and its children, if all children that match are bare with what the shape has there: then it is
//         one number for the whole shape, found once for all nodes with these labels (see kernels/partial_plan.hpp);
//     the tables of D of its children otherwise.
//
// A child with few values that are not bare, such as a tag over a word, lists them. The subtrees of the model above
// these are then the only ones that are not worth the number in the plan. Children with many values keep a table by
// place, and shapes in which such a child matches are gone through subtree by subtree.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/buffer_pool.hpp"
#include "core/object_pool.hpp"
#include "core/parallel.hpp"
#include "core/vectorized.hpp"
#include "core/visited_set.hpp"
#include "kernels/partial_columns.hpp"
#include "kernels/partial_plan.hpp"
#include "kernels/plan_cache.hpp"
#include "kernels/scoring.hpp"
#include "kernels/sequences.hpp"
#include "trees/arena.hpp"
#include "trees/arena_map.hpp"
#include "trees/bags.hpp"
#include "trees/node_order.hpp"

namespace sapwood {

class PartialIndex {
  public:
    // For child sequences of any length and leaves that count; weights: elements x outputs, row major. The arena must
    // outlive the index and not change.
    // Plans are kept from call to call. Those of one thread hold at most about `room` numbers of four bytes; more than
    // kPooled threads share the room of so many.
    PartialIndex(const Arena& arena, const Bags& bags, const double* weights, std::size_t outputs,
                 const PartialOptions& options, std::size_t room = std::size_t{1} << 24)
        : arena_(arena),
          columns_(arena, bags, options),
          outputs_(outputs),
          room_(room),
          bare_(options.depth_decay * options.decay * options.decay),
          label_weight_(arena.symbols.size() * outputs, 0.0),
          weight_(columns_.positions() * outputs, 0.0),
          shape_weight_(columns_.shapes() * outputs, 0.0),
          shapes_of_(arena.symbols.size()) {
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
            if (shape.place == 1) shapes_of_[label].begin = number;
            shapes_of_[label].end = number + 1;
            for (std::size_t o = 0; o < outputs; ++o)
                for (std::size_t k = 0; k < shape.count; ++k)
                    shape_weight_[number * outputs + o] += weight_[(shape.begin + k) * outputs + o];
        }
        if (outputs > 1) {
            by_output_.resize(weight_.size());
            for (std::size_t at = 0; at < columns_.positions(); ++at)
                for (std::size_t o = 0; o < outputs; ++o)
                    by_output_[o * columns_.positions() + at] = weight_[at * outputs + o];
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
        const LabelMap labels(rows, arena_, bags.numbers);
        const std::size_t room = room_ * kPooled / std::max(kPooled, threads);
        parallel_blocks(bags.size(), 16, threads, control, [&] {
            return
                [&, reader = Reader(*this, rows, labels, room, control)](std::size_t begin, std::size_t end) mutable {
                    for (std::size_t i = begin; i < end; ++i)
                        reader.score(bags.numbers_of(i), bags.counts_of(i), out + i * outputs_);
                };
        });
    }

  private:
    using Entry = PartialPlan::Entry;
    static constexpr std::size_t kFew = 4;                       // values that are listed rather than kept in a table
    static constexpr std::size_t kBlock = SequenceSums::kBlock;  // subtrees worked on together
    static constexpr std::size_t kPooled = 4;                    // workspaces that are kept from call to call

    struct Parent {  // a subtree of the model
        std::uint32_t shape, position;
    };

    // D of a node against the subtrees of the model with its label.
    struct Values {
        std::size_t few = 0;  // how many are listed, if there is no table
        std::array<std::uint32_t, kFew> place{};
        std::array<double, kFew> value{};
        std::vector<double> table;  // by place; empty: all that are not listed are bare
        bool dense() const { return !table.empty(); }
    };

    // Scratch space that does not depend on the rows: every call takes it from a pool and returns it.
    struct Workspace {
        Workspace(std::size_t shapes, std::size_t positions, std::size_t room)
            : plans(room), planned(shapes), counted(shapes), entry(shapes, 0), corrected(positions) {}

        PlanCache<PartialPlan> plans;
        PartialPlanner::Met planned;
        VisitedSet counted;                // shapes of the plan at hand
        std::vector<std::uint32_t> entry;  // per shape: which of those counted it is
        VisitedSet corrected;              // positions
    };

    class Reader {
      public:
        Reader(const PartialIndex& index, const Arena& arena, const LabelMap& labels, std::size_t room,
               const Control& control)
            : index_(index),
              columns_(index.columns_),
              options_(columns_.options()),
              arena_(arena),
              labels_(labels),
              control_(control),
              order_(arena),
              sequences_(options_, control),
              pool_(index.pool_.get()),
              space_(pool_->acquire(
                  [&] { return std::make_unique<Workspace>(columns_.shapes(), columns_.positions(), room); })),
              planner_(columns_, index.shape_weight_, index.outputs_) {
            bare_block_.fill(index.bare_);
        }
        Reader(Reader&&) = default;
        ~Reader() {
            if (space_) pool_->release(std::move(space_));
        }

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
                check();
            }
        }

      private:
        void check() {
            if (work_ <= 1000000) return;
            control_.check();
            work_ = 0;
        }

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

        // Labels and values of the children of a node.
        void enter(Node node) {
            key_.clear();
            children_.clear();
            child_labels_.clear();
            child_listed_.clear();
            key_.push_back(labels_(arena_.label(node)));
            for (const Node child : arena_.children(node)) {
                const std::uint32_t slot = order_.slot(child);
                if (slot == kNone) {
                    children_.push_back({nullptr, index_.bare_ * options_.terminal_factor, index_.bare_});
                } else {
                    const Values& values = values_[slot];
                    children_.push_back({values.dense() ? values.table.data() : nullptr, index_.bare_, index_.bare_,
                                         values.few, values.place.data(), values.value.data()});
                }
                child_labels_.push_back(labels_(arena_.label(child)));
                key_.push_back(child_labels_.back());
                child_listed_.push_back(children_.back().is_listed());
                key_.push_back(child_listed_.back());
            }
            sequences_.enter_values(children_);
            sequences_.expect(children_.size() + columns_.widest());
        }

        void evaluate(Node node, double count, double* out) {
            const std::uint32_t slot = order_.slot(node);
            Values& mine = values_[slot];
            mine.few = 0;
            const Symbol label = labels_(arena_.label(node));
            if (label == kNone || columns_.label_count(label) == 0) return;
            const auto kids = arena_.children(node);
            if (kids.size() == 1 && arena_.is_leaf(kids[0]) &&
                add_word(label, labels_(arena_.label(kids[0])), order_.wanted(slot) ? &mine : nullptr, count, out))
                return;
            enter(node);
            const bool lexical =
                std::all_of(kids.begin(), kids.end(), [&](Node child) { return arena_.is_leaf(child); });
            // Every word would have a plan of its own.
            if (lexical) make(scratch_);
            const PartialPlan& plan =
                lexical ? scratch_ : space_->plans.get(key_, [&](PartialPlan& fresh) { make(fresh); });
            for (std::size_t o = 0; o < index_.outputs_; ++o) out[o] += count * plan.worth[o];
            table_ = nullptr;
            listed_ = nullptr;
            if (order_.wanted(slot)) {
                if (plan.members > kFew)
                    fill(mine, plan, columns_.label_count(label));
                else
                    listed_ = &mine;
            }
            if (listed_)
                for (const Entry& entry : plan.counted) {
                    const PartialColumns::Shape& shape = columns_.shape(entry.shape);
                    for (std::uint32_t k = 0; k < shape.count; ++k) list(shape.place + k, index_.bare_ + entry.bare);
                }
            first_ = columns_.first_position(label);
            correct(plan, count, out);
            for (const PartialPlan::Run& run : plan.runs) go_through(plan, run, count, out);
            for (const Entry& entry : plan.whole) go_through(entry, count, out);
            for (const Entry& entry : plan.others) go_through_others(plan, entry, count, out);
            work_ += plan.members + 8 * (1 + plan.counted.size() + plan.whole.size() + plan.others.size());
        }

        // A tag over a word, which takes no plan: where the model has it at all, one shape does, with hardly more than
        // one subtree. False if that is not so.
        bool add_word(Symbol label, Symbol word, Values* mine, double count, double* out) {
            work_ += 8;
            if (word == kNone) return true;
            const auto holders = columns_.holders(label, word).all;
            if (holders.empty()) return true;
            const PartialColumns::Shape& shape = columns_.shape(holders[0].shape);
            if (holders.size() > 1 || shape.arity > 1 || shape.count > kFew) return false;
            const std::uint32_t* places = columns_.child_places(shape, 0);
            for (std::uint32_t k = 0; k < shape.count; ++k) {
                const double factor = places[k] == 0 ? options_.terminal_factor : 1.0;
                const double value = options_.depth_decay * (index_.bare_ * factor);
                index_.add(shape.begin + k, count * value, out);
                if (!mine) continue;
                mine->place[mine->few] = shape.place + k;
                mine->value[mine->few++] = index_.bare_ + value;
            }
            return true;
        }

        void make(PartialPlan& plan) {
            work_ += planner_.make(key_[0], child_labels_, child_listed_, sequences_, space_->planned, plan);
        }

        void fill(Values& mine, const PartialPlan& plan, std::size_t places) {
            mine.table = buffers_.take(places + 1);
            // Copied from a piece that stays in cache, which takes half as long as storing number by number.
            for (std::size_t at = 0; at < places + 1; at += kBlock)
                std::copy_n(bare_block_.data(), std::min(kBlock, places + 1 - at), mine.table.data() + at);
            for (const Entry& entry : plan.counted) {
                const PartialColumns::Shape& shape = columns_.shape(entry.shape);
                std::fill_n(mine.table.begin() + shape.place, shape.count, index_.bare_ + entry.bare);
            }
            work_ += places;
            table_ = mine.table.data();
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
        void correct(const PartialPlan& plan, double count, double* out) {
            if (plan.counted.empty()) return;
            space_->counted.clear();
            space_->corrected.clear();
            for (std::uint32_t e = 0; e < plan.counted.size(); ++e) {
                space_->counted.insert(plan.counted[e].shape);
                space_->entry[plan.counted[e].shape] = e;
            }
            for (std::size_t i = 0; i < children_.size(); ++i) {
                const SequenceSums::Child& child = children_[i];
                if (child_listed_[i] == 0 || child_labels_[i] == kNone) continue;
                for (std::size_t f = 0; f < child.listed; ++f) {
                    const auto parents = index_.parents(child_labels_[i], child.places[f], key_[0]);
                    for (std::size_t begin = 0, end; begin < parents.size(); begin = end) {
                        const std::uint32_t shape = parents[begin].shape;
                        for (end = begin + 1; end < parents.size() && parents[end].shape == shape; ++end) {
                        }
                        if (space_->counted.contains(shape))
                            correct(plan, plan.counted[space_->entry[shape]], child.values[f],
                                    parents.subspan(begin, end - begin), count, out);
                    }
                }
            }
        }

        // Those of one shape. value: what the child has with them.
        void correct(const PartialPlan& plan, const Entry& entry, double value, std::span<const Parent> parents,
                     double count, double* out) {
            if (entry.has_one()) {
                for (const Parent& parent : parents) correct(entry, parent.position, value, count, out);
                return;
            }
            for (const Parent& parent : parents)
                // Another child may have led here before.
                if (space_->corrected.insert(parent.position))
                    correct(entry, parent.position, sum(plan, entry, parent.position), count, out);
        }

        void correct(const Entry& entry, std::size_t position, double sum, double count, double* out) {
            const double value = options_.depth_decay * sum;
            index_.add(position, count * (value - entry.bare), out);
            keep(position, value);
        }

        // The sum over sequences for one subtree of a shape with several pairs.
        double sum(const PartialPlan& plan, const Entry& entry, std::size_t position) {
            const PartialColumns::Shape& shape = columns_.shape(entry.shape);
            const std::size_t number = position - shape.begin;
            if (entry.list != kNone) {
                const SequenceSums::Cells cells = plan.cells_of(entry);
                double value = 0.0;
                sequences_.evaluate(columns_, shape, {number, 1}, cells, &value);
                work_ += cells.cells.size() + cells.links.size();
                check();
                return value;
            }
            const double first = children_[entry.mine[0]].at(columns_.child_places(shape, entry.theirs[0])[number]);
            const double second = children_[entry.mine[1]].at(columns_.child_places(shape, entry.theirs[1])[number]);
            return first + second + entry.link * (first * second);
        }

        void go_through(const PartialPlan& plan, const PartialPlan::Run& run, double count, double* out) {
            const std::uint32_t* positions = plan.numbers.data() + run.at;
            double result[kBlock];
            for (std::size_t begin = 0, size; begin < run.count; begin += size) {
                size = std::min<std::size_t>(kBlock, run.count - begin);
                const std::uint32_t* at = positions + begin;
                const std::uint32_t* first = at + run.count;
                sequences_.sums(run, first, run.has_two() ? first + run.count : nullptr, size, result);
                if (index_.outputs_ == 1) {
                    double total = 0.0;
                    for (std::size_t k = 0; k < size; ++k) total += index_.weight_[at[k]] * result[k];
                    *out += count * total;
                } else {
                    for (std::size_t k = 0; k < size; ++k) index_.add(at[k], count * result[k], out);
                }
                if (table_ || listed_)
                    for (std::size_t k = 0; k < size; ++k) keep(at[k], result[k]);
            }
        }

        void go_through(const Entry& entry, double count, double* out) {
            const PartialColumns::Shape& shape = columns_.shape(entry.shape);
            const std::uint32_t* first = columns_.child_places(shape, entry.theirs[0]);
            const std::uint32_t* second = entry.has_two() ? columns_.child_places(shape, entry.theirs[1]) : nullptr;
            double result[kBlock];
            for (std::size_t begin = 0, size; begin < shape.count; begin += size) {
                size = std::min<std::size_t>(kBlock, shape.count - begin);
                sequences_.sums(entry, first + begin, second ? second + begin : nullptr, size, result);
                add_up(shape.begin + begin, size, result, count, out);
            }
        }

        void go_through_others(const PartialPlan& plan, const Entry& entry, double count, double* out) {
            const PartialColumns::Shape& shape = columns_.shape(entry.shape);
            const SequenceSums::Cells cells = plan.cells_of(entry);
            if (result_.size() < shape.count) result_.resize(shape.count);
            double* result = result_.data();
            if (!cells.cells.empty()) {
                sequences_.evaluate(columns_, shape, {0, shape.count}, cells, result);
            } else {
                sequences_.enter_labels(child_labels_);
                sequences_.meet(columns_, shape);
                sequences_.evaluate(columns_, shape, {0, shape.count}, result);
            }
            for (std::size_t k = 0; k < shape.count; ++k) result[k] *= options_.depth_decay;
            add_up(shape.begin, shape.count, result, count, out);
            work_ += shape.count * cells.cells.size();
        }

        // Takes the values of subtrees from one position on.
        void add_up(std::size_t position, std::size_t size, const double* values, double count, double* out) {
            if (size < 8) {
                // A call would take longer than this.
                for (std::size_t k = 0; k < size; ++k) index_.add(position + k, count * values[k], out);
            } else {
                for (std::size_t o = 0; o < index_.outputs_; ++o)
                    out[o] += count * dot(index_.weights(o) + position, values, size);
            }
            if (table_) {
                double* mine = table_ + (position - first_) + 1;
                for (std::size_t k = 0; k < size; ++k) mine[k] = index_.bare_ + values[k];
            } else if (listed_) {
                for (std::size_t k = 0; k < size; ++k) keep(position + k, values[k]);
            }
        }

        void keep(std::size_t position, double value) {
            const std::size_t place = position - first_ + 1;
            if (table_)
                table_[place] = index_.bare_ + value;
            else if (listed_)
                list(static_cast<std::uint32_t>(place), index_.bare_ + value);
        }

        const PartialIndex& index_;
        const PartialColumns& columns_;
        const PartialOptions options_;
        const Arena& arena_;
        const LabelMap& labels_;
        const Control& control_;
        NodeOrder order_;
        SequenceSums sequences_;
        std::vector<Values> values_;  // per slot
        // Where the values of the node at hand are kept: in a table by place, or listed, or not at all.
        double* table_ = nullptr;
        Values* listed_ = nullptr;
        std::size_t first_ = 0;  // the position of the first subtree with its label
        BufferPool buffers_;
        std::array<double, kBlock> bare_block_;  // bare values, to begin tables with
        PartialPlan scratch_;
        std::vector<std::uint32_t> key_;  // of the plan: the label, and label and kind of every child
        std::vector<Symbol> child_labels_;
        std::vector<std::uint8_t> child_listed_;
        std::vector<SequenceSums::Child> children_;
        std::vector<double> result_;
        std::size_t work_ = 0;
        ObjectPool<Workspace>* pool_;
        std::unique_ptr<Workspace> space_;
        PartialPlanner planner_;
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
        const std::size_t position = columns_.first_position(label) + place - 1;
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
                            visit(columns_.first_position(labels[slot]) + place - 1, Parent{number, shape.begin + k});
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
    std::vector<double> label_weight_,
        leaf_weight_;                         // per label x outputs: the sums of weights of internal nodes, of leaves
    std::vector<double> weight_, by_output_;  // per position x outputs; per output x positions, if there are several
    std::vector<double> shape_weight_;        // per shape x outputs: the sum of weights
    struct Shapes {
        std::uint32_t begin = 0, end = 0;
    };
    std::vector<Shapes> shapes_of_;          // per label
    std::vector<Parent> parent_;             // shape after shape
    std::vector<std::uint32_t> parent_end_;  // per position
    std::unique_ptr<ObjectPool<Workspace>> pool_ = std::make_unique<ObjectPool<Workspace>>(kPooled);
};

inline void score(const PartialIndex& index, const Arena& arena, const Elements& elements, double* out,
                  std::size_t threads, Control& control) {
    index.score(arena, elements, out, threads, control);
}

}  // namespace sapwood
